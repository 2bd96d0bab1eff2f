"""The engine that needs nothing: processes of this machine."""

from __future__ import annotations

from dataclasses import dataclass

from mmcc.engines.base import Prepare, Progress, Shared, Worn, as_it_is, never_worn, untold
from mmcc.media.sandbox import Limits, WorkerPool


@dataclass(frozen=True)
class LocalEngine:
    """Each pool has so many processes."""

    workers: int = 1
    elsewhere: bool = False

    def pool(
        self,
        module: str,
        limits: Limits,
        shared: Shared,
        prepare: Prepare = as_it_is,
        progress: Progress = untold,
        worn: Worn = never_worn,
    ) -> WorkerPool:
        return WorkerPool(module, self.workers, limits, prepare, progress, worn)
