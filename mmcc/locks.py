"""A folder lock: one writer at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from mmcc.errors import InputError

LOCK = ".lock"
_held: set[TextIO] = set()


def _let_go() -> None:
    """In a forked child: otherwise a worker that outlives its killed parent by seconds keeps the folder locked."""
    while _held:
        _held.pop().close()


os.register_at_fork(after_in_child=_let_go)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold a folder for one writer. The lock ends with the process, however it ends."""
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(folder, "another mmcc process is writing to it", "Wait for it, or stop it.") from None
        _held.add(lock)
        try:
            yield
        finally:
            _held.discard(lock)
