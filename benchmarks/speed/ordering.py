"""Whether local search finds the orders that an exact solver, or LKH, finds.

    python -m benchmarks.speed.ordering [--sets 200]

Costs are -log P(u → v) of Eq. 12 over made-up videos: a random walk of states observed through noise, with predictions
of the next and the previous state that are clear, faint or absent. Absent predictions are the hardest case: all orders
cost about the same. For sets of 8 to 15 the reference is the exact order. For paths of 50, 100 and 600 it is the tour
found by elkai, which wraps LKH, if installed (`pip install elkai`; for research and non-profit use only).
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Figure, Figures, command_line, finish
from mmcc.evaluation.local_search import search_order, search_path
from mmcc.evaluation.ordering import EXACT_UP_TO, best_order, cheapest_path

PREDICTIONS = {"clear": 1.0, "faint": 0.3, "absent": 0.0}
DIMS, TEMPERATURE, NOISE = 64, 0.1, 0.5
LARGE = (50, 100, 600)
_SCALE = 10_000  # elkai takes whole numbers, and aborts near 1e8
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--sets", type=int, default=200)
    options = parser.parse_args(arguments)
    figures = Figures()
    for prediction in PREDICTIONS:
        by_path, by_pairs = equal_share(prediction, options.sets)
        figures.at_least(f"cheapest path found (%), predictions {prediction}", by_path, 99)
        figures.at_least(f"best order of all pairs found (%), predictions {prediction}", by_pairs, 99)
    if importlib.util.find_spec("elkai") is None:
        print("elkai is not installed: skipped the comparison on larger paths")
        return figures.measured
    for n in LARGE:
        for prediction in PREDICTIONS:
            ratio, seconds, elkais = compare_with_elkai(n, prediction)
            what = f"cost of a path of {n} / elkai's ({seconds:.1f} s, {elkais:.1f} s), predictions {prediction}"
            figures.at_most(what, ratio, 1.02)
    return figures.measured


def made_up_costs(n: int, prediction: str, seed: int) -> Floats:
    rng = np.random.default_rng(seed)

    def noise() -> Floats:
        return np.asarray(rng.normal(size=(n, DIMS)) / DIMS**0.5)

    state = _unit(np.cumsum(noise(), axis=0))
    pi, signal = _unit(state + NOISE * noise()), PREDICTIONS[prediction]
    future, past = (_unit(signal * np.roll(state, shift, axis=0) + noise()) for shift in (-1, 1))
    cost = -_log_retrieval(future @ pi.T) - _log_retrieval(past @ pi.T).T
    return np.asarray(cost[(mixed := rng.permutation(n))[:, None], mixed])


def _unit(x: Floats) -> Floats:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def _log_retrieval(cosine_nn: Floats) -> Floats:
    scores = cosine_nn / TEMPERATURE
    np.fill_diagonal(scores, -np.inf)
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.fill_diagonal(logs, 0)
    return np.asarray(logs)


def equal_share(prediction: str, sets: int) -> tuple[float, float]:
    """Percentage of sets that local search orders as well as the exact solver: as a path, and by all pairs."""
    paths = pairs = 0
    for seed in range(sets):
        cost = made_up_costs(8 + seed % (EXACT_UP_TO - 7), prediction, seed)
        paths += path_cost(cost, search_path(cost)) <= cheapest_path(cost).total + 1e-9
        margin = cost.T - cost
        order = search_order(margin)
        found = np.triu(margin[order[:, None], order], 1).sum()
        pairs += bool(found >= best_order(margin).total - 1e-9)
    return 100 * paths / sets, 100 * pairs / sets


def path_cost(cost: Floats, order: Ints) -> float:
    return float(cost[order[:-1], order[1:]].sum())


def compare_with_elkai(n: int, prediction: str) -> tuple[float, float, float]:
    """The cost of our path / elkai's, our seconds, elkai's seconds."""
    from elkai import DistanceMatrix

    cost = made_up_costs(n, prediction, seed=0)
    start = time.perf_counter()
    ours = path_cost(cost, search_path(cost))
    done = time.perf_counter()
    with_null = np.zeros((n + 1, n + 1), int)
    with_null[1:, 1:] = np.rint(cost / cost.max() * _SCALE)
    tour = DistanceMatrix(with_null.tolist()).solve_tsp()
    elkais = path_cost(cost, np.array(tour[1:-1]) - 1)
    return ours / elkais, done - start, time.perf_counter() - done


if __name__ == "__main__":
    finish(main())
