"""Pairs of frames of one video, chosen by a model or at random; `arrow_of_time` asks which of the two came first.

A model chooses starts u by their concreteness (Eq. 7, softmax at τ = 0.1; at random for a model without text), and for
each the frame that it considers the most probable future:

    v = argmax_{v ≠ u} future(u) · π_v

over the whole video: the paper speaks of far-apart frames, and at test time the model sees every node. For a model
without predictions the future is the present, so it chooses frames that look alike: the cross-modal model chooses by
the cosine of its features. Without a model, u and v are random. A coin toss decides which frame comes first in a pair.

Shapes: V videos, P pairs, n frames of a video, S starts in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.evaluation.adapter import Embedding, ModelAdapter, finite
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.transitions import concreteness
from mmcc.objectives.rng import SampleRng

START_TEMPERATURE = 0.1  # the paper's
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class FramePairs:
    """Two frames each, in the order they are shown in."""

    videos: tuple[str, ...]  # [V]
    of_video: Indices  # [P] into videos
    first: Indices  # [P] frames of that video
    second: Indices  # [P]
    forward: NDArray[np.bool_]  # [P]: whether v is later than u

    def __len__(self) -> int:
        return len(self.of_video)

    @property
    def earlier_first(self) -> NDArray[np.bool_]:
        """[P]: the label to predict; frames are numbered in order of time."""
        return np.asarray(self.first < self.second, bool)


@torch.inference_mode()
def sample_pairs(
    videos: Sequence[EmbeddedVideo],
    adapter: ModelAdapter | None = None,
    *,
    per_video: int = 16,
    seed: int = 0,
) -> FramePairs:
    """`per_video` pairs from each video, fewer where it has fewer frames, none where it has only one.

    A video's pairs depend only on the seed, the model and that video.
    """
    of_video, starts, futures, swapped = [], [], [], []
    for at, video in enumerate(videos):
        if len(video.times) < 2:
            continue
        rng = SampleRng(seed, torch.tensor([_number(video.id)]))
        start_S, future_S = _chosen(video, adapter, min(per_video, len(video.times)), rng)
        of_video.append(np.full(len(start_S), at))
        starts.append(start_S.numpy())
        futures.append(future_S.numpy())
        swapped.append((rng.uniform("order", len(start_S))[0] < 0.5).numpy())
    start, future = _joined(starts), _joined(futures)
    swap = _joined(swapped).astype(bool)
    first, second = np.where(swap, future, start), np.where(swap, start, future)
    return FramePairs(tuple(video.id for video in videos), _joined(of_video), first, second, np.asarray(start < future))


def _chosen(video: EmbeddedVideo, adapter: ModelAdapter | None, count: int, rng: SampleRng) -> tuple[Tensor, Tensor]:
    """Distinct starts and their futures: [S] each."""
    frames = len(video.times)
    wish_n = concreteness(video) / START_TEMPERATURE if adapter else torch.zeros(frames)
    # The Gumbel trick: the S largest log-probabilities plus noise are a sample of S distinct starts.
    start_S = (wish_n + rng.gumbel("start", frames)[0]).topk(count).indices
    if adapter is None:
        scores_Sn = rng.gumbel("future", count, frames)[0]
    else:
        started = Embedding(video.frames.z[start_S], video.frames.pi[start_S])
        scores_Sn = finite(adapter.future(started), adapter) @ video.frames.pi.T
    itself_Sn = torch.arange(frames) == start_S[:, None]
    return start_S, scores_Sn.masked_fill(itself_Sn, -torch.inf).argmax(dim=1)


def _number(video: str) -> int:
    """The seed of a video's random numbers, independent of the other videos sampled."""
    digest = hashlib.blake2b(video.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _joined(parts: Sequence[NDArray[np.int64]]) -> Indices:
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)
