"""Files that are whole or not there: written under another name, flushed to the disk, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from mmcc.media.errors import OutputError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failing disk (full, read-only, gone) into an OutputError that names the place."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    except SafetensorError as error:  # safetensors reports a failing disk by its own name
        raise OutputError(f"{path}: cannot be written: {error}") from error


def replace_text(path: Path, text: str) -> None:
    """Write a whole file at once; the old one stays until the new one is safe."""
    temporary = path.with_name(f".tmp-{path.name}")
    with writing(path):
        temporary.write_text(text, encoding="utf-8")
        flush_to_disk(temporary)
        temporary.replace(path)
        flush_to_disk(path.parent)


def flush_to_disk(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
