"""The table of contents at the end of a part of the index: which videos its rows are, and where the rows are.

After the end of its Arrow stream, where readers of streams stop, a part has a second stream and 16 bytes:

    id, status, split    of every row
    seen, said           how many frames it has, and utterances with words, in each 8 seconds
    (metadata)           batches: [offset, length, rows, crc32] of each record batch before it
    <Q I 4s>             bytes of the second stream; CRC-32 of everything before it; "mmtc"

So a corpus of a million videos is opened by reading a hundredth of its index. The checksum of the file continues that
of what comes before: whoever knows the one, as these bytes tell, need not read the rest to compare the other.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mmcc.corpus.format import END_OF_STREAM, INDEX_SCHEMA
from mmcc.text import has_words
from mmcc.untrusted import Malformed, parse_json

SPAN = 8.0  # seconds in which nodes are counted; a power of two, so that dividing by it is exact
MOST = 255  # of a count: so many, or more
_SPANS = 4096  # of a video, at most: nine hours. Captions may go on for years, by mistake
_END = struct.Struct("<QI4s")
_MARK = b"mmtc"
_BATCHES = b"batches"
_COUNTS = pa.list_(pa.uint8())

CONTENTS_SCHEMA = pa.schema(
    [
        *(INDEX_SCHEMA.field(name) for name in ("id", "status", "split")),
        ("seen", _COUNTS),
        ("said", _COUNTS),
    ]
)


class Place(NamedTuple):
    """Where a record batch is in its part."""

    offset: int
    length: int
    rows: int
    crc32: int


class Contents(NamedTuple):
    """What a part holds."""

    rows: pa.Table  # in CONTENTS_SCHEMA
    places: list[Place]


class SpanCounts(NamedTuple):
    """How many nodes some videos have in each 8 seconds. Videos whose nodes nobody has counted have no spans."""

    starts: NDArray[np.int64]  # of each video: where its spans begin
    lengths: NDArray[np.int64]  # of each video: how many spans it has
    values: NDArray[np.uint8]  # of all spans, of other videos, too

    @classmethod
    def of(cls, column: pa.ChunkedArray, places: NDArray[np.int64]) -> SpanCounts:
        """Of the rows at these places. Counts are not copied row by row, which takes seconds for a million rows."""
        starts, lengths, values, before = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)], 0
        for lists in column.chunks:
            offsets = lists.offsets.to_numpy().astype(np.int64)
            counted = lists.is_valid().to_numpy(zero_copy_only=False)
            starts.append(before + offsets[:-1])
            lengths.append(np.where(counted, np.diff(offsets), 0))
            values.append(lists.values.to_numpy())
            before += len(values[-1])
        return cls(np.concatenate(starts)[places], np.concatenate(lengths)[places], np.concatenate(values))

    def some(self, which: NDArray[np.int64]) -> SpanCounts:
        return SpanCounts(self.starts[which], self.lengths[which], self.values)


def part_of(batches: Iterable[pa.RecordBatch]) -> bytes:
    """The content of a part with these rows."""
    messages: list[Any] = [INDEX_SCHEMA.serialize()]
    places, rows, at = [], [], messages[0].size
    for batch in batches:
        message = batch.serialize()
        places.append(Place(at, message.size, batch.num_rows, zlib.crc32(message)))
        rows.append(contents_of(batch))
        messages.append(message)
        at += message.size
    table = pa.Table.from_batches(rows, CONTENTS_SCHEMA).combine_chunks()
    return assembled(messages, Contents(table, places))


def assembled(messages: Iterable[Any], contents: Contents) -> bytes:
    """A part of a schema and record batches, as Arrow writes them, and what is said about them."""
    stream = b"".join([*messages, END_OF_STREAM])
    told = CONTENTS_SCHEMA.with_metadata({_BATCHES: json.dumps(contents.places)})
    listed = [batch.serialize() for batch in contents.rows.to_batches()]
    ending = b"".join([told.serialize(), *listed, END_OF_STREAM])
    return b"".join([stream, ending, _END.pack(len(ending), zlib.crc32(stream), _MARK)])


def read_contents(path: Path, crc32: int) -> Contents | None:
    """What a part with this checksum says it holds; None if it says nothing, as parts of other programs.

    ValueError or an error of Arrow if it is damaged, FileNotFoundError if it is gone.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _END.size))
        end = file.read()
        if not end.endswith(_MARK) or len(end) < _END.size:
            return None
        length, before, _ = _END.unpack(end)
        if length > size - _END.size:
            raise Malformed("its table of contents is longer than the file")
        file.seek(size - _END.size - length)
        tail = file.read()
    if zlib.crc32(tail, before) != crc32:
        raise Malformed("its checksum is wrong")
    table = pa.ipc.open_stream(tail[:length]).read_all()
    if not table.schema.equals(CONTENTS_SCHEMA):
        raise Malformed("its table of contents has other columns")
    table.validate(full=True)
    if table.column("id").null_count or table.column("status").null_count:
        raise Malformed("its table of contents lacks an id or a status")
    told = (table.schema.metadata or {}).get(_BATCHES, b"")
    places = [_place(each, size - _END.size - length) for each in parse_json(told, list)]
    return Contents(table.replace_schema_metadata(), places)


def _place(told: Any, end: int) -> Place:
    """Of a record batch before this byte; nothing is allocated for one that claims to be longer."""
    if not isinstance(told, list) or [type(each) for each in told] != [int] * len(Place._fields):
        raise Malformed("its table of contents does not say where its rows are")
    place = Place(*told)
    if min(place) < 0 or place.offset + place.length > end:
        raise Malformed("its table of contents names rows that it does not have")
    return place


def contents_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    """What is said about rows of an index."""
    seen, said = seen_in(batch), said_in(batch)
    counts = (_counts(nodes.times, nodes.rows, batch.num_rows) for nodes in (seen, said))
    keys = [batch.column(name) for name in ("id", "status", "split")]
    return pa.RecordBatch.from_arrays([*keys, *counts], schema=CONTENTS_SCHEMA)


class RowNodes(NamedTuple):
    """Nodes of rows of an index, one row after the other."""

    rows: NDArray[np.int64]  # the row of each node
    times: NDArray[np.float64]
    texts: pa.StringArray | None  # of utterances


def seen_in(batch: pa.RecordBatch) -> RowNodes:
    """The frames of rows, from their column `times`."""
    lists = batch.column("times")
    return RowNodes(_rows_of(lists), _numbers(lists.flatten()), None)


def said_in(batch: pa.RecordBatch) -> RowNodes:
    """The centres of the utterances that have words, from their column `utterances`."""
    lists = batch.column("utterances")
    spoken = lists.flatten()
    centres = (_numbers(spoken.field("start")) + _numbers(spoken.field("end"))) / 2
    texts = spoken.field("text")
    with_words = _have_words(texts)
    return RowNodes(_rows_of(lists)[with_words], centres[with_words], texts.filter(pa.array(with_words)))


def silent_contents(table: pa.Table) -> pa.Table:
    """What is said about rows that nobody has counted."""
    unknown = pa.nulls(table.num_rows, _COUNTS)
    keys = [table.column(name) for name in ("id", "status", "split")]
    return pa.Table.from_arrays([*keys, unknown, unknown], schema=CONTENTS_SCHEMA)


def _counts(times: NDArray[np.float64], rows: NDArray[np.int64], total: int) -> pa.ListArray:
    """How many times each row has in every span, up to the last one that has any."""
    within = (times >= 0) & (times < SPAN * _SPANS)
    span, rows = (times[within] / SPAN).astype(np.int64), rows[within]
    lengths = np.zeros(total, np.int64)
    np.maximum.at(lengths, rows, span + 1)
    ends = np.cumsum(lengths)
    counted = np.bincount((ends - lengths)[rows] + span, minlength=int(ends[-1]) if total else 0)
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, np.minimum(counted, MOST).astype(np.uint8))


def _rows_of(lists: pa.ListArray) -> NDArray[np.int64]:
    """The row of each value."""
    rows: NDArray[np.int64] = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    return rows


def _numbers(values: pa.Array) -> NDArray[np.float64]:
    numbers: NDArray[np.float64] = values.to_numpy(zero_copy_only=False)
    return numbers


def _have_words(texts: pa.StringArray) -> NDArray[np.bool_]:
    """`has_words` of each; most begin with one, which is seen sooner."""
    found: NDArray[np.bool_] = pc.match_substring_regex(texts, "^[A-Za-z0-9]").to_numpy(zero_copy_only=False)
    found = found.astype(bool)
    for place in np.flatnonzero(~found).tolist():
        found[place] = has_words(texts[place].as_py() or "")
    return found
