"""What is kept in memory between requests: the most recently used, up to a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key; beyond `limit` bytes the least recently used are forgotten. Any thread may use it."""

    def __init__(self, limit: int) -> None:
        self._limit, self._lock = limit, Lock()
        self._kept: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable) -> Value | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: Value, size: int) -> None:
        """Keep a value of so many bytes; one that is larger than the limit is not kept."""
        with self._lock:
            if key in self._kept:
                self._bytes -= self._kept.pop(key)[1]
            if size > self._limit:
                return
            self._kept[key] = value, size
            self._bytes += size
            while self._bytes > self._limit:
                _, (_, gone) = self._kept.popitem(last=False)
                self._bytes -= gone

    @property
    def bytes(self) -> int:
        return self._bytes

    def __len__(self) -> int:
        return len(self._kept)
