"""Before and after: which nodes precede or follow an anchor.

Shapes: B segments, S anchors per segment, N nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mmcc.models.nodes import TEXT, VISION, Nodes

OTHER = {VISION: TEXT, TEXT: VISION}


@dataclass(frozen=True)
class Anchors:
    """Nodes of one modality, S per segment."""

    modality: str
    index: Tensor  # [B, S] int64
    time: Tensor  # [B, S] seconds


def anchors_at(nodes: Mapping[str, Nodes], modality: str, index_BS: Tensor) -> Anchors:
    return Anchors(modality, index_BS, nodes[modality].times.gather(1, index_BS))


def after(anchors: Anchors, nodes: Mapping[str, Nodes], modality: str, gap: float = 0.0) -> Tensor:
    """[B, S, N], true at the valid nodes that follow: by index in the anchors' own modality, by more than `gap`
    seconds in the other, where indices have no meaning."""
    return _valid(nodes[modality]) & (_lag(anchors, nodes, modality) > _least_lag(anchors, modality, gap))


def before(anchors: Anchors, nodes: Mapping[str, Nodes], modality: str, gap: float = 0.0) -> Tensor:
    """[B, S, N], true at the valid nodes that precede, by the same rule."""
    return _valid(nodes[modality]) & (_lag(anchors, nodes, modality) < -_least_lag(anchors, modality, gap))


def take(tensor_BND: Tensor, index_BS: Tensor) -> Tensor:
    """[B, S, D]: the given nodes of each segment."""
    return tensor_BND.gather(1, index_BS[..., None].expand(-1, -1, tensor_BND.shape[-1]))


def _lag(anchors: Anchors, nodes: Mapping[str, Nodes], modality: str) -> Tensor:
    if modality == anchors.modality:
        places = torch.arange(nodes[modality].valid.shape[1], device=anchors.index.device)
        return places - anchors.index[..., None]
    return nodes[modality].times[:, None] - anchors.time[..., None]


def _least_lag(anchors: Anchors, modality: str, gap: float) -> float:
    return 0.0 if modality == anchors.modality else gap


def _valid(nodes: Nodes) -> Tensor:
    return nodes.valid[:, None]
