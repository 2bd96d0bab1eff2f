"""The rows of an index: who they are is known at once, what they hold is read, and checked, when it is asked for.

Rows are found by number or by id. The last of several rows with the same id counts.
"""

from __future__ import annotations

import mmap
import os
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mmcc.corpus.contents import CONTENTS_SCHEMA, Contents, Place, silent_contents
from mmcc.corpus.format import INDEX_SCHEMA, RESTORE
from mmcc.errors import InputError

_NARROW = 64  # bytes of an id: up to here ids are sorted as one array of bytes, which takes a third of the time


class _Chunk(Protocol):
    """Rows that are stored together."""

    @property
    def num_rows(self) -> int: ...
    def mapped(self) -> pa.RecordBatch: ...
    def read(self) -> pa.RecordBatch: ...


class Rows:
    """The rows of an index, in the order in which they were written."""

    def __init__(self, contents: Sequence[pa.Table], chunks: Sequence[_Chunk]) -> None:
        """`contents`: in CONTENTS_SCHEMA, of the same rows as the chunks."""
        self.contents = pa.concat_tables([CONTENTS_SCHEMA.empty_table(), *contents])
        self._chunks = chunks
        self._firsts = [0, *accumulate(chunk.num_rows for chunk in chunks)]

    @classmethod
    def of_all(cls, parts: Iterable[Rows]) -> Rows:
        """One after the other."""
        parts = list(parts)
        return cls([part.contents for part in parts], [chunk for part in parts for chunk in part._chunks])

    @classmethod
    def of(cls, table: pa.Table) -> Rows:
        """Rows that are there already."""
        return cls([silent_contents(table)], [_Present(batch) for batch in table.to_batches()])

    def __len__(self) -> int:
        return self._firsts[-1]

    def row(self, place: int) -> pa.Table:
        """A row as a table, memory-mapped."""
        number = bisect_right(self._firsts, place) - 1
        batch = self._chunks[number].mapped()
        return pa.Table.from_batches([batch.slice(place - self._firsts[number], 1)])

    def columns(self, *names: str) -> pa.Table:
        """Of all rows, memory-mapped: everything is checked, and what is used is read."""
        batches = [chunk.mapped().select(list(names)) for chunk in self._chunks]
        return pa.Table.from_batches(batches, pa.schema([INDEX_SCHEMA.field(name) for name in names]))

    def scan(self, places: NDArray[np.int64], *names: str) -> Iterator[tuple[NDArray[np.int64], pa.RecordBatch]]:
        """Some rows in batches, as they are stored; with each batch, which of the `places` its rows are. They are read,
        not mapped: no memory is taken for more than one of them."""
        number = np.full(len(self), -1)
        number[places] = np.arange(len(places))
        for first, chunk in zip(self._firsts, self._chunks, strict=False):
            numbers = number[first : first + chunk.num_rows]
            wanted = numbers >= 0
            if wanted.any():
                batch = chunk.read().select(list(names))
                yield numbers[wanted], batch if wanted.all() else batch.filter(pa.array(wanted))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The rows that count, sorted by id."""
        places: NDArray[np.int64] = np.argsort(self._keys, kind="stable")  # by row, where ids are the same
        keys = self._keys[places]
        last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        return places if last.all() else places[last]

    def place_of(self, video_id: str) -> int | None:
        """The row of a video; None if it has none."""
        try:
            key = video_id.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which no index can hold
            return None
        at = int(np.searchsorted(self._sorted_keys, key))
        found = at < len(self._sorted_keys) and self._sorted_keys[at] == key
        return int(self.places[at]) if found else None

    def places_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The rows of many videos; KeyError if one has none."""
        known = self._sorted_keys
        try:
            keys = _keys_of(pa.array(ids, pa.string()))
        except UnicodeEncodeError:  # as in `place_of`
            raise KeyError(next(each for each in ids if self.place_of(each) is None)) from None
        if keys.dtype.kind != known.dtype.kind:
            keys, known = keys.astype(object), known.astype(object)
        at = np.searchsorted(known, keys)
        missing = at >= len(known)
        missing[~missing] = known[at[~missing]] != keys[~missing]
        if missing.any():
            raise KeyError(ids[int(missing.argmax())])
        return self.places[at]

    @cached_property
    def _keys(self) -> NDArray[Any]:
        """The ids as bytes, which sort like text."""
        ids = self.contents.column("id").combine_chunks()
        return _keys_of(pa.concat_arrays(ids.chunks) if isinstance(ids, pa.ChunkedArray) else ids)

    @cached_property
    def _sorted_keys(self) -> NDArray[Any]:
        return self._keys[self.places]


def _keys_of(ids: pa.StringArray) -> NDArray[Any]:
    """Bytes, which sort like text."""
    if not len(ids):
        return np.zeros(0, "S1")
    _, offsets, data = ids.buffers()
    ends = np.frombuffer(offsets, np.int32)[ids.offset : ids.offset + len(ids) + 1].astype(np.int64)
    lengths = np.diff(ends)
    width = int(lengths.max(initial=1))
    letters = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] if data else np.empty(0, np.uint8)
    if width > _NARROW or not letters.all():
        return np.array([each.encode() for each in ids.to_pylist()], object)
    padded = np.zeros((len(ids), width), np.uint8)
    padded[np.arange(width) < lengths[:, None]] = letters
    return padded.view(f"S{width}").ravel()


def require_sound(rows: pa.RecordBatch | pa.Table) -> None:
    """ArrowInvalid unless rows are valid, and have a value wherever readers rely on one: Arrow says which values may be
    missing, but compares nothing with that."""
    rows.validate(full=True)
    for batch in rows.to_batches() if isinstance(rows, pa.Table) else [rows]:
        for name in ("id", "status"):
            if batch.column(name).null_count:
                raise pa.ArrowInvalid(f"a row has no {name}")
        for name in ("tasks", "times", "utterances", "steps", "batches"):
            values = batch.column(name).flatten()
            fields = values.flatten() if pa.types.is_struct(values.type) else []
            if values.null_count or any(each.null_count for each in fields):
                raise pa.ArrowInvalid(f"a value of {name} is missing")


class _Present:
    """Rows in memory."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch, self.num_rows = batch, batch.num_rows

    def mapped(self) -> pa.RecordBatch:
        return self._batch

    read = mapped


class _Stored:
    """Rows in a part of the index. The file stays open, since a writer may merge it into another."""

    def __init__(self, file: _File, place: Place) -> None:
        self._file, self._place, self.num_rows = file, place, place.rows
        self._checked = False

    def mapped(self) -> pa.RecordBatch:
        if not self._checked:
            self.read()  # not the map, whose pages would stay
            self._checked = True
        offset, length, *_ = self._place
        return pa.ipc.read_record_batch(self._file.map.slice(offset, length), INDEX_SCHEMA)

    def read(self) -> pa.RecordBatch:
        path = self._file.path
        content = self._file.read(self._place.offset, self._place.length)
        if zlib.crc32(content) != self._place.crc32:
            raise InputError(path, "is damaged (its checksum is wrong)", RESTORE)
        try:
            batch = pa.ipc.read_record_batch(pa.py_buffer(content), INDEX_SCHEMA)
            require_sound(batch)
        except (OSError, EOFError, pa.ArrowException) as error:
            raise InputError(path, f"cannot be read ({error})", RESTORE) from None
        if batch.num_rows != self.num_rows:
            raise InputError(path, "cannot be read (it has other rows than its table of contents)", RESTORE)
        return batch


class _File:
    """An open file, read and mapped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb")

    def __del__(self) -> None:
        self._file.close()

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._file.fileno(), length, offset)

    @cached_property
    def map(self) -> pa.Buffer:
        return pa.py_buffer(mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ))


def stored_rows(path: Path, contents: Contents) -> Rows:
    """The rows of a part, by its table of contents."""
    if contents.rows.num_rows != sum(place.rows for place in contents.places):
        raise InputError(path, "cannot be read (its table of contents contradicts itself)", RESTORE)
    file = _File(path)
    return Rows([contents.rows], [_Stored(file, place) for place in contents.places])
