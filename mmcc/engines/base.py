"""What an engine offers to those who have jobs: pools of workers.

A worker is a module that calls `mmcc.media.sandbox.serve`, and it always runs as a process of its own that can be
killed and confined. Engines differ in where that process is. Whatever becomes of it, each job has one outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from mmcc.media.sandbox import Job, Limits, Outcome

Prepare = Callable[[Job, int, bool], Job]  # completes a job for a worker by number, which may be a fresh process
Progress = Callable[[Job, float, float | None], None]  # seconds of media done, and the total if it is known
Worn = Callable[[int], bool]  # whether a worker, by number, is to be replaced before its next job


def as_it_is(job: Job, number: int, fresh: bool) -> Job:
    return job


def untold(job: Job, seconds: float, total: float | None) -> None:
    pass


def never_worn(number: int) -> bool:
    return False


@dataclass(frozen=True)
class Shared:
    """What every worker must see at the same place as we do."""

    folder: Path  # which workers write to, and we too
    files: tuple[Path, ...] = ()  # some of those that they read


class Pool(Protocol):
    """Workers for some jobs; a context manager that leaves none behind."""

    @property
    def unconfined(self) -> str:
        """Why workers are not confined, once one has said so."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def run(self, jobs: Iterator[Job | None]) -> Iterator[Outcome]:
        """Outcomes as they arrive, in no particular order; each job has exactly one. None instead of a job: the next
        one is not ready yet.

        Raises OutputError as soon as a worker cannot write its output.
        """


class Engine(Protocol):
    """Makes pools."""

    @property
    def elsewhere(self) -> bool:
        """Whether workers may be on other machines: what they write, they must flush before we can read it."""

    def pool(
        self,
        module: str,
        limits: Limits,
        shared: Shared,
        prepare: Prepare = as_it_is,
        progress: Progress = untold,
        worn: Worn = never_worn,
    ) -> Pool:
        """Workers that run `python -m module`. `prepare`, `progress` and `worn` are called here, never elsewhere."""
