"""Cycles of footage: from a moment to its future and back, with what each edge attends to on the way.

The cycles from all starts of a video are computed once and cached; examples are chosen from them. These are the most
concrete starts (Eq. 7): the first few that return from at least 5 s ahead, and the first few that do not return.

Shapes: S starts of a segment, N nodes of the modality that an edge runs over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.source import Skipped
from mmcc.errors import InputError
from mmcc.text import clock
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.footage import Footage, all_skipped, skipped_for
from mmcc.tools.model import ToolModel

if TYPE_CHECKING:
    from mmcc.objectives.losses import Dynamics

VISION, TEXT = "vision", "text"  # as in mmcc.models.nodes, which would load torch
OTHER = {VISION: TEXT, TEXT: VISION}
EDGES = ("counterpart", "future", "future_counterpart", "back")
AWAY = 5.0  # seconds: a nearer frame hardly counts as the future
APART = 10.0  # seconds between the starts shown: cycles from neighbouring frames are much the same
Progress = Callable[[list[str]], Iterable[str]]


class Station(NamedTuple):
    """A node on the way: the one to which an edge gives most weight."""

    modality: str
    node: int  # of the video's frames, or of its utterances in order of time
    time: float
    text: str  # the utterance; at a frame, what is said then
    weight: float  # of the edge that led here; 1 at the start

    def to_json(self) -> dict[str, Any]:
        return {"modality": self.modality, "time": self.time, "text": self.text, "weight": self.weight}


class Edge(NamedTuple):
    """What an edge attends to, along the segment."""

    modality: str
    times: list[float]  # [N]
    weights: NDArray[np.float64]  # [N]


@dataclass(frozen=True)
class Walk:
    """One cycle. Without narration there are no counterparts."""

    footage: Footage
    segment: tuple[float, float]  # seconds
    stations: dict[str, Station]  # start, counterpart, future, future_counterpart, back
    edges: dict[str, Edge]
    concreteness: float
    returns: bool
    returns_hard: bool  # also when continued from the one best future node, not from the mixture

    @property
    def goes_forward(self) -> bool:
        return self.stations["future"].time > self.stations["start"].time

    def to_json(self) -> dict[str, Any]:
        stations = {name: self.stations.get(name) for name in ("start", *EDGES)}
        return {
            "video": self.footage.name,
            "path": self.footage.full_path,
            "segment": list(self.segment),
            **{name: station and station.to_json() for name, station in stations.items()},
            "returns": self.returns,
            "returns_hard": self.returns_hard,
            "goes_forward": self.goes_forward,
            "concreteness": self.concreteness,
            "attention": {
                name: {"modality": edge.modality, "times": edge.times, "weights": edge.weights.tolist()}
                for name, edge in self.edges.items()
            },
        }


class Count(NamedTuple):
    """How the cycles from all nodes of a modality went."""

    cycles: int
    returned: int
    forward: int
    by_chance: float  # how many would return if every edge were uniform


@dataclass(frozen=True)
class VideoCycles:
    """All cycles of a video that start in one modality."""

    footage: Footage
    modality: str
    segments: list[dict[str, Any]]  # arrays of `mmcc.evaluation.cycle_walk.SegmentWalks`
    texts: list[str]
    text_times: list[float]

    @cached_property
    def count(self) -> Count:
        cycles = returned = forward = 0
        chance = 0.0
        for each in self.segments:
            can, returns, goes = each["can_start"], self._returns(each), self._seconds_ahead(each) > 0
            cycles += int(can.sum())
            returned += int((returns & can).sum())
            forward += int((goes & can).sum())
            chance += float(can.sum() / len(can))
        return Count(cycles, returned, forward, chance)

    def examples(self, top: int) -> tuple[list[Walk], list[Walk]]:
        """Cycles from the most concrete starts: those that go ahead and return, and those that do not return."""
        good: list[Walk] = []
        bad: list[Walk] = []
        starts = [
            (float(each["concreteness"][start]), segment, start)
            for segment, each in enumerate(self.segments)
            for start in np.flatnonzero(each["can_start"]).tolist()
        ]
        for _, segment, start in sorted(starts, reverse=True):
            each = self.segments[segment]
            returns, ahead = bool(self._returns(each)[start]), float(self._seconds_ahead(each)[start])
            into = bad if not returns else good if ahead >= AWAY else None
            time = self._times(each, self.modality)[start]
            if into is None or len(into) == top or any(_near(walk, time) for walk in (*good, *bad)):
                continue
            into.append(self._walk(each, start))
        return good, bad

    def from_time(self, time: float) -> Walk:
        """The cycle from the node nearest to a moment, among those with a later node."""
        moments = [
            (abs(self._times(each, self.modality)[start] - time), segment, start)
            for segment, each in enumerate(self.segments)
            for start in np.flatnonzero(each["can_start"]).tolist()
        ]
        _, segment, start = min(moments)
        return self._walk(self.segments[segment], start)

    def _walk(self, each: dict[str, Any], start: int) -> Walk:
        ahead = self._ahead(each)
        runs_over = dict(zip(EDGES, (OTHER[self.modality], ahead, OTHER[ahead], self.modality), strict=True))
        stations = {"start": self._station(each, self.modality, start, 1.0)}
        edges = {}
        for name, modality in runs_over.items():
            weights = each[name][start].astype(np.float64)
            if len(weights):
                edges[name] = Edge(modality, self._times(each, modality), weights)
                best = int(weights.argmax())
                stations[name] = self._station(each, modality, best, float(weights[best]))
        return Walk(
            footage=self.footage,
            segment=(float(each["span"][0]), float(each["span"][1])),
            stations=stations,
            edges=edges,
            concreteness=float(each["concreteness"][start]),
            returns=bool(self._returns(each)[start]),
            returns_hard=bool(each["back_hard"][start] == start),
        )

    def _station(self, each: dict[str, Any], modality: str, place: int, weight: float) -> Station:
        node = int(each["frames" if modality == VISION else "utterances"][place])
        if modality == TEXT:
            return Station(TEXT, node, self.text_times[node], self.texts[node], weight)
        time = float(self.footage.video.times[node])
        return Station(VISION, node, time, self.footage.said_at(time), weight)

    def _times(self, each: dict[str, Any], modality: str) -> list[float]:
        if modality == VISION:
            times: list[float] = self.footage.video.times[each["frames"]].tolist()
            return times
        return [self.text_times[node] for node in each["utterances"].tolist()]

    def _ahead(self, each: dict[str, Any]) -> str:
        return self.modality if bool(each["within"]) else OTHER[self.modality]

    def _returns(self, each: dict[str, Any]) -> NDArray[np.bool_]:
        return np.asarray(each["back"].argmax(axis=1) == np.arange(len(each["back"])))

    def _seconds_ahead(self, each: dict[str, Any]) -> NDArray[np.float64]:
        """[S]: how far ahead the best future node lies; negative if it is earlier."""
        future = np.array(self._times(each, self._ahead(each)))[each["future"].argmax(axis=1)]
        return np.asarray(future - np.array(self._times(each, self.modality)))


@dataclass(frozen=True)
class FoundCycles:
    """The cycles of all videos, and the videos without any."""

    videos: list[VideoCycles]
    skipped: list[Skipped]

    @property
    def count(self) -> Count:
        """Over all videos."""
        return Count(*(sum(parts) for parts in zip(*(video.count for video in self.videos), strict=True)))

    def examples(self, top: int, per_video: int | None = None) -> tuple[list[Walk], list[Walk]]:
        """Across all videos, the most concrete first, at most `per_video` from each; those that return, and others."""
        both = [video.examples(min(top, per_video or top)) for video in self.videos]
        kinds = ([walk for pair in both for walk in pair[kind]] for kind in (0, 1))
        good, bad = (sorted(walks, key=lambda walk: -walk.concreteness)[:top] for walks in kinds)
        return good, bad

    def from_time(self, time: float) -> list[Walk]:
        return [video.from_time(time) for video in self.videos]


def find_cycles(
    model: ToolModel,
    footage: Sequence[Footage],
    cache: Cache,
    *,
    modality: str = VISION,
    start: float | None = None,
    progress: Progress = iter,
) -> FoundCycles:
    """All cycles of every video that start in a modality; a video that ends before `start` is skipped."""
    require_cycles(model, cache)
    videos: list[VideoCycles] = []
    skipped: list[Skipped] = []
    for each, _ in zip(footage, progress([each.name for each in footage]), strict=True):
        try:
            videos.append(_cycles_of(model, each, cache, modality, start))
        except InputError as error:
            skipped.append(skipped_for(error, each))
    if not videos:
        raise all_skipped(skipped)
    return FoundCycles(videos, skipped)


def require_cycles(model: ToolModel, cache: Cache) -> None:
    """A cycle goes to the future and back, through both modalities: not every objective trains all of that."""

    def ask() -> Answer:
        from mmcc.evaluation.adapters import TrainedAdapter

        adapter = model.adapter
        return Answer(facts={"walks": isinstance(adapter, TrainedAdapter) and adapter.walks_cycles, "is": adapter.name})

    known = cache.remember("walks-cycles", [model.checksum], ask).facts
    if not known["walks"]:
        raise InputError(
            model.name, f"is a {known['is']} model, which cannot follow cycles", "Name an MMCC or MMCC+ model."
        )


def _cycles_of(model: ToolModel, footage: Footage, cache: Cache, modality: str, start: float | None) -> VideoCycles:
    if start is not None and start > max(footage.video.duration, float(footage.video.times[-1])):
        raise InputError(footage.name, f"ends at {clock(footage.video.duration)}", "Choose an earlier start.")
    kept = cache.remember("cycles", [model.checksum, footage.key], lambda: _compute(model, footage, cache))
    segments = list(_unpacked(kept, modality))
    if not segments:
        seen = "two frames" if modality == VISION else "two utterances"
        raise InputError(footage.name, f"has no segment with {seen}, so a cycle has nowhere to go", "")
    return VideoCycles(footage, modality, segments, kept.facts["texts"], kept.arrays["text_times"].tolist())


def _compute(model: ToolModel, footage: Footage, cache: Cache) -> Answer:
    from mmcc.data.segments import NodeTimes
    from mmcc.evaluation.adapters import TrainedAdapter
    from mmcc.evaluation.cycle_walk import walk_video
    from mmcc.objectives.spec import spec_of
    from mmcc.training.config import Config

    adapter = model.adapter
    assert isinstance(adapter, TrainedAdapter), "`require_cycles` has seen to that"
    config = Config.from_yaml(model.folder / "config.yaml")
    fps = footage.corpus.manifest.fps
    embedded = footage.embedded(model, cache)
    dynamics, cycle = cast("Dynamics", adapter.model), spec_of(config.objective).walk_of(config.objective)
    walks = walk_video(dynamics, embedded, footage.video, fps, config.data, cycle)
    arrays: dict[str, NDArray[Any]] = {"text_times": np.asarray(embedded.text_times, np.float64)}
    for place, each in enumerate(walks):
        shown_until = float(footage.video.times[each.frames[-1]]) + 1 / fps
        named = {
            "span": np.array([each.start, min(each.end, shown_until)]),
            "within": np.array(each.ahead == each.modality),
            "frames": each.frames,
            "utterances": each.utterances,
            "can_start": each.can_start,
            "concreteness": each.concreteness,
            **{name: getattr(each, name) for name in (*EDGES, "back_hard")},
        }
        arrays |= {f"{place}.{each.modality}.{name}": array for name, array in named.items()}
    return Answer(arrays, {"texts": NodeTimes.of(footage.video).texts})


def _unpacked(kept: Answer, modality: str) -> Iterator[dict[str, Any]]:
    """The arrays of each segment, by name."""
    segments: dict[int, dict[str, Any]] = {}
    for full_name, array in kept.arrays.items():
        place, _, rest = full_name.partition(".")
        of, _, name = rest.partition(".")
        if of == modality:
            segments.setdefault(int(place), {})[name] = array
    yield from (segments[place] for place in sorted(segments))


def to_json(
    walks: Sequence[Walk], found: FoundCycles, skipped: Sequence[Skipped], warnings: Sequence[str]
) -> dict[str, Any]:
    return {
        "schema": 1,
        "videos": [
            {
                "video": video.footage.name,
                "path": video.footage.full_path,
                "start_modality": video.modality,
                "cycles": video.count.cycles,
                "returned": video.count.returned,
                "returned_by_chance": video.count.by_chance,
                "forward": video.count.forward,
            }
            for video in found.videos
        ],
        "cycles": [walk.to_json() for walk in walks],
        "skipped": [{"path": each.path, "reason": each.reason} for each in skipped],
        "warnings": list(warnings),
    }


def _near(walk: Walk, time: float) -> bool:
    return abs(walk.stations["start"].time - time) < APART
