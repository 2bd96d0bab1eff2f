"""What changes from step to step, as functions of the step alone: the losses' weights and the learning rate.

λ1(s) = ε^(1 - p) · λ1^p  with p = min(1, s / ramp steps);   λ2 constant;   λ3 = r3 · λ1(s);   λ4 = r4 · λ1(s)

(the cycle itself weighs r1 · λ1(s), with r1 = 1 but in ablations)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mmcc.objectives.losses import LossWeights
from mmcc.training.config import TrainConfig


@dataclass(frozen=True)
class Schedule:
    """A run's length in steps, and what each step weighs. An epoch shows `videos` segments, one of each video."""

    config: TrainConfig
    videos: int

    @property
    def steps_per_epoch(self) -> float:
        return max(self.videos, 1) / self.config.batch_size

    @property
    def steps(self) -> int:
        if self.config.steps is not None:
            return self.config.steps
        assert self.config.epochs is not None
        return math.ceil(self.config.epochs * self.steps_per_epoch)

    @property
    def ramp_steps(self) -> float:
        if self.config.ramp_share is not None:
            return self.config.ramp_share * self.steps
        assert self.config.ramp_epochs is not None
        return self.config.ramp_epochs * self.steps_per_epoch

    def weights(self, step: int) -> LossWeights:
        lambda1 = self.config.lambda1
        if step < self.ramp_steps and lambda1 > 0:
            lambda1 = self.config.lambda1_start * (lambda1 / self.config.lambda1_start) ** (step / self.ramp_steps)
        return LossWeights(
            cycle=self.config.cycle_ratio * lambda1,
            cross_modal=self.config.lambda2,
            similarity=self.config.similarity_ratio * lambda1,
            direction=self.config.direction_ratio * lambda1,
        )

    def lr(self, step: int) -> float:
        """Linear from lr / (warm-up + 1), then constant, or half a cosine that would reach 0 at the last step."""
        warm = min(1.0, (step + 1) / (self.config.warmup_steps + 1))
        if self.config.lr_schedule == "constant" or self.steps <= self.config.warmup_steps:
            return self.config.lr * warm
        along = max(0, step - self.config.warmup_steps) / (self.steps - self.config.warmup_steps)
        return self.config.lr * warm * (1 + math.cos(math.pi * min(1.0, along))) / 2
