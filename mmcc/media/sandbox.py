"""Worker processes that can be killed, so that no file can take the program down with it.

A decoder that meets hostile or broken bytes may crash, hang, or use up all memory. So such work runs in worker
processes: each receives one job at a time as a line of JSON on its standard input, and answers with lines of
JSON (never pickle: a compromised worker must not be able to run code here). The parent watches the clock, kills
workers that exceed their limits, starts replacements, and reports the outcome of every job. Where the system can, a
worker is confined before it opens an untrusted file (`mmcc/media/confinement.py`).

A worker module calls `serve(handle)`; `WorkerPool` starts it with `python -m`.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

from mmcc.errors import InputError, OutputError
from mmcc.media.confinement import confine

Job = dict[str, Any]
Report = Callable[[float, float | None], None]  # seconds of media done, and the total if it is known

NO_MORE: Job = {}  # no job is empty; None is one that is not ready yet
_LATER_SECONDS = 0.05  # until a job that was not ready is asked for again
_OUT_OF_MEMORY = "out of memory"
_LONGEST_LINE = 256 << 20  # bytes; the answer for a day of video stays far below
_PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


@dataclass(frozen=True)
class Limits:
    """What one job may take before its worker is killed."""

    seconds: float = 2 * 3600.0  # in total; an hour of 720p decodes in a few minutes
    stall_seconds: float = 60.0  # without any sign of progress, which comes every few frames
    memory: int = 4 << 30  # bytes of address space; 8K video needs about 1.5 GB
    adjustable: bool = False  # whether the command has flags for them, which reasons then name


class Outcome(NamedTuple):
    """The outcome of a job: its answer, or the reason why it failed."""

    job: Job
    answer: Job | None
    reason: str = ""
    crashed: bool = False  # the worker process ended with it, which may be no fault of the job


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    number: int
    job: Job | None = None
    started: float = 0.0
    last_sign: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    @property
    def pipe(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def give(self, job: Job) -> None:
        assert self.process.stdin is not None
        self.job, self.started = job, time.monotonic()
        self.last_sign = self.started
        # A worker that has already died shows up as the end of its output.
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


class WorkerPool:
    """Runs jobs in `workers` processes of `python -m module`; a context manager that leaves no process behind.

    `prepare(job, number, fresh)` may complete a job just before worker `number` gets it; `fresh` is true for a
    process that has not had a job yet. A worker that is `worn(number)` is replaced before its next job.
    """

    def __init__(
        self,
        module: str,
        workers: int,
        limits: Limits,
        prepare: Callable[[Job, int, bool], Job] = lambda job, number, fresh: job,
        progress: Callable[[Job, float, float | None], None] = lambda job, seconds, total: None,
        worn: Callable[[int], bool] = lambda number: False,
    ) -> None:
        self._module, self._limits = module, limits
        self._count, self._prepare, self._progress, self._worn = workers, prepare, progress, worn
        self.unconfined = ""  # why the workers are not confined, once one has said so
        self._selector = selectors.DefaultSelector()
        self._workers: dict[int, _Worker] = {}

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        for number in list(self._workers):
            self._discard(number)
        self._selector.close()

    def start(self) -> None:
        """Start the workers that are missing now, not with their first jobs."""
        for number in range(self._count):
            if number not in self._workers:
                self._workers[number] = self._start(number)

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Outcome]:
        """Outcomes as they arrive, in no particular order; each job has exactly one. None instead of a job: the next
        one is not ready yet.

        Raises OutputError as soon as a worker cannot write its output.
        """
        waiting = True
        while True:
            later = False
            for number in range(self._count):
                if waiting and not later and (number not in self._workers or self._workers[number].job is None):
                    job = next(jobs, NO_MORE)
                    waiting, later = job is not NO_MORE, job is None
                    if job:
                        self.give(job, number)
            if not later and not any(worker.job for worker in self._workers.values()):
                return
            yield from self.wait(_LATER_SECONDS if later else math.inf)

    def give(self, job: Job, number: int = 0) -> None:
        """Give a job to a worker that has none; a new process takes the place of one that has ended or is worn."""
        if number in self._workers and (self._worn(number) or self._workers[number].process.poll() is not None):
            self._discard(number)
        fresh = number not in self._workers
        if fresh:
            self._workers[number] = self._start(number)
        self._workers[number].give(self._prepare(job, number, fresh))

    def _start(self, number: int) -> _Worker:
        process = subprocess.Popen(
            [sys.executable, "-m", self._module, str(self._limits.memory), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("MMCC_DEBUG") else subprocess.DEVNULL,  # decoders are chatty
            start_new_session=True,  # Ctrl-C goes to the parent alone, which then ends its workers itself
        )
        worker = _Worker(process, number)
        os.set_blocking(worker.pipe.fileno(), False)
        self._selector.register(worker.pipe, selectors.EVENT_READ, worker)
        return worker

    def _discard(self, number: int) -> _Worker:
        worker = self._workers.pop(number)
        self._selector.unregister(worker.pipe)
        worker.kill()
        return worker

    def wait(self, at_most: float = math.inf) -> Iterator[Outcome]:
        """What has been decided when a worker was heard, a limit passed, or so many seconds did."""
        for key, _ in self._selector.select(timeout=min(at_most, self._seconds_to_next_limit())):
            yield from self._listen(key.data)
        now = time.monotonic()
        for number, worker in list(self._workers.items()):
            if worker.job is None:
                continue
            if now - worker.started > self._limits.seconds:
                yield self._give_up(number, f"took over {self._limits.seconds:g} s and was stopped{self._flag('time')}")
            elif now - worker.last_sign > self._limits.stall_seconds:
                yield self._give_up(number, f"made no progress for {self._limits.stall_seconds:g} s and was stopped")

    def _seconds_to_next_limit(self) -> float:
        now = time.monotonic()
        ends = [
            min(worker.started + self._limits.seconds, worker.last_sign + self._limits.stall_seconds) - now
            for worker in self._workers.values()
            if worker.job is not None
        ]
        return max(0.01, min(ends, default=1.0) + 0.01)

    def _listen(self, worker: _Worker) -> Iterator[Outcome]:
        chunk = os.read(worker.pipe.fileno(), 1 << 20)
        if not chunk:
            if worker.job is None:  # died between jobs: the next job gets a new worker
                self._discard(worker.number)
            else:
                yield self._give_up(worker.number, "")
            return
        worker.received += chunk
        if b"\n" not in chunk:  # splitting a long line at every chunk would take quadratic time
            if len(worker.received) > _LONGEST_LINE:
                yield self._give_up(worker.number, "its worker's answer was too long")
            return
        *lines, worker.received = worker.received.split(b"\n")
        for line in lines:
            if worker.job is None:
                break
            try:
                message = json.loads(line)
                outcome = self._understand(worker.job, message)
            except (ValueError, TypeError, KeyError, RecursionError):
                yield self._give_up(worker.number, "its worker's answer could not be parsed")
                return
            worker.last_sign = time.monotonic()
            if outcome is not None:
                worker.job = None
                if message["kind"] == _OUT_OF_MEMORY:  # a decoder may keep what it took, which the next job would lack
                    self._discard(worker.number)
                    yield outcome
                    return
                yield outcome

    def _understand(self, job: Job, message: Job) -> Outcome | None:
        kind = message["kind"]
        if kind == "progress":
            total = message["total"]
            self._progress(job, float(message["seconds"]), None if total is None else float(total))
            return None
        if kind == "answer":
            return Outcome(job, dict(message["answer"]))
        if kind == "nowhere to write":
            raise OutputError(message["reason"])
        if kind == "unconfined":
            self.unconfined = str(message["reason"])
            return None
        if kind == _OUT_OF_MEMORY:
            size = self._limits.memory / (1 << 30)
            return Outcome(job, None, f"needs more than {size:.3g} GB of memory{self._flag('memory')}")
        return Outcome(job, None, str(message["reason"]))

    def _flag(self, name: str) -> str:
        return f" (--{name}-limit)" if self._limits.adjustable else ""

    def _give_up(self, number: int, reason: str) -> Outcome:
        """Kill the worker and fail its job; an empty reason is replaced by how the process ended."""
        worker = self._workers[number]
        crashed = not reason
        if crashed:
            with suppress(subprocess.TimeoutExpired):
                worker.process.wait(timeout=5)
            reason = _how_it_ended(worker.process.returncode)
        self._discard(number)
        assert worker.job is not None
        return Outcome(worker.job, None, reason, crashed)


def serve(
    handle: Callable[[Job, Report], Job], *, begin: Callable[[Job], None] = lambda job: None, confined: bool = True
) -> None:
    """The worker's side: do jobs from standard input until it closes. Call it under `__main__`.

    `begin` is called with the first job: what the worker writes must be opened, and what it starts be started there,
    before it is confined. `confined`: False where it opens nothing that is untrusted.
    """
    memory, parent = int(sys.argv[1]), int(sys.argv[2])
    die_with(parent)
    _limit_memory(memory)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keep anything a library prints out of the answers

    def send(**message: Any) -> None:
        answers.write(json.dumps(message, allow_nan=False).encode() + b"\n")
        answers.flush()

    def report(seconds: float, total: float | None) -> None:
        send(kind="progress", seconds=seconds, total=total)

    free = confined
    for line in sys.stdin.buffer:
        try:
            job = json.loads(line)
            if free:
                begin(job)
                if why_not := confine():
                    send(kind="unconfined", reason=why_not)
                free = False
            answer = handle(job, report)
        except InputError as error:
            send(kind="failed", reason=f"{error.cause}. {error.remedy}".rstrip(". ") + ".")
        except OutputError as error:
            send(kind="nowhere to write", reason=str(error))
        except MemoryError:
            send(kind=_OUT_OF_MEMORY)
        except OSError as error:
            send(kind="failed", reason=str(error))
        except Exception as error:  # our bug: this file fails, the others continue
            send(kind="failed", reason=f"internal error: {type(error).__name__}: {error}")
        else:
            send(kind="answer", answer=answer)


def die_with(parent: int) -> None:
    """End at once when the parent does, even by kill -9, so that no orphan keeps writing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it had already ended
            sys.exit(1)


def _limit_memory(size: int) -> None:
    import resource  # not on Windows

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)
    with suppress(ValueError, OSError):  # macOS refuses; the limits on pixels and time still hold there
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _how_it_ended(code: int | None) -> str:
    if code is None:
        return "its worker closed its output and was stopped"
    if code < 0:
        return f"crashed its worker ({signal.Signals(-code).name})"
    return f"ended its worker (exit code {code})"
