"""Does a model learn dynamics, or only the task and what looks late? Controls that cannot know what a node becomes.

1. Queries that do not see the clip: for all clips of a video, the unit-norm mean of the model's futures over the
   labelled clips of all other videos (constant query), or of the other videos of its task (the task's mean future).
2. g receives the mean embedding of the last 64 s instead of the node's own.
3. Clips are ordered by where in a video such frames tend to be, t / T, by ridge regression from z:

    w = argmin  Σ (w · z + b - t / T)² + λ n |w|²

over the frames of training videos, with z standardized and λ chosen on a fifth of the videos.

Shapes: n frames, C clips, D dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from mmcc.evaluation import anticipation, unshuffling
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.anticipation import Bools, Clips, Ints, Query
from mmcc.evaluation.clips import clip_nodes
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import Needs
from mmcc.evaluation.unshuffling import NAME, order_figures, shuffled
from mmcc.models.mlp import unit_norm

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

PAST_SECONDS = 64.0  # as long as the paper's segments; MMCC+ trains on segments twice as long
STRENGTHS = (1.0, 0.1, 0.01, 0.001, 0.0001)  # of λ, on features of unit size
HELD_OUT = 5  # one training video in five is held out to choose λ


def constant_query(future_CD: Tensor, clips: Clips) -> tuple[Tensor, Bools]:
    """The mean future of all other videos' clips."""
    return mean_elsewhere(future_CD, np.zeros_like(clips.task), clips.video)


def task_query(future_CD: Tensor, clips: Clips) -> tuple[Tensor, Bools]:
    """The mean future of the clips of other videos of the same task."""
    return mean_elsewhere(future_CD, clips.task, clips.video)


def mean_elsewhere(future_CD: Tensor, group_C: Ints, video_C: Ints) -> tuple[Tensor, Bools]:
    """For each clip the unit-norm mean future of its group's clips in other videos [C, D], and whether there are any
    [C]; all clips of a video in a group get the same."""
    queries_CD, known_C = torch.zeros_like(future_CD), np.zeros(len(group_C), bool)
    for group in np.unique(group_C):
        of_group = group_C == group
        total_D = future_CD[torch.from_numpy(of_group)].double().sum(dim=0)
        for number in np.unique(video_C[of_group]):
            here = of_group & (video_C == number)
            elsewhere_D = total_D - future_CD[torch.from_numpy(here)].double().sum(dim=0)
            queries_CD[torch.from_numpy(here)] = unit_norm(elsewhere_D).to(queries_CD)
            known_C[here] = here.sum() < of_group.sum()
    return queries_CD, known_C


def past_means(videos: Sequence[EmbeddedVideo], seconds: float = PAST_SECONDS) -> list[EmbeddedVideo]:
    """The same videos with the z of the frame at t replaced by the mean over the frames from t - `seconds` up to t.

    So a clip, which is the mean of its frames, sees from that long before its first frame to its last, and nothing
    later. π stays, so retrieval targets do too.
    """
    return [replace(video, frames=Embedding(_past_means(video, seconds), video.frames.pi)) for video in videos]


def _past_means(video: EmbeddedVideo, seconds: float) -> Tensor:
    first_n, last_n = (
        torch.from_numpy(np.searchsorted(video.times, *edge))
        for edge in (
            (video.times - seconds, "left"),
            (video.times, "right"),
        )
    )
    z_nD = video.frames.z
    sums_nD = torch.cat([z_nD.new_zeros(1, z_nD.shape[1]).double(), z_nD.double().cumsum(dim=0)])
    means: Tensor = (sums_nD[last_n] - sums_nD[first_n]) / (last_n - first_n)[:, None]
    return means.to(z_nD)


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


def _asked_with(query: Query) -> Callable[[Evaluator], TaskResult]:
    def run(evaluator: Evaluator) -> TaskResult:
        tasks = evaluator.videos.tasks(primary=True)
        return anticipation.evaluate(evaluator.adapter, evaluator.primary, tasks, query)

    return run


def _anticipate_from_past(evaluator: Evaluator) -> TaskResult:
    return anticipation.evaluate(evaluator.adapter, past_means(evaluator.primary), evaluator.videos.tasks(primary=True))


def _unshuffle_by_past(evaluator: Evaluator) -> TaskResult:
    return unshuffling.evaluate(evaluator.adapter, past_means(evaluator.primary), evaluator.videos.tasks(primary=True))


CONSTANT_ANTICIPATION = replace(
    anticipation.ANTICIPATION,
    name=f"constant-{anticipation.NAME}",
    title="Anticipation by one query for all clips",
    run=_asked_with(constant_query),
    offered=False,
)
TASK_ANTICIPATION = replace(
    anticipation.ANTICIPATION,
    name=f"task-{anticipation.NAME}",
    title="Anticipation by the mean future of the clip's task",
    run=_asked_with(task_query),
    offered=False,
)
PAST_ANTICIPATION = replace(
    anticipation.ANTICIPATION,
    name=f"past-{anticipation.NAME}",
    title="Anticipation from the mean embedding of the last 64 s",
    run=_anticipate_from_past,
    offered=False,
)
PAST_UNSHUFFLING = replace(
    unshuffling.UNSHUFFLING,
    name=f"past-{NAME}",
    title="Unshuffling by the mean embedding of the last 64 s",
    run=_unshuffle_by_past,
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
