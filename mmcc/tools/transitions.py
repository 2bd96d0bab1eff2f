"""The most salient before → after pairs of footage (Eq. 12): computed once, then cached.

The probability of a pair is tiny, and shrinks with the length of its video. So pairs are shown, and compared across
videos, by how many times likelier they are than under a model that knows nothing, where every factor of Eq. 12 is
uniform:

    times_chance = P(u → v) · n² (n - 1)²          (n - 1 once, for a model without a past);  score = its log₁₀

Shapes: n frames, T transitions, k utterances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.source import Skipped
from mmcc.errors import InputError
from mmcc.tools.blank import blank_frames
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.footage import Footage, all_skipped, skipped_for
from mmcc.tools.model import ToolModel

CLEAR = 2.0  # times chance from which a change counts as clear: in a still video every pair has 1
KEPT = 100  # pairs cached per video; a smaller request is answered from these
WINDOW = 10.0  # seconds: two pairs that begin and end within it show the same change
GAP = 3.0  # seconds between before and after: what is nearer is one moment seen twice
_AT_ONCE = 16  # frames looked at together for blank ones: a server answers others in between
Progress = Callable[[list[str]], Iterable[str]]


@dataclass(frozen=True)
class Change:
    """One frame of a video becomes another."""

    footage: Footage
    from_frame: int
    to_frame: int
    log_probability: float  # of Eq. 12
    score: float  # log₁₀ of how many times likelier than chance it is

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
    """What is said in a video, in order of time, and how concrete it is (Eq. 7)."""

    times: list[float]  # [k] centres
    texts: list[str]
    concreteness: list[float]


@dataclass(frozen=True)
class VideoChanges:
    """The changes of one video, best first: the best 100, or more if more were requested."""

    footage: Footage
    changes: list[Change]
    narration: Narration
    blank: int = 0  # frames that were left out because they show nothing

    @property
    def is_clear(self) -> bool:
        """Whether its best pair is clearly likelier than chance."""
        return self.changes[0].score >= math.log10(CLEAR)


@dataclass(frozen=True)
class FoundChanges:
    """The changes of all videos, and the videos without any."""

    videos: list[VideoChanges]
    skipped: list[Skipped]

    @property
    def notes(self) -> list[str]:
        """Warnings for the user."""
        return [
            f"{video.footage.name}: nothing changes clearly; its pairs are hardly likelier than by chance"
            for video in self.videos
            if not video.is_clear
        ]

    @property
    def left_out(self) -> list[str]:
        """Which frames were not considered, for the user."""
        blank = {video.footage.name: video.blank for video in self.videos if video.blank}
        if not blank:
            return []
        who = next(iter(blank)) if len(blank) == 1 else f"{len(blank)} videos"
        return [f"{who}: {sum(blank.values())} frames left out: blank, fades or titles (--keep-blank keeps them)"]

    def best(self, top: int, per_video: int | None = None) -> list[Change]:
        """Across all videos, best first; at most `per_video` from each."""
        every = [change for video in self.videos for change in video.changes[:per_video]]
        return sorted(every, key=lambda change: -change.score)[:top]


def find_changes(
    model: ToolModel,
    footage: Sequence[Footage],
    cache: Cache,
    *,
    top: int = 10,
    window: float = WINDOW,
    gap: float = GAP,
    any_direction: bool = False,
    keep_blank: bool = False,
    progress: Progress = iter,
) -> FoundChanges:
    """The best pairs of every video, at least `gap` seconds apart; the second frame is the later one unless
    `any_direction`; frames that show nothing (mmcc.tools.blank) are left out unless `keep_blank`."""
    asked = _Asked(max(top, KEPT), window, gap, any_direction, keep_blank)
    videos: list[VideoChanges] = []
    skipped: list[Skipped] = []
    for each, _ in zip(footage, progress([each.name for each in footage]), strict=True):
        try:
            changes = _changes_of(model, each, cache, asked)
        except InputError as error:
            skipped.append(skipped_for(error, each))
            continue
        if changes.changes:
            videos.append(changes)
        else:
            skipped.append(Skipped(each.name, _why_none(changes, asked)))
    if not videos:
        raise all_skipped(skipped)
    return FoundChanges(videos, skipped)


class _Asked(NamedTuple):
    """What determines the pairs of a video."""

    top: int
    window: float
    gap: float
    any_direction: bool
    keep_blank: bool


def _why_none(found: VideoChanges, asked: _Asked) -> str:
    frames = len(found.footage.video.times)
    if frames < 2:
        return "has a single frame, so nothing changes"
    if frames - found.blank < 2:
        return "shows nothing but blank frames, fades and titles. --keep-blank keeps them"
    return f"has no two frames that are {asked.gap:g} s apart. Lower --gap"


def _changes_of(model: ToolModel, footage: Footage, cache: Cache, asked: _Asked) -> VideoChanges:
    key = [model.checksum, footage.key, *map(str, asked)]
    kept = cache.remember("transitions", key, lambda: _compute(model, footage, cache, asked))
    chance = _log_chance(len(footage.video.times), kept.facts["has_past"])
    changes = [
        Change(footage, u, v, value, (value - chance) / math.log(10))
        for u, v, value in zip(*(kept.arrays[name].tolist() for name in ("from", "to", "log_probability")), strict=True)
    ]
    said = (kept.arrays[name].tolist() for name in ("text_times", "text_concreteness"))
    times, concreteness = said
    return VideoChanges(footage, changes, Narration(times, kept.facts["texts"], concreteness), kept.facts["blank"])


def _compute(model: ToolModel, footage: Footage, cache: Cache, asked: _Asked) -> Answer:
    from mmcc.data.segments import NodeTimes
    from mmcc.evaluation.transitions import salient_transitions

    video = footage.embedded(model, cache)
    blank = np.zeros(len(video.times), bool) if asked.keep_blank else _blank_frames(model, footage, cache)
    found = salient_transitions(
        model.adapter,
        video,
        top=asked.top,
        window=asked.window,
        forward_only=not asked.any_direction,
        gap=asked.gap,
        left_out=blank,
    )
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
    facts = {"has_past": model.adapter.past is not None, "texts": NodeTimes.of(footage.video).texts}
    return Answer(arrays, {**facts, "blank": int(blank.sum())})


def _blank_frames(model: ToolModel, footage: Footage, cache: Cache) -> NDArray[np.bool_]:
    """[n]: which frames of a video show nothing; vectors cannot tell. `model.between` is called before each batch."""
    count = len(footage.video.times)
    if footage.corpus.manifest.encoding == "float32":
        return np.zeros(count, bool)

    def parts() -> Iterator[NDArray[np.uint8]]:
        for first in range(0, count, _AT_ONCE):
            model.between(1.0)  # all of the video is embedded by now
            yield np.asarray(footage.video.frames(first, min(first + _AT_ONCE, count)))

    return cache.remember("blank", [footage.key], lambda: Answer({"blank": blank_frames(parts())})).arrays["blank"]


def _log_chance(frames: int, has_past: bool) -> float:
    """log P(u → v) where every factor is uniform."""
    return -2 * math.log(frames) - (2 if has_past else 1) * math.log(max(frames - 1, 1))


def to_json(changes: Sequence[Change], skipped: Sequence[Skipped], warnings: Sequence[str]) -> dict[str, Any]:
    return {
        "schema": 1,
        "transitions": [
            {
                "video": change.footage.name,
                "path": change.footage.full_path,
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
