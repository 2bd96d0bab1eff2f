"""The most salient before → after pairs of footage (Eq. 12): found by the model once, then known.

The probability of a pair is tiny, and the tinier the longer its video. So a pair is shown, and compared over videos, by
how many times as likely it is as in a model that knows nothing, where every factor of Eq. 12 is uniform:

    times_chance = P(u → v) · n² (n - 1)²          (n - 1 once, for a learner without a past);  score = its log₁₀

Shapes: n frames, T transitions, k utterances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mmcc.corpus.source import Skipped
from mmcc.errors import InputError
from mmcc.report.sheets import Tile, clock, draw_sheet
from mmcc.text import one_line
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.footage import Footage
from mmcc.tools.model import ToolModel

CLEAR = 2.0  # times as likely as by chance, from which on a change is called one: of a still picture's all pairs have 1
KEPT = 100  # of a video; asking for fewer is answered from these
WINDOW = 10.0  # seconds: two pairs that begin and end so near each other show one change
Progress = Callable[[list[str]], Iterable[str]]


@dataclass(frozen=True)
class Change:
    """One frame of a video becomes another."""

    footage: Footage
    from_frame: int
    to_frame: int
    log_probability: float  # of Eq. 12
    score: float  # log₁₀ of how many times as likely it is as by chance

    @property
    def from_time(self) -> float:
        return float(self.footage.video.times[self.from_frame])

    @property
    def to_time(self) -> float:
        return float(self.footage.video.times[self.to_frame])

    @cached_property
    def from_text(self) -> str:
        return self.footage.said_at(self.from_time)

    @cached_property
    def to_text(self) -> str:
        return self.footage.said_at(self.to_time)


@dataclass(frozen=True)
class Narration:
    """What is said in a video, in order of time, and how much of it can be seen (Eq. 7)."""

    times: list[float]  # [k] centres
    texts: list[str]
    concreteness: list[float]


@dataclass(frozen=True)
class VideoChanges:
    """The changes of one video, best first: the 100 best, or as many as were asked for."""

    footage: Footage
    changes: list[Change]
    narration: Narration


@dataclass(frozen=True)
class FoundChanges:
    """The changes of all videos, and the videos that have none."""

    videos: list[VideoChanges]
    skipped: list[Skipped]

    @property
    def notes(self) -> list[str]:
        """What people should know of the answer."""
        unclear = [video for video in self.videos if video.changes[0].score < math.log10(CLEAR)]
        return [
            f"{video.footage.name}: nothing changes clearly; its pairs are hardly likelier than by chance"
            for video in unclear
        ]

    def best(self, top: int, per_video: int | None = None) -> list[Change]:
        """Over all videos, best first; of each video at most so many."""
        every = [change for video in self.videos for change in video.changes[:per_video]]
        return sorted(every, key=lambda change: -change.score)[:top]


def find_changes(
    model: ToolModel,
    footage: Sequence[Footage],
    cache: Cache,
    *,
    top: int = 10,
    window: float = WINDOW,
    any_direction: bool = False,
    progress: Progress = iter,
) -> FoundChanges:
    """The best pairs of every video, of which the second frame is the later one unless any direction will do."""
    by_key = {each.key: each for each in footage}
    videos: list[VideoChanges] = []
    skipped: list[Skipped] = []
    for key in progress(list(by_key)):
        each = by_key[key]
        try:
            changes = _changes_of(model, each, cache, max(top, KEPT), window, any_direction)
        except InputError as error:
            skipped.append(Skipped(each.name, f"{error.cause}. {error.remedy}".strip()))
            continue
        if changes.changes:
            videos.append(changes)
        else:
            skipped.append(Skipped(each.name, "has a single frame: nothing changes"))
    if not videos:
        others = len(skipped) - 1
        more = f"The other {others} have none, either." if others else ""
        raise InputError(skipped[0].path, skipped[0].reason.rstrip("."), more)
    return FoundChanges(videos, skipped)


def _changes_of(
    model: ToolModel, footage: Footage, cache: Cache, count: int, window: float, any_direction: bool
) -> VideoChanges:
    key = [model.checksum, footage.key, str(count), f"{window:g}", str(any_direction)]
    kept = cache.remember("transitions", key, lambda: _compute(model, footage, cache, count, window, any_direction))
    chance = _log_chance(len(footage.video.times), kept.facts["has_past"])
    changes = [
        Change(footage, u, v, value, (value - chance) / math.log(10))
        for u, v, value in zip(*(kept.arrays[name].tolist() for name in ("from", "to", "log_probability")), strict=True)
    ]
    said = (kept.arrays[name].tolist() for name in ("text_times", "text_concreteness"))
    times, concreteness = said
    return VideoChanges(footage, changes, Narration(times, kept.facts["texts"], concreteness))


def _compute(
    model: ToolModel, footage: Footage, cache: Cache, count: int, window: float, any_direction: bool
) -> Answer:
    from mmcc.data.segments import Moments
    from mmcc.evaluation.transitions import salient_transitions

    video = footage.embedded(model, cache)
    found = salient_transitions(model.adapter, video, top=count, window=window, forward_only=not any_direction)
    concrete = np.zeros(len(video.text_times))
    if video.utterances is not None and len(video.utterances.pi) and len(video.times):
        concrete = (video.utterances.pi @ video.frames.pi.T).amax(dim=1).double().numpy()
    arrays = {
        "from": np.array([each.from_frame for each in found], np.int64),
        "to": np.array([each.to_frame for each in found], np.int64),
        "log_probability": np.array([each.log_probability for each in found], np.float64),
        "text_times": np.asarray(video.text_times, np.float64),
        "text_concreteness": concrete,
    }
    return Answer(arrays, {"has_past": model.adapter.past is not None, "texts": Moments.of(footage.video).texts})


def _log_chance(frames: int, has_past: bool) -> float:
    """log P(u → v) where every factor is uniform."""
    return -2 * math.log(frames) - (2 if has_past else 1) * math.log(max(frames - 1, 1))


def to_json(changes: Sequence[Change], skipped: Sequence[Skipped], warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "schema": 1,
        "transitions": [
            {
                "video": change.footage.name,
                "from": change.from_time,
                "to": change.to_time,
                "score": change.score,
                "log_probability": change.log_probability,
                "from_text": change.from_text,
                "to_text": change.to_text,
            }
            for change in changes
        ],
        "skipped": [{"path": each.path, "reason": each.reason} for each in skipped],
        "warnings": list(warnings),
    }


def render(changes: Sequence[Change], width: int, *, several: bool = False) -> str:
    """A table for people, hardly a line longer than `width`; with the videos' names where there are several."""
    rows = [["", "before", "", "after", "apart", "× chance"]]
    for place, change in enumerate(changes, 1):
        apart = f"{abs(change.to_time - change.from_time):.0f} s"
        times = [clock(change.from_time), "→", clock(change.to_time)]
        rows.append([f"{place}", *times, apart, times_chance(change.score)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    figures = ["  ".join(cell.rjust(size) for cell, size in zip(row, widths, strict=True)) for row in rows]
    names = [one_line(change.footage.name) for change in changes]
    name_width = min(max(map(len, names)), 30) + 2 if several else 0
    room = max(12, (width - len(figures[0]) - name_width - 6) // 2)
    lines = [f"{figures[0]}   {'video':<{name_width}}" if several else f"{figures[0]}   "]
    lines[0] += f"{'narration before':<{room}}   narration after"
    for line, change, name in zip(figures[1:], changes, names, strict=True):
        before, after = (_cut(one_line(text) or "–", room) for text in (change.from_text, change.to_text))
        named = f"{_cut(name, 30):<{name_width}}" if several else ""
        lines.append(f"{line}   {named}{before:<{room}}   {after}")
    return "\n".join(line.rstrip() for line in lines)


def times_chance(score: float) -> str:
    """10^score as people read it: "1,600", "3 million", and powers of ten beyond."""
    if score < 6:
        value = 10**score
        digits = max(0, 1 - math.floor(math.log10(value))) if value < 100 else 1 - math.floor(math.log10(value))
        return f"{round(value, digits):,.{max(0, min(digits, 3))}f}"
    return f"{10 ** (score - 6):,.0f} million" if score < 9 else f"10^{score:.0f}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def draw(
    path: Path, title: str, changes: Sequence[Change], notes: Sequence[str] = (), *, several: bool = False
) -> None:
    """The pairs side by side, two to a line, each frame with what is said; where there are several videos, named."""
    rows = []
    for place, change in enumerate(changes, 1):
        before, after = clock(change.from_time), clock(change.to_time)
        titles = (f"{place}.  {before} → {after}", change.footage.name) if several else (f"{place}.  {before}", after)
        sides = ((change.from_frame, change.from_text), (change.to_frame, change.to_text))
        rows.append(
            [Tile(change.footage.still(frame), title, text) for (frame, text), title in zip(sides, titles, strict=True)]
        )
    draw_sheet(path, title, rows, arrows=True, notes=notes, columns=2)
