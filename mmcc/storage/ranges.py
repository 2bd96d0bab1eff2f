"""Byte ranges of remote files: ranges that touch are fetched by one request, and the last ones are kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from threading import Lock
from typing import Any

import pyarrow as pa

from mmcc.storage.remote import RemotePath
from mmcc.storage.s3 import explained

KEPT_BYTES = 64 << 20  # a segment of 64 frames of 128 pixels has about half a megabyte
_OPEN_FILES = 256  # whose size is known: each costs one request to open

Range = tuple[int, int]  # offset, length


class Ranges:
    """Several threads may ask at once."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._most, self._size = most, 0
        self._kept: OrderedDict[tuple[RemotePath, int, int], Any] = OrderedDict()
        self._lock = Lock()

    def fetch(self, path: RemotePath, ranges: Iterable[Range]) -> None:
        """Fetch ranges that will be read next, those that touch together."""
        wanted = [each for each in ranges if (path, *each) not in self._kept]
        for run in _touching(wanted):
            first = run[0][0]
            content = read_range(path, first, sum(length for _, length in run))
            for offset, length in run:
                self._keep((path, offset, length), content.slice(offset - first, length))

    def read(self, path: RemotePath, offset: int, length: int) -> Any:
        """A buffer; EOFError where the file ends before."""
        key = path, offset, length
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        content = read_range(path, offset, length)
        self._keep(key, content)
        return content

    def _keep(self, key: tuple[RemotePath, int, int], content: Any) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = content
                self._size += content.size
            while self._size > self._most and len(self._kept) > 1:
                self._size -= self._kept.popitem(last=False)[1].size


def read_range(path: RemotePath, offset: int, length: int) -> Any:
    """A buffer with exactly these bytes; FileNotFoundError, or EOFError where the file ends before."""
    with explained(path):
        file = _open(path)
        if offset + length > file.size():
            raise EOFError(f"it ends before byte {offset + length:,}")
        content = pa.py_buffer(file.read_at(length, offset))
    if content.size != length:
        raise EOFError(f"it ends before byte {offset + length:,}")
    return content


@lru_cache(_OPEN_FILES)
def _open(path: RemotePath) -> Any:
    return path.system.open_input_file(path.object)


def _touching(ranges: list[Range]) -> Iterator[list[Range]]:
    """Runs in which each range begins where the one before it ends."""
    run: list[Range] = []
    for offset, length in ranges:
        if run and sum(run[-1]) != offset:
            yield run
            run = []
        run.append((offset, length))
    if run:
        yield run
