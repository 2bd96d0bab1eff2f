"""Rows on the disk are those of the array, appended at once or after a stop, and damage is noticed."""

import numpy as np
import pytest

from mmcc.errors import InputError
from mmcc.tools import stored_rows
from mmcc.tools.stored_rows import AppendedRows, CheckedRows, StoredRows, checksums_path, write_checksums

ARRAY = np.arange(24, dtype=np.float16).reshape(8, 3)


def appended(path, array, parts):
    with AppendedRows(path, array) as rows:
        for first, last in parts:
            rows.append(array[first:last])
    return path


def test_rows_on_the_disk_are_those_of_the_array(tmp_path):
    path = appended(tmp_path / "rows.npy", ARRAY, ((0, 1), (1, 1), (1, 8)))
    np.testing.assert_array_equal(np.load(path), ARRAY)
    stored = StoredRows(path)
    assert len(stored) == 8 and stored[2].tolist() == ARRAY[2].tolist() and stored[np.int64(7)].tolist() == [21, 22, 23]
    for part in (slice(None), slice(2, 5), slice(5, 100), slice(8, 9), slice(5, 2)):
        np.testing.assert_array_equal(stored[part], ARRAY[part])
    for places in ([], [7], [3, 0, 3]):
        np.testing.assert_array_equal(stored.take(np.array(places, np.int64)), ARRAY[np.array(places, np.int64)])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [(np.asfortranarray(ARRAY), "of rows"), (np.array([None]), "object"), (np.array(1.0), "of rows")],
)
def test_other_arrays_are_refused(tmp_path, wrong, words):
    np.save(tmp_path / "wrong.npy", wrong, allow_pickle=True)
    with pytest.raises(ValueError, match=words):
        StoredRows(tmp_path / "wrong.npy")


@pytest.mark.parametrize("kept", [1, 5, 8])
def test_appending_continues_after_the_rows_that_are_kept(tmp_path, kept):
    path = tmp_path / "rows.npy"
    with AppendedRows(path, ARRAY) as rows:
        rows.append(ARRAY[:kept])
        rows.flush()
        rows.append(ARRAY[:2] + 100)  # what a killed process wrote after that
    with AppendedRows(path, ARRAY, kept) as rows:
        rows.append(ARRAY[kept:])
    np.testing.assert_array_equal(np.load(path), ARRAY)


@pytest.fixture
def checked(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_rows, "BLOCK", 64)
    path = tmp_path / "rows.npy"
    np.save(path, np.arange(100, dtype=np.int32).reshape(50, 2))
    write_checksums(path)
    return path


def test_checked_rows_are_the_same(checked):
    stored, array = CheckedRows(checked), np.load(checked)
    np.testing.assert_array_equal(stored[:], array)
    np.testing.assert_array_equal(stored[7:9], array[7:9])
    np.testing.assert_array_equal(stored.take(np.array([49, 0, 20])), array[[49, 0, 20]])


def test_a_damaged_row_is_refused_and_the_others_are_read(checked):
    content = checked.read_bytes()
    checked.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    stored = CheckedRows(checked)
    assert stored[0].tolist() == [0, 1]
    for ask in (lambda: stored[49], lambda: stored[:], lambda: stored.take(np.array([0, 49]))):
        with pytest.raises(InputError, match="checksum"):
            ask()


def test_checksums_of_another_file_are_refused(checked):
    checksums_path(checked).write_bytes(b"\0" * 8)
    with pytest.raises(ValueError, match="more or fewer"):
        CheckedRows(checked)
