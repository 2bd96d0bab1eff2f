"""What to do when there is no memory left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from mmcc.errors import InputError
from mmcc.training.config import TrainConfig


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
