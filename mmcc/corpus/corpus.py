"""Read a corpus: open it, iterate over its videos, take excerpts.

>>> corpus = Corpus.open("kitchen.corpus")
>>> video = corpus["dQw4w9WgXcQ"]
>>> excerpt = video.excerpt(start=30, seconds=64)
>>> excerpt.frames.shape, excerpt.times[0], excerpt.utterances[0].text
((64, 128, 128, 3), 30.0, 'now add the flour')
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mmcc.corpus.contents import SpanCounts
from mmcc.corpus.format import READABLE, SPLITS, Manifest
from mmcc.corpus.index import open_rows
from mmcc.corpus.rows import Rows
from mmcc.corpus.shards import FrameRun, MissingShard, ShardReader, StoredFrames, lost_frames
from mmcc.corpus.source import LabelledClip, Task
from mmcc.media.utterances import Utterance
from mmcc.storage import place

_OPEN_VIDEOS = 4096  # videos whose row and frame positions stay in memory: at most some 100 KB each


class Excerpt(NamedTuple):
    """A stretch of one video: its frames and the utterances spoken in it."""

    frames: NDArray[Any]  # [N, H, W, 3] uint8, or [N, D] float32 in a corpus of features
    times: NDArray[np.float64]  # [N], seconds from the video's start
    utterances: list[Utterance]


class Corpus:
    """A corpus on disk. Cheap to open; can be sent to other processes, which reopen it."""

    def __init__(self, path: Path, manifest: Manifest, rows: Rows) -> None:
        self.path, self.manifest = path, manifest
        self._rows = rows
        self._shards = ShardReader(path, manifest)
        self._videos: dict[str, Video] = {}
        self._lock = Lock()  # a server opens videos in several threads

    @classmethod
    def open(cls, path: str | Path) -> Corpus:
        path = place(path)
        return cls(path, *open_rows(path))

    def __repr__(self) -> str:
        return f"<Corpus {str(self.path)!r}: {len(self)} videos>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Corpus.open, (self.path,)

    def __len__(self) -> int:
        return len(self._readable)

    def __iter__(self) -> Iterator[Video]:
        return (self[video_id] for video_id in self._ids)

    def __contains__(self, video_id: object) -> bool:
        place = self._rows.place_of(video_id) if isinstance(video_id, str) else None
        return place is not None and self._rows.contents.column("status")[place].as_py() in READABLE

    def __getitem__(self, video_id: str) -> Video:
        video = self._videos.get(video_id)
        if video is None:
            place = self._rows.place_of(video_id)
            if place is None:
                raise KeyError(f"no video {video_id!r} in {self.path}; corpus.ids lists them")
            video = self._open(self._rows.row(place))
            with self._lock:
                self._videos[video_id] = video
                if len(self._videos) > _OPEN_VIDEOS:
                    del self._videos[next(iter(self._videos))]  # the oldest
        return video

    def _open(self, row: pa.Table) -> Video:
        return Video(self._shards, row, self.manifest)

    @property
    def ids(self) -> list[str]:
        """The readable videos, sorted by id."""
        return list(self._ids)

    @property
    def tasks(self) -> dict[str, Task]:
        return self.manifest.tasks

    def split(self, name: str) -> list[str]:
        """The ids of one split: train, validation or test."""
        if name not in SPLITS:
            raise ValueError(f"no split {name!r}: choose one of {', '.join(SPLITS)}")
        named = pc.equal(self._rows.contents.column("split"), name).fill_null(False).to_numpy()
        return list(compress(self._ids, named[self._readable].tolist()))

    def columns(self, *names: str) -> pa.Table:
        """Columns of the index with one row per readable video, in the order of `ids`, memory-mapped: many videos are
        listed without opening each."""
        return _in_order(self._rows.columns(*names), self._readable)

    def counts(self, ids: Sequence[str]) -> tuple[SpanCounts, SpanCounts]:
        """How many frames, and how many utterances with words, these videos have in each 8 seconds, from the table of
        contents."""
        places, contents = self._rows.places_of(ids), self._rows.contents
        return SpanCounts.of(contents.column("seen"), places), SpanCounts.of(contents.column("said"), places)

    def with_frames(self) -> list[str]:
        """The ids of the readable videos that have frames; those that nobody has counted are opened."""
        spans = pc.list_value_length(self._rows.contents.column("seen")).take(self._readable).to_pylist()
        return [each for each, seen in zip(self._ids, spans, strict=True) if seen or len(self[each].times)]

    def scan(self, ids: Sequence[str], *names: str) -> Iterator[tuple[NDArray[np.int64], pa.RecordBatch]]:
        """Columns of the index for some videos, in batches, as they are stored; with each batch, which of the `ids` its
        rows are. No memory is taken for more than one batch."""
        return self._rows.scan(self._rows.places_of(ids), *names)

    def rows(self) -> list[str]:
        """The ids of every row of the index, including videos that failed or are missing."""
        return self._named(self._rows.places)

    def lost(self, elsewhere: Mapping[int, int] | None = None) -> dict[str, str]:
        """The videos whose frames are no longer on disk, with the reason; of damage within a file it knows nothing.
        `elsewhere`: shards that need not be on disk, with their sizes."""
        batches = (batch for _, batch in self._rows.scan(np.arange(len(self._rows)), "shard", "batches"))
        lost = lost_frames(self.path, batches, elsewhere)
        if not lost:
            return {}
        places = self._rows.places[np.isin(self._rows.places, list(lost))]
        return {key: lost[place] for key, place in zip(self._named(places), places.tolist(), strict=True)}

    @cached_property
    def _readable(self) -> NDArray[np.int64]:
        """The rows of the readable videos, sorted by id."""
        readable = pc.is_in(self._rows.contents.column("status"), pa.array(READABLE)).to_numpy()
        places: NDArray[np.int64] = self._rows.places[readable[self._rows.places]]
        return places

    @cached_property
    def _ids(self) -> list[str]:
        return self._named(self._readable)

    def _named(self, places: NDArray[np.int64]) -> list[str]:
        ids: list[str] = self._rows.contents.column("id").take(places).to_pylist()
        return ids


def _in_order(table: pa.Table, places: NDArray[np.int64]) -> pa.Table:
    """Those rows; as after most ingests nothing is copied if they are all of them in their order."""
    if np.array_equal(places, np.arange(table.num_rows)):
        return table
    return table.take(places)


class Video:
    """One video of a corpus, read lazily."""

    def __init__(self, shards: ShardReader, row: pa.Table, manifest: Manifest) -> None:
        self._shards, self._row, self._manifest = shards, row, manifest

    def __repr__(self) -> str:
        held = f"{len(self.times)} frames, {len(self.utterances)} utterances"
        return f"<Video {self.id!r}: {self.duration:.1f} s, {held}>"

    def _value(self, column: str) -> Any:
        return self._row.column(column)[0].as_py()

    @cached_property
    def id(self) -> str:
        return str(self._value("id"))

    @cached_property
    def status(self) -> str:
        return str(self._value("status"))

    @cached_property
    def details(self) -> dict[str, Any]:
        """The row's small columns: reason, title, source, captions, caption_kind, mode, duration, decoded, …"""
        small = [name for name in self._row.column_names if name not in ("times", "utterances", "steps", "batches")]
        details: dict[str, Any] = self._row.select(small).to_pylist()[0]
        return details

    @property
    def title(self) -> str:
        return self._value("title") or ""

    @property
    def fps(self) -> float:
        """Frames per second of its corpus, at most."""
        return self._manifest.fps

    @property
    def split(self) -> str:
        return str(self._value("split"))

    @property
    def tasks(self) -> list[str]:
        return self._value("tasks") or []

    @cached_property
    def duration(self) -> float:
        """Seconds, as declared by the file if it declares a length."""
        return self._value("duration") or 0.0

    @cached_property
    def times(self) -> NDArray[np.float64]:
        values = self._row.column("times").chunk(0)[0].values
        return np.empty(0) if values is None else values.to_numpy()

    @property
    def text_vectors(self) -> NDArray[np.float32] | None:
        """One vector per utterance [k, F], in a corpus opened with the embeddings of a text encoder; else None."""
        return None

    @cached_property
    def utterances(self) -> list[Utterance]:
        return [Utterance(**utterance) for utterance in self._value("utterances") or []]

    @cached_property
    def steps(self) -> list[LabelledClip]:
        return [LabelledClip(**step) for step in self._value("steps") or []]

    def excerpt(self, start: float, seconds: float) -> Excerpt:
        """The frames from `start` up to, not including, `start + seconds`, and the utterances centred there.

        An utterance belongs where its centre is, so of two adjacent segments exactly one has it.
        """
        start, end = float(start), float(start + seconds)
        first, last = bisect_left(self._time_list, start), bisect_left(self._time_list, end)
        said = slice(bisect_left(self._centres, start), bisect_left(self._centres, end))
        return Excerpt(self.frames(first, last), self.times[first:last].copy(), self.utterances[said])

    def frames(self, first: int = 0, last: int | None = None, step: int = 1) -> NDArray[Any]:
        """Frames first, first + step, … up to, not including, last; all of them by default."""
        wanted = range(len(self._time_list))[first:last:step]
        out = np.empty((len(wanted), *self._shape), np.float32 if self._manifest.encoding == "float32" else np.uint8)
        self._fetch(wanted)
        done = 0
        while done < len(wanted):
            batch = self._batch_of(wanted[done])
            begin, end = self._firsts[batch], self._firsts[batch + 1]
            inside = range(wanted[done] - begin, min(end, wanted.stop) - begin, step)
            self._stored(batch).read_into(out[done : done + len(inside)], inside)
            done += len(inside)
        return out

    @cached_property
    def _time_list(self) -> list[float]:
        times: list[float] = self.times.tolist()  # looking up two values is ten times faster than in an array
        return times

    @cached_property
    def _centres(self) -> list[float]:
        return [(utterance.start + utterance.end) / 2 for utterance in self.utterances]

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        if self._manifest.encoding == "float32":
            return (self._manifest.size,)
        return self._value("height") or 0, self._value("width") or 0, 3

    @cached_property
    def _batches(self) -> list[FrameRun]:
        return [FrameRun(**batch) for batch in self._value("batches") or []]

    @cached_property
    def _place(self) -> tuple[int, list[FrameRun]]:
        """The shard, and the places in it; both change if somebody compacts the corpus meanwhile."""
        return self._value("shard"), self._batches

    @cached_property
    def _firsts(self) -> list[int]:
        """The number of each record batch's first frame, and the number of frames."""
        return [0, *np.cumsum([batch.frames for batch in self._batches]).tolist()]

    @cached_property
    def _opened(self) -> dict[int, StoredFrames]:
        return {}

    def _batch_of(self, frame: int) -> int:
        return bisect_left(self._firsts, frame + 1) - 1

    def _fetch(self, wanted: range) -> None:
        """Of a remote corpus, get all that is wanted with as few requests as possible."""
        if self._shards.remote and wanted:
            batches = sorted({self._batch_of(frame) for frame in wanted})
            self._shards.fetch(self._value("shard"), [self._batches[batch] for batch in batches])

    def _stored(self, batch: int) -> StoredFrames:
        stored = self._opened.get(batch)
        if stored is None:
            stored = self._find(batch)
            if not self._shards.remote:  # a map costs no memory
                self._opened[batch] = stored
        return stored

    def _find(self, batch: int) -> StoredFrames:
        shard, runs = self._place
        try:
            return self._shards.batch(shard, runs[batch], self._shape)
        except MissingShard:
            moved = self._shards.present.find(self.id, shard, runs)
            if moved is None:
                raise
            self._place = moved
        return self._find(batch)
