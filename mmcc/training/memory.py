"""Memory: kept between steps, and what to do when there is none left."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from mmcc.media.errors import InputError
from mmcc.training.config import TrainConfig

# Of glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX = -1, -2, -4


def keep_freed_memory() -> None:
    """Let the next step have what this one frees; by default glibc gives every large block back, and faults it in anew
    (a tenth of a step on 2 cores). Where there is no glibc, nothing happens."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return
    mallopt(_M_MMAP_MAX, 0)
    mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
    mallopt(_M_TOP_PAD, 2**28)


@contextmanager
def explained_want(run: Path, config: TrainConfig) -> Iterator[None]:
    """Say what to do when memory runs out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        remedy = f"Lower --train.batch_size (now {config.batch_size}), or raise --train.accumulation."
        raise InputError(run, "memory ran out while training", remedy) from None
