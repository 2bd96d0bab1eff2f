"""Progress bars on a terminal; nothing elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from threading import Lock

from tqdm import tqdm

from mmcc.terminal import bars_hidden
from mmcc.text import one_line


class FileProgress:
    """A bar over many files that also moves within a long one. Any thread may call it."""

    def __init__(self, total: int, what: str) -> None:
        done = "{n:.1f}" if total < 100 else "{n:.0f}"  # with few files, progress within one is visible
        form = f"{{l_bar}}{{bar}}| {done}/{{total}} videos [{{elapsed}}<{{remaining}}{{postfix}}]"
        self._bar = tqdm(
            total=total, desc=what, disable=bars_hidden(), leave=False, bar_format=form, dynamic_ncols=True
        )
        self._shares: dict[str, float] = {}
        self._done = 0
        self._lock = Lock()

    def __call__(self, path: str, share: float) -> None:
        with self._lock:
            if share >= 1:
                self._shares.pop(path, None)
                self._done += 1
            else:
                self._shares[path] = share
            self._bar.n = self._done + sum(self._shares.values())
            self._bar.set_postfix_str(one_line(PurePath(path).name)[-30:], refresh=False)
            self._bar.update(0)
            if self._done == self._bar.total:
                self.close()

    def close(self) -> None:
        self._bar.close()


def bar(what: str) -> Callable[[list[str]], Iterable[str]]:
    """A bar over items that are each quick."""
    return lambda items: tqdm(items, desc=what, disable=bars_hidden(), leave=False, delay=1, dynamic_ncols=True)


@contextmanager
def file_progress(what: str) -> Iterator[Callable[[int], FileProgress]]:
    """Yields a function that makes a bar; removes the bar from the screen at the end, even after an error."""
    bars: list[FileProgress] = []

    def make(total: int) -> FileProgress:
        bars.append(FileProgress(total, what))
        return bars[-1]

    try:
        yield make
    finally:
        for made in bars:
            made.close()
