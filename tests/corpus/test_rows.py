"""Rows are found by id, read when they are asked for, and checked before."""

import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus import Corpus
from mmcc.corpus import index as module
from mmcc.corpus.format import INDEX_SCHEMA, Manifest, index_folder
from mmcc.corpus.index import IndexWriter, latest_positions, open_index, open_rows
from mmcc.corpus.rows import Rows, require_sound
from mmcc.errors import InputError

names = st.text("ab\0é/日" + "x" * 3, max_size=4) | st.sampled_from(["long" * 20, "long" * 20 + "er"])


def table_of(ids) -> pa.Table:
    rows = [{"id": each, "status": "ok", "title": str(place)} for place, each in enumerate(ids)]
    return pa.Table.from_pylist(rows, INDEX_SCHEMA)


@given(st.lists(names, max_size=12))
def test_the_last_row_of_an_id_counts_and_ids_are_sorted(ids):
    rows, expected = Rows.of(table_of(ids)), latest_positions(table_of(ids))
    assert rows.places.tolist() == list(expected.values())
    assert {each: rows.place_of(each) for each in expected} == expected
    assert rows.places_of(list(expected)).tolist() == list(expected.values())
    assert all(rows.place_of(each) is None for each in ("b" * 5, "\ud800", "aé"[::-1] * 9) if each not in expected)
    assert not expected or rows.place_of(min(expected) + "?") is None


def test_an_unknown_id_is_named():
    rows = Rows.of(table_of(["a", "c"]))
    for unknown in ("b", "d", "ccc", "long" * 20, "\ud800", "a\0"):
        with pytest.raises(KeyError) as error:
            rows.places_of(["a", unknown])
        assert error.value.args == (unknown,)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A corpus of 25 videos, in parts of several batches; the fifth was added again."""
    monkeypatch.setattr(module, "_PACKED_ROWS", 4)
    (tmp_path / "shards").mkdir()
    manifest = Manifest("raw", 1.0, 32)
    manifest.save(tmp_path)
    writer = IndexWriter(tmp_path)
    for first in range(0, 25, 9):
        rows = [{"id": f"v{n:02d}", "status": "ok", "split": "train", "title": f"t{n}"} for n in range(25)]
        writer.append(rows[first : first + 9])
        writer.commit()
    writer.append([{"id": "v04", "status": "failed", "title": "again"}])
    writer.commit()
    manifest.index, manifest.complete = writer.names, True
    manifest.save(tmp_path)
    return tmp_path


def test_rows_are_those_of_the_whole_index(folder):
    table, (_, rows) = open_index(folder)[1], open_rows(folder)
    assert len(rows) == table.num_rows == 26
    assert rows.columns("id", "title").equals(table.select(["id", "title"]))
    assert [rows.row(place).to_pylist()[0] for place in range(26)] == table.to_pylist()


def test_to_look_at_one_of_many_videos_little_is_read(tmp_path, monkeypatch):
    """Batches of it are checked as a whole, and the first ones of a training are in as many of them."""
    (tmp_path / "shards").mkdir()
    Manifest("raw", 1.0, 32).save(tmp_path)
    writer = IndexWriter(tmp_path)
    writer.append([{"id": f"v{n:04d}", "status": "ok", "times": [0.0] * 100} for n in range(2000)])
    writer.commit()
    size = sum(path.stat().st_size for path in index_folder(tmp_path).iterdir())
    read = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda *asked: read.append(asked[1]) or pread(*asked))
    assert len(Corpus.open(tmp_path)["v1234"].times) == 100
    assert 0 < sum(read) < size / 10


def test_a_scan_yields_the_rows_asked_for_once(folder):
    _, rows = open_rows(folder)
    wanted = np.array([25, 0, 13, 3, 24])
    found = {}
    for numbers, batch in rows.scan(wanted, "title"):
        found |= dict(zip(numbers.tolist(), batch.column("title").to_pylist(), strict=True))
    titles = rows.columns("title").column("title").to_pylist()
    assert found == {number: titles[place] for number, place in enumerate(wanted.tolist())}


def test_a_part_without_contents_is_read_whole(folder, monkeypatch):
    expected = open_rows(folder)[1].columns(*INDEX_SCHEMA.names)
    monkeypatch.setattr(module, "read_contents", lambda path, crc32: None)
    rows = open_rows(folder)[1]
    assert rows.columns(*INDEX_SCHEMA.names).equals(expected)
    assert rows.contents.column("seen").null_count == 26


def test_damage_is_noticed_when_the_rows_are_read(folder):
    path = sorted(index_folder(folder).iterdir())[1]
    content = path.read_bytes()
    at = content.index(b"v12")  # among the rows of the second part; again in its table of contents
    path.write_bytes(content[:at] + b"v99" + content[at + 3 :])
    corpus = Corpus.open(folder)
    assert "v12" in corpus and corpus["v00"].title == "t0"
    for ask in (lambda: corpus["v12"], lambda: corpus.columns("title"), lambda: list(corpus.scan(["v12"], "id"))):
        with pytest.raises(InputError, match="damaged"):
            ask()


def test_a_part_that_is_merged_can_still_be_read(folder):
    corpus = Corpus.open(folder)
    writer = IndexWriter(folder)
    writer.append([{"id": "new", "status": "ok"}])
    writer.close()
    assert len(list(index_folder(folder).iterdir())) == 1
    assert [video.title for video in corpus][-1] == "t24"


@pytest.mark.parametrize(
    "row",
    [
        {"status": None},
        {"id": None},
        {"times": [0.0, None]},
        {"tasks": [None]},
        {"utterances": [None]},
        {"utterances": [{"start": None, "end": 1.0, "text": "stir"}]},
        {"utterances": [{"start": 0.0, "end": 1.0, "text": None}]},
        {"batches": [{"offset": None, "length": 1, "frames": 1, "crc32": 1}]},
    ],
)
def test_values_that_readers_rely_on_are_there(row):
    whole = {"id": "a", "status": "ok", "times": [0.0], "tasks": None}
    require_sound(pa.RecordBatch.from_pylist([whole], schema=INDEX_SCHEMA))
    for rows in (pa.RecordBatch, pa.Table):
        with pytest.raises(pa.ArrowInvalid, match=r"has no|is missing"):
            require_sound(rows.from_pylist([whole | row], schema=INDEX_SCHEMA))
