"""One thread that owns the models: questions queue, and short ones are answered between the batches of a long one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from threading import Condition, Thread, current_thread
from typing import Any, TypeVar

from mmcc.app.failures import Busy

Found = TypeVar("Found")
_WAITING = 512  # short questions; a page asks one at a time, so that more of them are no people


class Stopped(Exception):
    """The server is ending, and with it what it was doing."""


class Worker:
    """Runs jobs in its thread. A model that is opened with `between` lets short jobs pass while it embeds a video."""

    def __init__(self) -> None:
        self._short: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._long: deque[tuple[Future[Any], Callable[[], Any], Callable[[float], None]]] = deque()
        self._changed = Condition()
        self._stopping = False
        self._told: Callable[[float], None] | None = None  # by the long job that is running
        self._inside = False  # a short job is running between two batches of a long one
        self._thread = Thread(target=self._run, name="model", daemon=True)
        self._thread.start()

    def ask(self, job: Callable[[], Found]) -> Future[Found]:
        """A question that is answered in milliseconds; Busy if too many are waiting."""
        future: Future[Found] = Future()
        with self._changed:
            self._refuse_when_stopping()
            if len(self._short) >= _WAITING:
                raise Busy
            self._short.append((future, job))
            self._changed.notify()
        return future

    def work(self, job: Callable[[], Found], told: Callable[[float], None] = lambda share: None) -> Future[Found]:
        """Work that may take minutes; `told` hears which share of a video is embedded."""
        future: Future[Found] = Future()
        with self._changed:
            self._refuse_when_stopping()
            self._long.append((future, job, told))
            self._changed.notify()
        return future

    def between(self, share: float) -> None:
        """For models: called in the thread before every batch of frames."""
        if self._stopping:
            raise Stopped
        if current_thread() is not self._thread or self._told is None or self._inside:
            return
        self._told(share)
        self._inside = True
        try:
            while self._short:
                _answer(*self._short.popleft())
        finally:
            self._inside = False

    def close(self) -> None:
        """Answer nothing more, and wait for the batch that is being embedded."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if current_thread() is not self._thread:
            self._thread.join(timeout=30)

    def _refuse_when_stopping(self) -> None:
        if self._stopping:
            raise Stopped

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._short or self._long)
                if self._stopping:
                    break
                short = self._short.popleft() if self._short else None
                long = None if short else self._long.popleft()
            if short:
                _answer(*short)
            elif long:
                future, job, self._told = long
                try:
                    _answer(future, job)
                finally:
                    self._told = None
        for future in [each[0] for each in self._short] + [each[0] for each in self._long]:
            future.cancel()


def _answer(future: Future[Any], job: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():  # whoever asked has gone
        return
    try:
        future.set_result(job())
    except BaseException as error:
        future.set_exception(error)
