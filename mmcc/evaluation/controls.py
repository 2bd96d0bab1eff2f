"""Does a model learn dynamics, or only what looks late? Two controls that cannot know what a node becomes.

1. g receives the mean embedding of a node's segment instead of the node's own.
2. Clips are ordered by where in a video such frames tend to be, t / T, by ridge regression from z:

    w = argmin  Σ (w · z + b - t / T)² + λ n |w|²

over the frames of training videos, with z standardized and λ chosen on a fifth of the videos.

Shapes: n frames, C clips, D dims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from mmcc.evaluation import anticipation, unshuffling
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.clips import clip_nodes
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import Needs
from mmcc.evaluation.unshuffling import NAME, order_figures, shuffled

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

SEGMENT_SECONDS = 64.0  # the paper's; MMCC+ trains on segments twice as long
STRENGTHS = (1.0, 0.1, 0.01, 0.001, 0.0001)  # of λ, on features of unit size
HELD_OUT = 5  # one training video in five is held out to choose λ


def segment_means(videos: Sequence[EmbeddedVideo], seconds: float = SEGMENT_SECONDS) -> list[EmbeddedVideo]:
    """The same videos with every frame's z replaced by its segment's mean; π stays, so retrieval targets do too."""
    return [replace(video, frames=Embedding(_means(video, seconds), video.frames.pi)) for video in videos]


def _means(video: EmbeddedVideo, seconds: float) -> Tensor:
    segments, of_frame = np.unique(video.times // seconds, return_inverse=True)
    place_n, z_nD = torch.from_numpy(of_frame), video.frames.z
    sums = z_nD.new_zeros(len(segments), z_nD.shape[1]).index_add(0, place_n, z_nD)
    means: Tensor = sums / place_n.bincount(minlength=len(segments))[:, None]
    return means[place_n]


def unshuffle_by_position(train: Sequence[EmbeddedVideo], test: Sequence[EmbeddedVideo]) -> TaskResult:
    """The labelled clips of each test video in order of their predicted positions."""
    regressor = fit_position(train)
    places = {}
    for set_ in (shuffled(video) for video in test if len(video.steps) > 1 and len(video.times)):
        position_C = regressor(clip_nodes(set_.video, set_.clips).z)
        places[set_.video.id] = set_.places[np.argsort(position_C.numpy(), kind="stable")]
    left_out = len(test) - len(places)
    notes = [f"{left_out} videos have fewer than two labelled clips"] if left_out else []
    return TaskResult(NAME, order_figures(places, [video.id for video in test]), notes=notes)


@dataclass(frozen=True)
class Position:
    """Predicts where in its video a frame lies: 0 at the start, 1 at the end."""

    mean_D: Tensor
    scale_D: Tensor
    weights_D: Tensor
    offset: float

    def __call__(self, z_CD: Tensor) -> Tensor:
        return (z_CD.double() - self.mean_D) / self.scale_D @ self.weights_D + self.offset


def fit_position(videos: Sequence[EmbeddedVideo]) -> Position:
    """With the strength that has the lowest squared error on the held-out videos, fitted again on all videos."""
    videos = [video for video in videos if len(video.times) > 1]
    held_out = torch.cat([torch.full((len(v.times),), at % HELD_OUT == 0) for at, v in enumerate(videos)])
    z_nD = torch.cat([video.frames.z for video in videos]).double()
    place_n = torch.from_numpy(np.concatenate([video.times / video.times[-1] for video in videos]))
    errors = []
    for strength in STRENGTHS:
        fitted = _fit(z_nD[~held_out], place_n[~held_out], strength)
        errors.append(float((fitted(z_nD[held_out]) - place_n[held_out]).square().mean()))
    return _fit(z_nD, place_n, STRENGTHS[int(np.argmin(errors))])


def _fit(z_nD: Tensor, place_n: Tensor, strength: float) -> Position:
    mean_D, scale_D = z_nD.mean(dim=0), z_nD.std(dim=0, correction=0).clamp(min=1e-12)
    x_nD, offset = (z_nD - mean_D) / scale_D, place_n.mean()
    ridge = strength * len(x_nD) * torch.eye(x_nD.shape[1], dtype=torch.float64)
    weights_D = torch.linalg.solve(x_nD.T @ x_nD + ridge, x_nD.T @ (place_n - offset))
    return Position(mean_D, scale_D, weights_D, float(offset))


def _anticipate_from_means(evaluator: Evaluator) -> TaskResult:
    return anticipation.evaluate(
        evaluator.adapter, segment_means(evaluator.primary), evaluator.videos.tasks(primary=True)
    )


def _unshuffle_by_means(evaluator: Evaluator) -> TaskResult:
    return unshuffling.evaluate(
        evaluator.adapter, segment_means(evaluator.primary), evaluator.videos.tasks(primary=True)
    )


MEAN_ANTICIPATION = replace(
    anticipation.ANTICIPATION,
    name=f"mean-{anticipation.NAME}",
    title="Anticipation from the segment's mean embedding",
    run=_anticipate_from_means,
    offered=False,
)
MEAN_UNSHUFFLING = replace(
    unshuffling.UNSHUFFLING,
    name=f"mean-{NAME}",
    title="Unshuffling by the segment's mean embedding",
    run=_unshuffle_by_means,
    offered=False,
)
POSITION_UNSHUFFLING = replace(
    unshuffling.UNSHUFFLING,
    name=f"position-{NAME}",
    title="Unshuffling by a regression of position",
    run=lambda evaluator: unshuffle_by_position(evaluator.training, evaluator.primary),
    needs=Needs(steps=True, training_videos=True),
    offered=False,
)
