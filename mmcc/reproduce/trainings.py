"""Train one run, or several at a time in a process each with its share of the cores.

A run of the kitchen's size is hardly faster on two cores than on one, so that two at a time take little more than half
as long as one after the other. That is a head start and no more: what a process does not finish, for whatever reason,
is left to the runner, which tries again and says why not. The processes end with the one that began them, however that
ended, and save before they do.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

import torch
from tqdm import tqdm

from mmcc.reproduce.plan import Job
from mmcc.training.bar import StepBar
from mmcc.training.config import Config
from mmcc.training.loop import train
from mmcc.training.run import CONFIG

Say = Callable[[str], None]
MOST_AT_ONCE = 4  # unless told: each takes some 2 GB
_LOOK = 0.5  # seconds between two looks at those who train, and at those who wait for it


class Training(NamedTuple):
    """A job with the folder it is trained in."""

    job: Job
    folder: Path
    config: Config  # with the path of the run it begins with
    left: int  # steps


def train_run(
    corpus: Path, folder: Path, config: Config, *, say: Say, progress: Callable[[int, int], StepBar] = StepBar
) -> None:
    """Begin a run, or go on with it."""
    if not (folder / CONFIG).is_file():
        shutil.rmtree(folder, ignore_errors=True)  # killed before it began
    train(corpus, folder, config, resume=True, say=say, progress=progress)


def sensible_at_once() -> int:
    """A run a core; a GPU is for one."""
    return 1 if torch.cuda.is_available() else min(MOST_AT_ONCE, _cores())


def train_side_by_side(
    corpus: Path,
    trainings: Sequence[Training],
    at_once: int,
    *,
    begins: Callable[[Job], None],
    ended: Callable[[Job], None],
) -> None:
    """Train all that can be; one that begins with another waits for it."""
    context = multiprocessing.get_context("spawn")  # threads and forks do not go together
    stop, steps = context.Event(), context.Value("q", 0)
    begin = (max(1, _cores() // at_once), os.getpid(), stop, steps)
    pool = ProcessPoolExecutor(at_once, context, _begin_process, begin)
    waiting, running = list(trainings), dict[Future[None], Training]()
    with tqdm(total=sum(each.left for each in trainings), desc="train", unit="step", disable=None, leave=False) as bar:
        try:
            while waiting or running:
                for each in _ready(waiting, running.values())[: at_once - len(running)]:
                    begins(each.job)
                    waiting.remove(each)
                    running[pool.submit(_train_quietly, corpus, each.folder, each.config)] = each
                for future in wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED).done:
                    each = running.pop(future)
                    future.result()
                    ended(each.job)
                bar.update(steps.value - bar.n)
        except BrokenProcessPool:
            stop.set()  # one of them was killed, by the system for its memory perhaps: one at a time takes less
        except BaseException:
            stop.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _ready(waiting: Sequence[Training], running: Collection[Training]) -> list[Training]:
    unfinished = {each.job.key for each in (*waiting, *running)}
    return [each for each in waiting if each.job.init is None or each.job.init.key not in unfinished]


# Of a process that trains.
_busy = threading.Event()
_stop: Event
_steps: Synchronized[int]


def _begin_process(threads: int, parent: int, stop: Event, steps: Synchronized[int]) -> None:
    global _stop, _steps
    _stop, _steps = stop, steps
    torch.set_num_threads(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a group: the parent passes it on
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with, args=(parent, stop), daemon=True).start()


def _leave(*_: object) -> None:
    if _busy.is_set():
        raise SystemExit  # the pool takes it for the outcome of the run, and ends in good order


def _end_with(parent: int, stop: Event) -> None:
    while os.getppid() == parent and not stop.is_set():
        time.sleep(_LOOK)
    stop.set()
    if _busy.is_set():
        os.kill(os.getpid(), signal.SIGTERM)  # `train` saves, and lets it happen then
    while os.getppid() == parent or _busy.is_set():
        time.sleep(_LOOK)
    os._exit(1)  # nobody is left to end the pool


def _train_quietly(corpus: Path, folder: Path, config: Config) -> None:
    _busy.set()
    try:
        with suppress(Exception):  # the runner will meet it again, and tell of it
            if not _stop.is_set():
                train_run(corpus, folder, config, say=lambda line: None, progress=_CountedSteps)
    finally:
        _busy.clear()


class _CountedSteps(StepBar):
    """No bar: steps are added up for the one bar over all."""

    def __init__(self, total: int, done: int) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def step(self, shown: Mapping[str, float]) -> None:
        with _steps.get_lock():
            _steps.value += 1


def _cores() -> int:
    return os.cpu_count() or 1
