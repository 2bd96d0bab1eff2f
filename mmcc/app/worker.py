"""One thread that owns the models: questions queue, and the more urgent pass between the batches of a long one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from enum import IntEnum
from threading import Condition, Thread, current_thread
from typing import Any, NamedTuple, TypeVar

from mmcc.app.failures import Busy, Failure

Found = TypeVar("Found")
_WAITING = 512  # questions of a kind; a page asks one at a time, so that more of them are no people


class Urgency(IntEnum):
    """What passes what."""

    QUESTION = 0  # answered in milliseconds
    TASK = 1  # in a second or some: photos to look at, the changes of a video
    WORK = 2  # a video to embed
    BACKGROUND = 3  # nobody waits: the rest of the library


class Stopped(Failure):
    """The server is ending, and with it what it was doing."""

    def __init__(self) -> None:
        super().__init__(503, "stopping", "The server is stopping.", "Start it again.")


class _Job(NamedTuple):
    future: Future[Any]
    run: Callable[[], Any]
    told: Callable[[float], None]


class Worker:
    """Runs jobs in its thread. A model that is opened with `between` lets others pass while it embeds a video."""

    def __init__(self) -> None:
        self._waiting: dict[Urgency, deque[_Job]] = {urgency: deque() for urgency in Urgency}
        self._changed = Condition()
        self._stopping = False
        self._running: list[tuple[Urgency, _Job]] = []  # the last one runs, in a pause of the one before it
        self._thread = Thread(target=self._run, name="model", daemon=True)
        self._thread.start()

    def ask(
        self,
        job: Callable[[], Found],
        urgency: Urgency = Urgency.QUESTION,
        told: Callable[[float], None] = lambda share: None,
    ) -> Future[Found]:
        """Queue a job; `told` hears which share of a video is embedded. Busy if too many are waiting."""
        future: Future[Found] = Future()
        with self._changed:
            if self._stopping:
                raise Stopped
            if len(self._waiting[urgency]) >= _WAITING:
                raise Busy
            self._waiting[urgency].append(_Job(future, job, told))
            self._changed.notify()
        return future

    def between(self, share: float) -> None:
        """For models: called in the thread before every batch of frames."""
        if self._stopping:
            raise Stopped
        if current_thread() is not self._thread or not self._running:
            return
        urgency, job = self._running[-1]
        job.told(share)
        while (more_urgent := self._take(urgency)) is not None:
            self._answer(*more_urgent)

    def close(self) -> None:
        """Answer nothing more, and wait for the batch that is being embedded."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if current_thread() is not self._thread:
            self._thread.join(timeout=30)

    def _take(self, than: int = len(Urgency)) -> tuple[Urgency, _Job] | None:
        """The next job that is more urgent than so much."""
        for urgency, waiting in self._waiting.items():
            if urgency < than and waiting:
                return urgency, waiting.popleft()
        return None

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or any(self._waiting.values()))
                if self._stopping:
                    break
                job = self._take()
            if job:
                self._answer(*job)
        for waiting in self._waiting.values():
            for each in waiting:
                each.future.cancel()

    def _answer(self, urgency: Urgency, job: _Job) -> None:
        if not job.future.set_running_or_notify_cancel():  # whoever asked has gone
            return
        self._running.append((urgency, job))
        try:
            job.future.set_result(job.run())
        except BaseException as error:
            job.future.set_exception(error)
        finally:
            self._running.pop()
