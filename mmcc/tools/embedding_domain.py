"""Does footage resemble the training data of a model with a pretrained encoder? Judged by the encoder's vectors.

    c = x / |x| - μ                                   x: a frame's vector; μ: the mean of the training frames
    R = mean over frames of | c - A Aᵀ c |            A: their first K principal components

R is how much of a frame lies outside of what training frames have in common. Frames of something else do not differ
more along these components: there they look like rather ordinary food. So a Mahalanobis distance, which divides by the
spread along each of them (T, mmcc.tools.domain), finds none of the kitchen's drawings one by one, and R finds 42 %.
The mean is taken of the distances, not of the vectors: frames of one shot are all alike, which says nothing about
where the shot was taken, but moves their mean away from that of stills of different steps.

Each number of frames has its limit, which 99 % of the videos left out of the fit stay below.

Shapes: n frames of a video, D dims, K components, S numbers of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.tools.cache import Answer
from mmcc.tools.limits import COUNTS, left_out_in_turn, limit_for, limits_of

KIND = "embedding"
COMPONENTS = 64
_QUANTILE = 0.99
_LEAST = 1e-6  # of a limit: below is rounding
_ARRAYS = ("mean", "axes", "limits")

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class EmbeddingDomain:
    """What the vectors of a model's training frames have in common."""

    mean: Floats  # [D]
    axes: Floats  # [D, K] orthonormal
    limits: Floats  # [S] of R

    @classmethod
    def fit(
        cls, training: Sequence[Floats], held_out: Sequence[Floats] = (), *, components: int = COMPONENTS
    ) -> EmbeddingDomain:
        """From the vectors [n, D] of each training video; the limits come from these, left out in turn, and from
        held-out ones."""
        fitted, judged = left_out_in_turn(training, held_out, lambda videos: _without_limits(videos, components))
        distances = [(draft.distances(each), np.mean) for draft, each in judged]
        return replace(fitted, limits=np.maximum(limits_of(distances, _QUANTILE), _LEAST))

    def distances(self, vectors_nD: Floats) -> Floats:
        """[n]: of each frame, how much of it is outside."""
        centred = _unit(vectors_nD) - self.mean
        distances: Floats = np.linalg.norm(centred - (centred @ self.axes) @ self.axes.T, axis=1)
        return distances

    def excess(self, vectors_nD: Floats) -> float:
        """R as a multiple of its limit: above 1 the frames are unlike the training data."""
        return float(self.distances(vectors_nD).mean()) / limit_for(self.limits, len(vectors_nD))

    def to_answer(self) -> Answer:
        return Answer({name: getattr(self, name).astype(np.float32) for name in _ARRAYS}, {"kind": KIND})

    @classmethod
    def from_answer(cls, answer: Answer) -> EmbeddingDomain:
        return cls(**{name: answer.arrays[name].astype(np.float64) for name in _ARRAYS})


def _without_limits(training: Sequence[Floats], components: int) -> EmbeddingDomain:
    every = _unit(np.concatenate(training))
    mean = every.mean(axis=0)
    variances, axes = np.linalg.eigh(np.cov(every.T).reshape(2 * mean.shape))
    kept = np.argsort(-variances)[: min(components, len(mean) // 2)]  # not all: a distance must be left to compare
    return EmbeddingDomain(mean, axes[:, kept], np.full(len(COUNTS), np.inf))


def _unit(vectors_nD: Floats) -> Floats:
    vectors = np.asarray(vectors_nD, np.float64)
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
