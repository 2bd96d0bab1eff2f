"""The index survives being cut at any byte, and opens to exactly the rows that were finished."""

import pytest

from mmcc.corpus.format import index_path
from mmcc.corpus.index import IndexWriter, latest_positions, read_index
from mmcc.errors import InputError
from mmcc.locks import only_writer


def row(video_id: str, status: str = "ok", **more: object) -> dict[str, object]:
    return {"id": video_id, "status": status, "times": [0.0, 1.0], **more}


def ids(folder) -> list[str]:
    return read_index(index_path(folder)).column("id").to_pylist()


def test_rows_can_be_read_as_soon_as_they_are_appended(tmp_path):
    writer = IndexWriter(tmp_path)
    writer.append([row("a")])
    assert ids(tmp_path) == ["a"]
    writer.append([row("b"), row("c")])
    assert ids(tmp_path) == ["a", "b", "c"]
    writer.close()


def test_cut_at_any_byte_it_keeps_every_whole_row_and_continues(tmp_path):
    writer = IndexWriter(tmp_path)
    ends = [index_path(tmp_path).stat().st_size]
    for name in "abc":
        writer.append([row(name)])
        ends.append(index_path(tmp_path).stat().st_size)
    whole = index_path(tmp_path).read_bytes()
    for cut in [*range(0, len(whole), 97), *(end + shift for end in ends for shift in (-1, 0, 1))]:
        index_path(tmp_path).write_bytes(whole[:cut])
        kept = [name for name, end in zip("abc", ends[1:], strict=True) if end <= cut]
        again = IndexWriter(tmp_path)
        again.append([row("z")])  # and no close: killed before it could pack
        assert ids(tmp_path) == [*kept, "z"]


def test_the_last_row_of_an_id_counts_and_packing_drops_the_others(tmp_path):
    writer = IndexWriter(tmp_path)
    for name, status in (("b", "failed"), ("a", "ok"), ("b", "ok")):
        writer.append([row(name, status)])
    assert latest_positions(read_index(index_path(tmp_path))) == {"a": 1, "b": 2}
    writer.close()
    table = read_index(index_path(tmp_path))
    assert table.select(["id", "status"]).to_pylist() == [{"id": "a", "status": "ok"}, {"id": "b", "status": "ok"}]
    assert len(table.to_batches()) == 1


def test_packing_keeps_all_rows_in_large_batches(tmp_path):
    writer = IndexWriter(tmp_path)
    for number in range(0, 2500, 500):
        writer.append([row(f"{number + k:05d}", times=[float(k)]) for k in range(500)])
    writer.close()
    table = read_index(index_path(tmp_path))
    assert table.num_rows == 2500 and len(table.to_batches()) <= 3
    assert table.column("times").to_pylist() == [[float(k)] for _ in range(5) for k in range(500)]


def test_a_second_writer_is_refused(tmp_path):
    with only_writer(tmp_path), pytest.raises(InputError, match="another mmcc"), only_writer(tmp_path):
        pass
    with only_writer(tmp_path):
        pass


def test_damage_in_the_middle_is_not_mistaken_for_an_incomplete_end(tmp_path):
    writer = IndexWriter(tmp_path)
    for name in "abcdef":
        writer.append([row(name)])
    whole = bytearray(index_path(tmp_path).read_bytes())
    second = whole.index(b"\xff\xff\xff\xff", len(whole) // 3)
    whole[second + 5] ^= 0x40  # the length of a message in the middle
    index_path(tmp_path).write_bytes(whole)
    for reader in (lambda: IndexWriter(tmp_path), lambda: read_index(index_path(tmp_path))):
        with pytest.raises(InputError, match="damaged after byte"):
            reader()
    assert index_path(tmp_path).read_bytes() == whole, "nothing was cut"


def test_a_file_that_is_not_an_index_is_refused(tmp_path):
    index_path(tmp_path).write_bytes(b"not arrow at all")
    with pytest.raises(InputError, match="cannot be read"):
        read_index(index_path(tmp_path))


def test_damage_that_looks_like_an_incomplete_end_is_noticed_by_the_count_of_rows(tmp_path):
    writer = IndexWriter(tmp_path)
    writer.append([row(name) for name in "abc"])
    writer.close()
    whole = bytearray(index_path(tmp_path).read_bytes())
    whole[whole.rindex(b"\xff\xff\xff\xff") + 5] ^= 0x10  # the length of the one and only batch
    index_path(tmp_path).write_bytes(whole)
    for reader in (lambda: IndexWriter(tmp_path, at_least=3), lambda: read_index(index_path(tmp_path), at_least=3)):
        with pytest.raises(InputError, match="0 complete rows of 3"):
            reader()
    assert index_path(tmp_path).read_bytes() == whole, "nothing was cut"
