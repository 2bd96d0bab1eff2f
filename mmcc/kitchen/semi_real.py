"""The semi-real variant: real timelines, step orders and step texts; features and narration simulated around them.

It shows that a result does not depend on our own timelines. What a real step does to the world is unknown, so here its
text lies on a table once it is done: the state is the sequence of steps done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from mmcc.errors import InputError
from mmcc.kitchen.plan import KitchenSettings, Planned
from mmcc.kitchen.recipes import Recipe, Step
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.timeline import Shown, Timeline

_TAIL = (5.0, 15.0)  # seconds after the last step: the release does not say how long a video is
_SHORTEST = 0.1  # seconds; a few real clips have no length


class RealStep(Protocol):
    """A labelled clip of a real video; its step counts from 1."""

    @property
    def step(self) -> int: ...
    @property
    def start(self) -> float: ...
    @property
    def end(self) -> float: ...


class RealVideo(Protocol):
    """As a reader of `mmcc.corpus` finds it."""

    @property
    def id(self) -> str: ...
    @property
    def tasks(self) -> tuple[str, ...]: ...
    @property
    def steps(self) -> Sequence[RealStep]: ...
    @property
    def split(self) -> str | None: ...


class RealTask(Protocol):
    """A task of a real release."""

    @property
    def title(self) -> str: ...
    @property
    def steps(self) -> tuple[str, ...]: ...
    @property
    def primary(self) -> bool: ...


def plan_from(
    release: Path,
    tasks: Mapping[str, RealTask],
    videos: Iterable[RealVideo],
    *,
    seed: int = 0,
    bookends: bool = False,
) -> tuple[KitchenSettings, list[Planned]]:
    """One video for each real one that has labelled steps."""
    recipes = {
        name: Recipe(name, task.title, tuple(map(_step, task.steps)), primary=task.primary)
        for name, task in tasks.items()
    }
    planned = [
        Planned(video.id, recipes[video.tasks[0]], video.split or "train", seed, _timeline(video, seed))
        for video in videos
        if video.steps
    ]
    if not planned:
        raise InputError(release, "has no video with labelled steps", "Unpack the release's annotations/ too.")
    used = {video.recipe.id for video in planned}
    return KitchenSettings(len(planned), len(used), seed, bookends=bookends, timelines=release.name), planned


def _step(text: str) -> Step:
    return Step(text, act="", item=text.replace("_", " "), form="done", vessel="table")


def _timeline(video: RealVideo, seed: int) -> Timeline:
    shown = sorted(
        (Shown(step.step - 1, step.start, max(step.end, step.start + _SHORTEST)) for step in video.steps),
        key=lambda shown: shown.start,
    )
    tail = Rng("semi-real", seed, video.id).uniform(*_TAIL)
    return Timeline(tuple(shown), round(max(each.end for each in shown) + tail, 2))
