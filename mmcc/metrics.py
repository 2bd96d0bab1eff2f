"""What the evaluations count. Ties are settled by expectation, so that a score that says nothing gives chance exactly.

Shapes: Q queries, N candidates; orders are [..., n], any number of them at once.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ALL_PERMUTATIONS_UP_TO = 8  # elements: 40,320 orders take some hundredths of a second


def percentile_rank(scores_QN: npt.ArrayLike, target_Q: npt.ArrayLike) -> Floats:
    """How far up its target each query ranks: 100 is first, 0 last, 50 chance.

    rank = 100 · (others scored below the target + ½ · others scored alike) / (N - 1)
    """
    scores = _scores(scores_QN)
    target = np.asarray(target_Q)
    if scores.shape[1] < 2:
        raise ValueError("a rank needs two candidates or more")
    own = np.take_along_axis(scores, target[:, None], axis=1)
    below = (scores < own).sum(axis=1)
    alike = (scores == own).sum(axis=1) - 1  # without the target itself
    return np.asarray(100 * (below + alike / 2) / (scores.shape[1] - 1), np.float64)


def recall_at(scores_QN: npt.ArrayLike, positive_QN: npt.ArrayLike, k: int) -> Floats:
    """For each query the probability that one of its positives is among the k best, ties broken by chance.

    With s the k-th best score: 1 where a positive scores above s; otherwise, of the t candidates that score s, p of
    them positive, j = k - (candidates above s) are among the best, and

    recall = 1 - C(t - p, j) / C(t, j)
    """
    scores, positive = _scores(scores_QN), np.asarray(positive_QN, bool)
    if scores.shape != positive.shape:
        raise ValueError(f"scores {scores.shape} and positives {positive.shape} differ in shape")
    if k < 1:
        raise ValueError(f"k must be 1 or more, not {k}")
    k = min(k, scores.shape[1])
    kth = np.partition(scores, -k, axis=1)[:, -k, None]
    above, at = scores > kth, scores == kth
    drawn = recall_by_chance((at & positive).sum(axis=1), at.sum(axis=1), k - above.sum(axis=1))
    return np.where((above & positive).any(axis=1), 1.0, drawn)


def recall_by_chance(m: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """The probability that k of n candidates, drawn at random, hold one of m positives; elementwise.

    recall = 1 - C(n - m, k) / C(n, k) = 1 - (n-m)/n · (n-m-1)/(n-1) · ... · (n-m-k+1)/(n-k+1)
    """
    hits, candidates, draws = np.broadcast_arrays(np.asarray(m), np.asarray(n), np.minimum(k, n))
    if (hits < 0).any() or (hits > candidates).any() or (draws < 0).any():
        raise ValueError("there must be 0 to n positives, and k must not be negative")
    taken = np.arange(draws.max(initial=0))
    left = candidates[..., None] - taken
    misses_left = np.maximum(left - hits[..., None], 0)
    factors = np.where(taken < draws[..., None], misses_left / np.maximum(left, 1), 1.0)
    return np.asarray(1 - factors.prod(axis=-1), np.float64)


def kendall_tau(order: npt.ArrayLike) -> Floats:
    """Agreement of an order with the true one; `order` holds the true places, all different, as they were put.

    τ = (pairs in order - pairs out of order) / (n (n - 1) / 2)
    """
    places = _places(order)
    earlier, later = np.triu_indices(places.shape[-1], 1)
    return np.asarray((2 * (places[..., later] > places[..., earlier]) - 1).mean(axis=-1), np.float64)


def spearman_rho(order: npt.ArrayLike) -> Floats:
    """Agreement of an order with the true one, by the distance d of each element from its true place.

    ρ = 1 - 6 Σ d² / (n (n² - 1))
    """
    ranks = _ranks(_places(order))
    n = ranks.shape[-1]
    squares = ((ranks - np.arange(n)) ** 2).sum(axis=-1)
    return np.asarray(1 - 6 * squares / (n * (n**2 - 1)), np.float64)


def edit_distance(order: npt.ArrayLike) -> Floats:
    """Levenshtein's: the fewest insertions, deletions and substitutions that turn an order into the true one.

    D(i, j) = min(D(i-1, j) + 1, D(i, j-1) + 1, D(i-1, j-1) + [element i of the order is not the true j-th])
    """
    ranks = _ranks(_places(order))
    n = ranks.shape[-1]
    row = np.broadcast_to(np.arange(n + 1), (*ranks.shape[:-1], n + 1)).copy()
    for i in range(n):
        above, row = row, np.empty_like(row)
        row[..., 0] = i + 1
        without_insertion = np.minimum(above[..., 1:] + 1, above[..., :-1] + (ranks[..., i, None] != np.arange(n)))
        for j in range(n):
            row[..., j + 1] = np.minimum(without_insertion[..., j], row[..., j] + 1)
    return row[..., n].astype(np.float64)


def chance_by_permutation(
    metric: Callable[[Numbers], Floats], n: int, *, samples: int = 20_000, seed: int = 0
) -> float:
    """The mean of a metric over orders of n elements: over all of them where n is small, else over a sample."""
    if n <= ALL_PERMUTATIONS_UP_TO:
        orders = np.array(list(permutations(range(n))))
    else:
        draw = random.Random(seed).random  # the one stream that Python promises to keep
        orders = np.array([[draw() for _ in range(n)] for _ in range(samples)]).argsort(axis=-1)
    return math.fsum(metric(orders)) / len(orders)


def _scores(scores_QN: npt.ArrayLike) -> Numbers:
    scores = np.asarray(scores_QN)
    if scores.ndim != 2:
        raise ValueError(f"scores must be queries by candidates, not of shape {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError("a score is not a number")
    return scores


def _places(order: npt.ArrayLike) -> Numbers:
    places = np.asarray(order)
    if places.ndim == 0 or places.shape[-1] < 2:
        raise ValueError("an order needs two elements or more")
    if (np.diff(np.sort(places, axis=-1), axis=-1) == 0).any():
        raise ValueError("an order holds each place once")
    return places


def _ranks(places: Numbers) -> Numbers:
    """0 to n - 1, also where places are missing from between."""
    return places.argsort(axis=-1).argsort(axis=-1)
