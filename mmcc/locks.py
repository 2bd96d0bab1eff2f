"""One writer at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mmcc.media.errors import InputError

LOCK = ".lock"


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold a folder for one writer. The lock ends with the process, however it ends."""
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(folder, "another mmcc is writing to it", "Wait for it, or stop it.") from None
        yield
