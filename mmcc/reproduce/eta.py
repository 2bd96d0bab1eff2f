"""What is left to train and how long it may take, printed before the first run and before each one."""

from __future__ import annotations

from collections.abc import Mapping

from mmcc.reproduce.plan import Job
from mmcc.training.checkpoints import TrainingProgress

Key = tuple[str, int]  # a run's name, and its seed


class Estimate:
    """Estimated from the seconds a training step took so far, in runs of the same objective if there are any."""

    def __init__(self, jobs: Mapping[Key, tuple[Job, TrainingProgress | None]], at_once: int = 1) -> None:
        self._at_once = at_once
        self._jobs = {key: job for key, (job, _) in jobs.items()}
        self._progress = {key: progress for key, (_, progress) in jobs.items()}

    def done(self, key: Key, progress: TrainingProgress | None) -> None:
        self._progress[key] = progress

    def lines(self) -> list[str]:
        """A line for each run, and a summary."""
        lines = []
        for key, job in self._jobs.items():
            left = self.steps_left(key)
            state = "finished" if not left else f"{left} of {job.config.train.steps} steps to train{self._takes(key)}"
            lines.append(f"  {job.key} ({_name(key)}): {state}")
        return [*lines, self.summary()]

    def summary(self) -> str:
        unfinished = [key for key in self._jobs if self.steps_left(key)]
        times = [self._seconds_left(key) for key in unfinished]
        known = [seconds for seconds in times if seconds is not None]
        about = f", about {_minutes(sum(known) / self._at_once)}" if known and len(known) == len(times) else ""
        return f"{len(self._jobs) - len(unfinished)} of {len(self._jobs)} runs are trained{about}" + (
            " left" if about else ""
        )

    def heading(self, key: Key) -> str:
        """A line before a run: which one it is, and what is left."""
        place = list(self._jobs).index(key) + 1
        return f"[{place}/{len(self._jobs)}] {_name(key)}: {self._jobs[key].key}; {self.summary()}"

    def _takes(self, key: Key) -> str:
        seconds = self._seconds_left(key)
        return "" if seconds is None else f", about {_minutes(seconds)}"

    def steps_left(self, key: Key) -> int:
        """0 for a finished run."""
        planned = self._jobs[key].config.train.steps or 0
        progress = self._progress[key]
        return max(0, planned - (progress.step if progress else 0))

    def _seconds_left(self, key: Key) -> float | None:
        """None before any run has taken a training step."""
        objective = self._jobs[key].config.objective.name
        alike = [each for each in self._jobs if self._jobs[each].config.objective.name == objective]
        rate = self._seconds_per_step(alike) or self._seconds_per_step(list(self._jobs))
        return self.steps_left(key) * rate if rate else None

    def _seconds_per_step(self, keys: list[Key]) -> float | None:
        started = [progress for key in keys if (progress := self._progress[key]) and progress.step]
        return sum(each.seconds for each in started) / sum(each.step for each in started) if started else None


def _name(key: Key) -> str:
    return f"{key[0]}, seed {key[1]}"


def _minutes(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{max(1, minutes)} min"
