"""Whether local search finds the orders that an exact solution, or LKH, finds.

    python -m benchmarks.speed.ordering [--bags 200]

Costs are -log P(u → v) of Eq. 12 over made-up videos: states that wander, seen through noise, and predictions of the
next and the one before that are clear, faint or none at all (where every order is about as good, finding the best is
hardest). Bags of 8 to 15 are compared with the exact order. Where elkai is installed (`pip install elkai`; for
research and non-profit use only), so are paths of 50, 100 and 600 with the tour that it finds.
"""

from __future__ import annotations

import argparse
import importlib.util
import time

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Figures
from mmcc.evaluation.local_search import search_order, search_path
from mmcc.evaluation.ordering import EXACT_UP_TO, best_order, cheapest_path

PREDICTIONS = {"clear": 1.0, "faint": 0.3, "none": 0.0}
DIMS, TEMPERATURE, NOISE = 64, 0.1, 0.5
LARGE = (50, 100, 600)
_SCALE = 10_000  # elkai takes whole numbers, and aborts near 1e8
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bags", type=int, default=200)
    options = parser.parse_args()
    figures = Figures()
    for prediction in PREDICTIONS:
        by_path, by_pairs = equal_share(prediction, options.sets)
        figures.show(f"cheapest path as by the exact solution (%), predictions {prediction}", by_path, least=99)
        figures.show(f"best order of all pairs as exact (%), predictions {prediction}", by_pairs, least=99)
    if importlib.util.find_spec("elkai") is None:
        print("elkai is not installed: larger paths have nothing to be compared with")
        figures.exit()
    for n in LARGE:
        for prediction in PREDICTIONS:
            ratio, seconds, theirs = against_elkai(n, prediction)
            what = f"cost of a path of {n} / elkai's ({seconds:.1f} s, {theirs:.1f} s), predictions {prediction}"
            figures.show(what, ratio, most=1.02)
    figures.exit()


def made_up_costs(n: int, prediction: str, seed: int) -> Floats:
    chance = np.random.default_rng(seed)

    def noise() -> Floats:
        return np.asarray(chance.normal(size=(n, DIMS)) / DIMS**0.5)

    state = _unit(np.cumsum(noise(), axis=0))
    pi, signal = _unit(state + NOISE * noise()), PREDICTIONS[prediction]
    future, past = (_unit(signal * np.roll(state, shift, axis=0) + noise()) for shift in (-1, 1))
    cost = -_log_retrieval(future @ pi.T) - _log_retrieval(past @ pi.T).T
    return np.asarray(cost[(mixed := chance.permutation(n))[:, None], mixed])


def _unit(x: Floats) -> Floats:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def _log_retrieval(cosine_nn: Floats) -> Floats:
    scores = cosine_nn / TEMPERATURE
    np.fill_diagonal(scores, -np.inf)
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.fill_diagonal(logs, 0)
    return np.asarray(logs)


def equal_share(prediction: str, sets: int) -> tuple[float, float]:
    """How many of the bags come out as well as by the exact solution: as a path, and by all pairs."""
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


def against_elkai(n: int, prediction: str) -> tuple[float, float, float]:
    """Our path's cost over elkai's, and both their seconds."""
    from elkai import DistanceMatrix

    cost = made_up_costs(n, prediction, seed=0)
    begun = time.perf_counter()
    ours = path_cost(cost, search_path(cost))
    done = time.perf_counter()
    with_null = np.zeros((n + 1, n + 1), int)
    with_null[1:, 1:] = np.rint(cost / cost.max() * _SCALE)
    tour = DistanceMatrix(with_null.tolist()).solve_tsp()
    theirs = path_cost(cost, np.array(tour[1:-1]) - 1)
    return ours / theirs, done - begun, time.perf_counter() - done


if __name__ == "__main__":
    main()
