"""Orders of many items by local search: not proven optimal, but rarely worse.

A path is improved by two kinds of moves until neither helps: two adjacent stretches are swapped (three edges are
exchanged, and every stretch keeps its direction, since costs are not symmetric), or a stretch is reversed. Then it is
perturbed by a random swap of stretches (a kick) and improved again around it. A worse result is undone, with
exceptions early on (annealing). An order by pairs moves one item at a time.

Shapes: N items including the null node, Q active edges, K candidates of each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CANDIDATES = 10  # cheapest successors of each item that are tried; a good path hardly uses any other
PATH_KICKS, ORDER_KICKS = 8, 15  # for each item: of sets small enough to check, at least 99 % come out optimal
_MOST_KICKS = 2000  # 600 items take some 10 s, and their paths are within 0.5 % of LKH's
_HEAT = 1.0  # of an edge's mean cost: a loss accepted with probability 1/e at the start; at the end none is
_REACH = 50  # places between the first and the last cut of a kick
_AT_ONCE = 1 << 17  # moves evaluated together: they should stay in the cache
_LEAST = 1e-9  # a smaller gain is rounding
_MOVED = 4  # items that a kick of an order by pairs moves
_LOOKS = 1 << 22  # moves of one item evaluated in all: beyond a hundred items there are fewer kicks, to end in seconds


def search_path(cost_nn: Floats, *, kicks: int = PATH_KICKS, seed: int = 0) -> Ints:
    """An order of three items or more with a low Σ cost[x_j, x_{j+1}]."""
    n = len(cost_nn)
    cost = np.zeros((n + 1, n + 1))  # the last is the null node: starting and ending cost nothing
    cost[:n, :n] = cost_nn
    tour = _Tour(cost, _nearest_next(cost))
    tour.improve(np.arange(n + 1))
    rng = np.random.Generator(np.random.PCG64(seed))
    here, price = tour.items.copy(), tour.total()
    best, lowest = here, price
    count = min(kicks * n, _MOST_KICKS)
    for left in range(count, 0, -1):
        gained, touched = tour.kick(rng)
        gained += tour.improve(touched)
        heat = _HEAT * left / count * abs(price) / n
        if gained < heat * math.log(1 - rng.random()):
            tour.items = here.copy()
            continue
        here, price = tour.items.copy(), price - gained
        if price < lowest - _LEAST:
            best, lowest = here, price
    return best[1:]


class _Move(NamedTuple):
    gain: float
    cuts: tuple[int, ...]  # edges that are exchanged, ascending: three, or two around a stretch that is reversed


class _Tour:
    """A closed tour that starts at the null node; edge e goes from place e to the next."""

    def __init__(self, cost_NN: Floats, items_N: Ints) -> None:
        self.cost, self.items = cost_NN, items_N
        self._places = np.arange(len(items_N))
        self._after = np.roll(self._places, -1)  # the next place
        self._ahead_NN = (self._places - self._places[:, None]) % len(
            items_N
        )  # steps from place to place along the tour
        away = cost_NN + np.diag(np.full(len(cost_NN), np.inf))
        self.candidates_NK = np.argsort(away, axis=1, kind="stable")[:, :CANDIDATES]

    def total(self) -> float:
        return float(self.cost[self.items, self.items[self._after]].sum())

    def improve(self, active: Ints) -> float:
        """Take the best move at the edges that leave the active items until none gains; returns the total gain."""
        gained = 0.0
        queue = active.tolist()
        at_once = max(1, _AT_ONCE // (len(self.items) * CANDIDATES))
        while queue:
            looked_at, queue = queue[:at_once], queue[at_once:]
            move = self._best(np.array(looked_at))
            if move.gain > _LEAST:
                gained += move.gain
                queue = list(dict.fromkeys([*self._apply(move.cuts), *looked_at, *queue]))
        return gained

    def kick(self, rng: np.random.Generator) -> tuple[float, Ints]:
        """Three adjacent random stretches in reverse order, which no single move undoes.

        Returns its gain, mostly negative, and the items on either side of the cuts.
        """
        t = self.items
        reach = min(_REACH, len(t))
        cuts = int(rng.random() * (len(t) - reach + 1)) + np.sort(rng.permutation(reach)[:4])
        before, after = t[cuts], t[(cuts + 1) % len(t)]
        gain = self.cost[before, after].sum() - self.cost[before, after[[2, 3, 0, 1]]].sum()
        a, b, c, d = (cuts + 1).tolist()
        t[a:d] = np.concatenate([t[c:d], t[b:c], t[a:b]])
        return float(gain), np.concatenate([before, after])

    def _apply(self, cuts: tuple[int, ...]) -> list[int]:
        """Make a move; returns the items on either side of its cuts."""
        t = self.items
        touched = [item for cut in cuts for item in (int(t[cut]), int(t[(cut + 1) % len(t)]))]
        if len(cuts) == 2:
            low, high = cuts
            t[low + 1 : high + 1] = t[low + 1 : high + 1][::-1].copy()
        else:
            low, middle, high = cuts
            t[low + 1 : high + 1] = np.concatenate([t[middle + 1 : high + 1], t[low + 1 : middle + 1]])
        return touched

    def _best(self, active_Q: Ints) -> _Move:
        """The better of the two kinds of moves."""
        t, N = self.items, len(self.items)
        place_N = np.empty(N, np.int64)
        place_N[t] = self._places
        next_N = t[self._after]
        step_N = self.cost[t, next_N]
        edges_Q = place_N[active_Q]
        exchange = self._best_exchange(edges_Q, place_N, next_N, step_N)
        turn = self._best_turn(edges_Q, next_N, step_N)
        return max(exchange, turn, key=lambda move: move.gain)

    def _best_exchange(self, edges_Q: Ints, place_N: Ints, next_N: Ints, step_N: Floats) -> _Move:
        """Edges p, q, r, in this order round the tour, become p → after q, q → after r, r → after p.

        gain = (step_p - cost[p, after q]) + (step_q - cost[q, after r]) + (step_r - cost[r, after p])

        In every move that gains, at least one of the three differences is positive: it suffices to try it as the first.
        """
        t, N = self.items, len(self.items)
        after_q_QK = self.candidates_NK[t[edges_Q]]
        first_QK = step_N[edges_Q][:, None] - self.cost[t[edges_Q][:, None], after_q_QK]
        row, column = np.nonzero(first_QK > _LEAST)
        if not len(row):
            return _Move(0.0, ())
        p, q = edges_Q[row], (place_N[after_q_QK[row, column]] - 1) % N
        gain = step_N - self.cost[t, next_N[p][:, None]]  # [pairs, N], the third difference for every r
        gain += (first_QK[row, column] + step_N[q])[:, None] - self.cost[t[q]][:, next_N]
        gain[self._ahead_NN[p] <= self._ahead_NN[p, q][:, None]] = -np.inf
        pair, r = divmod(int(gain.argmax()), N)
        return _Move(float(gain[pair, r]), tuple(sorted((int(p[pair]), int(q[pair]), r))))

    def _best_turn(self, edges_Q: Ints, next_N: Ints, step_N: Floats) -> _Move:
        """Reverse the stretch between two edges; the edges inside it change their cost, too."""
        t, N = self.items, len(self.items)
        low, high = np.minimum(edges_Q[:, None], self._places), np.maximum(edges_Q[:, None], self._places)
        saved_N = np.cumsum(step_N - self.cost[next_N, t])  # by reversing the edges up to each
        gain = step_N[low] + step_N[high] - self.cost[t[low], t[high]] - self.cost[next_N[low], next_N[high]]
        gain += saved_N[high - 1] - saved_N[low]
        gain[low == high] = -np.inf
        row, other = divmod(int(gain.argmax()), N)
        return _Move(float(gain[row, other]), (int(low[row, other]), int(high[row, other])))


def _nearest_next(cost_NN: Floats) -> Ints:
    """From the null node, always on to the cheapest item left."""
    left = cost_NN.copy()
    tour = [len(cost_NN) - 1]
    for _ in range(len(cost_NN) - 1):
        left[:, tour[-1]] = np.inf
        tour.append(int(left[tour[-1]].argmin()))
    return np.array(tour)


def search_order(margin_nn: Floats, *, kicks: int = ORDER_KICKS, seed: int = 0) -> Ints:
    """An order with a high Σ_{i before j} margin[i, j]."""
    n = len(margin_nn)
    lead_nn = margin_nn - margin_nn.T
    order = _moved_one_by_one(lead_nn, np.argsort(-lead_nn.sum(axis=1), kind="stable"))
    worth = _worth(lead_nn, order)
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(min(kicks * n, _LOOKS // n**2)):
        kicked = order
        for item, place in (rng.random((_MOVED, 2)) * n).astype(np.int64).tolist():
            kicked = _move(kicked, item, place)
        found = _moved_one_by_one(lead_nn, kicked)
        if (now := _worth(lead_nn, found)) >= worth:
            order, worth = found, now
    return order


def _moved_one_by_one(lead_nn: Floats, order: Ints) -> Ints:
    """The best move of one item, until none gains."""
    while True:
        gains = _gains(lead_nn, order)
        item, place = divmod(int(gains.argmax()), len(order))
        if gains[item, place] <= _LEAST:
            return order
        order = _move(order, item, place)


def _worth(lead_nn: Floats, order: Ints) -> float:
    return float(np.triu(lead_nn[order[:, None], order]).sum())


def _gains(lead_nn: Floats, order: Ints) -> Floats:
    """[n, n]: the gain of moving the item at one place to another.

    gain(i, k) = Σ_{k ≤ l < i} lead[i, l] where it moves forward, -Σ_{i < l ≤ k} lead[i, l] where it moves back
    """
    lead = lead_nn[order[:, None], order]
    up_to = lead.cumsum(axis=1)
    return np.asarray(up_to.diagonal()[:, None] - up_to + np.tril(lead, -1), np.float64)


def _move(order: Ints, item: int, place: int) -> Ints:
    items = order.tolist()
    items.insert(place, items.pop(item))
    return np.array(items)
