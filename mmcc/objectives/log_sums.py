"""Log-sums of scores over nodes, safe for empty sums.

Shapes: B segments, N nodes, P valid nodes of every segment and process, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from mmcc.models.nodes import Nodes
from mmcc.objectives.distribution import gather_with_gradient

_FAR = 60.0  # e^-60 is far from the smallest number of float32


def batch_keys(nodes: Mapping[str, Nodes]) -> dict[str, Tensor]:
    """Every π of each modality, packed [P, D]: of all segments and all processes, with gradient."""
    return {modality: gather_with_gradient(side.pi[side.valid]) for modality, side in nodes.items()}


def log_sum_where(scores: Tensor, counts: Tensor, dim: int = -1) -> Tensor:
    """log Σ e^score over a dimension where `counts` is true; the lowest finite number (not -inf, whose gradient is
    NaN) where it is nowhere true."""
    return log_sum(scores.masked_fill(~counts, torch.finfo(scores.dtype).min), dim)


def log_sum(scores: Tensor, dim: int = -1) -> Tensor:
    """log Σ e^score over a dimension, finite even where that is empty."""
    return scores.logsumexp(dim=dim).clamp(min=torch.finfo(scores.dtype).min)


def log_sums(scores: Tensor, *dims: int) -> list[Tensor]:
    """`log_sum` over each of several dimensions. Exponentials are what it costs, and all sums share the same ones,
    unless scores are so far apart that the smallest would vanish."""
    if scores.numel():
        lowest, highest = scores.detach().aminmax()
        if highest - lowest < _FAR:
            powers = (scores - highest).exp()
            return [powers.sum(dim=dim).log() + highest for dim in dims]
    return [log_sum(scores, dim) for dim in dims]


def log_union(one: Tensor, other: Tensor, common: Tensor) -> Tensor:
    """log(e^one + e^other - e^common), where the two sums share the items of `common`.

    Neither sum is below the common part, so with the larger one factored out the logarithm's argument is 1 to 2.
    """
    larger = torch.maximum(one, other).detach()
    return larger + ((one - larger).exp() + (other - larger).exp() - (common - larger).exp()).log()
