"""Log-sums of scores over nodes, safe for empty sums.

Shapes: B segments, N nodes, P valid nodes of every segment and process, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from mmcc.models.nodes import Nodes
from mmcc.objectives.distribution import gather_with_gradient


def batch_keys(nodes: Mapping[str, Nodes]) -> dict[str, Tensor]:
    """Every π of each modality, packed [P, D]: of all segments and all processes, with gradient."""
    return {modality: gather_with_gradient(side.pi[side.valid]) for modality, side in nodes.items()}


def log_sum_where(scores: Tensor, counts: Tensor) -> Tensor:
    """log Σ e^score over the last dimension where `counts` is true; the lowest finite number (not -inf, whose gradient
    is NaN) where it is nowhere true."""
    return log_sum(scores.masked_fill(~counts, torch.finfo(scores.dtype).min))


def log_sum(scores: Tensor) -> Tensor:
    """log Σ e^score over the last dimension, finite even where that is empty."""
    return scores.logsumexp(dim=-1).clamp(min=torch.finfo(scores.dtype).min)


def log_union(one: Tensor, other: Tensor, common: Tensor) -> Tensor:
    """log(e^one + e^other - e^common), where the two sums share the items of `common`.

    Neither sum is below the common part, so with the larger one factored out the logarithm's argument is 1 to 2.
    """
    larger = torch.maximum(one, other).detach()
    return larger + ((one - larger).exp() + (other - larger).exp() - (common - larger).exp()).log()
