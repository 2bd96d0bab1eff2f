"""Run pretrained encoders over a corpus once; their vectors become part of it (`mmcc embed`, `ingest --encode`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mmcc.backbones import embed_frames as through_backbone
from mmcc.backbones import open_frame_backbone, open_text_backbone
from mmcc.corpus import Corpus, Video
from mmcc.corpus.embeddings import (
    Embedder,
    EmbedReport,
    Encoder,
    Floats,
    Modality,
    Progress,
    VectorWriter,
    Watch,
    embed_corpus,
    vector_writer,
)
from mmcc.data.embed_jobs import embed_by
from mmcc.engines.base import Engine
from mmcc.errors import UsageError
from mmcc.registry import UnknownName
from mmcc.text import counted

TEXT_ENCODER = "minilm"  # of `mmcc ingest --encode`, and of --config real

Bars = Callable[[str], Progress]  # from what is being done, as mmcc.progress.bar


def embed(
    corpus: Corpus,
    *,
    frames: Sequence[str] = (),
    text: Sequence[str] = (),
    fps: float | None = None,
    bars: Bars = lambda what: lambda ids: ids,
    engine: Engine | None = None,
) -> list[EmbedReport]:
    """Embed what is not embedded yet, by the encoders named. Can be stopped at any time and run again.

    `fps`: embed fewer frames per second than the corpus has. `engine`: in its workers, not in this process.
    """
    return _embed_all(corpus, _embedders(frames, text, fps), bars, engine)


class EmbeddingAlongside:
    """Embeds the videos that an ingest has finished, in a thread of its own, while the next ones are decoded.

    >>> with embedding_alongside(folder, frames=["efficientnet-lite2"], text=["minilm"]) as embedding:
    ...     ingest(source, folder, settings, then=embedding)
    >>> reports = embedding.finish(bars)
    """

    def __init__(self, folder: Path, embedders: Sequence[Embedder], opened: ExitStack) -> None:
        self._folder, self._embedders, self._opened = folder, embedders, opened
        self._writers: list[VectorWriter] = []
        self._thread = ThreadPoolExecutor(1)
        self._waiting = deque[Future[None]]()
        self._stopped = False

    def __call__(self, video: Video, report: Watch) -> None:
        while self._waiting and self._waiting[0].done():
            self._waiting.popleft().result()  # raises what went wrong in the thread
        self._waiting.append(self._thread.submit(self._embed, video, report))

    def wait(self) -> None:
        """Until every video is embedded."""
        while self._waiting:
            self._waiting.popleft().result()

    def stop(self) -> None:
        """Ends the thread within seconds; the video it is working on is lost."""
        self._stopped = True
        self._thread.shutdown(cancel_futures=True)

    def finish(self, bars: Bars) -> list[EmbedReport]:
        """Embed what earlier ingests have left, too, and report on all of it."""
        reports = _embed_all(Corpus.open(self._folder), self._embedders, bars)
        for number, writer in enumerate(self._writers):
            rest = reports[number]
            reports[number] = replace(
                rest,
                videos=rest.videos + writer.videos,
                vectors=rest.vectors + writer.vectors,
                already_done=rest.already_done - writer.videos,
            )
        return reports

    def _embed(self, video: Video, report: Watch) -> None:
        if not self._writers:  # now there is a corpus to write to
            writers = (vector_writer(self._folder, embedder, video.fps) for embedder in self._embedders)
            self._writers = [self._opened.enter_context(each) for each in writers]
        for number, writer in enumerate(self._writers):
            writer.add([video], partial(self._watch, report, number))
        report(1.0)

    def _watch(self, report: Watch, before: int, share: float) -> None:
        if self._stopped:
            raise _Stopped
        report(min(0.99, (before + share) / len(self._writers)))  # not yet on disk


class _Stopped(Exception):
    """Nobody waits for the vectors any more."""


def embedding_alongside(
    folder: Path, *, frames: Sequence[str], text: Sequence[str]
) -> AbstractContextManager[EmbeddingAlongside]:
    """By the encoders named, for the time of an ingest into `folder`."""
    return embedding_by(folder, _embedders(frames, text))


@contextmanager
def embedding_by(folder: Path, embedders: Sequence[Embedder]) -> Iterator[EmbeddingAlongside]:
    """At the end of the ingest the videos that still wait are embedded; if it was stopped, nobody waits for them."""
    with ExitStack() as opened:
        embedding = EmbeddingAlongside(folder, embedders, opened)
        try:
            yield embedding
            embedding.wait()
        finally:
            embedding.stop()


def _embed_all(
    corpus: Corpus, embedders: Iterable[Embedder], bars: Bars, engine: Engine | None = None
) -> list[EmbedReport]:
    add = None if engine is None else partial(embed_by, engine, corpus)
    return [embed_corpus(corpus, each, bars(f"{each.encoder.reads} by {each.encoder.name}"), add) for each in embedders]


def _embedders(frames: Sequence[str], text: Sequence[str], fps: float | None = None) -> list[Embedder]:
    require_encoders(frames, text)
    return [*(embedder_of("frames", name, fps) for name in frames), *(embedder_of("text", name) for name in text)]


def embedder_of(reads: Modality, name: str, fps: float | None = None) -> Embedder:
    """What runs the encoder of that name."""
    return _of_frames(name, fps) if reads == "frames" else _of_text(name)


def _of_frames(name: str, fps: float | None) -> Embedder:
    backbone = open_frame_backbone(name)

    def encode(pictures: Iterable[Any]) -> Iterator[Floats]:
        return (_finite(each, name) for each in through_backbone(backbone, map(torch.from_numpy, pictures)))

    return Embedder(Encoder(name, backbone.checksum, "frames", backbone.dims), encode, fps)


def _of_text(name: str) -> Embedder:
    backbone = open_text_backbone(name)

    def encode(texts: Iterable[Any]) -> Iterator[Floats]:
        return (_finite(each, name) for each in backbone.embed_each(texts))

    return Embedder(Encoder(name, backbone.checksum, "text", backbone.dims), encode)


def require_encoders(frames: Sequence[str], text: Sequence[str]) -> None:
    """Open every encoder, so that an unknown name or a missing package is known before any work is done."""
    try:
        for name in frames:
            open_frame_backbone(name)
        for name in text:
            open_text_backbone(name)
    except UnknownName as error:
        raise UsageError(str(error), error.remedy) from None


def size_read_by(frame_encoder: str) -> int:
    """The side of the pictures that an encoder reads, in pixels."""
    require_encoders([frame_encoder], [TEXT_ENCODER])
    return open_frame_backbone(frame_encoder).size


def _finite(vectors: torch.Tensor, name: str) -> Floats:
    if not vectors.isfinite().all():
        raise UsageError(f"{name} gives vectors with NaN or Inf.", "Export it again, in single precision.")
    return np.ascontiguousarray(vectors.numpy(), np.float32)


def render_embedding(reports: Sequence[EmbedReport], corpus: Path) -> list[str]:
    """The outcome as text, a line for each encoder."""
    lines = []
    for report in reports:
        what = counted(report.vectors, "frame" if report.reads == "frames" else "utterance")
        done = f" ({counted(report.already_done, 'video')} done before)" if report.already_done else ""
        lines.append(f"{corpus}: {what} of {counted(report.videos, 'video')} by {report.encoder}{done}")
    return lines
