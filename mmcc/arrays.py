"""Arrays that somebody else may have written: .npy and .npz files of numbers and text, never of Python objects.

    kind = read_header(file)               # of an open .npy file, which may claim any shape
    features = map_array(path)             # rows are read from the disk when used
    stored = read_arrays(path)             # a .npz file, in memory

Whatever is wrong is `Malformed`. Nothing is allocated for what a header claims but the file does not have.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from mmcc.untrusted import Malformed

LARGEST = 1 << 30  # bytes of all arrays of a .npz file
_LONGEST_HEADER = 10_000  # bytes, as for numpy, which however reads up to 4 GB before it looks at that
_MOST_ENTRIES = 1000
_TRIES = 10
_KINDS = "biufU"


class Header(NamedTuple):
    """What a .npy file says about its array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_column: bool
    length: int  # bytes, of the header itself

    @property
    def data_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def require_data(self, found: int) -> None:
        """Malformed where the array is not of numbers or text, or its data do not have as many bytes as were found."""
        if self.dtype.hasobject or self.dtype.kind not in _KINDS or not self.dtype.itemsize:
            raise Malformed(f"its type is {str(self.dtype)[:40]}, not numbers or text")
        if self.data_bytes != found:
            raise Malformed(f"its header needs {self.data_bytes} bytes of data, and it has {found}")


def read_header(file: IO[bytes]) -> Header:
    """The header of a .npy file, read from its start. The array's type may be anything: also of Python objects."""
    start = file.read(12 + _LONGEST_HEADER)
    readers = {b"\x01\x00": (npy.read_array_header_1_0, 10), b"\x02\x00": (npy.read_array_header_2_0, 12)}
    if not start.startswith(npy.MAGIC_PREFIX) or start[6:8] not in readers:
        raise Malformed("it is not a .npy file of a known version")
    read, before = readers[start[6:8]]
    length = before + int.from_bytes(start[8:before], "little")
    try:
        shape, by_column, dtype = _patiently(read, start[8:length])
    except Exception:  # ValueError, SyntaxError, TokenError, RecursionError, MemoryError and others
        raise Malformed("its header makes no sense") from None
    if not all(type(side) is int and side >= 0 for side in shape):
        raise Malformed("its header makes no sense")
    return Header(shape, dtype, by_column, length)


def _patiently(read: Callable[[IO[bytes]], Any], header: bytes) -> Any:
    """Numpy reads a header as Python, whose parser in 3.11 fails now and then while another thread parses something,
    too (https://github.com/python/cpython/issues/106905)."""
    for _ in range(_TRIES):
        with suppress(SystemError):
            return read(io.BytesIO(header))
    raise Malformed("its header cannot be parsed")


def map_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file, memory-mapped; OSError where it cannot be read at all."""
    with path.open("rb") as file:
        header = read_header(file)
        size = file.seek(0, io.SEEK_END)
    header.require_data(size - header.length)
    order: Any = "F" if header.by_column else "C"
    if not header.data_bytes:  # nothing can be mapped
        return np.empty(header.shape, header.dtype, order)
    return np.memmap(path, header.dtype, "r", header.length, header.shape, order)


def read_arrays(path: Path, largest: int = LARGEST) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file; OSError where it cannot be read at all."""
    with path.open("rb") as file:
        return _arrays_of(file, largest)


def parse_arrays(content: bytes, largest: int = LARGEST) -> dict[str, NDArray[Any]]:
    """The same of a .npz file's content."""
    return _arrays_of(io.BytesIO(content), largest)


def _arrays_of(file: IO[bytes], largest: int) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(file) as stored:
            entries = stored.infolist()
            if len(entries) > _MOST_ENTRIES or sum(entry.file_size for entry in entries) > largest:
                raise Malformed(f"it has more than {_MOST_ENTRIES} arrays, or {largest:,} bytes")
            return {entry.filename.removesuffix(".npy"): _parse(stored.read(entry)) for entry in entries}
    # OSError: an entry before the file's start. RuntimeError and NotImplementedError, which is one: an entry that is
    # marked as encrypted, or packed in another way.
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError, IndexError, OSError) as error:
        raise Malformed(f"it is not a .npz file ({error})") from None
    except (ValueError, OverflowError) as error:
        raise Malformed(str(error)) from None


def _parse(content: bytes) -> NDArray[Any]:
    header = read_header(io.BytesIO(content))
    header.require_data(len(content) - header.length)
    flat = np.frombuffer(content, header.dtype, math.prod(header.shape), header.length)
    return flat.reshape(header.shape, order="F" if header.by_column else "C").copy()
