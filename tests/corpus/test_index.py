"""The index: what is committed stays, in few files that never change, and whatever is damaged is noticed."""

import random
import zlib

import pyarrow as pa
import pytest

from mmcc.corpus import index as module
from mmcc.corpus.format import INDEX_SCHEMA, Manifest, index_folder
from mmcc.corpus.index import IndexWriter, Part, latest_positions, open_index, parts_of, state_of
from mmcc.errors import InputError
from mmcc.locks import only_writer


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shards").mkdir()
    Manifest("raw", 1.0, 32).save(tmp_path)
    return tmp_path


def row(video_id: str, status: str = "ok", **more: object) -> dict[str, object]:
    return {"id": video_id, "status": status, "times": [0.0, 1.0], **more}


def add(folder, *names: str) -> IndexWriter:
    """A commit for each; and no close, as if it were killed then."""
    writer = IndexWriter(folder)
    for name in names:
        writer.append([row(name)])
        writer.commit()
    return writer


def ids(folder) -> list[str]:
    return open_index(folder)[1].column("id").to_pylist()


def files(folder) -> list[str]:
    return sorted(path.name for path in index_folder(folder).iterdir())


def test_rows_can_be_read_as_soon_as_they_are_committed(folder):
    writer = IndexWriter(folder)
    assert ids(folder) == []
    writer.append([row("a")])
    writer.append([row("b"), row("c")])
    assert ids(folder) == []
    writer.commit()
    assert ids(folder) == ["a", "b", "c"]
    add(folder, "d")
    assert ids(folder) == ["a", "b", "c", "d"] and len(files(folder)) == 2


def test_rows_wait_for_a_second_at_most(folder, monkeypatch):
    now = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    writer = IndexWriter(folder)
    writer.append([row("a")])
    now = 100.9
    writer.append([row("b")])
    assert ids(folder) == []
    now = 101.0
    writer.tick()
    assert ids(folder) == ["a", "b"]
    now = 105.0
    writer.append([row("c")])
    assert ids(folder) == ["a", "b"], "others may come at the same time"
    writer.close()
    assert ids(folder) == ["a", "b", "c"]


def test_the_last_row_of_an_id_counts_and_merging_drops_the_others(folder):
    writer = IndexWriter(folder)
    for name, status in (("b", "failed"), ("a", "ok"), ("b", "ok")):
        writer.append([row(name, status)])
        writer.commit()
    assert latest_positions(open_index(folder)[1]) == {"a": 1, "b": 2}
    writer.close()
    table = open_index(folder)[1]
    assert table.select(["id", "status"]).to_pylist() == [{"id": "a", "status": "ok"}, {"id": "b", "status": "ok"}]
    assert files(folder) == writer.names and writer.names[0].startswith("00000000-00000002-")


def test_rows_that_all_count_are_not_picked_one_by_one():
    table = pa.Table.from_pylist([row(f"{number:03d}") for number in range(300)], INDEX_SCHEMA)

    class Unpickable:
        def __getattr__(self, name):
            return pytest.fail("rows were picked") if name == "take" else getattr(table, name)

    assert pa.Table.from_batches(module._packed(Unpickable())).equals(table)
    again = pa.concat_tables([table, table.slice(7, 1)])
    assert pa.Table.from_batches(module._packed(again)).column("id").to_pylist().index("007") == 299


def test_at_the_end_all_rows_are_in_large_batches(folder):
    writer = IndexWriter(folder)
    for number in range(0, 2500, 500):
        writer.append([row(f"{number + k:05d}", times=[float(k)]) for k in range(500)])
        writer.commit()
    writer.close()
    table = open_index(folder)[1]
    assert table.num_rows == 2500 and len(table.to_batches()) <= 20 and len(files(folder)) == 1
    assert table.column("times").to_pylist() == [[float(k)] for _ in range(5) for k in range(500)]


def test_there_are_few_parts_however_many_commits_there_are(folder, monkeypatch):
    monkeypatch.setattr(module, "_TOGETHER", 4)
    monkeypatch.setattr(module, "flush_to_disk", lambda path: None)
    writer = IndexWriter(folder)
    for number in range(200):
        writer.append([row(f"{number:03d}")])
        writer.commit()
        assert len(files(folder)) <= 3 * 4, "at most three of each size"
    assert ids(folder) == [f"{number:03d}" for number in range(200)]


def test_a_large_part_is_left_as_it_is(folder, monkeypatch):
    add(folder, "a", "b").close()
    (large,) = files(folder)
    monkeypatch.setattr(module, "_PART_BYTES", (index_folder(folder) / large).stat().st_size)
    add(folder, "c").close()
    assert files(folder)[0] == large and len(files(folder)) == 2 and ids(folder) == ["a", "b", "c"]


def test_a_merge_that_was_killed_counts_no_row_twice(folder):
    writer = add(folder, "a", "b", "c")
    small = {path: path.read_bytes() for path in index_folder(folder).iterdir()}
    writer.close()
    for path in random.Random(0).sample(sorted(small), 2):
        path.write_bytes(small[path])  # those that it had not removed yet
    assert ids(folder) == ["a", "b", "c"]
    add(folder, "d").close()
    assert ids(folder) == ["a", "b", "c", "d"]


def test_a_part_that_is_lost_is_missed(folder):
    add(folder, "a", "b", "c")
    first, middle, last = sorted(index_folder(folder).iterdir())
    for lost in (first, middle):
        content = lost.read_bytes()
        lost.unlink()
        for reader in (lambda: ids(folder), lambda: IndexWriter(folder)):
            with pytest.raises(InputError, match="lacks the part with commits"):
                reader()
        lost.write_bytes(content)
    names = [part.name for part in parts_of(folder)]
    last.unlink()
    assert ids(folder) == ["a", "b"], "as before the last commit"
    with pytest.raises(InputError, match="lacks the part with commits 2 to 2"):
        parts_of(folder, names)  # the last ingest had ended with it


def test_any_flipped_bit_is_noticed(folder):
    add(folder, "a", "b").close()
    (path,) = index_folder(folder).iterdir()
    whole = path.read_bytes()
    for place in range(0, len(whole), 37):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(InputError, match="its checksum is wrong"):
            ids(folder)


def test_a_part_of_something_else_is_refused(folder):
    content = b"not arrow at all"
    part = Part(0, 0, zlib.crc32(content))
    index_folder(folder).mkdir()
    (index_folder(folder) / part.name).write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        ids(folder)


def test_a_reader_finds_its_way_while_parts_are_merged(folder, monkeypatch):
    writer = add(folder, "a", "b")
    read = module.read_part

    def late(folder, part):
        monkeypatch.setattr(module, "read_part", read)
        writer.close()  # after the reader has listed the parts
        return read(folder, part)

    monkeypatch.setattr(module, "read_part", late)
    assert ids(folder) == ["a", "b"]


def test_the_state_of_a_corpus_changes_with_every_commit(folder):
    states = [state_of(folder)]
    for name in "abc":
        add(folder, name)
        states.append(state_of(folder))
    assert len(set(states)) == 4 and state_of(folder) == states[-1]


def test_a_second_writer_is_refused(tmp_path):
    with only_writer(tmp_path), pytest.raises(InputError, match="another mmcc"), only_writer(tmp_path):
        pass
    with only_writer(tmp_path):
        pass
