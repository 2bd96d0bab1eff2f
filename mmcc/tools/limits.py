"""How large a figure of footage gets on a model's own training videos, by the number of frames it is computed from.

Shapes: n frames of a video, D dims, S numbers of frames, k figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

COUNTS = (1, 2, 4, 8, 32)  # numbers of frames with limits of their own
_FOLDS = 5  # in which training videos are left out in turn: held-out ones alone are few
_DRAWS = 10  # random selections of frames per video

Floats = NDArray[np.floating[Any]]
Fitted = TypeVar("Fitted")


def left_out_in_turn(
    training: Sequence[Floats], held_out: Sequence[Floats], fit: Callable[[Sequence[Floats]], Fitted]
) -> tuple[Fitted, Iterator[tuple[Fitted, Floats]]]:
    """What is fitted on all training videos; and each video with what was fitted without it."""
    drafts = [fit([each for at, each in enumerate(training) if at % _FOLDS != fold]) for fold in range(_FOLDS)]
    fitted = fit(training)
    judged = [(drafts[at % _FOLDS], each) for at, each in enumerate(training)]
    return fitted, iter([*judged, *((fitted, each) for each in held_out)])


def limits_of(videos: Iterable[tuple[Floats, Callable[[Floats], Any]]], quantile: float) -> Floats:
    """[S, k]: what the figures of that share of the videos stay below. A video comes with the function from some of
    its rows to its figures; of one with fewer frames than a limit is for, all are taken."""
    random, seen = np.random.default_rng(0), list(videos)
    limits = [
        np.quantile([figures(_some(rows, count, random)) for rows, figures in seen for _ in range(_DRAWS)], quantile, 0)
        for count in COUNTS
    ]
    return np.array(limits)


def limit_for(limits_S: Floats, frames: int) -> float:
    """The limit for a number of frames."""
    return float(limits_S[int(np.searchsorted(COUNTS, frames, side="right")) - 1])


def _some(rows_nD: Floats, count: int, random: np.random.Generator) -> Floats:
    return rows_nD[random.permutation(len(rows_nD))[:count]]
