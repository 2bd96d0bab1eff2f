"""Whole files to and from a bucket. A copy on this machine takes its name when it is whole and what it should be."""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from mmcc.errors import InputError, OutputError
from mmcc.files import cache_folder, replacing, writing
from mmcc.storage.remote import RemotePath
from mmcc.storage.s3 import explained

_PIECE = 8 << 20  # bytes
_CACHED = "remote"  # the kind of entry in the cache
Tell = Callable[[int], None]  # told how many more bytes have been copied


class WrongChecksum(Exception):
    """A file is not what was written."""


def download(
    source: RemotePath,
    target: Path,
    check: Callable[[Path], None] = lambda _: None,
    tell: Tell | None = None,
    *,
    durable: bool = True,
) -> int:
    """Copy a whole object, and return its size. `check` looks at the copy before it takes its name, and raises.
    `durable`: survive a power cut."""
    with explained(source):
        file = source.system.open_input_file(source.object)
        size = int(file.size())
    with writing(target):
        room = shutil.disk_usage(target.parent).free
    if size > room:
        cause = f"has {size / 1e9:,.2f} GB, and there are {room / 1e9:,.2f} GB free in {target.parent}"
        raise InputError(source, cause, "Free some space, or choose a folder on another disk.")
    with writing(target), replacing(target, durable=durable, shared=True) as draft:
        with draft.open("wb") as out:
            for at in range(0, size, _PIECE):
                with explained(source):
                    piece = file.read_at(min(_PIECE, size - at), at)
                if len(piece) != min(_PIECE, size - at):
                    cause = f"only {at + len(piece):,} of its {size:,} bytes have arrived"
                    raise InputError(source, cause, "Run the same command again.")
                out.write(piece)
                if tell is not None:
                    tell(len(piece))
        check(draft)
    return size


def upload(source: Path, target: RemotePath, tell: Tell | None = None) -> None:
    """Copy a whole file; the object exists, or is replaced, when all of it has arrived."""
    system = target.system
    with source.open("rb") as file, explained(target), system.open_output_stream(target.object) as out:
        while piece := file.read(_PIECE):
            out.write(piece)
            if tell is not None:
                tell(len(piece))
    arrived = target.info().size
    if arrived != source.stat().st_size:
        raise InputError(target, f"only {arrived or 0:,} bytes of it have arrived", "Run the same command again.")


def replace_object(source: Path, target: RemotePath) -> None:
    """Copy a small file over an object that others may be reading. Unlike `upload`, which a signal may interrupt when
    the object is half written, it leaves the old one or the new one."""
    from pyarrow import fs

    with explained(target):
        local = fs.LocalFileSystem()
        fs.copy_files(str(source), target.object, source_filesystem=local, destination_filesystem=target.system)


def sizes_in(folder: Path) -> dict[str, int]:
    """The files of a folder by name, with their sizes; nothing where there is no such folder."""
    if isinstance(folder, RemotePath):
        return {path.name: int(info.size) for path, info in folder.entries() if info.is_file}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
    return {}


def read_checked(path: Path, crc32: int) -> Any:
    """A file that never changes, as a memory-mapped buffer; a remote one from a copy in the cache.

    FileNotFoundError if it is gone, WrongChecksum if its checksum is wrong."""
    if isinstance(path, RemotePath):
        return _cached(path, crc32)
    return _mapped(path, crc32)


def _mapped(path: Path, crc32: int) -> Any:
    with path.open("rb") as file:  # unlike a memory map, it names a file that does not exist
        size = file.seek(0, 2)
    with pa.memory_map(str(path)) as source:
        content = source.read_buffer(size)
    if zlib.crc32(content) != crc32:
        raise WrongChecksum("its checksum is wrong")
    return content


def cached_at(path: RemotePath, version: str) -> Path:
    """Where in the cache a copy of an object's version is kept."""
    name = hashlib.sha256(f"{path} {version}".encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return cache_folder() / _CACHED / name


def _cached(path: RemotePath, crc32: int) -> Any:
    copy = cached_at(path, f"{crc32:08x}")
    with suppress(OSError, WrongChecksum):
        content = _mapped(copy, crc32)
        os.utime(copy)  # the least recently used entries of the cache are removed first
        return content
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        download(path, copy, lambda draft: _check(draft, crc32))
        return _mapped(copy, crc32)
    except FileNotFoundError:
        raise
    except (OSError, OutputError):  # no place for a cache: memory has to do
        content = pa.py_buffer(path.read_bytes())
        if zlib.crc32(content) != crc32:
            raise WrongChecksum("its checksum is wrong") from None
        return content


def _check(path: Path, crc32: int) -> None:
    _mapped(path, crc32)
