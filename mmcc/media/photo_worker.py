"""Photos decoded in a worker process, which is started with the first and reads all that follow.

Run by `WorkerPool` as `python -m mmcc.media.photo_worker`. A photo of a few hundred kB may have 120 million pixels. So
the worker's memory and time are limited, and it answers with pixels of the size that was asked for.
"""

from __future__ import annotations

import atexit
import os
from base64 import b64decode, b64encode
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mmcc.errors import InputError
from mmcc.media.sandbox import Job, Limits, Report, WorkerPool, serve

if TYPE_CHECKING:
    from mmcc.media.pictures import Fit, Pixels

_LIMITS = Limits(seconds=120.0, stall_seconds=120.0, memory=3 << 30)  # 120 million pixels with transparency take 2 GB
_REMEDY = "Copy it again, or export it as JPEG, PNG or WebP."
_Result = TypeVar("_Result")


def get_ready() -> None:
    """Start the worker, if there is none yet: it gets ready while this process does something else."""
    _owner(os.getpid()).do(WorkerPool.start)


def read_fitted(path: Path, size: int, fit: Fit) -> Pixels:
    """A photo scaled and cropped like the frames of a corpus."""
    return _read(path, {"size": size, "fit": fit})


def read_to_show(path: Path, longest: int) -> Pixels:
    """A photo of at most this many pixels on its longer side."""
    return _read(path, {"longest": longest})


def _read(path: Path, wanted: Job) -> Pixels:
    job = {"path": str(path.absolute()), **wanted}
    (outcome,) = _owner(os.getpid()).do(lambda pool: list(pool.run(iter([job]))))
    answer = outcome.answer
    if answer is None:
        raise InputError(path, outcome.reason, "Scale it down, or export it as JPEG, PNG or WebP.")
    try:
        if "cause" in answer:
            raise InputError(path, str(answer["cause"]), str(answer["remedy"]))
        pixels = np.frombuffer(bytearray(b64decode(answer["pixels"])), np.uint8)
        return pixels.reshape(int(answer["height"]), int(answer["width"]), 3)
    except (KeyError, TypeError, ValueError):
        raise InputError(path, "its worker's answer could not be parsed", _REMEDY) from None


class _Owner:
    """A thread that has the worker, for as long as this process lives.

    The system ends a worker together with the thread that started it, and photos are read by threads that come and go.
    """

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[WorkerPool], Any]]] = SimpleQueue()
        Thread(target=self._work, daemon=True).start()
        atexit.register(self._pool.__exit__)

    def do(self, work: Callable[[WorkerPool], _Result]) -> _Result:
        """One at a time, whoever asks."""
        done: Future[_Result] = Future()
        self._waiting.put((done, work))
        return done.result()

    def _work(self) -> None:
        while True:
            done, work = self._waiting.get()
            try:
                done.set_result(work(self._pool))
            except BaseException as error:
                done.set_exception(error)


@cache
def _owner(process: int) -> _Owner:
    """Of this process: one that was forked has its parent's objects, but neither its threads nor its worker."""
    return _Owner(WorkerPool("mmcc.media.photo_worker", 1, _LIMITS))


def _handle(job: Job, report: Report) -> Job:
    from mmcc.media.photos import fitted, read_photo

    path = Path(job["path"])
    try:
        pixels = read_photo(path, longest=job.get("longest"))
        if "size" in job:
            pixels = fitted(pixels, path, job["size"], job["fit"])
    except InputError as error:
        return {"cause": error.cause, "remedy": error.remedy}
    height, width = pixels.shape[:2]
    return {"height": height, "width": width, "pixels": b64encode(pixels.tobytes()).decode()}


if __name__ == "__main__":
    import mmcc.media.photos  # noqa: F401 (while the parent does something else)

    serve(_handle)
