"""Run pretrained encoders over a corpus once; their vectors become part of it (`mmcc embed`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from mmcc.backbones import embed_frames as through_backbone
from mmcc.backbones import open_frame_backbone, open_text_backbone
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import EmbedReport, Encoder, Floats, Progress, embed_frames, embed_texts
from mmcc.errors import UsageError
from mmcc.registry import UnknownName
from mmcc.text import counted

AT_ONCE = 64  # pictures: enough for every core to have work, few enough that a kill loses seconds
TEXT_ENCODER = "minilm"  # of `mmcc ingest --encode`, and of --config real

Bars = Callable[[str], Progress]  # from what is being done, as mmcc.progress.bar


def embed(
    corpus: Corpus,
    *,
    frames: Sequence[str] = (),
    text: Sequence[str] = (),
    fps: float | None = None,
    bars: Bars = lambda what: lambda ids: ids,
) -> list[EmbedReport]:
    """Embed what is not embedded yet, by the encoders named. Can be stopped at any time and run again.

    `fps`: embed fewer frames per second than the corpus has.
    """
    require_encoders(frames, text)
    return [
        *(_embed_frames(corpus, name, fps, bars(f"frames by {name}")) for name in frames),
        *(_embed_text(corpus, name, bars(f"text by {name}")) for name in text),
    ]


def _embed_frames(corpus: Corpus, name: str, fps: float | None, progress: Progress) -> EmbedReport:
    backbone = open_frame_backbone(name)

    def encode(pictures: NDArray[np.uint8]) -> Floats:
        (vectors,) = through_backbone(backbone, [torch.from_numpy(pictures)])
        return _finite(vectors, name)

    encoder = Encoder(name, backbone.checksum, "frames", backbone.dims)
    return embed_frames(corpus, encoder, encode, fps=fps, batch=AT_ONCE, progress=progress)


def _embed_text(corpus: Corpus, name: str, progress: Progress) -> EmbedReport:
    backbone = open_text_backbone(name)
    encoder = Encoder(name, backbone.checksum, "text", backbone.dims)
    return embed_texts(corpus, encoder, lambda texts: _finite(backbone.embed(texts), name), progress)


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


def render_embedding(reports: Sequence[EmbedReport], corpus: Corpus) -> str:
    """The outcome as text."""
    lines = []
    for report in reports:
        what = counted(report.vectors, "frame" if report.reads == "frames" else "utterance")
        done = f" ({counted(report.already_done, 'video')} done before)" if report.already_done else ""
        lines.append(f"{corpus.path}: {what} of {counted(report.videos, 'video')} by {report.encoder}{done}")
    return "\n".join(lines)
