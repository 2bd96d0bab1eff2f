"""The small networks Π, f and g.

Each layer is followed by ReLU and LayerNorm, except the last (Section 3.5).
"""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def mlp(*sizes: int) -> nn.Sequential:
    """Layers from size to size: mlp(8, 4, 2) is linear 8 → 4, ReLU, LayerNorm, linear 4 → 2."""
    *hidden, last = pairwise(sizes)
    return nn.Sequential(*(part for pair in hidden for part in _hidden_layer(*pair)), nn.Linear(*last))


class TemporalPredictors(nn.Module):
    """g_fwd and g_back, from a state z to unit-norm π-space: four layers each, the first two shared; or, with a rank,
    one linear map of that rank each, for data too scarce for more."""

    def __init__(self, dims: int, rank: int = 0) -> None:
        super().__init__()
        self.shared: nn.Module = nn.Identity()
        if rank:
            self.forward_head, self.backward_head = _low_rank(dims, rank), _low_rank(dims, rank)
            return
        self.shared = nn.Sequential(*_hidden_layer(dims, dims), *_hidden_layer(dims, dims))
        self.forward_head = mlp(dims, dims, dims)
        self.backward_head = mlp(dims, dims, dims)

    def future(self, z: Tensor) -> Tensor:
        """g_fwd: the π of what comes after a state."""
        return unit_norm(self.forward_head(self.shared(z)))

    def past(self, z: Tensor) -> Tensor:
        """g_back: the π of what came before a state."""
        return unit_norm(self.backward_head(self.shared(z)))

    def future_and_past(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Both of the same state: the shared layers run once."""
        shared = self.shared(z)
        return unit_norm(self.forward_head(shared)), unit_norm(self.backward_head(shared))


def unit_norm(x: Tensor) -> Tensor:
    """x / |x| along the last dimension; a zero vector stays zero."""
    return F.normalize(full_precision(x), dim=-1)


def full_precision(x: Tensor) -> Tensor:
    """float32 or better: similarities are divided by τ = 0.1, which needs more than autocast's three digits."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _low_rank(dims: int, rank: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(dims, rank, bias=False), nn.Linear(rank, dims))


def _hidden_layer(inputs: int, outputs: int) -> tuple[nn.Linear, nn.ReLU, nn.LayerNorm]:
    return nn.Linear(inputs, outputs), nn.ReLU(), nn.LayerNorm(outputs)
