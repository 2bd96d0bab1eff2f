"""Embedding by an engine's workers: this process keeps the index and decides who writes to which shard."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import Vectors, VectorWriter
from mmcc.corpus.shards import SHARD_BYTES
from mmcc.data.embed_worker import EmbedJob
from mmcc.engines.base import Engine, Shared
from mmcc.errors import InputError
from mmcc.extensions import imported_extensions
from mmcc.media.sandbox import Job, Limits
from mmcc.text import counted

if TYPE_CHECKING:
    from mmcc.corpus.embeddings import Encoder

# An encoder is trusted: its limits are for hangs only. Torch maps far more memory than it uses.
_LIMITS = Limits(seconds=24 * 3600.0, stall_seconds=900.0, memory=1 << 44)


def embed_by(engine: Engine, corpus: Corpus, writer: VectorWriter, ids: Iterable[str]) -> None:
    """Embed videos in an engine's workers, and keep each as soon as it is finished.

    Videos that fail are left out, and an InputError at the end names the first: the next run tries them again.
    """
    encoder, fps = writer.embedder.encoder, writer.embedder.fps
    shards: dict[int, Path] = {}  # by worker
    ends: dict[Path, int] = {}  # of the last vectors in a shard

    def prepare(job: Job, worker: int, fresh: bool) -> Job:
        if fresh:
            shards[worker] = writer.new_shard().absolute()
        return {**job, "shard": str(shards[worker])}

    def has_full_shard(worker: int) -> bool:
        return ends.get(shards[worker], 0) > SHARD_BYTES

    jobs = (_job(corpus, video_id, encoder, fps) for video_id in ids)
    failed: list[tuple[str, str]] = []
    shared = Shared(writer.folder, (corpus.path / "manifest.json",))
    with engine.pool("mmcc.data.embed_worker", _LIMITS, shared, prepare, worn=has_full_shard) as pool:
        for outcome in pool.run(jobs):
            if outcome.answer is None:
                failed.append((outcome.job["id"], outcome.reason))
            else:
                vectors, shard = Vectors(**outcome.answer), Path(outcome.job["shard"])
                writer.keep(vectors, int(shard.stem))
                ends[shard] = max((run["offset"] + run["length"] for run in vectors.batches), default=0)
    writer.commit()
    if failed:
        (first, reason), count = failed[0], len(failed)
        others = f" ({counted(count - 1, 'other video')} failed too)" if count > 1 else ""
        raise InputError(first, f"could not be embedded: {reason}{others}", "Run the same command again.")


def _job(corpus: Corpus, video_id: str, encoder: Encoder, fps: float | None) -> Job:
    job = EmbedJob(
        id=video_id,
        corpus=str(corpus.path.absolute()),
        encoder=dataclasses.asdict(encoder),
        fps=fps,
        shard="",  # known when a worker is free
        imports=imported_extensions(),
        folder=os.getcwd(),  # noqa: PTH109
    )
    return dataclasses.asdict(job)
