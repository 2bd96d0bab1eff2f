"""Which job goes where, and what becomes of it when its node is lost. It knows no Ray: that is behind `Transport`.

    a host is asked for  →  it says that it is ready  →  it has a job  ⇄  it is ready again
                         ↘  it is lost: it is stopped for good, another is asked for, and its job waits at the front

Jobs go to hosts that have said that they are ready, to no others: one that was only asked for may be on a node that is
gone. Whoever is lost is stopped, even if it may live, since a worker that goes on unheard must not be given a job
again. A job is done at least once, and has exactly one outcome: whatever an earlier host still writes, nobody reads.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from mmcc.engines.base import Prepare, Progress, Worn, as_it_is, never_worn, untold
from mmcc.engines.host import Heard
from mmcc.errors import OutputError
from mmcc.media.sandbox import NO_MORE, Job, Outcome

MOST_LOSSES = 3  # of nodes with one job, which is then taken for the reason
SILENCE_SECONDS = 120.0  # without an answer to a call that takes a second: the host is lost
NOBODY_SECONDS = 600.0  # without a single host: we stop waiting for nodes
_WAIT_SECONDS = 1.0  # for news, before the clocks are looked at
_TOLD_SECONDS = 20.0  # without a single host: whoever waits for us is told
_RECOUNT_SECONDS = 10.0  # nodes that have joined are used from then on
_AGAIN_SECONDS = 1.0  # until another host is asked for, after one that was lost before it was ready


class Ready(NamedTuple):
    """A host has been started."""

    host: int
    node: str


class News(NamedTuple):
    """A host has answered."""

    host: int
    heard: Heard


class Lost(NamedTuple):
    """A host, or the way to it, is gone."""

    host: int
    reason: str


class Transport(Protocol):
    """The way to hosts, which have numbers that are never used again."""

    def start(self, host: int) -> None:
        """Ask for a host: it will be Ready, or Lost, or neither as long as no node has room."""

    def begin(self, host: int, job: Job, fresh: bool) -> None:
        """As `Host.begin`; the answer will be News, or Lost."""

    def listen(self, host: int) -> None:
        """As `Host.listen`."""

    def stop(self, host: int) -> None:
        """End a host, whether it lives or not; nothing is heard of it any more."""

    def room(self) -> int:
        """For how many hosts there is room, on all nodes."""

    def wait(self, seconds: float) -> Sequence[Ready | News | Lost]:
        """What has happened, at the latest after so many seconds."""


@dataclass
class _Task:
    job: Job  # as it came, before it was prepared
    losses: int = 0


@dataclass
class _Host:
    node: str = ""  # known when it is ready
    ready: bool = False
    fresh: bool = True  # whether its next job needs a new process
    task: _Task | None = None
    prepared: Job | None = None
    last_sign: float = 0.0


class Dispatcher:
    """A pool (`mmcc.engines.base.Pool`) of hosts that a transport leads to."""

    def __init__(
        self,
        transport: Transport,
        workers: int | None,  # None: as many as there is room for
        prepare: Prepare = as_it_is,
        progress: Progress = untold,
        worn: Worn = never_worn,
        tell: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport, self._workers, self._clock, self._tell = transport, workers, clock, tell
        self._prepare, self._progress, self._worn = prepare, progress, worn
        self._hosts: dict[int, _Host] = {}
        self._numbers = itertools.count()
        self._queue = deque[_Task]()
        self._exhausted = self._told = False
        self._room, self._counted = 1, -_RECOUNT_SECONDS
        self._not_before = self._last_host = clock()
        self._why_none = ""
        self.unconfined = ""

    def __enter__(self) -> Dispatcher:
        return self

    def __exit__(self, *_: object) -> None:
        for number in list(self._hosts):
            self._stop(number)

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Outcome]:
        """Outcomes as they arrive; OutputError if a host cannot write, or if none can be had."""
        self._exhausted, self._last_host = False, self._clock()
        while True:
            self._take(jobs)
            self._ask_for_hosts()
            self._hand_out()
            if self._exhausted and not self._queue and not self._busy():
                return
            for event in self._transport.wait(_WAIT_SECONDS):
                yield from self._understand(event)
            yield from self._look_at_clocks()

    def _busy(self) -> int:
        return sum(host.task is not None for host in self._hosts.values())

    def _most(self) -> int:
        if self._workers is not None:
            return self._workers
        if self._clock() - self._counted >= _RECOUNT_SECONDS:
            self._room, self._counted = max(1, self._transport.room()), self._clock()
        return self._room

    def _take(self, jobs: Iterator[Job | None]) -> None:
        """Take as many jobs as there may be hosts, so that no more hosts are asked for than have something to do."""
        while not self._exhausted and len(self._queue) + self._busy() < self._most():
            job = next(jobs, NO_MORE)
            if job is None:  # not ready yet
                return
            if job is NO_MORE:
                self._exhausted = True
            else:
                self._queue.append(_Task(job))

    def _ask_for_hosts(self) -> None:
        if self._clock() < self._not_before:
            return
        while len(self._hosts) < min(self._most(), len(self._queue) + self._busy()):
            number = next(self._numbers)
            self._hosts[number] = _Host()
            self._transport.start(number)

    def _hand_out(self) -> None:
        for number, host in self._hosts.items():
            if self._queue and host.ready and host.task is None:
                host.task = self._queue.popleft()
                host.fresh = host.fresh or self._worn(number)
                self._begin(number, host)

    def _begin(self, number: int, host: _Host) -> None:
        assert host.task is not None
        host.prepared = self._prepare(host.task.job, number, host.fresh)
        host.last_sign = self._clock()
        self._transport.begin(number, host.prepared, host.fresh)
        host.fresh = False

    def _understand(self, event: Ready | News | Lost) -> Iterator[Outcome]:
        host = self._hosts.get(event.host)
        if host is None:  # it was stopped while the news was on its way
            return
        match event:
            case Lost():
                yield from self._lose(event.host, event.reason)
            case Ready():
                host.ready, host.node = True, event.node
                self._last_host, self._told = self._clock(), False
            case News():
                self._last_host = host.last_sign = self._clock()
                yield from self._listen(event.host, host, event.heard)

    def _listen(self, number: int, host: _Host, heard: Heard) -> Iterator[Outcome]:
        assert host.task is not None and host.prepared is not None
        self.unconfined = self.unconfined or heard.unconfined
        if heard.nowhere_to_write:
            raise OutputError(f"{heard.nowhere_to_write} (on {host.node})")
        if heard.needs_fresh:
            host.fresh = True
            self._begin(number, host)
        elif heard.outcome is None:
            self._transport.listen(number)
            if heard.progress is not None:
                self._progress(host.prepared, *heard.progress)
        else:
            outcome = Outcome(host.prepared, *heard.outcome)
            host.task = host.prepared = None
            yield outcome

    def _lose(self, number: int, reason: str) -> Iterator[Outcome]:
        host = self._hosts[number]
        task, prepared = host.task, host.prepared
        self._stop(number)
        self._why_none = reason
        if not host.ready:
            self._not_before = self._clock() + _AGAIN_SECONDS
        if task is None:
            return
        assert prepared is not None
        task.losses += 1
        if task.losses < MOST_LOSSES:
            self._queue.appendleft(task)
            return
        yield Outcome(prepared, None, f"lost its node {MOST_LOSSES} times, the last time {host.node} ({reason})")

    def _stop(self, number: int) -> None:
        del self._hosts[number]
        self._transport.stop(number)

    def _look_at_clocks(self) -> Iterator[Outcome]:
        now = self._clock()
        for number, host in list(self._hosts.items()):
            if host.task is not None and now - host.last_sign > SILENCE_SECONDS:
                yield from self._lose(number, f"it did not answer for {SILENCE_SECONDS:g} s")
        if any(host.ready for host in self._hosts.values()):
            self._last_host = now
        why = f" ({self._why_none})" if self._why_none else ""
        if now - self._last_host > NOBODY_SECONDS:
            cause = f"no node of the cluster had a free CPU for {NOBODY_SECONDS / 60:g} minutes{why}"
            raise OutputError(cause, "What was finished is saved. Run the same command again when there are nodes.")
        if now - self._last_host > _TOLD_SECONDS and not self._told:
            self._told = True
            self._tell(f"Waiting for a node of the cluster with a free CPU{why}.")
