"""Where frames are, by shard: as a loop over the rows says it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus.format import INDEX_SCHEMA, shard_path
from mmcc.corpus.index import open_index
from mmcc.corpus.ranges import HEAD, Move, ranges_of, relocated
from mmcc.errors import InputError
from tests.corpus.test_corpus import build


@st.composite
def indexes(draw):
    """Rows with frames in some of three shards, and rows without; in each shard the batches follow each other."""
    ends, rows = {}, []
    for number in range(draw(st.integers(0, 8))):
        shard, batches = draw(st.sampled_from([0, 1, 4, None])), []
        for length in draw(st.lists(st.integers(1, 99), max_size=4)) if shard is not None else []:
            offset = ends.get(shard, len(HEAD)) + draw(st.sampled_from([0, 7]))
            batches.append({"offset": offset, "length": length, "frames": 1, "crc32": draw(st.integers(0, 2**32 - 1))})
            ends[shard] = offset + length
        row = {"id": str(number), "status": "ok", "shard": shard, "batches": batches}
        rows.append(row if batches else {**row, "batches": draw(st.sampled_from([[], None]))})
    return rows


def by_hand(rows):
    """A loop over the rows."""
    found = {}
    for row in rows:
        for batch in row["batches"] or []:
            found.setdefault(row["shard"], []).append((batch["offset"], batch["length"], batch["crc32"]))
    return {shard: sorted(runs) for shard, runs in found.items()}


@given(rows=indexes(), pieces=st.integers(1, 4))
def test_the_ranges_of_each_shard_are_those_of_its_rows(rows, pieces):
    table = pa.Table.from_pylist(rows, INDEX_SCHEMA)
    parts = pa.Table.from_batches(table.to_batches(pieces), INDEX_SCHEMA)  # sliced, as in a large index
    found = {
        shard: list(zip(*map(np.ndarray.tolist, ranges), strict=True)) for shard, ranges in ranges_of(parts).items()
    }
    assert found == by_hand(rows)
    assert all(ranges.bytes == sum(run[1] for run in found[shard]) for shard, ranges in ranges_of(table).items())


@given(rows=indexes(), pieces=st.integers(1, 4), start=st.integers(0, 9))
def test_moved_rows_are_those_before_but_for_the_place(rows, pieces, start):
    table = pa.Table.from_pylist(rows, INDEX_SCHEMA)
    ranges = ranges_of(table)
    moves = {shard: Move(ranges[shard], 10 + shard, start) for shard in ranges if shard != 1}
    moved = pa.Table.from_batches([relocated(batch, moves) for batch in table.to_batches(pieces)], INDEX_SCHEMA)
    moved.validate(full=True)
    for before, after in zip(rows, moved.to_pylist(), strict=True):
        shard = before["shard"]
        assert after["shard"] == (10 + shard if shard in moves else shard)
        assert (after["batches"] is None) == (before["batches"] is None)
        for old, new in zip(before["batches"] or [], after["batches"] or [], strict=True):
            offset = old["offset"]
            if shard in moves:  # as many bytes after the start as there are before it in use
                offset = start + sum(length for place, length, _ in by_hand(rows)[shard] if place < offset)
            assert new == {**old, "offset": offset}


def test_bytes_are_read_only_if_they_are_what_was_written(tmp_path):
    build(tmp_path, "raw", {"a": [float(n) for n in range(20)], "b": [0.0]})
    ranges = ranges_of(open_index(tmp_path)[1])[0]
    path = shard_path(tmp_path, 0)
    content = path.read_bytes()
    assert b"".join(map(bytes, ranges.read(path))) == content[len(HEAD) : -8]
    path.write_bytes(content[:2000] + bytes([content[2000] ^ 1]) + content[2001:])
    with pytest.raises(InputError, match="is damaged"):
        list(ranges.read(path))
    path.write_bytes(content[:-100])
    with pytest.raises(InputError, match="ends before byte"):
        list(ranges.read(path))
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        list(ranges.read(path))
