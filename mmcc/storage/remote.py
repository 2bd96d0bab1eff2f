"""Paths of objects, which can be used where paths of files are read.

>>> corpus = place("s3://bucket/cooking.corpus")
>>> (corpus / "manifest.json").is_file(), str(corpus / "manifest.json")
(True, 's3://bucket/cooking.corpus/manifest.json')

A `RemotePath` is a `Path` with parts ("s3:", "bucket?options", "key", …), so joining, comparing, naming and pickling
are pathlib's own; what asks the disk asks the bucket. Nothing is written through it (see `mmcc.storage.copies`), and it
has no `__fspath__`: whatever opens it as a file of this machine fails at once.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PosixPath
from typing import IO, Any, NoReturn

from mmcc.errors import InputError
from mmcc.storage.address import is_address, parse_address
from mmcc.storage.s3 import Unreachable, explained, explanation, file_system, remember

__all__ = ["RemotePath", "Unreachable", "inner_name", "is_remote", "place", "spelled", "split_id", "stored_name"]

_BUFFER = 64 << 10  # bytes fetched at least when a file is read in pieces
_READABLE = stat.S_IFREG | 0o444


def place(text: str | os.PathLike[str]) -> Path:
    """The path that an address or the name of a file stands for; what pathlib has made of an address is understood."""
    if isinstance(text, RemotePath):
        return text
    name = os.fspath(text)
    if not is_address(name):
        return Path(text)
    bucket, options, key, credentials = parse_address(name)
    connection = f"{bucket}?{options}" if options else bucket
    if credentials is not None:
        remember(connection, credentials)
    return RemotePath("s3:", connection, *key)


def is_remote(path: Path) -> bool:
    return isinstance(path, RemotePath)


def spelled(path: Path) -> str:
    """A path as text, of which that of a folder is the beginning; `place` makes a path of it again."""
    return "/".join(path.parts) if isinstance(path, RemotePath) else os.fspath(path)


def stored_name(path: Path) -> str:
    """A path as it is written down: the same wherever it is read."""
    return str(path) if is_remote(path) else os.path.abspath(path)  # noqa: PTH100 (unlike Path.absolute, it knows "..")


def inner_name(path: Path, folder: Path) -> str:
    """The name of a file relative to a folder."""
    return path.relative_to(folder).as_posix() if is_remote(path) else os.path.relpath(path, folder)


def split_id(source: Path) -> tuple[Path, str]:
    """The corpus and the video of CORPUS:ID; "" where there is no colon."""
    if isinstance(source, RemotePath):
        key, _, video = "/".join(source.parts[2:]).rpartition(":")
        return RemotePath(*source.parts[:2], *filter(None, key.split("/"))), video if key else ""
    folder, _, video = str(source).rpartition(":")
    return Path(folder), video if folder else ""


class RemotePath(PosixPath):
    """The path of an object, or of a prefix, which counts as a folder."""

    def __str__(self) -> str:
        if self.parts[:1] != ("s3:",) or len(self.parts) < 2:  # relative to another
            return super().__str__()
        bucket, _, options = self.parts[1].partition("?")
        return "s3://" + "/".join((bucket, *self.parts[2:])) + (f"?{options}" if options else "")

    def __fspath__(self) -> NoReturn:
        raise TypeError(f"{self} is not on this machine")

    @property
    def connection(self) -> str:
        """The bucket and how it is reached."""
        return self.parts[1]

    @property
    def object(self) -> str:
        """As pyarrow names it: bucket/key."""
        return "/".join((self.parts[1].partition("?")[0], *self.parts[2:]))

    @property
    def system(self) -> Any:
        """The pyarrow file system it is on."""
        return file_system(self.connection)

    def info(self) -> Any:
        """What the storage knows of it: its type, size and time."""
        system = self.system
        with explained(self):
            return system.get_file_info(self.object)

    def exists(self) -> bool:
        """InputError where there is not even the bucket."""
        found = bool(self.info().type)
        if not found and len(self.parts) > 2 and not RemotePath(*self.parts[:2]).info().type:
            raise explanation(self, "NO_SUCH_BUCKET")
        return found

    def is_file(self) -> bool:
        return bool(self.info().is_file)

    def is_dir(self) -> bool:
        info = self.info()
        return bool(info.type) and not info.is_file

    def is_symlink(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        info = self.info()
        if not info.type:
            raise FileNotFoundError(2, "no such object", str(self))
        return as_stat(info)

    def absolute(self) -> RemotePath:
        return self

    def resolve(self, strict: bool = False) -> RemotePath:
        return self

    def expanduser(self) -> RemotePath:
        return self

    def infos(self, *, recursive: bool = False) -> Any:
        """What the storage knows of all that lies under a prefix."""
        from pyarrow import fs

        system = self.system
        with explained(self):
            return system.get_file_info(fs.FileSelector(self.object, recursive=recursive, allow_not_found=True))

    def entries(self, *, recursive: bool = False) -> Iterator[tuple[RemotePath, Any]]:
        """What lies under a prefix, with what is known of it. Keys that no path can name are left out: requests for
        "a/../b" or "a//b" would reach other objects."""
        for info in self.infos(recursive=recursive):
            if (path := self.named(info)) is not None:
                yield path, info

    def named(self, info: Any) -> RemotePath | None:
        """The path under this one of what a listing found; None if no path can name it."""
        before = len(self.object) + 1
        names = info.path[before:].split("/")
        if info.path[:before] != f"{self.object}/" or {"", ".", ".."} & {*names}:
            return None
        return self.joinpath(*names)

    def iterdir(self) -> Iterator[RemotePath]:  # type: ignore[override]
        return (path for path, _ in self.entries())

    def glob(self, pattern: str) -> Iterator[RemotePath]:  # type: ignore[override]
        """Patterns in the last part alone."""
        *folders, last = pattern.split("/")
        return (path for path in self.joinpath(*folders).iterdir() if fnmatchcase(path.name, last))

    def rglob(self, pattern: str) -> Iterator[RemotePath]:  # type: ignore[override]
        return (path for path, _ in self.entries(recursive=True) if fnmatchcase(path.name, pattern))

    def open(  # type: ignore[override]
        self,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> IO[Any]:
        """For reading."""
        if set(mode) - set("rbt"):
            raise InputError(self, "cannot be written to", "Choose a folder on this machine.")
        binary = io.BufferedReader(_Reader(self), _BUFFER)
        return binary if "b" in mode else io.TextIOWrapper(binary, encoding, errors, newline)


def as_stat(info: Any) -> os.stat_result:
    """What pyarrow knows of an object, as the disk would say it."""
    mode = _READABLE if info.is_file else stat.S_IFDIR | 0o555
    times: Any = {"st_mtime_ns": info.mtime_ns or 0}
    return os.stat_result((mode, 0, 0, 1, 0, 0, info.size or 0, 0, (info.mtime_ns or 0) // 10**9, 0), times)


class _Reader(io.RawIOBase):
    """An object as a stream of bytes."""

    def __init__(self, path: RemotePath) -> None:
        self._path, self._at = path, 0
        with explained(path):
            self._file = path.system.open_input_file(path.object)
            self._size = self._file.size()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        content = self._read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def readall(self) -> bytes:
        """By one request, not by many small ones."""
        return self._read(self._size)

    def _read(self, most: int) -> bytes:
        wanted = min(most, self._size - self._at)
        if wanted <= 0:
            return b""
        with explained(self._path):
            content: bytes = self._file.read_at(wanted, self._at)
        self._at += len(content)
        return content
