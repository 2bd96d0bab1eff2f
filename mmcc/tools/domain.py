"""Does footage resemble a model's training data? Judged by how its frames look (mmcc.tools.looks). Models with a
pretrained encoder have a judge of their own: mmcc.tools.embedding_domain.

    x  = (look - μ) A                                                figures scaled to unit variance
    T² = x̄ᵀ (B + W / n + ρ I)⁻¹ x̄ / K                                how far from the training data, in any direction
    L  = w · x̄ / w · x_photo,   w = (C + C_photo + ρ I)⁻¹ x_photo    how far towards photographs: 1 is as far as those

x̄ is the mean of n frames, x_photo that of photographs; B is the covariance between training videos, W that within a
video, so the number of frames is accounted for, and C that of all training frames. T finds whatever is unusual, given
enough frames; of single real pictures it finds a fifth, since one kitchen frame is as far from another. L, Fisher's
discriminant, finds photographs one by one. Each has a limit for each number of frames, which 99.5 % of the videos left
out of the fit stay below, so both together are wrong about 1 % of them (`python -m benchmarks --only domain`).

Why not the kitchen model's own embeddings: a network maps the unknown close to what it knows. Of five real clips its z
separates three from the 2 % most distant kitchen videos.

Shapes: n frames of a video, K figures, S numbers of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.arrays import read_arrays
from mmcc.errors import InputError
from mmcc.tools import embedding_domain
from mmcc.tools.cache import Answer
from mmcc.tools.embedding_domain import EmbeddingDomain
from mmcc.tools.limits import COUNTS, left_out_in_turn, limit_for, limits_of
from mmcc.tools.looks import Photographs

KIND = "looks"
FILE = "domain.npz"  # beside the weights of a published model
_RIDGE = 0.03  # of unit variances: less trusts directions that hardly vary, more hides what is odd
_QUANTILE = 0.995
_ARRAYS = ("mean", "projection", "between", "within", "limits", "toward", "toward_limits")

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Domain:
    """What the frames of a model's training videos are like."""

    mean: Floats  # [K]
    projection: Floats  # [K, K] A
    between: Floats  # [K, K]
    within: Floats  # [K, K]
    limits: Floats  # [S] of T
    toward: Floats  # [K] w / w · x_photo; 0 without photographs
    toward_limits: Floats  # [S] of L

    @classmethod
    def fit(
        cls,
        training: Sequence[Floats],
        held_out: Sequence[Floats] = (),
        *,
        photographs: Photographs | None = None,
    ) -> Domain:
        """From the looks [n, K] of each training video; the limits come from these, left out in turn, and from
        held-out ones."""
        fitted, judged = left_out_in_turn(training, held_out, lambda videos: _without_limits(videos, photographs))
        of_T, of_L = limits_of([(each, draft._figures) for draft, each in judged], _QUANTILE).T
        return replace(fitted, limits=of_T, toward_limits=of_L)

    def distance(self, looks_nK: Floats) -> float:
        """T of the frames of one video."""
        x = self._mean_of(looks_nK)
        covariance = self.between + self.within / len(looks_nK) + _RIDGE * np.eye(len(x))
        return float(np.sqrt(x @ np.linalg.solve(covariance, x) / len(x)))

    def likeness(self, looks_nK: Floats) -> float:
        """L of the frames of one video."""
        return float(self._mean_of(looks_nK) @ self.toward)

    def excess(self, looks_nK: Floats) -> float:
        """T or L as a multiple of its limit, whichever is larger: above 1 the frames are unlike the training data."""
        far = self.distance(looks_nK) / limit_for(self.limits, len(looks_nK))
        limit = limit_for(self.toward_limits, len(looks_nK))
        # A limit is positive, unless photographs are on the training data's own side: then L says nothing.
        return max(far, self.likeness(looks_nK) / limit if limit > 0 else 0.0)

    def _figures(self, looks_nK: Floats) -> tuple[float, float]:
        return self.distance(looks_nK), self.likeness(looks_nK)

    def _mean_of(self, looks_nK: Floats) -> Floats:
        x: Floats = (looks_nK.mean(axis=0) - self.mean) @ self.projection
        return x

    def to_answer(self) -> Answer:
        return Answer({name: getattr(self, name).astype(np.float32) for name in _ARRAYS}, {"kind": KIND})

    @classmethod
    def from_answer(cls, answer: Answer) -> Domain:
        return cls(**{name: answer.arrays[name].astype(np.float64) for name in _ARRAYS})


def _without_limits(training: Sequence[Floats], photographs: Photographs | None) -> Domain:
    every = np.concatenate(training)
    mean = every.mean(axis=0)
    projection = np.diag(1 / (every.std(axis=0) + 1e-6))
    scaled = [(each - mean) @ projection for each in training if len(each) > 1]
    between = np.cov(np.stack([each.mean(axis=0) for each in scaled]).T).reshape(2 * projection.shape[1:])
    within = np.mean([np.cov(each.T).reshape(between.shape) for each in scaled], axis=0)
    toward = np.zeros(len(between))
    if photographs is not None:
        there = (photographs.mean - mean) @ projection
        spread = np.cov(((every - mean) @ projection).T) + projection.T @ photographs.covariance @ projection
        toward = np.linalg.solve(spread + _RIDGE * np.eye(len(there)), there)
        toward = toward / max(float(toward @ there), 1e-9)
    never = np.full(len(COUNTS), np.inf)
    return Domain(mean, projection, between, within, never, toward, never)


def domain_from(answer: Answer) -> Domain | EmbeddingDomain:
    """Whichever was stored."""
    kind = str(answer.facts["kind"])
    if kind == embedding_domain.KIND:
        return EmbeddingDomain.from_answer(answer)
    if kind == KIND:
        return Domain.from_answer(answer)
    raise ValueError(f"kind {kind!r} is unknown")


def load_domain(path: Path) -> Domain | EmbeddingDomain:
    try:
        arrays = read_arrays(path)
        return domain_from(Answer(arrays, {"kind": str(arrays.pop("kind"))}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(path, f"cannot be read ({error})", "Install mmcc again.") from None


def save_domain(domain: Domain | EmbeddingDomain, path: Path) -> None:
    answer = domain.to_answer()
    arrays: dict[str, Any] = {**answer.arrays, "kind": np.array(answer.facts["kind"])}
    np.savez_compressed(path, **arrays)
