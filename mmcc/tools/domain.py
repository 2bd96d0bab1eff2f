"""Does footage resemble a model's training data? Judged by its frames, each of which is a vector: its look
(mmcc.tools.looks), or the embedding of a pretrained encoder.

    x  = (vector - μ) A                                              scaled figures, or principal components
    T² = x̄ᵀ (B + W / n + ρ I)⁻¹ x̄ / K                                how far from the training data, in any direction
    L  = w · x̄ / w · x_photo,   w = (C + C_photo + ρ I)⁻¹ x_photo    how far towards photographs: 1 is as far as those

x̄ is the mean of n frames, x_photo that of photographs; B is the covariance between training videos, W that within a
video, so the number of frames is accounted for, and C that of all training frames. T finds whatever is unusual, given
enough frames; of single real pictures it finds a fifth, since one kitchen frame is as far from another. L, Fisher's
discriminant, finds photographs one by one. Each has a limit for each number of frames, which 99.5 % of the videos left
out of the fit stay below, so both together are wrong about 1 % of them (`python -m benchmarks --only domain`).

Why not the kitchen model's own embeddings: a network maps the unknown close to what it knows. Of five real clips its z
separates three from the 2 % most distant kitchen videos.

Shapes: n frames of a video, D figures or dims, K kept of them, S numbers of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from mmcc.errors import InputError
from mmcc.tools.cache import Answer
from mmcc.tools.looks import Photographs

Kind = Literal["looks", "embedding"]
LOOKS: Kind = "looks"
EMBEDDING: Kind = "embedding"
FILE = "domain.npz"  # beside the weights of a published model
COMPONENTS = 64  # principal components kept of an embedding
COUNTS = (1, 2, 4, 8, 32)  # numbers of frames with limits of their own
_RIDGE = 0.03  # of unit variances: less trusts directions that hardly vary, more hides what is odd
_QUANTILE = 0.995
_FOLDS = 5  # in which training videos are left out in turn: held-out ones alone are few
_DRAWS = 10  # random selections of frames per video
_ARRAYS = ("mean", "projection", "between", "within", "limits", "toward", "toward_limits")

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Domain:
    """What the frames of a model's training videos are like."""

    kind: Kind
    mean: Floats  # [D]
    projection: Floats  # [D, K]
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
        kind: Kind = LOOKS,
        photographs: Photographs | None = None,
        components: int = COMPONENTS,
    ) -> Domain:
        """From the vectors [n, D] of each training video; the limits come from these, left out in turn, and from
        held-out ones.

        Looks are scaled to unit variance. Of embeddings the first principal components are kept, scaled likewise.
        """
        drafts = [
            (_draft([each for at, each in enumerate(training) if at % _FOLDS != fold], kind, photographs, components))
            for fold in range(_FOLDS)
        ]
        fitted = _draft(training, kind, photographs, components)
        judged = [(drafts[at % _FOLDS], each) for at, each in enumerate(training)]
        judged += [(fitted, each) for each in held_out]
        random = np.random.default_rng(0)
        limits = []
        for count in COUNTS:
            shown = [(draft, _some(each, count, random)) for draft, each in judged for _ in range(_DRAWS)]
            values = [(draft.distance(some), draft.likeness(some)) for draft, some in shown]
            limits.append(np.quantile(values, _QUANTILE, axis=0))
        of_T, of_L = np.array(limits).T
        return cls(**{**vars(fitted), "limits": of_T, "toward_limits": of_L})

    def distance(self, vectors_nD: Floats) -> float:
        """T of the frames of one video."""
        x = self._mean_of(vectors_nD)
        covariance = self.between + self.within / len(vectors_nD) + _RIDGE * np.eye(len(x))
        return float(np.sqrt(x @ np.linalg.solve(covariance, x) / len(x)))

    def likeness(self, vectors_nD: Floats) -> float:
        """L of the frames of one video."""
        return float(self._mean_of(vectors_nD) @ self.toward)

    def excess(self, vectors_nD: Floats) -> float:
        """T or L as a multiple of its limit, whichever is larger: above 1 the frames are unlike the training data."""
        at = int(np.searchsorted(COUNTS, len(vectors_nD), side="right")) - 1
        far = self.distance(vectors_nD) / float(self.limits[at])
        limit = float(self.toward_limits[at])
        # A limit is positive, unless photographs are on the training data's own side: then L says nothing.
        return max(far, self.likeness(vectors_nD) / limit if limit > 0 else 0.0)

    def _mean_of(self, vectors_nD: Floats) -> Floats:
        x: Floats = (vectors_nD.mean(axis=0) - self.mean) @ self.projection
        return x

    def to_answer(self) -> Answer:
        return Answer({name: getattr(self, name).astype(np.float32) for name in _ARRAYS}, {"kind": self.kind})

    @classmethod
    def from_answer(cls, answer: Answer) -> Domain:
        kind = str(answer.facts["kind"])
        if kind not in (LOOKS, EMBEDDING):
            raise ValueError(f"kind {kind!r} is unknown")
        return cls(kind, **{name: answer.arrays[name].astype(np.float64) for name in _ARRAYS})


def _draft(training: Sequence[Floats], kind: Kind, photographs: Photographs | None, components: int) -> Domain:
    """Without limits."""
    every = np.concatenate(training)
    mean = every.mean(axis=0)
    projection = _scaling(every) if kind == LOOKS else _principal(every - mean, components)
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
    return Domain(kind, mean, projection, between, within, never, toward, never)


def _scaling(every_PD: Floats) -> Floats:
    return np.diag(1 / (every_PD.std(axis=0) + 1e-6))


def _principal(centred_PD: Floats, components: int) -> Floats:
    """[D, K]: onto the first principal components, each scaled to unit variance; those without variance are left."""
    variances, axes = np.linalg.eigh(centred_PD.T @ centred_PD / len(centred_PD))
    kept = np.argsort(-variances)[:components]
    kept = kept[variances[kept] > 1e-6 * variances.max()]
    projection: Floats = axes[:, kept] / np.sqrt(variances[kept])
    return projection


def _some(vectors_nD: Floats, count: int, random: np.random.Generator) -> Floats:
    return vectors_nD[random.permutation(len(vectors_nD))[:count]]


def load_domain(path: Path) -> Domain:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return Domain.from_answer(
                Answer({name: stored[name] for name in _ARRAYS}, {"kind": str(stored["kind"])}),
            )
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise InputError(path, f"cannot be read ({error})", "Install mmcc again.") from None


def save_domain(domain: Domain, path: Path) -> None:
    answer = domain.to_answer()
    arrays: dict[str, Any] = {**answer.arrays, "kind": np.array(domain.kind)}
    np.savez_compressed(path, **arrays)
