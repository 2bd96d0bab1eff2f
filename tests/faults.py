"""A disk that fails at the n-th event: the process dies there, or is told of an error, or the power goes.

    events = events_of(job, root)                      # what a job does under a folder: "write a.npy", "fsync a.npy", …
    ended = with_fault(job, root, Fault(CRASH, at=3))  # the same job in another process, which ends at the third

Events are what Python asks of the system: writes, renames, flushes, removals and new folders. A crash in the middle of
a write leaves half of it. After a power cut only what was flushed is left: of a file what it held at its last fsync,
of a folder the names that it had at its last. Everything that was there before the job counts as flushed.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.forked import Answer, forked

CRASH, POWER = "crash", "power"
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO}
KINDS = (CRASH, POWER, *ERRORS)
DIED = 77  # the exit code of a process that ended at an event
_BY_PATH = {"rename": "rename", "replace": "rename", "unlink": "unlink", "remove": "unlink", "rmdir": "unlink"}
_BY_PATH |= {"mkdir": "mkdir"}

Job = Callable[[], object]


class Fault(NamedTuple):
    """What happens at which event, counted from 0."""

    kind: str
    at: int


def events_of(job: Job, root: Path) -> list[str]:
    """What a job does under a folder, in the order in which it does it; it runs in another process."""
    told = root.parent / f"{root.name}.events"
    ended = forked(_tell_events, job, root, told)
    assert ended.code == 0, ended.err
    events = told.read_text().splitlines()
    told.unlink()
    return events


def with_fault(job: Job, root: Path, fault: Fault) -> Answer:
    """How a job ends whose disk fails. After a power cut, the folder has what was left of it."""
    ended = forked(_run_with_fault, job, root, fault)
    kept = _kept(root)
    if ended.code == DIED and fault.kind == POWER:
        shutil.rmtree(root, ignore_errors=True)
        if kept.exists():
            kept.rename(root)
    return ended


def _tell_events(job: Job, root: Path, told: Path) -> None:
    with _watched(root, None) as disk:
        job()
    told.write_text("".join(f"{event}\n" for event in disk.events))


def _run_with_fault(job: Job, root: Path, fault: Fault) -> None:
    with _watched(root, fault):
        job()


def _kept(root: Path) -> Path:
    return root.parent / f"{root.name}.kept"


class _Disk:
    """The events under a folder, and what of it would survive a power cut."""

    def __init__(self, root: Path, fault: Fault | None) -> None:
        self.root, self.fault = root.absolute(), fault
        self.events: list[str] = []
        self._contents: dict[int, bytes] = {}  # of files, by inode
        self._names: dict[int, dict[str, int]] = {}  # of folders: the inodes of what is in them
        self._folders: set[int] = set()
        if fault and fault.kind == POWER:
            self._flush_all()

    def is_ours(self, path: Any) -> bool:
        if isinstance(path, int):
            return False
        place = Path(os.fsdecode(path)).absolute()
        return place == self.root or self.root in place.parents

    def event(self, what: str, path: Any, half: Callable[[], object] = lambda: None) -> None:
        """Counts it; `half` does a part of what it would do, when the process dies in the middle of it."""
        self.events.append(f"{what} {Path(os.fsdecode(path)).absolute().relative_to(self.root)}")
        if self.fault is None or len(self.events) - 1 != self.fault.at:
            return
        if self.fault.kind in ERRORS:
            number = ERRORS[self.fault.kind]
            raise OSError(number, os.strerror(number), str(path))
        half()
        if self.fault.kind == POWER:
            self._restore(_kept(self.root), self.root.stat().st_ino if self.root.exists() else -1)
        os._exit(DIED)

    def made(self, path: Any) -> None:
        """A new file or folder: its inode may have been another's."""
        inode = os.stat(path).st_ino  # noqa: PTH116 (Path would come back here)
        self._contents.pop(inode, None)
        self._names.pop(inode, None)
        self._folders.discard(inode)
        if os.path.isdir(path):  # noqa: PTH112
            self._folders.add(inode)

    def flushed(self, descriptor: int) -> None:
        if self.fault is None or self.fault.kind != POWER:
            return
        place = Path(f"/proc/self/fd/{descriptor}").readlink()
        self._flush(place)

    def _flush(self, place: Path) -> None:
        facts = place.stat()
        if stat.S_ISDIR(facts.st_mode):
            self._folders.add(facts.st_ino)
            self._names[facts.st_ino] = {each.name: each.inode() for each in os.scandir(place)}
            self._folders |= {each.inode() for each in os.scandir(place) if each.is_dir()}
        elif stat.S_ISREG(facts.st_mode):
            self._contents[facts.st_ino] = place.read_bytes()

    def _flush_all(self) -> None:
        if self.root.exists():
            for place in (self.root, *self.root.rglob("*")):
                self._flush(place)

    def _restore(self, place: Path, inode: int) -> None:
        if inode in self._folders or place == _kept(self.root):
            place.mkdir()
            for name, inner in self._names.get(inode, {}).items():
                self._restore(place / name, inner)
        else:
            place.write_bytes(self._contents.get(inode, b""))


@contextmanager
def _watched(root: Path, fault: Fault | None) -> Iterator[_Disk]:
    """In this process: whatever Python does under a folder passes here."""
    disk, busy = _Disk(root, fault), False
    true = {name: getattr(os, name) for name in (*_BY_PATH, "fsync", "open")}
    true_open = io.open

    def passing(name: str) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **options: Any) -> Any:
            nonlocal busy
            place = _place(path, options.get("dir_fd"))
            if busy or not disk.is_ours(place):
                return true[name](path, *rest, **options)
            busy = True
            try:
                disk.event(_BY_PATH[name], place)
                done = true[name](path, *rest, **options)
                if name == "mkdir":
                    disk.made(place)
                return done
            finally:
                busy = False

        return call

    def fsync(descriptor: int) -> None:
        nonlocal busy
        place = Path(f"/proc/self/fd/{descriptor}").readlink()
        if not busy and disk.is_ours(place):
            busy = True
            try:
                disk.event("fsync", place)
                disk.flushed(descriptor)
            finally:
                busy = False
        true["fsync"](descriptor)

    def open_low(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        nonlocal busy
        if busy or not flags & os.O_CREAT or options.get("dir_fd") is not None or not disk.is_ours(path):
            return int(true["open"](path, flags, *rest, **options))
        new = not os.path.lexists(path)
        busy = True
        try:
            if new:
                disk.event("create", path)
            descriptor = int(true["open"](path, flags, *rest, **options))
            if new:
                disk.made(path)
            return descriptor
        finally:
            busy = False

    def open_file(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
        nonlocal busy
        if busy or not set(mode) & set("wax+") or not disk.is_ours(file):
            return true_open(file, mode, *rest, **options)
        new = not os.path.lexists(file)
        busy = True
        try:
            if new:
                disk.event("create", file)
            opened = true_open(file, mode, *rest, **options)
            if new:
                disk.made(file)
        finally:
            busy = False
        return _WatchedFile(opened, Path(os.fsdecode(file)), disk)

    patched: list[tuple[Any, str, Any]] = [(os, name, passing(name)) for name in _BY_PATH]
    patched += [(os, "fsync", fsync), (os, "open", open_low), (io, "open", open_file), (builtins, "open", open_file)]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in patched]
    for owner, name, value in patched:
        setattr(owner, name, value)
    try:
        yield disk
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _place(path: Any, folder: int | None) -> Any:
    """Where a path is that is given from an open folder, as shutil.rmtree does."""
    return path if folder is None else Path(f"/proc/self/fd/{folder}").readlink() / os.fsdecode(path)


class _WatchedFile:
    """A file opened for writing."""

    def __init__(self, file: Any, path: Path, disk: _Disk) -> None:
        self._file, self._path, self._disk = file, path, disk

    def write(self, content: Any) -> Any:
        self._disk.event("write", self._path, lambda: self._write_half(content))
        return self._file.write(content)

    def _write_half(self, content: Any) -> None:
        with suppress(OSError):
            self._file.write(content[: len(content) // 2])
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _WatchedFile:
        self._file.__enter__()
        return self

    def __exit__(self, *error: object) -> Any:
        return self._file.__exit__(*error)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)
