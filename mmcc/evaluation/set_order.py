"""How certain an order is: the probability of each order, the second best one, and which of two items comes first.

    weight(x) = Π_j P(x_j → x_{j+1})                   by path: the likelihood of an order (Section 4.3)
    weight(x) = Π_{i before j} P(x_i → x_j)^(2/n)      by all pairs
    P(x)      = weight(x)^s / Σ over all n! orders y of weight(y)^s
    P(u before v), P(u at place k) = Σ of P(x) over the orders for which it holds

A path has n - 1 factors and pairs have n/2 times as many, hence the 2/n. The factors are not independent evidence, so
s, the sharpness, is below one: see SHARPNESS. Which order is best depends neither on s nor on 2/n.

Up to 15 items all of this is exact, by dynamic programming over subsets. Above, the best order is found by local
search, the second best is the best that differs from it by one moved item, and P(u before v) is estimated by sampling.

Shapes: n items; subsets are numbers below 2ⁿ whose bits stand for the items, M = 2ⁿ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mmcc.evaluation.ordering import EXACT_UP_TO, best_order, cheapest_path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
By = Literal["pairs", "path"]

# s where a model brings none of its own (order.json): that of a kitchen model with the former direction loss, by log
# loss of P(u before v) on validation videos. With s = 1 it was overconfident by 0.14 (pairs) and 0.16 (path).
SHARPNESS = 0.2
_CHANCE_DRAWS, _CHANCE_UP_TO = 40, 8  # beyond, random scores agree on an order so seldom that nothing is a guess
_SWEEPS, _BURN_IN = 300, 30  # of Gibbs sampling; the first sweeps still depend on the start
_MOVES = 60_000  # in all sweeps: beyond 200 items there are fewer sweeps, to end in seconds


@dataclass(frozen=True)
class SetOrder:
    """The most likely order of a set, and how certain it is."""

    order: Ints  # [n]
    runner_up: Ints  # [n] the second most likely
    runner_up_ratio: float  # P(runner-up) / P(order): 1 where they are equally good
    before_nn: Floats  # P(u before v)
    places_nn: Floats  # P(u at place k)
    probability: float | None  # P(order) among all orders; None where probabilities are sampled

    @property
    def exact(self) -> bool:
        return self.probability is not None

    @property
    def links(self) -> Floats:
        """For each item and the next: the probability that they come in this order [n - 1]."""
        return np.asarray(self.before_nn[self.order[:-1], self.order[1:]], np.float64)

    @property
    def confidence(self) -> float:
        """The mean probability that two of the items are in the right order: 0.5 is a guess, 1 is certain."""
        put = self.before_nn[self.order[:, None], self.order]
        return float(put[np.triu_indices(len(put), 1)].mean())


def order_set(log_P_nn: ArrayLike, by: By = "pairs", sharpness: float = SHARPNESS) -> SetOrder:
    """Order two items or more, from log P(u → v) of each pair."""
    log_P = np.array(log_P_nn, np.float64)
    n = len(log_P)
    if n < 2:
        raise ValueError("an order needs two items or more")
    np.fill_diagonal(log_P, 0)
    order = (best_order(log_P - log_P.T) if by == "pairs" else cheapest_path(-log_P)).order
    weights = _weights(log_P, by, sharpness)
    if n > EXACT_UP_TO:
        runner_up = _best_neighbour(weights, order)
        shares, probability = _sample(weights, order), None
    else:
        runner_up = _second_best(weights, order)
        shares, log_total = _exact(weights)
        probability = float(np.exp(weights.of(order) - log_total))
    ratio = float(np.exp(min(0.0, weights.of(runner_up) - weights.of(order))))  # not above 1 by rounding
    return SetOrder(order, runner_up, ratio, shares.before_nn, shares.places_nn, probability)


def confidence_by_chance(log_P_nn: ArrayLike, by: By = "pairs", sharpness: float = SHARPNESS) -> float:
    """The confidence that the order of n items would have if these scores had no direction: the median over copies in
    which P(u → v) and P(v → u) of each pair are swapped at random. 0.5 where it cannot be told: with two items, whose
    order is as confident either way, and with more than eight."""
    log_P = np.array(log_P_nn, np.float64)
    n, random = len(log_P), np.random.Generator(np.random.PCG64(0))
    if not 2 < n <= _CHANCE_UP_TO:
        return 0.5
    found = []
    for _ in range(_CHANCE_DRAWS):
        swapped = np.triu(random.random((n, n)) < 0.5, 1)
        found.append(order_set(np.where(swapped | swapped.T, log_P.T, log_P), by, sharpness).confidence)
    return float(np.median(found))


def fit_sharpness(sets: Sequence[ArrayLike], by: By = "pairs") -> float:
    """The s with the lowest log loss of P(u before v) over pairs of sets that are given in their true order, to 5 %."""

    def loss(sharpness: float) -> float:
        before = [order_set(log_P, by, sharpness).before_nn for log_P in sets]
        right = np.concatenate([each[np.triu_indices(len(each), 1)] for each in before])
        return float(-np.log(right.clip(1e-9)).mean())

    steps = 1.05 ** np.arange(-60, 61)  # 0.05 to 19
    low, high = 0, len(steps) - 1
    while high - low > 2:  # the loss has one minimum in log s
        one, other = low + (high - low) // 3, high - (high - low) // 3
        low, high = (low, other) if loss(steps[one]) < loss(steps[other]) else (one, high)
    return float(min(steps[low : high + 1], key=loss))


class _Weights(NamedTuple):
    """log weight(x) = Σ_j link[x_j, x_{j+1}] + Σ_{i before j} pair[x_i, x_j]: one of them is 0 everywhere."""

    link_nn: Floats
    pair_nn: Floats

    def of(self, order: Ints) -> float:
        pairs = np.triu(self.pair_nn[order[:, None], order], 1)
        return float(self.link_nn[order[:-1], order[1:]].sum() + pairs.sum())

    def reversed(self) -> _Weights:
        """The same orders read backwards."""
        return _Weights(self.link_nn.T, self.pair_nn.T)


def _weights(log_P_nn: Floats, by: By, sharpness: float) -> _Weights:
    nothing = np.zeros_like(log_P_nn)
    if by == "path":
        return _Weights(sharpness * log_P_nn, nothing)
    return _Weights(nothing, sharpness * 2 / len(log_P_nn) * log_P_nn)


class _Shares(NamedTuple):
    before_nn: Floats
    places_nn: Floats


def _exact(weights: _Weights) -> tuple[_Shares, float]:
    """Sum over every order: `ends[v, S]` is the probability that an order starts with the items of S, v the last."""
    n = len(weights.link_nn)
    members_Mn = _members(n)
    there = members_Mn.T > 0
    whole = (1 << n) - 1
    rest_after = (whole ^ np.arange(1 << n)) | (1 << np.arange(n))[:, None]  # [n, M]: v and everything not in S
    started = _log_weights(weights, _log_sum)
    ended = np.take_along_axis(_log_weights(weights.reversed(), _log_sum), rest_after, axis=1)
    log_total = float(_log_sum(started[:, whole]))
    absent_Mn = 1 - members_Mn
    across_M = ((members_Mn @ weights.pair_nn) * absent_Mn).sum(axis=1)  # from S to the rest …
    across = across_M - weights.pair_nn @ absent_Mn.T  # … without those from v, which `ended` includes
    ends = np.exp(np.where(there, started + ended + across - log_total, -np.inf))
    size_M = members_Mn.sum(axis=1).astype(np.int64)
    places_nn = np.stack([np.bincount(size_M, each, n + 1)[1:] for each in ends])
    before_nn = (ends @ members_Mn).T * (1 - np.eye(n))
    return _Shares(before_nn, places_nn.astype(np.float64)), log_total


def _second_best(weights: _Weights, order: Ints) -> Ints:
    """The best of all other orders: it has the same end as `order` up to some place, and another item there."""
    n = len(order)
    best = _log_weights(weights, lambda values: values.max(axis=0))
    left, members_Mn = (1 << n) - 1, _members(n)
    found, highest = order[::-1].copy(), -np.inf
    for place in reversed(range(1, n)):
        tail = order[place + 1 :]
        values = best[:, left].copy()  # -inf for items already placed
        if len(tail):
            across = (members_Mn[left] @ weights.pair_nn)[tail].sum()
            values += weights.link_nn[:, tail[0]] + across + weights.of(tail)
        values[order[place]] = -np.inf
        other = int(values.argmax())
        if values[other] > highest:
            found, highest = np.concatenate([_traced(weights, best, left, other), tail]), values[other]
        left ^= 1 << int(order[place])
    return found


def _traced(weights: _Weights, best_nM: Floats, subset: int, last: int) -> Ints:
    """The best order of a subset that ends with `last`."""
    order = [last]
    while subset := subset ^ (1 << order[0]):
        order.insert(0, int((best_nM[:, subset] + weights.link_nn[:, order[0]]).argmax()))
    return np.array(order)


def _log_weights(weights: _Weights, over: Callable[[Floats], Floats]) -> Floats:
    """[n, M]: the best, or the sum, of the log weights of the orders of S that end with j; -inf if j is not in S.

    T[j, S] = over i in S \\ j of (T[i, S \\ j] + link[i, j]) + Σ_{i in S \\ j} pair[i, j]
    """
    n = len(weights.link_nn)
    subsets, members_Mn = np.arange(1 << n), _members(n)
    gain_nM = (members_Mn @ weights.pair_nn).T
    table = np.full((n, 1 << n), -np.inf)
    table[np.arange(n), 1 << np.arange(n)] = 0
    size_M = members_Mn.sum(axis=1)
    for size in range(2, n + 1):
        for last in range(n):
            at = subsets[(size_M == size) & (members_Mn[:, last] > 0)]
            before = at ^ (1 << last)
            table[last, at] = over(table[:, before] + weights.link_nn[:, last, None]) + gain_nM[last, before]
    return table


def _log_sum(values: Floats) -> Floats:
    """Log-sum-exp over the first axis, which contains a finite value."""
    highest = values.max(axis=0)
    return np.asarray(highest + np.log(np.exp(values - highest).sum(axis=0)), np.float64)


def _members(n: int) -> Floats:
    """[M, n]: 1 where a subset contains an item."""
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def _best_neighbour(weights: _Weights, order: Ints) -> Ints:
    """The best of the orders with one item moved."""
    found, highest = order, -np.inf
    for at, item in enumerate(order):
        rest = np.delete(order, at)
        worth = _placed(weights, rest, item) + weights.of(rest)
        worth[at] = -np.inf  # its own place
        place = int(worth.argmax())
        if worth[place] > highest:
            found, highest = np.insert(rest, place, item), worth[place]
    return found


def _sample(weights: _Weights, order: Ints) -> _Shares:
    """Orders sampled by their probability: each item in turn is taken out and put back at random (Gibbs)."""
    n, rng = len(order), np.random.Generator(np.random.PCG64(0))
    sweeps = max(2 * _BURN_IN, min(_SWEEPS, _MOVES // n))
    before_nn, places_nn = np.zeros((n, n)), np.zeros((n, n))
    for sweep in range(sweeps):
        for item in range(n):
            rest = order[order != item]
            worth = _placed(weights, rest, item)
            shares = np.cumsum(np.exp(worth - worth.max()))
            order = np.insert(rest, int(np.searchsorted(shares, rng.random() * shares[-1], "right")), item)
        if sweep >= _BURN_IN:
            place = np.argsort(order)
            before_nn += place[:, None] < place
            places_nn[order, np.arange(n)] += 1
    return _Shares(before_nn / (sweeps - _BURN_IN), places_nn / (sweeps - _BURN_IN))


def _placed(weights: _Weights, rest: Ints, item: int) -> Floats:
    """[n]: the change of the log weight by inserting an item at each place of the others' order."""
    link, pair = weights
    ahead = np.concatenate([[0.0], np.cumsum(pair[rest, item])])
    behind = np.concatenate([np.cumsum(pair[item, rest][::-1])[::-1], [0.0]])
    joined = np.zeros(len(rest) + 1)
    joined[1:] += link[rest, item]
    joined[:-1] += link[item, rest]
    joined[1:-1] -= link[rest[:-1], rest[1:]]
    return np.asarray(ahead + behind + joined, np.float64)
