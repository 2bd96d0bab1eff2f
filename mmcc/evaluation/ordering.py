"""The best order of a set of items, from a value for each ordered pair.

    cheapest path     order minimizing   Σ_j cost[x_j, x_{j+1}]                      (Section 4.3, with the null node)
    all pairs         order maximizing   Σ_{i before j} margin[i, j]

Both are exact up to 15 items, by dynamic programming over subsets, and found by local search above. Which of several
equally good orders is found depends on how the items are numbered: number them at random where that must not matter.

Shapes: B sets of the same size, n items of each; subsets are numbers below 2ⁿ whose bits stand for the items.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mmcc.evaluation.local_search import search_order, search_path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXACT_UP_TO = 15  # items: some 10 ms a set, doubling with each further item
_AT_ONCE = 1 << 19  # numbers in a table of partial orders: 4 MB; 16 MB take 2 to 3 times as long


class Orders(NamedTuple):
    """Orders of several sets, and the value of each: the cost of its path, or the sum of its margins."""

    orders: Ints  # [B, n]
    totals: Floats  # [B]


class Order(NamedTuple):
    """One order and its value."""

    order: Ints  # [n]
    total: float


def cheapest_path(cost_nn: ArrayLike) -> Order:
    """The order with the lowest total cost of going from each item to the next; it may start and end anywhere."""
    found = cheapest_paths(np.asarray(cost_nn)[None])
    return Order(found.orders[0], float(found.totals[0]))


def best_order(margin_nn: ArrayLike) -> Order:
    """The order with the largest sum of margins over its pairs; margin[i, j] is the value of i before j."""
    found = best_orders(np.asarray(margin_nn)[None])
    return Order(found.orders[0], float(found.totals[0]))


def cheapest_paths(cost_Bnn: ArrayLike) -> Orders:
    """`cheapest_path` of many sets of one size."""
    cost = _square(cost_Bnn)
    searched = cost.shape[-1] > EXACT_UP_TO
    orders = np.array([search_path(each) for each in cost]) if searched else _in_parts(_held_karp, cost)
    totals = np.take_along_axis(np.take_along_axis(cost, orders[:, :-1, None], 1), orders[:, 1:, None], 2)
    return Orders(orders, totals.sum(axis=(1, 2)))


def best_orders(margin_Bnn: ArrayLike) -> Orders:
    """`best_order` of many sets of one size."""
    margin = _square(margin_Bnn)
    searched = margin.shape[-1] > EXACT_UP_TO
    orders = np.array([search_order(each) for each in margin]) if searched else _in_parts(_by_subsets, margin)
    put = np.take_along_axis(np.take_along_axis(margin, orders[:, :, None], 1), orders[:, None, :], 2)
    return Orders(orders, np.triu(put, 1).sum(axis=(1, 2)))


def _held_karp(cost_Bnn: Floats) -> Ints:
    """D[j, S] = min over i in S \\ j of D[i, S \\ j] + cost[i, j]: the cheapest path through S that ends at j."""
    sets, n = cost_Bnn.shape[:2]
    best = np.full((sets, n, 1 << n), np.inf)
    best[:, np.arange(n), 1 << np.arange(n)] = 0
    for last, subsets in _layers(n):
        before = np.take(best, subsets ^ (1 << last), axis=2)  # inf where i is not in S \ j
        before += cost_Bnn[:, :, last, None]
        best[:, last, subsets] = before.min(axis=1)
    every = np.arange(sets)
    orders = np.empty((sets, n), np.int64)
    left, ways = np.full(sets, (1 << n) - 1), best[:, :, -1]
    for place in reversed(range(n)):
        orders[:, place] = ways.argmin(axis=1)
        left = left ^ (1 << orders[:, place])
        ways = best[every, :, left] + cost_Bnn[every, :, orders[:, place]]
    return orders


def _by_subsets(margin_Bnn: Floats) -> Ints:
    """M[S] = max over j in S of M[S \\ j] + gain[j, S \\ j], with gain[j, T] = Σ_{i in T} margin[i, j]: j put last."""
    sets, n = margin_Bnn.shape[:2]
    gain = np.zeros((sets, n, 1 << n))
    for item in range(n):
        half = 1 << item
        gain[:, :, half : 2 * half] = gain[:, :, :half] + margin_Bnn[:, item, :, None]
    best = np.full((sets, 1 << n), -np.inf)
    best[:, 0] = 0
    best[:, 1 << np.arange(n)] = 0
    for last, subsets in _layers(n):
        before = subsets ^ (1 << last)
        best[:, subsets] = np.maximum(best[:, subsets], best[:, before] + gain[:, last, before])
    every, items = np.arange(sets)[:, None], np.arange(n)
    orders = np.empty((sets, n), np.int64)
    left = np.full(sets, (1 << n) - 1)
    for place in reversed(range(n)):
        before = left[:, None] & ~(1 << items)
        ways = best[every, before] + gain[every, items, before]
        ways[before == left[:, None]] = -np.inf  # already placed
        orders[:, place] = ways.argmax(axis=1)
        left = left ^ (1 << orders[:, place])
    return orders


@cache
def _layers(n: int) -> list[tuple[int, Ints]]:
    """(j, the subsets of one size that contain j and others), smaller ones first, since larger ones build on them."""
    subsets = np.arange(1 << n)
    members = subsets[:, None] >> np.arange(n) & 1
    size = members.sum(axis=1)
    return [
        (last, subsets[(size == count) & (members[:, last] == 1)]) for count in range(2, n + 1) for last in range(n)
    ]


def _in_parts(solve: Callable[[Floats], Ints], matrix_Bnn: Floats) -> Ints:
    """Solve as many sets at a time as their tables, of n 2ⁿ numbers each, have room for."""
    n = matrix_Bnn.shape[-1]
    at_once = max(1, _AT_ONCE // (n << n))
    return np.concatenate([solve(matrix_Bnn[at : at + at_once]) for at in range(0, len(matrix_Bnn), at_once)])


def _square(matrix_Bnn: ArrayLike) -> Floats:
    matrix = np.asarray(matrix_Bnn, np.float64)
    if matrix.ndim != 3 or matrix.shape[1] != matrix.shape[2] or not matrix.size:
        raise ValueError(f"the values of pairs must be a square matrix for each set, not of shape {matrix.shape}")
    off_diagonal = ~np.eye(matrix.shape[1], dtype=bool)
    if not np.isfinite(matrix[:, off_diagonal]).all():
        raise ValueError("the value of a pair must be finite")
    return np.where(off_diagonal, matrix, 0.0)  # no item precedes itself
