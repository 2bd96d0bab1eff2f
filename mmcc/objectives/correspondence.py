"""Cross-modal correspondence: a frame and the words spoken with it should retrieve each other.

An anchor is a node M_i with its counterpart M'_j, the node of the other modality nearest in time. With
s(a, b) = π_a · π_b / τ over pairs of a node of M and one of M', the anchor's row is all pairs of M_i, its column all
pairs of M'_j:

    L = -log  Σ_{(a, b) ∈ P} w(t_a - t_b) e^{s(a, b)}  /  Σ_{(a, b) ∈ row ∪ column} e^{s(a, b)}
                                                            (Eq. 13 with the three changes of the appendix)

P: the pairs (M_i, b) with b within k nodes of M'_j, and the pairs (a, M'_j) with a within k nodes of the counterpart
of M'_j in M; w(t) = exp(-t² / 2σ²). Rows and columns run over the whole batch: the same video, other videos, and the
other processes' videos. Where row and column cross, the pair counts once in both sums. An anchor whose nearest node is
too far away to be a positive has no counterpart, and is dropped. Both frames and utterances are anchors.

`form: mil_nce` is Eq. 13 before those changes (MIL-NCE, Miech et al., 2020): positives in one direction of retrieval,
all of weight one however far away in time, and negatives from other videos only,

    L = -log  Σ_{b ∈ P} e^{s(M_i, b)}  /  ( Σ_{b ∈ P} e^{s(M_i, b)}  +  Σ_{b of others} e^{s(M_i, b)}
                                                                  +  Σ_{a of others} e^{s(a, M'_j)} )

with P the nodes within k of M'_j. A segment counts as a video.

Shapes: B segments, N nodes of one modality, K nodes of the other, P packed nodes of the batch, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.config import CrossModalConfig
from mmcc.objectives.distribution import SumCount, gather_with_gradient, world_size
from mmcc.objectives.log_sums import log_sum, log_sum_where, log_union

_MOST_SEGMENTS = 1 << 32  # in one process


@dataclass(frozen=True)
class _Side:
    """The nodes of one modality against those of the other."""

    scores: Tensor  # [B, N, K] s within the segment
    log_weights: Tensor  # [B, N, K] log w
    counterpart: Tensor  # [B, N] index of the nearest node
    positives: Tensor  # [B, N, K] bool: the nodes around it that are near enough
    positive_sum: Tensor  # [B, N] log Σ w e^s over the positives
    batch_sum: Tensor  # [B, N] log Σ e^s over the whole batch; over other videos only in mil_nce


def cross_modal_loss(nodes: Mapping[str, Nodes], keys_PD: Mapping[str, Tensor], config: CrossModalConfig) -> SumCount:
    """The loss above over all anchors of both modalities; `keys_PD` is `batch_keys` of the nodes."""
    vision, text = nodes[VISION], nodes[TEXT]
    vision_scores = vision.pi[vision.valid] @ keys_PD[TEXT].mT / config.temperature
    if world_size() == 1:
        text_scores = vision_scores.mT  # the same pairs
    else:
        text_scores = text.pi[text.valid] @ keys_PD[VISION].mT / config.temperature
    vision_side = _side(vision, text, _batch_sum(vision, text, vision_scores, config), config)
    text_side = _side(text, vision, _batch_sum(text, vision, text_scores, config), config)
    anchors = _plain_anchors if config.form == "mil_nce" else _anchors
    return anchors(vision_side, text_side) + anchors(text_side, vision_side)


def _anchors(rows: _Side, columns: _Side) -> SumCount:
    """The anchors in the modality of `rows`."""
    counterpart = rows.counterpart
    has_counterpart = rows.positives.any(dim=-1)
    crossing = torch.where(has_counterpart, _pick(rows.scores, counterpart), -torch.inf)
    positive_in_column = _pick(columns.positives.mT, counterpart)
    positive_crossing = torch.where(positive_in_column, crossing + _pick(rows.log_weights, counterpart), -torch.inf)
    numerator = log_union(rows.positive_sum, columns.positive_sum.gather(1, counterpart), positive_crossing)
    denominator = log_union(rows.batch_sum, columns.batch_sum.gather(1, counterpart), crossing)
    return SumCount.of(denominator - numerator, has_counterpart)


def _plain_anchors(rows: _Side, columns: _Side) -> SumCount:
    """The same in mil_nce: positives are from this video and negatives from others, so no pair counts twice."""
    negatives = torch.logaddexp(rows.batch_sum, columns.batch_sum.gather(1, rows.counterpart))
    denominator = torch.logaddexp(rows.positive_sum, negatives)
    return SumCount.of(denominator - rows.positive_sum, rows.positives.any(dim=-1))


def _side(own: Nodes, others: Nodes, batch_sum: Tensor, config: CrossModalConfig) -> _Side:
    scores = own.pi @ others.pi.mT / config.temperature
    lag = (own.times.to(scores.dtype)[..., None] - others.times[:, None]).abs()
    log_weights = -(lag**2) / (2 * config.sigma**2)
    counterpart = lag.masked_fill(~others.valid[:, None], torch.inf).argmin(dim=-1)
    places = torch.arange(others.valid.shape[1], device=counterpart.device)
    positives = (places - counterpart[..., None]).abs() <= config.window
    positives = positives & own.valid[..., None] & others.valid[:, None]
    if config.form == "mil_nce":
        log_weights = torch.zeros_like(log_weights)
    else:
        positives = positives & (log_weights.exp() >= config.least_weight)
    positive_sum = log_sum_where(scores + log_weights, positives)
    return _Side(scores, log_weights, counterpart, positives, positive_sum, batch_sum)


def _batch_sum(own: Nodes, others: Nodes, batch_scores: Tensor, config: CrossModalConfig) -> Tensor:
    """[B, N]: log Σ e^s of each node over the keys of the batch, or only over those of other videos."""
    if config.form == "mil_nce":
        elsewhere = _segments(own) != gather_with_gradient(_segments(others)).mT
        sums = log_sum_where(batch_scores, elsewhere)
    else:
        sums = log_sum(batch_scores)
    return torch.zeros_like(own.pi[..., 0]).masked_scatter(own.valid, sums)


def _segments(nodes: Nodes) -> Tensor:
    """[P, 1]: the segment of each valid node, by a number unique over all processes."""
    first = dist.get_rank() * _MOST_SEGMENTS if world_size() > 1 else 0
    segment_BN = torch.arange(first, first + len(nodes.valid), device=nodes.valid.device)[:, None]
    return segment_BN.expand_as(nodes.valid)[nodes.valid][:, None]


def _pick(tensor_BNK: Tensor, index_BN: Tensor) -> Tensor:
    return tensor_BNK.gather(-1, index_BN[..., None]).squeeze(-1)
