"""Pairs of frames of one video, by whoever chooses them: which of the two came first is for others to tell.

A learner chooses starts u by their concreteness (Eq. 7, softmax at τ = 0.1; at random where it knows no text), and to
each the frame that it holds the most probable future:

    v = argmax_{v ≠ u} future(u) · π_v

over the whole video: the paper speaks of far-apart frames, and the model looks at every node at test. A learner that
predicts nothing has the present for a future, so that it chooses frames that look alike: the cosine of cross-modal
features is the cross-modal learner's choice. Without a learner u and v are drawn at random. The two are then shown in
an order decided by a coin.

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
    """Two frames each, as they are shown."""

    videos: tuple[str, ...]  # [V]
    of_video: Indices  # [P] into videos
    first: Indices  # [P] frames of that video
    second: Indices  # [P]
    forward: NDArray[np.bool_]  # [P]: whether the one that chose them went forward in time

    def __len__(self) -> int:
        return len(self.of_video)

    @property
    def earlier_first(self) -> NDArray[np.bool_]:
        """[P]: what is to be told, by true time: frames are in its order."""
        return np.asarray(self.first < self.second, bool)


@torch.inference_mode()
def sample_pairs(
    videos: Sequence[EmbeddedVideo],
    adapter: ModelAdapter | None = None,
    *,
    per_video: int = 16,
    seed: int = 0,
) -> FramePairs:
    """So many pairs of each video, fewer where it has fewer frames; none of a video with a single one.

    A video's pairs depend on the seed, the learner and that video alone.
    """
    of_video, starts, futures, swapped = [], [], [], []
    for at, video in enumerate(videos):
        if len(video.times) < 2:
            continue
        draws = SampleRng(seed, torch.tensor([_number(video.id)]))
        start_S, future_S = _chosen(video, adapter, min(per_video, len(video.times)), draws)
        of_video.append(np.full(len(start_S), at))
        starts.append(start_S.numpy())
        futures.append(future_S.numpy())
        swapped.append((draws.uniform("order", len(start_S))[0] < 0.5).numpy())
    start, future = _joined(starts), _joined(futures)
    swap = _joined(swapped).astype(bool)
    first, second = np.where(swap, future, start), np.where(swap, start, future)
    return FramePairs(tuple(video.id for video in videos), _joined(of_video), first, second, np.asarray(start < future))


def _chosen(video: EmbeddedVideo, adapter: ModelAdapter | None, count: int, draws: SampleRng) -> tuple[Tensor, Tensor]:
    """Starts, all different, and their futures: [S] each."""
    frames = len(video.times)
    wish_n = concreteness(video) / START_TEMPERATURE if adapter else torch.zeros(frames)
    # Gumbel's trick: the S largest of log-probabilities plus noise are S different draws.
    start_S = (wish_n + draws.gumbel("start", frames)[0]).topk(count).indices
    if adapter is None:
        scores_Sn = draws.gumbel("future", count, frames)[0]
    else:
        started = Embedding(video.frames.z[start_S], video.frames.pi[start_S])
        scores_Sn = finite(adapter.future(started), adapter) @ video.frames.pi.T
    itself_Sn = torch.arange(frames) == start_S[:, None]
    return start_S, scores_Sn.masked_fill(itself_Sn, -torch.inf).argmax(dim=1)


def _number(video: str) -> int:
    """By which a video draws, whatever others are sampled beside it."""
    digest = hashlib.blake2b(video.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _joined(parts: Sequence[NDArray[np.int64]]) -> Indices:
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)
