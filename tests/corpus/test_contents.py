"""The table of contents of a part: it says what the rows say, and whatever is damaged is noticed."""

import json
import math
import zlib
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus.contents import (
    MOST,
    SPAN,
    Contents,
    SpanCounts,
    assembled,
    contents_of,
    part_of,
    read_contents,
    silent_contents,
)
from mmcc.corpus.format import INDEX_SCHEMA
from mmcc.text import has_words
from mmcc.untrusted import Malformed

texts = st.sampled_from(["stir it", "♪ ♪", "", "'", "--", "Ünïcode", "_", "7", " ok"])
moments = st.floats(-5, 200)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "times": st.none() | st.lists(moments, max_size=20),
            "utterances": st.none()
            | st.lists(st.fixed_dictionaries({"start": moments, "end": moments, "text": texts}), max_size=8),
        }
    ),
    max_size=6,
)


def batch_of(found) -> pa.RecordBatch:
    named = [{"id": f"v{number}", "status": "ok", "split": "train", **row} for number, row in enumerate(found)]
    return pa.RecordBatch.from_pylist(named, schema=INDEX_SCHEMA)


def counted_by_hand(times) -> list[int]:
    spans = [math.floor(time / SPAN) for time in times if time >= 0]
    return [spans.count(span) for span in range(max(spans, default=-1) + 1)]


@given(rows)
def test_nodes_are_counted_in_every_span(found):
    told = contents_of(batch_of(found)).to_pylist()
    for row, counts in zip(found, told, strict=True):
        said = [(each["start"] + each["end"]) / 2 for each in row["utterances"] or [] if has_words(each["text"])]
        assert counts["seen"] == counted_by_hand(row["times"] or [])
        assert counts["said"] == counted_by_hand(said)


@given(st.lists(st.lists(st.none() | st.lists(st.integers(0, 9), max_size=4), max_size=4), max_size=3), st.randoms())
def test_counts_are_those_of_the_rows_asked_for(parts, rng):
    kind = pa.list_(pa.uint8())
    column = pa.chunked_array([pa.array([[1], *part], kind).slice(1) for part in parts], kind)
    rows = column.to_pylist()
    places = rng.sample(range(len(rows)), rng.randint(0, len(rows)))
    found = SpanCounts.of(column, np.array(places, np.int64))
    spans = [found.values[at : at + length].tolist() for at, length in zip(found.starts, found.lengths, strict=True)]
    assert spans == [rows[place] or [] for place in places]


def test_counts_have_an_end():
    times = [0.0] * 300 + [8.0] * MOST + [16.0] + [1e9, math.inf]  # captions may go on for years, by mistake
    assert contents_of(batch_of([{"times": times}])).column("seen").to_pylist() == [[MOST, MOST, 1]]


@pytest.fixture
def part(tmp_path):
    """Two batches: the file, its checksum and its rows."""
    batches = [batch_of([{"times": [0.0, 9.0]}, {"times": []}]), batch_of([{"times": [1.0]}])]
    content = part_of(batches)
    (tmp_path / "part").write_bytes(content)
    return tmp_path / "part", zlib.crc32(content), pa.Table.from_batches(batches)


def test_a_part_is_a_stream_that_others_can_read(part):
    path, _, table = part
    assert pa.ipc.open_stream(path.read_bytes()).read_all().equals(table)


def test_contents_tell_where_rows_are(part):
    path, crc32, table = part
    found = read_contents(path, crc32)
    assert found.rows.column("id").to_pylist() == table.column("id").to_pylist()
    assert found.rows.column("seen").to_pylist() == [[1, 1], [], [1]]
    content = path.read_bytes()
    for place, expected in zip(found.places, table.to_batches(), strict=True):
        message = content[place.offset : place.offset + place.length]
        assert pa.ipc.read_record_batch(pa.py_buffer(message), INDEX_SCHEMA).equals(expected)
        assert (place.rows, place.crc32) == (expected.num_rows, zlib.crc32(message))


def test_no_bit_of_it_changes_unnoticed(part):
    path, crc32, _ = part
    content = path.read_bytes()
    begin = len(content) - int.from_bytes(content[-16:-8], "little") - 16
    sound = read_contents(path, crc32)
    for at in range(begin, len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        with suppress(ValueError, pa.ArrowException):
            assert read_contents(path, crc32) is None  # it says nothing: the whole file is checked then
    path.write_bytes(content)
    assert read_contents(path, crc32) == sound


def test_the_contents_of_another_part_are_refused(part):
    path, crc32, _ = part
    path.write_bytes(part_of([batch_of([{"times": [2.0]}])]))
    with pytest.raises(ValueError, match="checksum"):
        read_contents(path, crc32)


@pytest.mark.parametrize("content", [b"", b"mmtc", json.dumps({}).encode(), b"\0" * 100])
def test_other_files_say_nothing(tmp_path, content):
    (tmp_path / "part").write_bytes(content)
    assert read_contents(tmp_path / "part", zlib.crc32(content)) is None


def test_rows_without_contents_are_not_counted():
    told = silent_contents(pa.Table.from_batches([batch_of([{"times": [0.0]}])]))
    assert told.to_pylist() == [{"id": "v0", "status": "ok", "split": "train", "seen": None, "said": None}]


def test_the_span_divides_without_rounding():
    times = np.random.default_rng(0).uniform(0, 1e4, 1000)
    assert ((times / SPAN) * SPAN == times).all()


@pytest.mark.parametrize(
    "told",
    [
        7,
        [7],
        [[0, 1, 2]],
        [["0", 1, 2, 3]],
        [[0, 1, 2, True]],
        [[-8, 1, 2, 3]],
        [[0, 1 << 62, 2, 3]],
        [[1 << 70, 0, 1, 0]],
    ],
)
def test_places_that_cannot_be_are_refused(tmp_path, told):
    batch = batch_of([{"times": [0.0]}])
    contents = Contents(pa.Table.from_batches([contents_of(batch)]), told)
    content = assembled([INDEX_SCHEMA.serialize(), batch.serialize()], contents)
    (tmp_path / "part").write_bytes(content)
    with pytest.raises(Malformed):
        read_contents(tmp_path / "part", zlib.crc32(content))
