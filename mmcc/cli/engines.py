"""`--engine` and `--address`: where the work of a command runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from mmcc.cli.arguments import Arg
from mmcc.errors import UsageError
from mmcc.storage import is_remote

if TYPE_CHECKING:
    from mmcc.engines.base import Engine

EngineName = Annotated[
    Literal["local", "ray"], Arg("where to work: on this machine, or on many by Ray (extra: ray; docs/cluster.md)")
]
Address = Annotated[
    str | None, Arg("of a Ray cluster (default: a Ray of its own on this machine)", metavar="HOST:PORT")
]


def require_engine(engine: str, address: str | None) -> None:
    """Before any work: an address that nobody would use is a slip, and Ray may not be installed."""
    if engine == "ray":
        from mmcc.engines.ray_engine import require_ray

        require_ray()
    elif address is not None:
        raise UsageError("--address needs --engine ray.")


def refuse_remote(corpus: Path, what: str) -> None:
    """Vectors for a bucket are collected on this machine, whose cache other machines do not see."""
    if is_remote(corpus):
        cause = f"{what} with --engine ray needs a corpus on a shared disk, not {corpus}."
        raise UsageError(cause, "Leave --engine ray out.")


@contextmanager
def opened(engine: str, address: str | None, workers: int | None) -> Iterator[Engine]:
    """The engine, for the time of a command; so many workers, or one per core."""
    if engine == "ray":
        from mmcc.engines.ray_engine import RayEngine  # here, since it loads Ray

        with RayEngine(address, workers) as distant:
            yield distant
    else:
        from mmcc.engines.local import LocalEngine

        yield LocalEngine(workers or os.cpu_count() or 1)
