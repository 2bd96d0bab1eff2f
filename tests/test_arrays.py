"""Arrays from anybody: read as numpy reads them, or refused; nothing is allocated for a claim."""

import io
import struct
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

from mmcc.arrays import map_array, read_arrays, read_header
from mmcc.untrusted import Malformed

TYPES = st.sampled_from(["<f4", "<f8", ">i4", "|u1", "|b1", "<U3", "<i8"])
ARRAYS = TYPES.flatmap(lambda kind: nst.arrays(kind, nst.array_shapes(min_dims=0, min_side=0, max_side=4)))


def saved(array, order="C"):
    file = io.BytesIO()
    np.save(file, np.array(array, order=order))
    return file.getvalue()


def headed(text, version=b"\x01\x00", length=None):
    size = struct.pack("<H" if version == b"\x01\x00" else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + version + size + text


@given(ARRAYS, st.sampled_from("CF"))
def test_what_numpy_saved_is_read_as_numpy_reads_it(tmp_path_factory, array, order):
    folder = tmp_path_factory.mktemp("arrays")
    (folder / "a.npy").write_bytes(saved(array, order))
    np.savez_compressed(folder / "a.npz", first=np.array(array, order=order), second=np.arange(3))
    for found in (map_array(folder / "a.npy"), read_arrays(folder / "a.npz")["first"]):
        assert found.dtype == array.dtype and found.shape == array.shape and found.tobytes("C") == array.tobytes("C")
    assert read_arrays(folder / "a.npz")["second"].tolist() == [0, 1, 2]


@given(st.data())
def test_damage_is_refused_or_changes_values_alone(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(saved(np.arange(12.0).reshape(3, 4)))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "a.npy").write_bytes(content)
    try:
        assert map_array(folder / "a.npy").nbytes == 96
    except Malformed as error:
        assert str(error)


@given(st.binary(max_size=300))
def test_whatever_the_bytes_a_header_is_read_or_malformed(content):
    for start in (b"", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00"):
        with suppress(Malformed):
            read_header(io.BytesIO(start + content))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        headed(b"{'descr': '<f4', 'fortran_order': False, 'shape': (10000000000, 1000), }"),
        headed(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 4), }"),
        headed(b"{'descr': '<f4', 'fortran_order': False, 'shape': (True, 4), }"),
        headed(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + b"\0" * 8,
        headed(b"{'descr': '|V8', 'fortran_order': False, 'shape': (1,), }") + b"\0" * 8,
        headed(b"{'descr': '<U0', 'fortran_order': False, 'shape': (10000000000,), }"),
        headed(b"(" * 9000),
        headed(b"-" * 9000 + b"1"),
        headed(b"{'descr': '''"),
        headed(b"{", b"\x02\x00", length=0xFFFFFFFF),
        headed(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", b"\x03\x00") + b"\0" * 4,
    ],
)
def test_claims_and_oddities_are_refused(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(Malformed):
        map_array(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as stored:
        stored.writestr("a.npy", content)
    with pytest.raises(Malformed):
        read_arrays(tmp_path / "a.npz")


def test_a_long_header_is_not_read(tmp_path):
    class Counted(io.BytesIO):
        most = 0

        def read(self, size=-1):
            self.most = max(self.most, size if size >= 0 else 1 << 40)
            return super().read(size)

    file = Counted(headed(b" " * 100, b"\x02\x00", length=1 << 31) + b" " * 100_000)
    with pytest.raises(Malformed):
        read_header(file)
    assert file.most < 20_000


def test_a_zip_that_unpacks_to_more_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", a=np.zeros(1 << 20, np.uint8))
    with pytest.raises(Malformed, match="or 1,000,000 bytes"):
        read_arrays(tmp_path / "bomb.npz", largest=1_000_000)
    assert read_arrays(tmp_path / "bomb.npz", largest=1_100_000)["a"].sum() == 0


def test_an_entry_that_claims_less_than_it_unpacks_to(tmp_path):
    """The size in the zip's directory is what is read, whatever the data would give."""
    np.savez_compressed(tmp_path / "a.npz", a=np.zeros(1 << 20, np.uint8))
    content = (tmp_path / "a.npz").read_bytes()
    size = struct.pack("<I", (1 << 20) + 128)
    assert content.count(size) >= 1
    (tmp_path / "a.npz").write_bytes(content.replace(size, struct.pack("<I", 200)))
    with pytest.raises(Malformed):
        read_arrays(tmp_path / "a.npz")


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    for read in (map_array, read_arrays):
        with pytest.raises(OSError):
            read(tmp_path / "none")
