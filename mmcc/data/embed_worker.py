"""The worker of `mmcc embed --engine`: embeds one video of a corpus at a time, and writes its vectors to a shard.

Run by a pool as `python -m mmcc.data.embed_worker`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmcc.corpus.corpus import Corpus
from mmcc.corpus.embeddings import Encoder, Vectors, content_of
from mmcc.corpus.shards import ShardWriter
from mmcc.errors import InputError, UsageError
from mmcc.extensions import import_extensions
from mmcc.media.sandbox import Report, serve

if TYPE_CHECKING:
    from mmcc.corpus.embeddings import Embedder


@dataclass(frozen=True)
class EmbedJob:
    """What a worker needs to embed one video. Sent as JSON."""

    id: str
    corpus: str
    encoder: dict[str, Any]
    fps: float | None
    shard: str
    imports: tuple[str, ...]  # modules that register encoders
    folder: str  # in which the command runs: encoders may name files from there


class EmbedWorker:
    """Has one corpus and one encoder open, and writes one shard."""

    def __init__(self) -> None:
        self._corpus: Corpus | None = None
        self._embedder: Embedder | None = None
        self._shard: ShardWriter | None = None

    def handle(self, message: dict[str, Any], report: Report) -> dict[str, Any]:
        job = EmbedJob(**message)
        if self._corpus is None or self._embedder is None or self._shard is None:
            self._corpus, self._embedder = Corpus.open(job.corpus), _open_embedder(job)
            self._shard = ShardWriter(Path(job.shard))
        video, shard = self._corpus[job.id], self._shard
        watch = lambda share: report(share * 100, 100.0)  # noqa: E731
        try:
            ((_, times, vectors_PF),) = self._embedder.vectors([video], watch)
            for time, vector in zip(times.tolist(), vectors_PF, strict=True):
                shard.add(video.id, time, vector.tobytes())
            batches = [batch._asdict() for batch in shard.finish(video.id, flush=True)]
        except UsageError as error:
            shard.take_back()
            raise InputError(job.encoder["name"], str(error), error.remedy) from None
        except BaseException:
            shard.take_back()
            raise
        fingerprint = content_of(video, self._embedder.encoder.reads)
        return Vectors(video.id, fingerprint, times.tolist(), batches)._asdict()


def _open_embedder(job: EmbedJob) -> Embedder:
    """The encoder, which must be the same on all machines."""
    from mmcc.data.embed import embedder_of  # here, since it loads torch

    with suppress(OSError):  # of no consequence unless a name leads there
        os.chdir(job.folder)
    import_extensions(job.imports, "--import")
    wanted = Encoder(**job.encoder)
    embedder = embedder_of(wanted.reads, wanted.name, job.fps)
    if embedder.encoder != wanted:
        there, here = asdict(wanted)["checksum"][:12], embedder.encoder.checksum[:12]
        cause = f"is another one on the node {os.uname().nodename}: its checksum is {here}, not {there}"
        raise InputError(wanted.name, cause, "Install the same version on all nodes.")
    return embedder


if __name__ == "__main__":
    serve(EmbedWorker().handle, confined=False)  # it opens a corpus, which only workers of ingest have filled
