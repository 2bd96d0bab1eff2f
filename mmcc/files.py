"""Files that are whole or absent: written under another name, flushed to the disk, then renamed. Where the cache is."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from safetensors import SafetensorError

from mmcc.errors import OutputError

_DRAFT = ".tmp-"


def cache_folder() -> Path:
    """Where what can be computed again is kept: $MMCC_CACHE, else $XDG_CACHE_HOME/mmcc, else ~/.cache/mmcc."""
    if named := os.environ.get("MMCC_CACHE"):
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "mmcc"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failing disk (full, read-only, gone) into an OutputError that names the place."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
    except SafetensorError as error:  # safetensors reports a failing disk by its own name
        raise OutputError(f"{path}: cannot be written: {error}") from error


@contextmanager
def replacing(path: Path, *, durable: bool = True, shared: bool = False) -> Iterator[Path]:
    """A draft to write to, which takes the file's place when the block ends; until then the old file stays.

    `durable`: survive a power cut, at the price of two flushes. `shared`: several threads, processes or machines may
    write this file at the same time, so each needs a draft of its own; otherwise a draft that a killed process left is
    replaced.
    """
    own = f".{platform.node()}-{os.getpid()}-{threading.get_ident()}" if shared else ""
    draft = draft_of(path, own)
    _create(draft)
    try:
        yield draft
        if durable:
            flush_to_disk(draft)
        draft.replace(path)
        if durable:
            sync_folder(path.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _create(draft: Path) -> None:
    """An empty file of our own: what a killed process left is removed, and a link that somebody put there is not
    followed."""
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, 0o666))


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a whole file at once; the old one stays until the new one is safe."""
    with writing(path), replacing(path) as draft:
        draft.write_bytes(content)


def replace_text(path: Path, text: str) -> None:
    """The same, of text in UTF-8."""
    replace_bytes(path, text.encode("utf-8"))


def draft_of(path: Path, suffix: str = "") -> Path:
    """Where a file or folder is made that will be renamed to `path`."""
    return path.with_name(f"{_DRAFT}{path.name}{suffix}")


def is_draft(path: Path) -> bool:
    """Whether a file is one that a writer has not finished, or left behind when it was killed."""
    return path.name.startswith(_DRAFT)


def remove_drafts(folder: Path) -> None:
    """Remove drafts left by killed processes."""
    for draft in folder.glob(f"**/{_DRAFT}*"):
        if draft.is_dir() and not draft.is_symlink():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, so that not even a power cut takes back what is later written into it."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        flush_to_disk(folder.parent)


def flush_to_disk(path: Path) -> None:
    """Wait until a file's content is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Wait until a folder's list of names is on the disk: a new name, or a renamed one, may be lost until then."""
    try:
        flush_to_disk(path)
    except OSError as error:  # some network file systems cannot; they write names at once
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
