"""Which bytes of which shards the rows of an index name, and the rows once they have moved.

Shapes: R record batches of frames.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mmcc.corpus.format import FRAMES_SCHEMA, INDEX_SCHEMA
from mmcc.errors import InputError

HEAD = FRAMES_SCHEMA.serialize().to_pybytes()  # what every shard begins with
_DAMAGED = "Remove it, and run the command that wrote it again (ingest or embed): it makes anew what is missing."

Numbers = NDArray[np.int64]


class Ranges(NamedTuple):
    """The record batches of one shard that rows name, in order."""

    offset_R: Numbers
    length_R: Numbers
    crc32_R: Numbers

    @property
    def bytes(self) -> int:
        return int(self.length_R.sum())

    def read(self, path: Path) -> Iterator[pa.Buffer]:
        """Their bytes; InputError if any of them is not what was written."""
        try:
            with pa.memory_map(str(path)) as source:
                content = source.read_buffer()
        except (OSError, pa.ArrowException) as error:
            raise InputError(path, f"cannot be read ({error})", _DAMAGED) from None
        for offset, length, crc32 in zip(*(values.tolist() for values in self), strict=True):
            if content.size < offset + length:
                raise InputError(path, f"ends before byte {offset + length:,}", _DAMAGED)
            message = content.slice(offset, length)
            if zlib.crc32(message) != crc32:
                raise InputError(path, f"is damaged (the checksum of the frames at byte {offset:,} is wrong)", _DAMAGED)
            yield message


def ranges_of(table: pa.Table) -> dict[int, Ranges]:
    """By shard. Every row of the table counts."""
    shards, columns = [np.empty(0, np.int64)], [np.empty((3, 0), np.int64)]
    for batch in table.select(["shard", "batches"]).to_batches():
        runs, rows = pc.list_flatten(batch.column("batches")), pc.list_parent_indices(batch.column("batches"))
        shards.append(_numbers(batch.column("shard").take(rows)))
        columns.append(np.stack([_numbers(runs.field(name)) for name in ("offset", "length", "crc32")]))
    shard_R, columns_R = np.concatenate(shards), np.concatenate(columns, axis=1)
    if not shard_R.size:
        return {}
    order_R = np.lexsort((columns_R[0], shard_R))
    shard_R, columns_R = shard_R[order_R], columns_R[:, order_R]
    numbers, firsts = np.unique(shard_R, return_index=True)
    parts = np.split(columns_R, firsts[1:], axis=1)
    return {number: Ranges(*part) for number, part in zip(numbers.tolist(), parts, strict=True)}


class Move(NamedTuple):
    """Record batches that are now elsewhere: one after the other in another shard, from an offset on."""

    ranges: Ranges
    shard: int
    offset: int

    def new_offsets(self, old: Numbers) -> Numbers:
        starts_R = self.offset + np.cumsum(self.ranges.length_R) - self.ranges.length_R
        new: Numbers = starts_R[np.searchsorted(self.ranges.offset_R, old)]
        return new


def relocated(rows: pa.RecordBatch, moves: Mapping[int, Move]) -> pa.RecordBatch:
    """Rows of an index after the moves, which are by old shard."""
    shards = rows.column("shard").to_pylist()
    if not moves.keys() & set(shards):
        return rows
    lists = rows.column("batches")
    runs, owners = pc.list_flatten(lists), pc.list_parent_indices(lists)
    shard_R, offset_R = _numbers(rows.column("shard").take(owners)), _numbers(runs.field("offset"))
    for shard in moves.keys() & set(shard_R.tolist()):
        there_R = shard_R == shard
        offset_R[there_R] = moves[shard].new_offsets(offset_R[there_R])
    kind = INDEX_SCHEMA.field("batches").type.value_type
    fields = [pa.array(offset_R), *(runs.field(field.name) for field in list(kind)[1:])]
    ends = np.cumsum([0, *pc.fill_null(pc.list_value_length(lists), 0).to_pylist()])
    values = pa.StructArray.from_arrays(fields, fields=list(kind))
    batches = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values, mask=lists.is_null())
    moved = pa.array([moves[each].shard if each in moves else each for each in shards], pa.int32())
    for name, column in (("shard", moved), ("batches", batches)):
        place = INDEX_SCHEMA.get_field_index(name)
        rows = rows.set_column(place, INDEX_SCHEMA.field(place), column)
    return rows


def _numbers(values: pa.Array) -> Numbers:
    numbers: Numbers = values.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
