"""Compressing vectors by an engine's workers: this process knows which shards there are, and counts what is lost."""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from mmcc.engines.base import Engine, Shared
from mmcc.errors import InputError
from mmcc.media.sandbox import Job, Limits
from mmcc.text import counted
from mmcc.tools import nearest
from mmcc.tools.nearest_worker import ShardJob

_MODULE = "mmcc.tools.nearest_worker"
# Vectors are trusted: the limits are for hangs only. FAISS maps far more memory than it uses.
_LIMITS = Limits(seconds=24 * 3600.0, stall_seconds=900.0, memory=1 << 44)
_MOST_CRASHES = 3  # of workers with one shard: the system may end a process for want of memory, which passes


def compress_by(engine: Engine, vectors: Path, parts: Path, numbers: Iterable[int], shard_nodes: int) -> None:
    """Make shards in an engine's workers, as `nearest.build` asks for them.

    Those that fail are left out, and an InputError at the end names the first: the next build tries them again.
    """
    form = ShardJob(0, shard_nodes, str(vectors.absolute()), str(parts.absolute()), import_module("faiss").__version__)
    waiting, again, busy, crashes = iter(numbers), deque[int](), set[int](), Counter[int]()
    failed: list[tuple[int, str]] = []

    def jobs() -> Iterator[Job | None]:
        while True:
            number = again.popleft() if again else next(waiting, None)
            if number is not None:
                busy.add(number)
                yield dataclasses.asdict(dataclasses.replace(form, number=number))
            elif busy:  # one of these may come back
                yield None
            else:
                return

    shared = Shared(parts, (vectors, parts / nearest.TRAINED))
    with engine.pool(_MODULE, _LIMITS, shared) as pool:
        for outcome in pool.run(jobs()):
            number = outcome.job["number"]
            busy.discard(number)
            crashes[number] += outcome.crashed
            if outcome.crashed and crashes[number] < _MOST_CRASHES:
                again.append(number)
            elif outcome.answer is None:
                times = f" {_MOST_CRASHES} times" if outcome.crashed else ""
                failed.append((number, f"{outcome.reason}{times}"))
    if failed:
        (first, reason), others = failed[0], len(failed) - 1
        too = f" ({counted(others, 'other shard')} failed too)" if others else ""
        cause = f"its shard {first} could not be compressed: {reason.rstrip('.')}{too}"
        raise InputError(vectors, cause, "Run the same command again: it continues.")
