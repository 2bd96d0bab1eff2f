"""A kitchen's files: each appears under its name once it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mmcc.files import replacing


def is_whole(path: Path) -> bool:
    """Files appear under their names once complete; an empty one was left by a full disk."""
    return path.exists() and path.stat().st_size > 0


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """A draft of one of many thousand files; a power cut may lose some, which are then written again."""
    with replacing(path, durable=False, shared=True) as draft:
        yield draft


def put_text(path: Path, text: str) -> None:
    """Write a text, unless the file already has it."""
    data = text.encode()
    if not (path.is_file() and path.read_bytes() == data):
        with drafted(path) as draft:
            draft.write_bytes(data)
