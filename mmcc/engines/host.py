"""What runs on a node: one worker process, and its parent, which answers whoever has the jobs.

The parent is trusted, as the node is; the worker process is not, and remains as confined as on one machine
(`mmcc/media/sandbox.py`). Calls are short: the one who has the jobs asks again and again how the present one goes, so
that a call without an answer means a lost node.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mmcc import __version__
from mmcc.errors import OutputError
from mmcc.media.sandbox import Job, Limits, Outcome, WorkerPool

LISTEN_SECONDS = 1.0  # how long a call waits for news: a thousand workers make a thousand calls per second
_FOLDER_SECONDS = 3.0  # until a new file is seen on other machines: network file systems remember what was not there


class Witness(NamedTuple):
    """Files by which a node is known to see our folders: one that we wrote just now, and some of those to be read."""

    token: str  # a path
    content: str
    sizes: dict[str, int]


class Hello(NamedTuple):
    """What a host says about its node."""

    node: str
    version: str  # of mmcc
    token_required: bool  # whether Ray asks for authentication there
    blind: str  # which path it does not see as we do; "" if it sees all


class Heard(NamedTuple):
    """What a host has to say."""

    outcome: tuple[Job | None, str, bool] | None = None  # of its job, as in `Outcome`
    progress: tuple[float, float | None] | None = None
    needs_fresh: bool = False  # the worker has ended, so the job was not begun: a new one needs a job of its own
    nowhere_to_write: str = ""
    unconfined: str = ""


class Host:
    """The parent of one worker process."""

    def __init__(self, module: str, limits: Limits) -> None:
        self._module, self._limits = module, limits
        self._pool: WorkerPool | None = None
        self._may_start = False
        self._progress: tuple[float, float | None] | None = None

    def hello(self, witness: Witness) -> Hello:
        token_required = os.environ.get("RAY_AUTH_MODE", "").lower() == "token"  # inherited from the node's raylet
        return Hello(platform.node(), __version__, token_required, blind_to(witness))

    def begin(self, job: Job, fresh: bool) -> Heard:
        """Give the worker a job. `fresh`: to a new process; otherwise the present one must be running."""
        self._may_start, self._progress = fresh, None
        if fresh:
            self.close()
            self._pool = WorkerPool(self._module, 1, self._limits, self._as_agreed, self._note)
        if self._pool is None:
            return Heard(needs_fresh=True)
        try:
            self._pool.give(job)
        except _HasEnded:
            self.close()
            return Heard(needs_fresh=True)
        return self.listen()

    def listen(self) -> Heard:
        """How the job goes. Returns once it is done, and after a second in any case."""
        assert self._pool is not None
        end, outcomes = time.monotonic() + LISTEN_SECONDS, list[Outcome]()
        try:
            while not outcomes and (left := end - time.monotonic()) > 0:
                outcomes = list(self._pool.wait(left))
        except OutputError as error:
            return Heard(nowhere_to_write=str(error))
        decided = outcomes[0][1:] if outcomes else None
        return Heard(decided, self._progress, unconfined=self._pool.unconfined)

    def close(self) -> None:
        """End the worker."""
        if self._pool is not None:
            self._pool.__exit__()
            self._pool = None

    def _as_agreed(self, job: Job, number: int, fresh: bool) -> Job:
        """A process that nobody knows to be new would write to the shard of the one before it."""
        if fresh and not self._may_start:
            raise _HasEnded
        self._may_start = False
        return job

    def _note(self, job: Job, seconds: float, total: float | None) -> None:
        self._progress = seconds, total


class _HasEnded(Exception):
    """The worker process ended between two jobs."""


def blind_to(witness: Witness, sleep: Callable[[float], None] = time.sleep) -> str:
    """The first path that is not here what it is where the witness was made; "" if all are."""
    token = Path(witness.token)
    for _ in range(10):
        try:
            if token.read_text() == witness.content and os.access(token.parent, os.W_OK):
                break
        except (OSError, ValueError):
            pass
        sleep(_FOLDER_SECONDS / 10)
    else:
        return str(token.parent)
    for path, size in witness.sizes.items():
        try:
            if Path(path).stat().st_size != size:
                return path
        except OSError:
            return path
    return ""
