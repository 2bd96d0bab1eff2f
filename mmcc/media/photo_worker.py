"""Photos decoded in a worker process, which is started with the first and reads all that follow.

Run by `WorkerPool` as `python -m mmcc.media.photo_worker`. A photo of a few hundred kB may have 120 million pixels. So
the worker's memory and time are limited, and it answers with pixels of the size that was asked for.
"""

from __future__ import annotations

import atexit
from base64 import b64decode, b64encode
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from mmcc.errors import InputError
from mmcc.media.sandbox import Job, Limits, Report, WorkerPool, serve

if TYPE_CHECKING:
    from mmcc.media.pictures import Fit, Pixels

_LIMITS = Limits(seconds=120.0, stall_seconds=120.0, memory=3 << 30)  # 120 million pixels with transparency take 2 GB
_REMEDY = "Copy it again, or export it as JPEG, PNG or WebP."
_one_at_a_time = Lock()


def get_ready() -> None:
    """Start the worker, if there is none yet: it gets ready while this process does something else."""
    with _one_at_a_time:
        _pool().start()


def read_fitted(path: Path, size: int, fit: Fit) -> Pixels:
    """A photo scaled and cropped like the frames of a corpus."""
    return _read(path, {"size": size, "fit": fit})


def read_to_show(path: Path, longest: int) -> Pixels:
    """A photo of at most this many pixels on its longer side."""
    return _read(path, {"longest": longest})


def _read(path: Path, wanted: Job) -> Pixels:
    job = {"path": str(path.absolute()), **wanted}
    with _one_at_a_time:
        (outcome,) = _pool().run(iter([job]))
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


@cache
def _pool() -> WorkerPool:
    pool = WorkerPool("mmcc.media.photo_worker", 1, _LIMITS)
    atexit.register(pool.__exit__)
    return pool


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
