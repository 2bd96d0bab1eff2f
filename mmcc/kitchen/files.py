"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def is_whole(path: Path) -> bool:
    """Files appear under their names when they are whole; an empty one is the work of a disk that filled up."""
    return path.exists() and path.stat().st_size > 0


def put(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file under another name, and give it its own when it is done."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def put_text(path: Path, text: str) -> None:
    """Write a text, unless it is there already."""
    data = text.encode()
    if not (path.is_file() and path.read_bytes() == data):
        put(path, lambda part: _write(part, data))


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def sweep(folder: Path) -> None:
    """Take away what a killed writer left half written."""
    for part in folder.glob("**/.*.part"):
        part.unlink(missing_ok=True)
