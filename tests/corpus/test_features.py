"""Feature arrays: what is refused is refused from the header, before anything is allocated."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.lib import format as npy

from mmcc.corpus.features import FeatureArray, check_features, read_features
from mmcc.errors import InputError


def write_header(path: Path, shape: object, descr: object = "<f4", data: bytes = b"") -> None:
    with path.open("wb") as file:
        npy.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        file.write(data)


@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f8", "<i4", "u1"])
def test_what_was_saved_is_read_without_being_loaded(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "soup.npy"
    saved = np.arange(12).reshape(4, 3).astype(dtype)
    np.save(path, saved)
    assert check_features(path) == FeatureArray(path, 4, 3, np.dtype(dtype))
    array = read_features(path)
    assert isinstance(array, np.memmap) and not array.flags.writeable
    np.testing.assert_array_equal(array, saved)


def test_column_order_is_kept(tmp_path: Path) -> None:
    saved = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    np.save(tmp_path / "soup.npy", saved)
    np.testing.assert_array_equal(read_features(tmp_path / "soup.npy"), saved)


@pytest.mark.parametrize(
    ("array", "cause"),
    [
        (np.zeros(3), "1 dimensions"),
        (np.zeros((1, 2, 3)), "3 dimensions"),
        (np.zeros((3, 0)), "is empty"),
        (np.zeros((0, 3)), "is empty"),
        (np.zeros((2, 2), complex), "not floats"),
        (np.zeros((2, 2), bool), "not floats"),
        (np.zeros((2, 2), "U3"), "not floats"),
        (np.zeros((2, 2), "M8[s]"), "not floats"),
        (np.zeros((2, 2), [("a", "f4")]), "not floats"),
        (np.array([[{}]], object), "Python objects"),
    ],
)
def test_arrays_that_are_no_features_are_refused(tmp_path: Path, array: np.ndarray, cause: str) -> None:
    path = tmp_path / "soup.npy"
    np.save(path, array)
    for use in (check_features, read_features):
        with pytest.raises(InputError, match=cause) as refusal:
            use(path)
        assert refusal.value.path == str(path) and refusal.value.remedy


@pytest.mark.parametrize("bytes_there", [0, 1, 47, 49, 4800])
def test_a_length_that_does_not_fit_the_header_is_refused(tmp_path: Path, bytes_there: int) -> None:
    write_header(tmp_path / "soup.npy", (4, 3), data=b"\0" * bytes_there)
    with pytest.raises(InputError, match="truncated" if bytes_there < 48 else "longer"):
        check_features(tmp_path / "soup.npy")


@pytest.mark.parametrize("shape", [(10**12, 3200), (4, 10**12), (-4, -3), (2**63, 2**63), (10**4000, 1)])
def test_absurd_shapes_are_refused_without_allocating(tmp_path: Path, shape: tuple[int, int]) -> None:
    write_header(tmp_path / "soup.npy", shape)
    with pytest.raises(InputError):
        read_features(tmp_path / "soup.npy")


def test_the_limit_of_rows_is_the_callers(tmp_path: Path) -> None:
    np.save(tmp_path / "soup.npy", np.zeros((5, 2), "f4"))
    assert check_features(tmp_path / "soup.npy", max_rows=5).rows == 5
    with pytest.raises(InputError, match="beyond 4 x"):
        check_features(tmp_path / "soup.npy", max_rows=4)


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("exploded",)


def test_a_pickle_is_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "objects.npy", np.array([[Bomb()]], object))
    (tmp_path / "pickle.npy").write_bytes(pickle.dumps(Bomb()))
    for name in ("objects.npy", "pickle.npy"):
        with pytest.raises(InputError):
            read_features(tmp_path / name)
    assert not (tmp_path / "exploded").exists()


def test_what_is_no_readable_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "empty.npy").touch()
    for path in (tmp_path, tmp_path / "absent.npy", tmp_path / "pipe.npy", tmp_path / "empty.npy"):
        with pytest.raises(InputError):
            check_features(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 127), st.integers(0, 255)), min_size=1, max_size=6), st.integers(0, 200))
def test_a_damaged_header_is_refused_or_still_describes_the_file(
    tmp_path: Path, changes: list[tuple[int, int]], kept: int
) -> None:
    path = tmp_path / "soup.npy"
    np.save(path, np.zeros((4, 3), "f4"))
    content = bytearray(path.read_bytes())
    for position, value in changes:
        content[position] = value
    path.write_bytes(content[:kept])
    try:
        found = check_features(path)
    except InputError:
        return
    assert found.rows * found.dims * found.dtype.itemsize < len(content[:kept])
    assert read_features(path).shape == (found.rows, found.dims)
