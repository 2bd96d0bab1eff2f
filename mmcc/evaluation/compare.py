"""Two models on the same videos: how far one is above the other, with an interval over videos, for every figure.

>>> found = compare("runs/mmcc", "runs/baseline", Path("kitchen.corpus"), tasks=["anticipation"])
>>> found.differences["anticipation"]["recall@5"].mean
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.evaluation.evaluate import Evaluation, evaluate, open_source
from mmcc.evaluation.evaluator import Bars
from mmcc.evaluation.results import SCHEMA
from mmcc.metrics import Interval, PerVideo, paired_difference


@dataclass(frozen=True)
class Compared:
    """One figure of two models, over the videos that both were measured on."""

    one: float
    other: float
    difference: Interval  # one - other

    def to_json(self) -> dict[str, Any]:
        interval = self.difference
        return {"one": self.one, "other": self.other, "difference": interval.to_json(), "videos": interval.over}


@dataclass(frozen=True)
class Comparison:
    """What was measured of both models."""

    one: Evaluation
    other: Evaluation
    tasks: dict[str, dict[str, Compared]]  # task → figure
    skipped: dict[str, str] = field(default_factory=dict)  # task → why

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "corpus": self.one.corpus,
            "models": [{"model": each.model, "checkpoint": each.checkpoint} for each in (self.one, self.other)],
            "tasks": {
                task: {name: figure.to_json() for name, figure in figures.items()}
                for task, figures in self.tasks.items()
            },
            "skipped": self.skipped,
        }


def compare(
    one: str,
    other: str,
    corpus: Path,
    *,
    tasks: Iterable[str] | None = None,
    on: str = "test",
    bars: Bars | None = None,
) -> Comparison:
    """Evaluate both models, and compare every figure that both have. InputError if they have none in common."""
    asked = None if tasks is None else list(tasks)
    open_source(other, Corpus.open(corpus))  # else its absence would be told after minutes of measuring the first
    first, second = (evaluate(each, corpus, tasks=asked, on=on, bars=bars) for each in (one, other))
    return compared(first, second)


def compared(one: Evaluation, other: Evaluation) -> Comparison:
    """Two evaluations on one corpus."""
    skipped = {**one.skipped, **other.skipped}
    tasks: dict[str, dict[str, Compared]] = {}
    for task in one.results:
        if task not in other.results:
            continue
        figures = (each.results[task].figures for each in (one, other))
        mine, theirs = figures
        both = {name: found for name in mine if name in theirs and (found := _compared(mine[name], theirs[name]))}
        if both:
            tasks[task] = both
        else:
            skipped[task] = "the two models have no figure of the same videos"
    if not tasks:
        reasons = "; ".join(f"{task}: {why}" for task, why in skipped.items())
        raise InputError(one.corpus, f"nothing can be compared ({reasons})", "Choose other --tasks.")
    return Comparison(one, other, tasks, skipped)


def _compared(one: PerVideo, other: PerVideo) -> Compared | None:
    """None without a video that both have something to count in."""
    mine, theirs = ({video for video, n in zip(each.videos, each.counts, strict=True) if n} for each in (one, other))
    shared = [video for video in one.videos if video in mine & theirs]
    if not shared:
        return None
    one, other = (_only(each, shared) for each in (one, other))
    return Compared(one.mean, other.mean, paired_difference([one], [other]))


def _only(figure: PerVideo, videos: list[str]) -> PerVideo:
    place = {video: at for at, video in enumerate(figure.videos)}
    at = [place[video] for video in videos]
    return PerVideo(tuple(videos), figure.totals[at], figure.counts[at])
