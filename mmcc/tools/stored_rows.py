"""Rows of .npy files: appended as they come, read when they are asked for.

Beside an array of gigabytes, of which a question reads some rows, is a file with the CRC-32 of each 64 KB of it
(`pi.npy.crc`, 4 bytes each, little-endian): the rows that are read are checked, not the whole file.
"""

from __future__ import annotations

import io
import math
import os
import zlib
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mmcc.arrays import read_header
from mmcc.errors import InputError
from mmcc.files import flush_to_disk
from mmcc.untrusted import Malformed

BLOCK = 1 << 16  # bytes that have a checksum: a question reads some hundred rows, each from a block of its own
CHECKSUMS = ".crc"


class StoredRows:
    """The rows of an .npy file, read when they are asked for. Unlike those of a memory map, they do not stay."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            header = read_header(file)
            header.require_data(file.seek(0, io.SEEK_END) - header.length)
        if header.by_column or not header.shape:
            raise Malformed("it is not an array of rows")
        self.shape, self.dtype, self._start, self._path = header.shape, header.dtype, header.length, path
        self._width = math.prod(self.shape[1:]) * self.dtype.itemsize  # bytes of a row

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, which: slice | int | np.integer[Any]) -> NDArray[Any]:
        if not isinstance(which, slice):
            at = int(which)
            row: NDArray[Any] = self[at : at + 1][0]
            return row
        first, last, _ = which.indices(len(self))
        start = self._start + first * self._width
        return self._array(self._bytes(start, start + max(0, last - first) * self._width))

    def take(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """Some rows, in this order."""
        starts = (self._start + np.asarray(places, np.int64) * self._width).tolist()
        return self._array(b"".join(self._bytes(start, start + self._width) for start in starts))

    def _bytes(self, start: int, stop: int) -> bytes:
        with self._path.open("rb", buffering=0) as file:
            return os.pread(file.fileno(), stop - start, start)

    def _array(self, content: bytes) -> NDArray[Any]:
        return np.frombuffer(content, self.dtype).reshape(-1, *self.shape[1:])


class CheckedRows(StoredRows):
    """The same, compared with the checksums of their blocks; InputError if they are damaged."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._expected = np.fromfile(checksums_path(path), "<u4")
        if len(self._expected) != -(-path.stat().st_size // BLOCK):
            raise Malformed("there are more or fewer checksums than blocks")

    def _bytes(self, start: int, stop: int) -> bytes:
        first, last = start // BLOCK, -(-stop // BLOCK)
        content = super()._bytes(first * BLOCK, last * BLOCK)
        for number in range(first, last):
            place = (number - first) * BLOCK
            if zlib.crc32(content[place : place + BLOCK]) != self._expected[number]:
                cause = f"is damaged (the checksum of the {BLOCK:,} bytes from {number * BLOCK:,} on is wrong)"
                raise InputError(self._path, cause, "Build it again with --rebuild.")
        return content[start - first * BLOCK : stop - first * BLOCK]


def checksums_path(path: Path) -> Path:
    return path.with_name(path.name + CHECKSUMS)


def write_checksums(path: Path) -> None:
    """Of the blocks of a finished file."""
    with path.open("rb") as file, checksums_path(path).open("wb") as out:
        while block := file.read(BLOCK):
            out.write(zlib.crc32(block).to_bytes(4, "little"))


class AppendedRows:
    """An .npy file that grows by rows; how many there are is written in its header at the end."""

    def __init__(self, path: Path, like: NDArray[Any], rows: int = 0) -> None:
        """`rows`: so many that are there already are kept, and what follows them is not."""
        self._path, self._form, self.width, self.rows = path, like.dtype, like.shape[1:], rows
        self._file = path.open("r+b" if rows else "wb")

    def __enter__(self) -> Self:
        self._write_header()
        self._file.seek(self.rows * math.prod(self.width) * self._form.itemsize, io.SEEK_CUR)
        self._file.truncate()
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._file.seek(0)
            self._write_header()

    def append(self, values: NDArray[Any]) -> None:
        self._file.write(values.tobytes())
        self.rows += len(values)

    def flush(self) -> None:
        """What was appended is on the disk."""
        self._file.flush()
        flush_to_disk(self._path)

    def _write_header(self) -> None:
        """numpy leaves room in it for any number of rows."""
        shape = (self.rows, *self.width)
        facts = {"descr": np.lib.format.dtype_to_descr(self._form), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, facts)
