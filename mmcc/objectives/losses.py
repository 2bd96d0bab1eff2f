"""What goes into an objective and comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True)
class LossWeights:
    """λ1 to λ4 at one step of training; the defaults are where the paper's schedule ends."""

    cycle: float = 1.0
    cross_modal: float = 1.0
    similarity: float = 3.0
    direction: float = 3.0


@dataclass(frozen=True)
class Losses:
    """A step's loss and what to log of it."""

    total: Tensor  # scalar, with gradient
    terms: dict[str, Tensor]  # detached scalars, over all processes


class Dynamics(Protocol):
    """What the losses ask of a model."""

    def project(self, z: Tensor, modality: str, /) -> Tensor: ...

    def combine(self, z_vision: Tensor, z_text: Tensor, /) -> Tensor: ...

    def future(self, z: Tensor, /) -> Tensor: ...

    def past(self, z: Tensor, /) -> Tensor: ...
