"""Train one run, or several at a time, each in a process with its share of the cores.

A run of the kitchen's size does not fill two cores: two runs at a time, on a core each, process 1.3 times as many
frames as one after the other. This is only a head start: whatever a process fails to finish, the runner trains again,
and reports why it fails. The processes end, and save, when the process that started them ends, for whatever reason.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from ctypes import c_longlong
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Final, NamedTuple

import torch
from tqdm import tqdm

from mmcc.reproduce.plan import Job
from mmcc.terminal import bars_hidden
from mmcc.training.bar import StepBar
from mmcc.training.checkpoints import Checkpoints
from mmcc.training.config import Config
from mmcc.training.loop import train
from mmcc.training.run import CONFIG

Say = Callable[[str], None]
MOST_AT_ONCE = 4  # by default: each takes some 2 GB
_LOOK = 0.5  # seconds between two checks of the running processes
_START: Final = "spawn"  # forking a threaded process is unsafe


class Training(NamedTuple):
    """A job with the folder it is trained in."""

    job: Job
    folder: Path
    config: Config  # with the path of the run it starts from
    left: int  # training steps


def train_run(
    corpus: Path, folder: Path, config: Config, *, say: Say, progress: Callable[[int, int], StepBar] = StepBar
) -> None:
    """Start a run, or resume it."""
    if not (folder / CONFIG).is_file() and not Checkpoints(folder).steps():
        shutil.rmtree(folder, ignore_errors=True)  # killed before it started
    train(corpus, folder, config, resume=True, say=say, progress=progress)


def sensible_at_once() -> int:
    """One run a core, or one on a GPU."""
    return 1 if torch.cuda.is_available() else min(MOST_AT_ONCE, _cores())


def train_side_by_side(
    corpus: Path,
    trainings: Sequence[Training],
    at_once: int,
    *,
    started: Callable[[Job], None],
    ended: Callable[[Job], None],
) -> None:
    """Train all runs; one that starts from another waits for it."""
    context = multiprocessing.get_context(_START)
    threads = max(1, _cores() // at_once)
    counters = {
        each.job.key: context.RawValue(c_longlong) for each in trainings
    }  # no locks: a killed process would keep them
    waiting = list(trainings)
    running: dict[int, tuple[SpawnProcess, Training]] = {}
    total, hidden = sum(each.left for each in trainings), bars_hidden()
    with tqdm(total=total, desc="train", unit="step", disable=hidden, leave=False) as bar:
        try:
            while waiting or running:
                for each in _ready(waiting, [one for _, one in running.values()])[: at_once - len(running)]:
                    started(each.job)
                    waiting.remove(each)
                    given = (corpus, each.folder, each.config, threads, os.getpid(), counters[each.job.key])
                    process = context.Process(target=_train_alone, args=given)
                    with _ctrl_c_held_back():
                        process.start()
                    running[process.sentinel] = process, each
                over = wait(list(running), timeout=_LOOK)
                for sentinel in [one for one in running if one in over]:
                    process, each = running.pop(sentinel)
                    process.join()
                    ended(each.job)
                bar.update(sum(steps.value for steps in counters.values()) - bar.n)
        finally:
            for process, _ in running.values():
                process.terminate()  # it saves first
            for process, _ in running.values():
                process.join()


def _ready(waiting: Sequence[Training], running: Collection[Training]) -> list[Training]:
    unfinished = {each.job.key for each in (*waiting, *running)}
    return [each for each in waiting if each.job.init is None or each.job.init.key not in unfinished]


def _train_alone(corpus: Path, folder: Path, config: Config, threads: int, parent: int, steps: c_longlong) -> None:
    """In a process of its own."""
    torch.set_num_threads(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a group: the parent passes it on
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # for the processes that this one starts
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with suppress(Exception):  # the runner tries again, and reports it
        train_run(corpus, folder, config, say=lambda line: None, progress=lambda *_: _CountedSteps(steps))


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """A process started now inherits the mask: otherwise Ctrl-C would kill it loudly before it ignores it."""
    resource_tracker.ensure_running()  # if a process started it later, that would unblock Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os.kill(os.getpid(), signal.SIGTERM)  # `train` saves, then exits


class _CountedSteps(StepBar):
    """Counts steps for the one bar over all runs."""

    def __init__(self, steps: c_longlong) -> None:
        self._steps = steps

    def __exit__(self, *_: object) -> None:
        pass

    def step(self, shown: Mapping[str, float]) -> None:
        self._steps.value += 1


def _cores() -> int:
    return os.cpu_count() or 1
