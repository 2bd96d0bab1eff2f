"""Whole videos, embedded once for all evaluation tasks.

Shapes: n frames and k utterances of a video, P packed frames, D dims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.corpus import Corpus, Video
from mmcc.corpus.source import LabelledClip
from mmcc.data.segments import NodeTimes
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding, ModelAdapter, TextAdapter
from mmcc.models.nodes import TEXT

Progress = Callable[[list[str]], Iterable[str]]  # wraps the ids that are iterated over, like mmcc.progress.bar


@dataclass(frozen=True)
class EmbeddedVideo:
    """A video as a model sees it."""

    id: str
    tasks: tuple[str, ...]  # the task whose steps are labelled comes first
    steps: list[LabelledClip]
    times: NDArray[np.float64]  # [n] of the frames, ascending
    frames: Embedding  # [n, D]
    text_times: NDArray[np.float64]  # [k] centres of the utterances that have words, ascending
    utterances: Embedding | None  # [k, D]; None where the model does not embed text


def embed_videos(
    adapter: ModelAdapter,
    corpus: Corpus,
    ids: Sequence[str],
    *,
    batch_size: int = 256,
    progress: Progress | None = None,
) -> list[EmbeddedVideo]:
    """Embed every frame and utterance of the videos; frames of several videos share a call of the encoder."""
    wanted = list(ids)
    pieces: dict[str, list[Embedding]] = {video_id: [] for video_id in wanted}
    with torch.inference_mode():
        for pack in _packs(corpus, progress(wanted) if progress else wanted, batch_size):
            for video_id, piece in _embed_pack(adapter, corpus, pack):
                pieces[video_id].append(piece)
        dims = next((piece.z.shape[-1] for found in pieces.values() for piece in found), None)
        if dims is None:
            raise InputError(corpus.path, f"none of the {len(wanted)} requested videos has a frame", "Ingest it again.")
        empty = Embedding(torch.zeros(0, dims), torch.zeros(0, dims))
        return [_assemble(adapter, corpus, corpus[each], pieces.pop(each), empty) for each in wanted]


class _Block(NamedTuple):
    """Neighbouring frames of one video."""

    video: str
    frames: Tensor


def _packs(corpus: Corpus, ids: Iterable[str], size: int) -> Iterator[list[_Block]]:
    """All frames in order, `size` at a time, or fewer where the next video's frames have another shape."""
    pack: list[_Block] = []
    room = size
    for video_id in ids:
        video, first = corpus[video_id], 0
        while first < len(video.times):
            block = _Block(video_id, _read(corpus, video, first, min(first + room, len(video.times))))
            if pack and pack[-1].frames.shape[1:] != block.frames.shape[1:]:
                yield pack
                pack, room = [], size
            pack.append(block)
            first += len(block.frames)
            room -= len(block.frames)
            if not room:
                yield pack
                pack, room = [], size
    if pack:
        yield pack


def _read(corpus: Corpus, video: Video, first: int, last: int) -> Tensor:
    try:
        return torch.from_numpy(video.frames(first, last))
    except ValueError as error:
        raise InputError(corpus.path, f"frames of {video.id} are damaged ({error})", "Ingest it again.") from None


def _embed_pack(adapter: ModelAdapter, corpus: Corpus, pack: list[_Block]) -> Iterator[tuple[str, Embedding]]:
    try:
        nodes = adapter.embed_frames(torch.cat([block.frames for block in pack]))
    except ValueError as error:  # pictures for a model of feature vectors, or the other way round
        cause, _, remedy = str(error).partition("\n")
        raise InputError(corpus.path, f"does not fit {adapter.name}: {cause}", remedy) from None
    lengths = [len(block.frames) for block in pack]
    for block, z, pi in zip(pack, torch.split(nodes.z, lengths), torch.split(nodes.pi, lengths), strict=True):
        yield block.video, _finite(Embedding(z, pi), adapter, corpus, block.video, "frame")


def _assemble(
    adapter: ModelAdapter, corpus: Corpus, video: Video, pieces: list[Embedding], empty: Embedding
) -> EmbeddedVideo:
    nodes = NodeTimes.of(video)
    utterances = None
    if TEXT in adapter.modalities:
        said = _said(adapter, video, nodes) if nodes.texts else empty
        utterances = _finite(said, adapter, corpus, video.id, "utterance")
    frames = Embedding(*(torch.cat(parts) for parts in zip(*pieces, strict=True))) if pieces else empty
    return EmbeddedVideo(video.id, tuple(video.tasks), video.steps, video.times, frames, nodes.centres, utterances)


def _said(adapter: ModelAdapter, video: Video, nodes: NodeTimes) -> Embedding:
    if video.text_vectors is not None:  # the corpus was opened for a model that reads them
        said: Embedding = cast(Any, adapter).embed_text_vectors(torch.from_numpy(video.text_vectors[nodes.places]))
        return said
    return cast(TextAdapter, adapter).embed_texts(nodes.texts)


def _finite(nodes: Embedding, adapter: ModelAdapter, corpus: Corpus, video: str, what: str) -> Embedding:
    whole = nodes.z.isfinite().all(dim=-1) & nodes.pi.isfinite().all(dim=-1)
    if not whole.all():
        broken = f"{int((~whole).sum())} of {len(whole)} {what}s of {video}"
        cause = f"{adapter.name}'s embedding of {broken} contains NaN or Inf"
        remedy = "Its weights or the corpus's feature vectors contain NaN: train or compute them again."
        raise InputError(corpus.path, cause, remedy)
    return nodes
