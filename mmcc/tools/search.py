"""Search a whole corpus for what comes after a frame, what came before it, or what changes from one thing to another.

A query by a frame of the corpus, or a repeated query, loads no torch; a text or a photo is embedded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from mmcc.corpus.source import Skipped
from mmcc.errors import InputError
from mmcc.evaluation.search import Floats, Ints, best_apart, changes, hide_near, scores_of
from mmcc.text import parse_clock
from mmcc.tools.alike import ENOUGH, all_alike
from mmcc.tools.cache import Cache
from mmcc.tools.familiar import domain_warnings
from mmcc.tools.footage import Footage
from mmcc.tools.model import ToolModel
from mmcc.tools.nearest import Nearest
from mmcc.tools.queries import (
    Node,
    frame_at,
    is_photo,
    look_at,
    look_at_photo,
    look_over_photo,
    open_video,
    read_texts,
    refuse_strangers,
)
from mmcc.tools.search_index import Library, SearchIndex
from mmcc.tools.stored_rows import StoredRows

WINDOW = 10.0  # seconds: two frames within it are the same moment
_AT_FIRST, _AT_MOST = 64, 4096  # candidates requested from FAISS per hit


@dataclass(frozen=True)
class FrameHit:
    """A frame of the library."""

    footage: Footage
    frame: int

    @property
    def time(self) -> float:
        return float(self.footage.video.times[self.frame])

    @property
    def text(self) -> str:
        return self.footage.said_at(self.time)

    def to_json(self, prefix: str = "") -> dict[str, Any]:
        return {f"{prefix}time": self.time, f"{prefix}text": self.text}


@dataclass(frozen=True)
class Hit:
    """A moment found; or two, the first becoming the second."""

    score: float  # a cosine, or the mean of several
    moments: tuple[FrameHit, ...]

    def to_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {"video": self.moments[0].footage.name, "path": self.moments[0].footage.full_path}
        content["score"] = self.score
        for moment, prefix in zip(self.moments, ("",) if len(self.moments) == 1 else ("from_", "to_"), strict=True):
            content |= moment.to_json(prefix)
        return content


@dataclass(frozen=True)
class SearchResult:
    """Hits, best first, and the question they answer."""

    question: str
    hits: list[Hit]
    asked_with: FrameHit | Path | None  # the frame of the question, or its photo; None for a text
    warnings: list[str]
    skipped: list[Skipped]

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "question": self.question,
            "hits": [hit.to_json() for hit in self.hits],
            "skipped": [{"path": each.path, "reason": each.reason} for each in self.skipped],
            "warnings": self.warnings,
        }


@dataclass(frozen=True)
class Searcher:
    """A model, the library it searches, and the index of that library."""

    model: ToolModel
    library: Library
    index: SearchIndex
    cache: Cache

    def text(self, text: str, top: int = 10, window: float = WINDOW) -> SearchResult:
        """Moments that show what a text describes."""
        texts = read_texts(self.model, [text], self.cache)
        hits = self._nearest(texts.pi[0], top, window)
        return self._found(f"like “{text}”", hits, None, texts.warnings(self.model))

    def after(self, frame: str, top: int = 10, window: float = WINDOW) -> SearchResult:
        """What a frame becomes. FRAME: a photo, or VIDEO@1:23 of a file or of the library."""
        seen = self._look(frame)
        hits = self._nearest(seen.node.future, top, window, seen)
        told = [*seen.notes, *self._whatever_it_is_shown(self.index.future, "after")]
        return self._found(f"after {frame}", hits, seen.shown, told)

    def before(self, frame: str, top: int = 10, window: float = WINDOW) -> SearchResult:
        """What turns into a frame."""
        seen = self._look(frame)
        if seen.node.past is None:
            raise InputError(self.model.name, "was not trained to predict the past", "Search with --after instead.")
        hits = self._nearest(seen.node.past, top, window, seen)
        told = [*seen.notes, *self._whatever_it_is_shown(self.index.past, "before")]
        return self._found(f"before {frame}", hits, seen.shown, told)

    def change(self, first: str, second: str, top: int = 10, window: float = WINDOW) -> SearchResult:
        """Two moments of one video: the first matches one text, the later one the other."""
        texts = read_texts(self.model, [first, second], self.cache)
        refuse_strangers(self.model, texts)
        nodes = self.index.nodes
        scores_N, partner_N = changes(nodes, texts.pi[0], texts.pi[1])
        times = np.asarray(nodes.time)
        best = best_apart(scores_N, nodes.video, (times, times[partner_N]), top, window)
        hits = [Hit(float(scores_N[at]), (self._moment(at), self._moment(partner_N[at]))) for at in best]
        return self._found(f"from “{first}” to “{second}”", hits, None, texts.warnings(self.model))

    def _whatever_it_is_shown(self, predicted: StoredRows | None, when: str) -> list[str]:
        """One line if the model predicts the same of all frames of the library."""
        count = 0 if predicted is None else len(predicted)
        some = np.unique(np.linspace(0, max(count - 1, 0), min(count, ENOUGH)).round().astype(np.int64))
        if predicted is None or not all_alike(predicted.take(some)):
            return []
        return [f"{self.model.name} expects the same {when} every picture: what is found does not depend on yours."]

    def _nearest(self, query_D: Floats, top: int, window: float, seen: _Seen | None = None) -> list[Hit]:
        query = np.asarray(query_D, np.float32)
        nearest = self.index.nearest
        places, scores = (
            self._exact(query, top, window, seen)
            if nearest is None
            else self._approximate(nearest, query, top, window, seen)
        )
        return [Hit(float(score), (self._moment(at),)) for at, score in zip(places, scores, strict=True)]

    def _exact(self, query_D: Floats, top: int, window: float, seen: _Seen | None) -> tuple[Ints, Floats]:
        nodes = self.index.nodes
        scores_N = scores_of(nodes.pi, query_D)
        if seen and seen.video is not None:
            hide_near(scores_N, nodes, seen.video, seen.time, window)
        best = best_apart(scores_N, nodes.video, (nodes.time,), top, window)
        return best, scores_N[best]

    def _approximate(
        self, nearest: Nearest, query_D: Floats, top: int, window: float, seen: _Seen | None
    ) -> tuple[Ints, Floats]:
        """Of the candidates that FAISS finds, the best by their real vectors."""
        wanted = _AT_FIRST
        while True:
            places = np.sort(nearest.candidates(query_D, wanted * top))
            scores = self.index.of_nodes("pi", places) @ query_D
            video, time = (self.index.of_nodes(name, places) for name in ("video", "time"))
            if seen and seen.video is not None:
                scores[(video == seen.video) & (np.abs(time - seen.time) <= window)] = -np.inf
            best = best_apart(scores, video, (time,), top, window)
            if len(best) == top or wanted >= _AT_MOST:
                return places[best], scores[best]
            wanted *= 8

    def _moment(self, node: int | np.integer[Any]) -> FrameHit:
        place = np.array([node])
        video, frame = (int(self.index.of_nodes(name, place)[0]) for name in ("video", "frame"))
        return FrameHit(self.library.footage(self.index.videos[video]), frame)

    def _look(self, frame: str) -> _Seen:
        """The frame of a question: a photo, or a frame of the library or of a file."""
        if is_photo(frame) and Path(frame).exists():
            path = Path(frame)
            return _Seen(
                look_at_photo(self.model, path, self.cache),
                path,
                look_over_photo(self.model, path, self.cache).warnings,
            )
        name, at, moment = frame.rpartition("@")
        if not at:
            raise InputError(frame, "is neither a photo nor a moment of a video", "Write VIDEO@1:23.")
        try:
            time = parse_clock(moment)
        except ValueError as error:
            raise InputError(frame, str(error), "Write VIDEO@1:23.") from None
        known = self._video_named(name)
        return self._look_in_library(known, time) if known else self._look_in_file(name, time)

    def _video_named(self, name: str) -> str:
        """A video of the library by its name, or by the name without folders or ending if no other has it; else ""."""
        if name in self.index.videos:
            return name
        if Path(name).exists():
            return ""
        short = [each for each in self.index.videos if name in _short_names(each)]
        if len(short) > 1:
            raise InputError(name, f"is the name of {len(short)} videos", f"Name one in full: {', '.join(short[:3])}.")
        return short[0] if short else ""

    def _look_in_library(self, video: str, time: float) -> _Seen:
        node = self.index.node_at(video, time)
        past = self.index.past
        present_D = self.index.of_nodes("pi", np.array([node]))[0]
        arrays = (present_D, self.index.future[node], None if past is None else past[node])
        present, future, before = (None if each is None else np.asarray(each, np.float32) for each in arrays)
        assert present is not None and future is not None
        moment = self._moment(node)
        number = self.index.videos.index(video)
        return _Seen(Node(present, future, before), moment, [], number, moment.time)

    def _look_in_file(self, name: str, time: float) -> _Seen:
        if not Path(name).exists() and ":" not in name:
            some = ", ".join(self.index.videos[:3])
            raise InputError(name, "is neither a file nor a video of the index", f"The index contains {some}, …")
        footage = open_video(self.model, name, self.cache)
        frame = frame_at(footage, time)
        node = look_at(self.model, footage, slice(frame, frame + 1), self.cache)
        notes = [self.model.note] if self.model.note else []
        notes += domain_warnings(self.model, [footage], self.cache)
        return _Seen(node, FrameHit(footage, frame), notes)

    def _found(
        self, question: str, hits: list[Hit], asked_with: FrameHit | Path | None, notes: Sequence[str]
    ) -> SearchResult:
        return SearchResult(
            question,
            hits,
            asked_with,
            [*self.library.notes, *self.index.facts["warnings"], *notes],
            list(self.library.skipped),
        )


def _short_names(video: str) -> set[str]:
    path = PurePath(video)
    return {path.name, path.stem, str(path.with_suffix("")) if path.name else video}


@dataclass(frozen=True)
class _Seen:
    """The frame of a question; `video` and `time` if it is one of the library's."""

    node: Node
    shown: FrameHit | Path
    notes: list[str]
    video: int | None = None
    time: float = 0.0
