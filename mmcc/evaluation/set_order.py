"""How sure an order is: the probability of each order, the second best, and which of two things comes first.

    weight(x) = Π_j P(x_j → x_{j+1})                   by path: the likelihood of an order (Section 4.3)
    weight(x) = Π_{i before j} P(x_i → x_j)^(2/n)      by all pairs
    P(x)      = weight(x)^s / Σ over all n! orders y of weight(y)^s
    P(u before v), P(u at place k) = Σ of P(x) over the orders in which it is so

A path has n - 1 factors and pairs have n/2 times as many, hence the 2/n. Still the factors are no independent
witnesses, so s, the sharpness, is below one: see SHARPNESS. Which order is best depends neither on s nor on 2/n.

Up to 15 things all of this is exact, by dynamic programming over subsets. Above, the best order is searched for, the
second best is the best of those that differ from it by one thing moved, and P(u before v) is estimated from a sample.

Shapes: n things; subsets are numbers below 2ⁿ whose bits tell what they hold, M = 2ⁿ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mmcc.evaluation.ordering import EXACT_UP_TO, best_order, cheapest_path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
By = Literal["pairs", "path"]

# s of the kitchen model: with it P(u before v) has the least log loss over the videos that its checkpoint was chosen
# on. On 196 test videos, P is then too careful by 0.05 (pairs) and 0.09 (path); with s = 1, too sure by 0.14 and 0.16.
SHARPNESS = 0.2
_SWEEPS, _UNHEEDED = 300, 30  # of a sample; the first still remember where it began
_MOVES = 60_000  # in all sweeps: beyond 200 things there are fewer of them, to end in seconds


@dataclass(frozen=True)
class SetOrder:
    """The most likely order of a bag, and how sure it is."""

    order: Ints  # [n]
    runner_up: Ints  # [n] the second most likely
    runner_up_ratio: float  # P(runner-up) / P(order): 1 where they are equally good
    before_nn: Floats  # P(u before v)
    places_nn: Floats  # P(u at place k)
    probability: float | None  # P(order) among all orders; None where it was sampled

    @property
    def exact(self) -> bool:
        return self.probability is not None

    @property
    def links(self) -> Floats:
        """For each thing and the next: the probability that they come in this order [n - 1]."""
        return np.asarray(self.before_nn[self.order[:-1], self.order[1:]], np.float64)

    @property
    def confidence(self) -> float:
        """How probably two of the things, any two, stand in the right order: 0.5 is a guess, 1 is certain."""
        put = self.before_nn[self.order[:, None], self.order]
        return float(put[np.triu_indices(len(put), 1)].mean())


def order_set(log_P_nn: ArrayLike, by: By = "pairs", sharpness: float = SHARPNESS) -> SetOrder:
    """Two things or more, from log P(u → v) of each pair."""
    log_P = np.array(log_P_nn, np.float64)
    n = len(log_P)
    if n < 2:
        raise ValueError("an order needs two things or more")
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


class _Weights(NamedTuple):
    """log weight(x) = Σ_j link[x_j, x_{j+1}] + Σ_{i before j} pair[x_i, x_j]: one of them is 0 everywhere."""

    link_nn: Floats
    pair_nn: Floats

    def of(self, order: Ints) -> float:
        pairs = np.triu(self.pair_nn[order[:, None], order], 1)
        return float(self.link_nn[order[:-1], order[1:]].sum() + pairs.sum())

    def reversed(self) -> _Weights:
        """The same orders read from their ends."""
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
    """Every order counted: `ends[v, S]` is the share of those that begin with S in some order, v the last of it."""
    n = len(weights.link_nn)
    members_Mn = _members(n)
    there = members_Mn.T > 0
    whole = (1 << n) - 1
    rest_after = (whole ^ np.arange(1 << n)) | (1 << np.arange(n))[:, None]  # [n, M]: v and all that is not in S
    begun = _log_weights(weights, _log_sum)
    ended = np.take_along_axis(_log_weights(weights.reversed(), _log_sum), rest_after, axis=1)
    log_total = float(_log_sum(begun[:, whole]))
    absent_Mn = 1 - members_Mn
    across_M = ((members_Mn @ weights.pair_nn) * absent_Mn).sum(axis=1)  # from S to the rest …
    across = across_M - weights.pair_nn @ absent_Mn.T  # … but for those from v, which `ended` has
    ends = np.exp(np.where(there, begun + ended + across - log_total, -np.inf))
    size_M = members_Mn.sum(axis=1).astype(np.int64)
    places_nn = np.stack([np.bincount(size_M, each, n + 1)[1:] for each in ends])
    before_nn = (ends @ members_Mn).T * (1 - np.eye(n))
    return _Shares(before_nn, places_nn.astype(np.float64)), log_total


def _second_best(weights: _Weights, order: Ints) -> Ints:
    """The best of all other orders: it ends as `order` does up to some place, and there has another thing."""
    n = len(order)
    best = _log_weights(weights, lambda values: values.max(axis=0))
    left, members_Mn = (1 << n) - 1, _members(n)
    found, highest = order[::-1].copy(), -np.inf
    for place in reversed(range(1, n)):
        tail = order[place + 1 :]
        values = best[:, left].copy()  # -inf for what is not left
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
    """[n, M]: the log weights of the orders of S that end with j, the best of them or their sum; -inf if j is not in S.

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
    """Over the first axis; something there is finite."""
    highest = values.max(axis=0)
    return np.asarray(highest + np.log(np.exp(values - highest).sum(axis=0)), np.float64)


def _members(n: int) -> Floats:
    """[M, n]: 1 where a subset holds a thing."""
    return (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def _best_neighbour(weights: _Weights, order: Ints) -> Ints:
    """The best of the orders with one thing moved."""
    found, highest = order, -np.inf
    for at, thing in enumerate(order):
        rest = np.delete(order, at)
        worth = _placed(weights, rest, thing) + weights.of(rest)
        worth[at] = -np.inf  # that is where it was
        place = int(worth.argmax())
        if worth[place] > highest:
            found, highest = np.insert(rest, place, thing), worth[place]
    return found


def _sample(weights: _Weights, order: Ints) -> _Shares:
    """Orders drawn by their probability: each thing in turn is taken out and put where chance wants it (Gibbs)."""
    n, chance = len(order), np.random.Generator(np.random.PCG64(0))
    sweeps = max(2 * _UNHEEDED, min(_SWEEPS, _MOVES // n))
    before_nn, places_nn = np.zeros((n, n)), np.zeros((n, n))
    for sweep in range(sweeps):
        for thing in range(n):
            rest = order[order != thing]
            worth = _placed(weights, rest, thing)
            shares = np.cumsum(np.exp(worth - worth.max()))
            order = np.insert(rest, int(np.searchsorted(shares, chance.random() * shares[-1], "right")), thing)
        if sweep >= _UNHEEDED:
            place = np.argsort(order)
            before_nn += place[:, None] < place
            places_nn[order, np.arange(n)] += 1
    return _Shares(before_nn / (sweeps - _UNHEEDED), places_nn / (sweeps - _UNHEEDED))


def _placed(weights: _Weights, rest: Ints, thing: int) -> Floats:
    """[n]: what it adds to the weight of the others' order to put a thing at each place of it."""
    link, pair = weights
    ahead = np.concatenate([[0.0], np.cumsum(pair[rest, thing])])
    behind = np.concatenate([np.cumsum(pair[thing, rest][::-1])[::-1], [0.0]])
    joined = np.zeros(len(rest) + 1)
    joined[1:] += link[rest, thing]
    joined[:-1] += link[thing, rest]
    joined[1:-1] -= link[rest[:-1], rest[1:]]
    return np.asarray(ahead + behind + joined, np.float64)
