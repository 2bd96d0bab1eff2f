"""What lies under a prefix, listed once: folders as a walk over a disk meets them, and files that know their size and
time without another request."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmcc.errors import InputError
from mmcc.files import writing
from mmcc.storage.copies import Tell, cached_at, download
from mmcc.storage.ranges import read_range
from mmcc.storage.remote import RemotePath, as_stat, place, spelled

_AGAIN = "Run the same command again."


class ListedPath(RemotePath):
    """An object as a listing found it."""

    _listed: os.stat_result | None = None

    @classmethod
    def of(cls, path: RemotePath, info: Any) -> ListedPath:
        found = cls(*path.parts)
        found._listed = as_stat(info)
        return found

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Of the listing; of now, for a path that was made of another."""
        return self._listed or super().stat()

    def require_unchanged(self) -> None:
        """InputError if it is gone, or is another object now."""
        now, then = self.info(), self.stat()
        if not now.is_file:
            raise InputError(self, "has been removed since it was listed", _AGAIN)
        # Some servers list fractions of a second, which the answer about one object lacks.
        if now.size != then.st_size or abs(now.mtime_ns - then.st_mtime_ns) >= 10**9:
            raise InputError(self, "has been replaced since it was listed", _AGAIN)


@dataclass(frozen=True)
class Entry:
    """A name in a folder, with the questions that `os.DirEntry` answers."""

    name: str
    file: ListedPath | None  # None: a folder

    @property
    def path(self) -> str:
        return str(self.file or self.name)

    def is_dir(self) -> bool:
        return self.file is None

    def is_file(self) -> bool:
        return self.file is not None

    def is_symlink(self) -> bool:
        return False


class Listing:
    """Everything under a prefix, or with `recurse` off directly in it."""

    def __init__(self, root: RemotePath, *, recurse: bool = True) -> None:
        self._folders: dict[str, list[Entry]] = {}
        self.nameless: list[str] = []  # keys that no address names: requests for them would reach other objects
        for info in root.infos(recursive=recurse):
            path = root.named(info)
            if path is None or not _names(str(path), path):
                self.nameless += [info.path] if info.is_file else []
            else:
                entry = Entry(path.name, ListedPath.of(path, info) if info.is_file else None)
                self._folders.setdefault(spelled(path.parent), []).append(entry)

    def entries(self, folder: str) -> list[Entry]:
        """What is in a folder, which is spelled as by `spelled`; nothing where there is none."""
        return self._folders.get(folder, [])


def _names(address: str, path: RemotePath) -> bool:
    """Whether an address leads to this path: the key "a?region=x.mp4" would be read as an option."""
    try:
        return "?" not in address or place(address) == path
    except InputError:
        return False


def as_listed(path: Path) -> Path:
    """A path that many will ask for its size and time, which are those of now."""
    if not isinstance(path, RemotePath):
        return path
    info = path.info()
    return ListedPath.of(path, info) if info.is_file else path


def kept_copy(path: Path) -> Path:
    """A file of this machine with the content of one that `as_listed` returned: a copy in the cache, made again when
    the object has changed."""
    if not isinstance(path, ListedPath):
        return path
    found = path.stat()
    copy = cached_at(path, f"{found.st_size}.{found.st_mtime_ns}")
    if not copy.is_file():
        with writing(copy.parent):
            copy.parent.mkdir(parents=True, exist_ok=True)
        fetch(path, copy, lambda size: None)
    with suppress(OSError):
        os.utime(copy)  # the least recently used entries of the cache are removed first
    return copy


def fetch(source: RemotePath, target: Path, tell: Tell, span: tuple[int, int] | None = None) -> None:
    """Copy an object, or only a span (offset, length) of it; InputError if it is not, or no longer, what was listed."""
    unchanged: Callable[[], None] = source.require_unchanged if isinstance(source, ListedPath) else lambda: None
    try:
        unchanged()
        if span is None:
            download(source, target, lambda draft: unchanged(), tell, durable=False)
        else:
            content = read_range(source, *span)
            with writing(target):
                target.write_bytes(content)
            unchanged()
    except FileNotFoundError:
        raise InputError(source, "has been removed since it was listed", _AGAIN) from None
    except EOFError as error:
        raise InputError(source, f"is shorter than it was ({error})", _AGAIN) from None
