"""The worker of `mmcc search --engine`: compresses a shard of vectors at a time.

Run by a pool as `python -m mmcc.tools.nearest_worker`.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from mmcc.errors import InputError
from mmcc.media.sandbox import Report, serve
from mmcc.tools.nearest import compress_shard, has_faiss
from mmcc.tools.stored_rows import StoredRows


@dataclass(frozen=True)
class ShardJob:
    """What a worker needs to compress a shard. Sent as JSON."""

    number: int
    nodes: int  # of a shard
    vectors: str  # the file of all of them
    parts: str  # the folder with what was trained, to which shards are written
    faiss: str  # its version


def handle(message: dict[str, Any], report: Report) -> dict[str, Any]:
    job = ShardJob(**message)
    _require_faiss(job.faiss)
    vectors, parts = StoredRows(Path(job.vectors)), Path(job.parts)
    compress_shard(vectors, job.number, parts, job.nodes, lambda share: report(share * 100, 100.0))
    return {}


def _require_faiss(version: str) -> None:
    """Another version might write shards that are not merged, or not the same."""
    here = import_module("faiss").__version__ if has_faiss() else ""
    if here != version:
        cause = f"the node {platform.node()} has {f'version {here}' if here else 'none'}, this machine {version}"
        raise InputError("FAISS", cause, "Install the same version on all nodes: pip install 'mmcc[search]'")
    import_module("faiss").omp_set_num_threads(1)  # there is a worker for each core


if __name__ == "__main__":
    serve(handle, confined=False)  # it reads what this package wrote
