"""What goes into a loss and comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

Weights = Mapping[str, float]  # of a loss's terms at one step of training, by name


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
