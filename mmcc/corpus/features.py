"""Feature arrays (`<id>.npy`, T x dims at a stated rate) instead of pixels, e.g. CrossTask's 3200-dim at 1/s.

The header and the length of a file decide whether it is usable, before a byte of it is loaded or allocated: a header
may claim any shape, and object arrays would be unpickled.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.arrays import map_array, read_header
from mmcc.errors import InputError
from mmcc.untrusted import Malformed

MAX_ROWS = 10_000_000  # 92 hours at 30 rows per second
_MAX_DIMS = 1_000_000
_REMEDY = "Save a (time, dims) array of floats or integers with numpy.save."


@dataclass(frozen=True)
class FeatureArray:
    """The contents of a usable .npy file."""

    path: Path
    rows: int
    dims: int
    dtype: np.dtype[Any]


def check_features(path: Path, max_rows: int = MAX_ROWS) -> FeatureArray:
    """Read the header alone; InputError says why the array cannot be used."""
    shape, dtype, data_bytes = _read_header(path)
    if dtype.hasobject:
        raise InputError(path, "contains Python objects, which are never loaded", _REMEDY)
    if dtype.kind not in "fiu" or dtype.itemsize > 8:
        raise InputError(path, f"contains {dtype}, not floats or integers", _REMEDY)
    if len(shape) != 2:
        raise InputError(path, f"has {len(shape)} dimensions, not 2 (time, dims)", _REMEDY)
    rows, dims = shape
    if rows < 1 or dims < 1:
        raise InputError(path, f"is empty: its shape is {rows} x {dims}", _REMEDY)
    if rows > max_rows or dims > _MAX_DIMS:
        raise InputError(
            path, f"{rows} x {dims} exceeds {max_rows} x {_MAX_DIMS}", "Split it, or check how it was made."
        )
    expected = rows * dims * dtype.itemsize
    if data_bytes != expected:
        cause = "is truncated" if data_bytes < expected else "is longer than its header says"
        raise InputError(path, f"{cause}: {rows} x {dims} needs {expected} bytes, not {data_bytes}", "Copy it again.")
    return FeatureArray(path, rows, dims, dtype)


def read_features(path: Path) -> NDArray[Any]:
    """The checked array, memory-mapped: rows are read from disk when used."""
    check_features(path)
    try:
        return map_array(path)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be mapped: {error}", "Copy it again.") from None


def _read_header(path: Path) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, type and the number of bytes after the header."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(path, "is not a file", "Give a .npy file.")
        with path.open("rb") as file:
            header = read_header(file)
            return header.shape, header.dtype, file.seek(0, os.SEEK_END) - header.length
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", "Check the path and its permissions.") from None
    except Malformed:
        raise InputError(path, "is not a usable .npy array", _REMEDY) from None
