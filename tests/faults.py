"""A disk that fails at the n-th event: the process dies there, or is told of an error, or the power goes.

    events = events_of(job, root)                      # what a job does under a folder: "write a.npy", "fsync a.npy", …
    ended = with_fault(job, root, Fault(CRASH, at=3))  # the same job in another process, which ends at the third

Events are what Python asks of the system: writes, renames, links, flushes, removals and new folders. A crash in the
middle of a write leaves half of it. After a power cut only what was flushed is left: of a file what it held at its last
fsync, of a folder the names that it had at its last. Everything that was there before the job counts as flushed, and so
does what was linked from elsewhere.

Of a job with worker processes, `workers=True` also counts what these do: they load `tests/failing_disk`. A crash then
ends all of them. For its power cuts there is `tests/power_cut`.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import json
import mmap
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.forked import Answer, Forked, forked

CRASH, POWER = "crash", "power"
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO}
KINDS = (CRASH, POWER, *ERRORS)
DIED = 77  # the exit code of a process that ended at an event
_BY_PATH = {"rename": "rename", "replace": "rename", "unlink": "unlink", "remove": "unlink", "rmdir": "unlink"}
_BY_PATH |= {"mkdir": "mkdir"}
_SHARED = "FAILING_DISK"  # variable that tells worker processes of a disk, as JSON

Job = Callable[[], object]


class Fault(NamedTuple):
    """What happens at which event, counted from 0."""

    kind: str
    at: int


def events_of(job: Job, root: Path, *, workers: bool = False) -> list[str]:
    """What a job does under a folder, in the order in which it does it; it runs in another process."""
    told = root.parent / f"{root.name}.events"
    _state_of(told).unlink(missing_ok=True)  # of an earlier job
    ended = forked(_tell_events_of_all if workers else _tell_events, job, root, told)
    assert ended.code == 0, ended.err
    events = told.read_text().splitlines()
    told.unlink()
    return events


def with_fault(job: Job, root: Path, fault: Fault, *, workers: bool = False) -> Answer:
    """How a job ends whose disk fails. After a power cut, the folder has what was left of it."""
    if workers:
        return _with_fault_of_all(job, root, fault)
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


def _tell_events_of_all(job: Job, root: Path, told: Path) -> None:
    with _shared(root, None, told):
        job()


def _with_fault_of_all(job: Job, root: Path, fault: Fault) -> Answer:
    """A worker that crashes cannot end its parent, so it waits, like everybody who touches the disk from then on, until
    it is seen from here."""
    assert fault.kind != POWER, "see tests/power_cut"
    told = root.parent / f"{root.name}.events"
    told.write_text("")
    _state_of(told).unlink(missing_ok=True)  # of an earlier job
    state = _State(_state_of(told))
    with Forked(_run_with_fault_of_all, job, root, fault, told) as child:
        while not child.ends_within(0.005) and not state.crashed:
            pass
        if state.crashed:
            child.kill()  # its workers end with it
            return Answer(DIED, "", "")
        return child.end()


def _run_with_fault_of_all(job: Job, root: Path, fault: Fault, told: Path) -> None:
    with _shared(root, fault, told):
        job()


@contextmanager
def _shared(root: Path, fault: Fault | None, told: Path) -> Iterator[None]:
    """In this process and in those that it starts."""
    place = {"root": str(root), "fault": fault, "told": str(told)}
    tests = Path(__file__).parent
    folders = [str(tests / "failing_disk"), str(tests.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ |= {_SHARED: json.dumps(place), "PYTHONPATH": os.pathsep.join(folders)}
    disk = _SharedDisk(root, fault, told)
    with _watched(root, fault, disk):
        yield


def watch_as_told() -> None:
    """In a worker process, from its start to its end."""
    if told := os.environ.get(_SHARED):
        place = json.loads(told)
        root, fault = Path(place["root"]), place["fault"] and Fault(*place["fault"])
        _forever.append(_watched(root, fault, _SharedDisk(root, fault, Path(place["told"]))))
        _forever[-1].__enter__()


_forever: list[Any] = []


def _state_of(told: Path) -> Path:
    return told.with_suffix(".state")


class _State:
    """What all processes of a job know: how many events there were, and whether one has crashed."""

    def __init__(self, path: Path) -> None:
        with path.open("a+b") as file:
            file.truncate(16)
            self._held = mmap.mmap(file.fileno(), 16)
        self._numbers = memoryview(self._held).cast("q")

    def next(self) -> int:
        self._numbers[0] += 1
        return self._numbers[0] - 1

    @property
    def crashed(self) -> bool:
        return self._numbers[1] != 0

    def crash(self) -> None:
        self._numbers[1] = 1


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

    def linked(self, source: Any) -> None:
        """What another folder has was flushed there."""
        if self.fault and self.fault.kind == POWER and not self.is_ours(source):
            self._flush(Path(os.fsdecode(source)))

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


class _SharedDisk(_Disk):
    """The same for several processes. What it needs is opened at once: workers are confined later."""

    def __init__(self, root: Path, fault: Fault | None, told: Path) -> None:
        super().__init__(root, fault)
        self._state = _State(_state_of(told))
        self._told = told.open("a")

    def event(self, what: str, path: Any, half: Callable[[], object] = lambda: None) -> None:
        fcntl.flock(self._told, fcntl.LOCK_EX)
        try:
            number = self._state.next()
            self._told.write(f"{what} {Path(os.fsdecode(path)).absolute().relative_to(self.root)}\n")
            self._told.flush()
            if self.fault and number == self.fault.at and self.fault.kind == CRASH:
                half()
                self._state.crash()
                time.sleep(3600)  # with the lock, so that the others wait, too
        finally:
            fcntl.flock(self._told, fcntl.LOCK_UN)
        if self.fault and number == self.fault.at:
            raise OSError(ERRORS[self.fault.kind], os.strerror(ERRORS[self.fault.kind]), str(path))


@contextmanager
def _watched(root: Path, fault: Fault | None, disk: _Disk | None = None) -> Iterator[_Disk]:
    """In this process: whatever Python does under a folder passes here."""
    disk, busy = disk or _Disk(root, fault), False
    true = {name: getattr(os, name) for name in (*_BY_PATH, "fsync", "open", "link")}
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

    def link(source: Any, target: Any, **options: Any) -> None:
        nonlocal busy
        if busy or not disk.is_ours(target):
            true["link"](source, target, **options)
            return
        busy = True
        try:
            disk.event("link", target)
            true["link"](source, target, **options)
            disk.linked(source)
        finally:
            busy = False

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
    patched += [
        (os, "link", link),
        (os, "fsync", fsync),
        (os, "open", open_low),
        (io, "open", open_file),
        (builtins, "open", open_file),
    ]
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
