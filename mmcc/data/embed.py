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
    reports = []
    for name in frames:
        backbone = open_frame_backbone(name)

        def encode(pictures: NDArray[np.uint8], backbone: torch.nn.Module = backbone) -> Floats:
            (vectors,) = through_backbone(backbone, [torch.from_numpy(pictures)])  # type: ignore[arg-type]
            return _finite(vectors, backbone.name)  # type: ignore[arg-type]

        encoder = Encoder(name, backbone.checksum, "frames", backbone.dims)
        shown = bars(f"frames by {name}")
        reports.append(embed_frames(corpus, encoder, encode, fps=fps, batch=AT_ONCE, progress=shown))
    for name in text:
        sentences = open_text_backbone(name)
        encoder = Encoder(name, sentences.checksum, "text", sentences.dims)
        reports.append(
            embed_texts(
                corpus,
                encoder,
                lambda texts, sentences=sentences: _finite(sentences.embed(texts), sentences.name),  # type: ignore[misc]
                bars(f"text by {name}"),
            )
        )
    return reports


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
        what = "frames" if report.reads == "frames" else "utterances"
        done = f" ({report.already_done:,} videos done before)" if report.already_done else ""
        lines.append(f"{corpus.path}: {report.vectors:,} {what} of {report.videos:,} videos by {report.encoder}{done}")
    return "\n".join(lines)
