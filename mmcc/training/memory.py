"""A helpful error when memory runs out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from mmcc.errors import InputError
from mmcc.training.config import TrainConfig


@contextmanager
def explained_out_of_memory(run: Path, config: TrainConfig) -> Iterator[None]:
    """Turn out-of-memory errors into an InputError with a remedy."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        remedy = f"Lower --train.batch_size (now {config.batch_size}), or raise --train.accumulation."
        raise InputError(run, "training ran out of memory", remedy) from None
