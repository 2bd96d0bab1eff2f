"""What changes from step to step, as a function of the step alone: the learning rate, and the time a loss is given."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mmcc.objectives.spec import TrainingTime
from mmcc.training.config import TrainConfig


@dataclass(frozen=True)
class Schedule:
    """A run's length in steps, and its rate at each. An epoch shows `videos` segments, one of each video."""

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

    def time(self, step: int) -> TrainingTime:
        """What the weights of an objective's losses depend on."""
        return TrainingTime(step, self.steps, self.steps_per_epoch)

    def lr(self, step: int) -> float:
        """Linear from lr / (warm-up + 1), then constant, or half a cosine that would reach 0 at the last step."""
        warm = min(1.0, (step + 1) / (self.config.warmup_steps + 1))
        if self.config.lr_schedule == "constant" or self.steps <= self.config.warmup_steps:
            return self.config.lr * warm
        along = max(0, step - self.config.warmup_steps) / (self.steps - self.config.warmup_steps)
        return self.config.lr * warm * (1 + math.cos(math.pi * min(1.0, along))) / 2
