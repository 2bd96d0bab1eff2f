"""Run a network on many small batches at once: one thread per core, each with a batch of its own.

Torch itself splits every layer of one batch between the cores, which then wait for each other a hundred times per
batch. Small batches in threads of their own wait for nothing, and stay in the cores' caches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import torch

Part = TypeVar("Part")
Result = TypeVar("Result")


def map_in_threads(
    function: Callable[[Part], Result], groups: Iterable[list[Part]], threads: int
) -> Iterator[list[Result]]:
    """For each group of parts the results of its parts, in order, in inference mode.

    Groups are taken from the iterable only a little ahead of the results, so that memory does not grow with it. What
    takes the groups runs in the caller's thread, while the workers are busy.
    """
    pending: deque[list[Future[Result]]] = deque()
    before = torch.get_num_threads()

    def alone(part: Part) -> Result:
        with torch.inference_mode():
            return function(part)

    pool = ThreadPoolExecutor(threads, initializer=_one_core if threads > 1 else None)
    try:
        for parts in groups:
            pending.append([pool.submit(alone, part) for part in parts])
            while sum(map(len, pending)) - len(pending[0]) >= 2 * threads:
                yield [future.result() for future in pending.popleft()]
        while pending:
            yield [future.result() for future in pending.popleft()]
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)  # a worker's own setting is also that of threads to come


def _one_core() -> None:
    torch.set_num_threads(1)
