"""A library to browse: the videos of a corpus, or of a folder of video files, as cards that can be searched and sorted.

Cards are made of whole columns of the index, so that twenty thousand videos are listed without opening any of them.

Shapes: V videos.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mmcc.corpus.source import Skipped, Task
from mmcc.errors import InputError
from mmcc.text import one_line
from mmcc.tools.cache import Cache
from mmcc.tools.footage import Begin, Footage, footage_of, require_fitting
from mmcc.tools.model import ToolModel
from mmcc.tools.search_index import Library as Searched
from mmcc.tools.search_index import open_library

Sort = Literal["title", "duration", "coverage", "task"]
_COLUMNS = ("id", "title", "split", "tasks", "duration", "times", "utterances")
_APART = 1e6  # seconds between two videos on one axis of time: no video is as long


class Card(NamedTuple):
    """What is shown of a video in a list."""

    key: str  # letters, digits, "-" and "_": says nothing about where the video is
    id: str
    title: str
    duration: float
    task: str | None
    coverage: float | None  # share of the duration in which something is said
    utterances: int
    split: str
    frames: int


class Page(NamedTuple):
    """Some of the cards found, and how many there are."""

    total: int
    cards: list[Card]


class Counts(NamedTuple):
    """How much there is of everything."""

    videos: int
    hours: float
    frames: int
    utterances: int


class VideoLibrary:
    """The videos of a corpus or a folder that have frames."""

    def __init__(self, searched: Searched) -> None:
        self.searched, self.source = searched, searched.source
        self.skipped: list[Skipped] = list(searched.skipped)
        self.notes: list[str] = list(searched.notes)
        corpora = [searched.corpus] if searched.corpus is not None else [each.corpus for each in searched.opened]
        tables = [corpus.columns(*_COLUMNS) for corpus in corpora]
        table = pa.concat_tables(tables) if tables else pa.table({})
        has_frames = pc.greater(pc.list_value_length(table["times"]), 0)
        table = table if pc.all(has_frames).as_py() else table.filter(has_frames)
        self.tasks: dict[str, Task] = {name: task for corpus in corpora for name, task in corpus.tasks.items()}
        self._opened = {each.video.id: each for each in searched.opened}
        self._utterances = table["utterances"]
        self._cards = list(self._make_cards(table))
        self._place = {card.key: place for place, card in enumerate(self._cards)}
        self._orders: dict[Sort, NDArray[np.int64]] = {}

    @property
    def name(self) -> str:
        """For people: the folder's."""
        return one_line(self.source.absolute().name)

    def __len__(self) -> int:
        return len(self._cards)

    def __contains__(self, key: object) -> bool:
        return key in self._place

    @property
    def cards(self) -> Sequence[Card]:
        return self._cards

    def card(self, key: str) -> Card:
        """KeyError for a key that no video has."""
        return self._cards[self._place[key]]

    def footage(self, key: str) -> Footage:
        """A video of the library; KeyError for a key that no video has."""
        card = self.card(key)
        corpus = self.searched.corpus
        return self._opened[card.id] if corpus is None else footage_of(corpus, card.id)

    @cached_property
    def counts(self) -> Counts:
        cards = self._cards
        hours = sum(each.duration for each in cards) / 3600
        return Counts(len(cards), hours, sum(each.frames for each in cards), sum(each.utterances for each in cards))

    def page(
        self,
        query: str = "",
        *,
        task: str = "",
        sort: Sort = "title",
        descending: bool = False,
        offset: int = 0,
        limit: int = 60,
    ) -> Page:
        """Cards of the videos with every word of a query in their title, task or narration, and of a task by title."""
        order = self._order(sort)
        kept = self._matching(query)
        if task:
            of_task = np.fromiter((each.task == task for each in self._cards), bool, len(self))
            kept = of_task if kept is None else kept & of_task
        found = order if kept is None else order[kept[order]]
        found = found[::-1] if descending else found
        return Page(len(found), [self._cards[place] for place in found[offset : offset + limit].tolist()])

    def _order(self, sort: Sort) -> NDArray[np.int64]:
        """[V]: places of the cards; those that lack what is sorted by come last, and the rest is by title."""
        if sort not in self._orders:
            keys: dict[Sort, Callable[[Card], tuple[object, ...]]] = {
                "title": lambda card: (),
                "duration": lambda card: (card.duration,),
                "coverage": lambda card: (card.coverage is None, card.coverage or 0.0),
                "task": lambda card: (card.task is None, (card.task or "").casefold()),
            }
            by = keys[sort]
            places = sorted(
                range(len(self)), key=lambda at: (*by(self._cards[at]), self._cards[at].title.casefold(), at)
            )
            self._orders[sort] = np.array(places, np.int64)
        return self._orders[sort]

    def _matching(self, query: str) -> NDArray[np.bool_] | None:
        """[V]; None if every video matches."""
        kept: NDArray[np.bool_] | None = None
        for word in query.lower().split():
            named, spoken = self._searchable
            has = pc.match_substring(named, word).to_numpy(zero_copy_only=False).copy()
            for texts, of_video in spoken:
                has[of_video[pc.match_substring(texts, word).to_numpy(zero_copy_only=False)]] = True
            kept = has if kept is None else kept & has
        return kept

    @cached_property
    def _searchable(self) -> tuple[pa.Array, list[tuple[pa.Array, NDArray[np.int64]]]]:
        """In lower case: [V] title and task; and, part by part, everything that is said, with the video of each."""
        named = pa.array([f"{each.title}\n{each.task or ''}".lower() for each in self._cards], pa.large_string())
        spoken = [
            (pc.utf8_lower(pc.fill_null(pc.struct_field(part.flatten(), "text"), "")), of_video)
            for part, of_video in _parts(self._utterances)
        ]
        return named, spoken

    def _make_cards(self, table: pa.Table) -> Sequence[Card]:
        ids, titles, splits, tasks = (table[name].to_pylist() for name in ("id", "title", "split", "tasks"))
        frames = pc.list_value_length(table["times"]).to_pylist()
        said = pc.fill_null(pc.list_value_length(table["utterances"]), 0).to_pylist()
        last = _last_times(table["times"])
        declared = pc.fill_null(table["duration"], 0.0).to_numpy()
        durations = np.maximum(declared, last)
        covered = _covered(table["utterances"])
        shares = np.divide(covered, durations, out=np.zeros(len(ids)), where=durations > 0).clip(0, 1)
        names = [each.name for each in self.searched.opened] or ids  # a file's name says more than its id
        return [
            Card(
                key_of(ids[at]),
                ids[at],
                one_line(titles[at] or names[at]),
                float(durations[at]),
                self._task_title(tasks[at]),
                float(shares[at]) if durations[at] > 0 else None,
                int(said[at]),
                str(splits[at] or ""),
                int(frames[at]),
            )
            for at in range(len(ids))
        ]

    def _task_title(self, tasks: list[str] | None) -> str | None:
        known = self.tasks.get(tasks[0]) if tasks else None
        return one_line(known.title or known.id) if known else None


def open_videos(model: ToolModel, source: Path, cache: Cache, progress: Begin | None = None) -> VideoLibrary:
    """A corpus, a folder of videos or a video; files are read the first time. InputError for a corpus that the model
    cannot read, and if there is no video with frames."""
    searched = open_library(model, source, cache, progress)
    if searched.corpus is not None:
        require_fitting(model, searched.corpus)
    library = VideoLibrary(searched)
    if not len(library):
        raise InputError(source, "contains no video with frames", "Ingest some into it.")
    return library


def key_of(video: str) -> str:
    """Of a video's id: 96 bits, so that two of a billion videos still differ."""
    digest = hashlib.sha256(video.encode("utf-8", "surrogatepass")).digest()
    return urlsafe_b64encode(digest[:12]).decode()


def _parts(lists: pa.ChunkedArray) -> Iterator[tuple[pa.Array, NDArray[np.int64]]]:
    """A column of lists as it is stored, part by part; and which video each of a part's values belongs to."""
    first = 0
    for part in lists.chunks:
        yield part, pc.list_parent_indices(part).to_numpy() + first
        first += len(part)


def _last_times(times: pa.ChunkedArray) -> NDArray[np.float64]:
    """[V]: of lists that are not empty, the last value."""
    found = [np.empty(0)]
    for part in times.chunks:
        ends = np.cumsum(pc.list_value_length(part).to_numpy(zero_copy_only=False))
        found.append(part.flatten().to_numpy()[ends - 1])
    return np.concatenate(found)


def _covered(utterances: pa.ChunkedArray) -> NDArray[np.float64]:
    """[V]: seconds in which something is said; where two utterances overlap, once."""
    covered = np.zeros(len(utterances))
    for part, of_video in _parts(utterances):
        spans = part.flatten()
        if not len(spans):
            continue
        starts, ends = (
            pc.struct_field(spans, name).to_numpy(zero_copy_only=False) + of_video * _APART for name in ("start", "end")
        )
        order = np.argsort(starts, kind="stable")
        starts, ends, of_video = starts[order], ends[order], of_video[order]
        until = np.concatenate([[-np.inf], np.maximum.accumulate(ends)[:-1]])
        covered += np.bincount(of_video, np.maximum(ends - np.maximum(starts, until), 0.0), len(covered))
    return covered
