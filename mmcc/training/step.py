"""One training step: losses, gradients over all processes, and an error on NaN or Inf."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from mmcc.data.batch import Batch
from mmcc.models.nodes import Nodes
from mmcc.models.registry import Network
from mmcc.objectives.losses import Losses, Weights
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.spec import Loss, ObjectiveConfig, spec_of
from mmcc.training.config import TrainConfig
from mmcc.training.processes import ProcessGroup
from mmcc.training.schedule import Schedule


class NotFinite(ArithmeticError):
    """A loss or a gradient (`what`) that is NaN or infinite; the message gives its value."""

    def __init__(self, what: str, values: str) -> None:
        self.what = what
        super().__init__(values)


@dataclass(frozen=True)
class Stepper:
    """Everything a training step needs."""

    model: Network
    objective: ObjectiveConfig
    optimizer: torch.optim.Optimizer
    schedule: Schedule
    config: TrainConfig
    world: ProcessGroup
    first: dict[str, Tensor] = field(default_factory=dict)  # the weights before the first step, if they are anchored

    @cached_property
    def _loss(self) -> Loss:
        return spec_of(self.objective).loss(self.objective)

    def step(self, number: int, parts: Sequence[Batch], stop: bool = False) -> tuple[dict[str, float], bool]:
        """Train on a batch in parts. Returns what to log, and whether any process was asked to stop."""
        weights = spec_of(self.objective).weights(self.objective, self.schedule.time(number))
        lr = self.schedule.lr(number)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.zero_grad(set_to_none=True)
        logged: dict[str, Tensor] = {}
        for batch in parts:
            losses = self._losses(batch.to(self.world.device), weights)
            (losses.total / len(parts)).backward()  # type: ignore[no-untyped-call]
            for name, value in {"loss": losses.total.detach(), **losses.terms}.items():
                logged[name] = logged.get(name, torch.zeros_like(value)) + value / len(parts)
        self.world.average_gradients(self.model.parameters())
        self._pull_back()
        norm = self._clip()
        logged |= {"gradient_norm": norm}
        counts = norm.new_tensor([sum(len(batch.frames) for batch in parts), stop])
        *values, frames, stops = self.world.average(torch.cat([torch.stack([*logged.values()]), counts])).tolist()
        figures = dict(zip(logged, values, strict=True)) | {"frames": round(frames * self.world.size)}
        require_finite(figures)  # before the weights are touched
        self.optimizer.step()
        self.world.average_buffers(self.model)
        return figures | {"lr": lr}, stops > 0

    def _losses(self, batch: Batch, weights: Weights) -> Losses:
        """Encoders in the configured precision, losses in fp32: similarities divided by 0.1 need its digits."""
        with torch.autocast(self.world.device.type, torch.bfloat16, enabled=self.config.precision == "bf16"):
            nodes: dict[str, Nodes] = self.model(batch)
        return self._loss(self.model, nodes, batch, weights, SampleRng(self.config.seed, batch.samples))

    def _pull_back(self) -> None:
        """The gradient of anchor · |w - first w|²."""
        for name, parameter in self.model.named_parameters():
            if name in self.first and parameter.grad is not None:
                parameter.grad.add_(parameter.detach() - self.first[name], alpha=2 * self.config.anchor)

    def _clip(self) -> Tensor:
        """Clip the gradient; returns its norm before clipping."""
        gradients = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        norm: Tensor = torch.stack([gradient.norm() for gradient in gradients]).norm()
        if self.config.grad_clip:
            scale = (self.config.grad_clip / norm.clamp(min=1e-12)).clamp(max=1)
            for gradient in gradients:
                gradient.mul_(scale)
        return norm


def require_finite(figures: dict[str, float]) -> None:
    wrong = [name for name, value in figures.items() if not math.isfinite(value)]
    if wrong:
        terms = [name for name in wrong if name not in ("loss", "gradient_norm")] or wrong
        what = "gradient" if wrong == ["gradient_norm"] else "loss"
        raise NotFinite(what, ", ".join(f"{name} = {figures[name]}" for name in terms))
