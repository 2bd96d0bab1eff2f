"""Where cycles start: at nodes that are meaningful in both modalities.

    s_i = max_j π_{M_i} · π_{M'_j}                    (Eq. 7, concreteness)
    α ~ softmax(s / τ), τ = 0.1, over the nodes that have a future

Shapes: B segments, N nodes of the start modality, S starts per segment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mmcc.models.nodes import Nodes
from mmcc.objectives.anchors import OTHER, after, anchors_at
from mmcc.objectives.config import CycleConfig, CyclePath
from mmcc.objectives.rng import SampleRng


@dataclass(frozen=True)
class Starts:
    """The starts of a batch's cycles in one modality."""

    modality: str
    index: Tensor  # [B, S] int64; 0 where not valid
    valid: Tensor  # [B, S] bool: whether the segment has a node to start from
    unimodal: Tensor  # [B, S] bool: the state, at both ends of the cycle, is one modality's z alone


@torch.no_grad()
def concreteness(nodes: Nodes, others: Nodes) -> Tensor:
    """Eq. 7 for every node [B, N]; 0 in segments without the other modality, where all nodes count the same."""
    similarity = (nodes.pi @ others.pi.mT).masked_fill(~others.valid[:, None], -torch.inf)
    best = similarity.max(dim=-1).values
    return best.masked_fill(~others.valid.any(dim=1, keepdim=True), 0)


def start_candidates(nodes: Mapping[str, Nodes], modality: str, path: CyclePath) -> Tensor:
    """[B, N]: the valid nodes with a later one, in the modality that the forward edge runs over."""
    own = nodes[modality]
    ahead = modality if path == "within" else OTHER[modality]
    every_index = torch.arange(own.valid.shape[1], device=own.valid.device).expand_as(own.valid)
    return own.valid & after(anchors_at(nodes, modality, every_index), nodes, ahead).any(dim=-1)


@torch.no_grad()
def sample_starts(nodes: Mapping[str, Nodes], modality: str, rng: SampleRng, config: CycleConfig) -> Starts:
    """S starts per segment, all different if there are enough candidates, otherwise drawn with replacement."""
    own, others = nodes[modality], nodes[OTHER[modality]]
    candidates = start_candidates(nodes, modality, config.path)
    scores = torch.zeros_like(own.times)
    if config.starts == "concreteness":
        scores = concreteness(own, others) / config.start_temperature
    scores = scores.masked_fill(~candidates, -torch.inf)
    index = _sample(scores, candidates, config.starts_per_segment, rng, f"start/{modality}")
    coin = rng.uniform(f"unimodal/{modality}", config.starts_per_segment) < config.p_unimodal
    return Starts(
        modality,
        index,
        valid=candidates.any(dim=1, keepdim=True).expand_as(index),
        unimodal=coin | ~others.valid.any(dim=1, keepdim=True),  # f needs both modalities
    )


def _sample(scores_BN: Tensor, candidates_BN: Tensor, count: int, rng: SampleRng, name: str) -> Tensor:
    """Gumbel trick: the largest of scores plus noise is a draw, the S largest under one noise are S different draws."""
    nodes = scores_BN.shape[1]
    repeated = (scores_BN[:, None] + rng.gumbel(f"{name}/repeated", count, nodes)).argmax(dim=-1)
    if nodes < count:
        return repeated
    different = (scores_BN + rng.gumbel(name, nodes)).topk(count, dim=-1).indices
    enough = candidates_BN.sum(dim=1, keepdim=True) >= count
    return torch.where(enough, different, repeated)
