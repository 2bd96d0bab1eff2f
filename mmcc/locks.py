"""A folder lock: one writer at a time."""

from __future__ import annotations

import errno
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


def _open(path: Path) -> TextIO:
    """The lock's file, which is never emptied; a link that somebody put there is not followed."""
    try:
        return os.fdopen(os.open(path, os.O_CREAT | os.O_NOFOLLOW | os.O_WRONLY | os.O_CLOEXEC, 0o666), "w")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InputError(path, "is a link, not the lock of a folder", "Remove it.") from None
        raise


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold a folder for one writer. The lock ends with the process, however it ends."""
    with _open(folder / LOCK) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(folder, "another mmcc process is writing to it", "Wait for it, or stop it.") from None
        except OSError as error:  # ENOLCK, ENOSYS, EOPNOTSUPP: some network file systems
            cause = f"its file system does not support locks ({error.strerror})"
            raise InputError(folder, cause, "Choose a folder on another disk, or mount it with locks.") from None
        _held.add(lock)
        try:
            yield
        finally:
            _held.discard(lock)
