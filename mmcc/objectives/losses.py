"""Inputs and outputs of losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

Weights = Mapping[str, float]  # of a loss's terms at one training step, by name


@dataclass(frozen=True)
class Losses:
    """The loss of a training step and what to log."""

    total: Tensor  # scalar, with gradient
    terms: dict[str, Tensor]  # detached scalars, over all processes


class Dynamics(Protocol):
    """What the losses need from a model."""

    def project(self, z: Tensor, modality: str, /) -> Tensor: ...

    def combine(self, z_vision: Tensor, z_text: Tensor, /) -> Tensor: ...

    def future(self, z: Tensor, /) -> Tensor: ...

    def past(self, z: Tensor, /) -> Tensor: ...


class TwoWayDynamics(Dynamics, Protocol):
    """Besides, both predictions from the same states, and perhaps from states that remember."""

    def future_and_past(self, z: Tensor, /) -> tuple[Tensor, Tensor]: ...

    @property
    def remembers(self) -> bool: ...

    def remember(self, z: Tensor, before: Tensor, /) -> Tensor: ...
