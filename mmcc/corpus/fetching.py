"""Files of a bucket, fetched to this machine just before they are read, and removed afterwards.

    CACHE/fetched/<random>/    the files of one run, a few at a time; its .lock is held while the run lasts

Workers have no network, and a decoder that seeks would make thousands of requests. So whole files are fetched, the
next ones while others are decoded. What a killed run has left is removed by the next one. Of a caption file that
covers many videos, only what is of one video is fetched.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from mmcc.corpus.source import Item
from mmcc.errors import InputError
from mmcc.files import cache_folder, make_folder, writing
from mmcc.locks import LOCK, only_writer
from mmcc.media.sandbox import Limits
from mmcc.storage import RemotePath, Unreachable
from mmcc.storage.listing import fetch

FOLDER = "fetched"
MOST_BYTES = 16 << 30  # of all files that are here at once; a larger one is fetched when there is no other
_PER_WORKER = 2  # videos: one that is being decoded, and the next
_AT_ONCE = 4  # downloads: one connection seldom fills a line
_GIVE_UP = 3  # videos in a row for which the storage could not be reached: the others are not tried


@dataclass(frozen=True)
class Files:
    """Where a video's files are on this machine, or why they are not."""

    item: Item
    media: Path | None
    captions: Path | None
    span: tuple[int, int] | None  # of the captions
    problem: str = ""  # why there is nothing to read
    caption_problem: str = ""  # why there are no captions


class Fetching:
    """The videos of a source whose files are on this machine, one by one; a context manager that leaves no file.

    Iterating gives None while the next video is on its way. `remove` says that one has been read.
    """

    def __init__(self, items: Iterable[Item], workers: int, limits: Limits) -> None:
        self._waiting = deque(items)
        self._most, self._most_bytes, self._limits = _PER_WORKER * workers, MOST_BYTES, limits
        self._opened = ExitStack()
        self._threads: ThreadPoolExecutor | None = None
        self._folder = Path()
        self._on_their_way: dict[str, Future[Files]] = {}  # by the video's id
        self._here: dict[str, tuple[Path, int]] = {}  # those on their way too: the folder, and the bytes
        self._begun = 0
        self._lock = Lock()
        self._in_a_row, self._lost = 0, ""  # videos for which the storage could not be reached, and why
        self._stopped = False

    def __enter__(self) -> Fetching:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        self._opened.close()

    def __iter__(self) -> Iterator[Files | None]:
        while self._waiting or self._on_their_way:
            if self._waiting and not _remote_files(self._waiting[0]):
                yield _on_this_machine(self._waiting.popleft())
                continue
            self._begin()
            arrived = next((each for each, future in self._on_their_way.items() if future.done()), None)
            yield None if arrived is None else self._on_their_way.pop(arrived).result()

    def remove(self, item: Item) -> None:
        """A video has been read: its files make room for others."""
        if item.id in self._here:
            shutil.rmtree(self._here.pop(item.id)[0], ignore_errors=True)

    def _begin(self) -> None:
        """As many as there is room for."""
        threads = self._threads or self._open()
        while self._waiting and _remote_files(self._waiting[0]):
            size, used = _size(self._waiting[0]), sum(size for _, size in self._here.values())
            if self._here and (len(self._here) >= self._most or used + size > self._most_bytes):
                return
            item, folder = self._waiting.popleft(), self._folder / f"{self._begun}"
            self._begun += 1
            self._here[item.id] = folder, size
            self._on_their_way[item.id] = threads.submit(self._fetch, item, folder)

    def _open(self) -> ThreadPoolExecutor:
        self._folder = self._opened.enter_context(_own_folder())
        self._most_bytes = min(MOST_BYTES, shutil.disk_usage(self._folder).free // 2)
        self._threads = ThreadPoolExecutor(_AT_ONCE)
        self._opened.callback(self._threads.shutdown, cancel_futures=True)
        return self._threads

    def _fetch(self, item: Item, folder: Path) -> Files:
        """In a thread. Names of keys may be longer than those of files: their endings, by which formats are known, are
        all that is kept of them."""
        files = _on_this_machine(item)
        with writing(folder):
            folder.mkdir()
        try:
            if isinstance(item.media, RemotePath):
                files = replace(files, media=self._get(item.media, folder / f"media{item.media.suffix}"))
        except InputError as error:
            return replace(files, problem=_reason(error))
        try:
            if item.captions and isinstance(item.captions.path, RemotePath):
                path, span = item.captions.path, item.captions.span
                captions = self._get(path, folder / f"captions{path.suffix}", span)
                files = replace(files, captions=captions, span=span and (0, span[1]))
        except InputError as error:
            files = replace(files, captions=None, span=None)
            why = _reason(error)
            return replace(files, caption_problem=why) if item.media else replace(files, problem=why)
        return files

    def _get(self, source: RemotePath, target: Path, span: tuple[int, int] | None = None) -> Path:
        if self._lost:
            raise Unreachable(source, self._lost, "Check the network, and run the same command again.")
        end = time.monotonic() + self._limits.seconds

        def go_on(size: int) -> None:
            if self._stopped:
                raise _Stopped
            if time.monotonic() > end:
                flag = " (--time-limit)" if self._limits.adjustable else ""
                cause = f"took over {self._limits.seconds:g} s to be fetched and was given up{flag}"
                raise InputError(source, cause, "Run the same command again.")

        try:
            fetch(source, target, go_on, span)
        except Unreachable as error:
            with self._lock:
                self._in_a_row += 1
                if self._in_a_row >= _GIVE_UP:
                    self._lost = error.cause
            raise
        self._in_a_row = 0
        return target


class _Stopped(Exception):
    """Nobody waits for the files any more."""


def _on_this_machine(item: Item) -> Files:
    captions = item.captions
    return Files(item, item.media, captions.path if captions else None, captions.span if captions else None)


def _remote_files(item: Item) -> list[RemotePath]:
    """Those that must be fetched: captions whose content is known need not be."""
    captions = item.captions.path if item.captions and not item.utterances else None
    return [path for path in (item.media, captions) if isinstance(path, RemotePath)]


def _size(item: Item) -> int:
    """In bytes; what cannot be found out is told when it is fetched."""
    span = item.captions.span if item.captions else None
    size = 0
    for path in _remote_files(item):
        with suppress(OSError, InputError):
            size += span[1] if span and path != item.media else path.stat().st_size
    return size


def _reason(error: InputError) -> str:
    return f"{error.cause}. {error.remedy}".strip()


@contextmanager
def _own_folder() -> Iterator[Path]:
    """An empty folder, which nobody else removes while the block lasts; those that killed runs have left are."""
    folders = cache_folder() / FOLDER
    with writing(folders):
        make_folder(folders)
    with ExitStack() as held:
        with (folders / LOCK).open("w") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)  # so that nobody takes a folder for left over before its own lock is held
            for left in folders.iterdir():
                if left.is_dir():
                    _remove_unused(left)
            with writing(folders):
                own = Path(tempfile.mkdtemp(dir=folders))
            held.enter_context(only_writer(own))
        try:
            yield own
        finally:
            shutil.rmtree(own, ignore_errors=True)


def _remove_unused(folder: Path) -> None:
    with suppress(InputError, OSError), only_writer(folder):  # InputError: in use
        shutil.rmtree(folder, ignore_errors=True)
