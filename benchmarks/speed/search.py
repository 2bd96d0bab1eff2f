"""Search over a million frames: exact search compared with its matrix product; `scale_search` has more.

    python -m benchmarks.speed.search [--nodes 1000000]

Embeddings are made up: ten-minute videos that show one of two thousand things after another, with noise as strong as
the signal. Queries are made the same way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Figure, Figures, command_line, finish
from mmcc.evaluation.search import SearchableNodes, best_apart, changes, scores_of

DIMS, FRAMES, THINGS, NOISE = 128, 600, 2000, 1.0
QUERIES, TOP, WINDOW = 50, 10, 10.0
Floats = NDArray[np.float32]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    options = parser.parse_args(arguments)
    figures = Figures()
    things = _unit(np.random.default_rng(0).normal(size=(THINGS, DIMS)))
    nodes = made_up_nodes(options.nodes, things)
    queries = _seen(things, np.random.default_rng(1).integers(0, THINGS, QUERIES), 2)
    product = _seconds(lambda: [nodes.pi @ query for query in queries[:10]])
    exact = _seconds(lambda: [_search(nodes, query) for query in queries[:10]])
    change = _seconds(lambda: [changes(nodes, query, query) for query in queries[:3]]) / 3
    what = f"{len(nodes.pi):,} nodes x {DIMS}"
    figures.at_most(f"exact search / matrix product ({exact / 10:.3f} s, {what})", exact / product, 1.5)
    figures.at_most(f"changes / two matrix products ({change:.3f} s)", change / (2 * product / 10), 2.5)
    return figures.measured


def made_up_nodes(count: int, things: Floats) -> SearchableNodes:
    """Videos that show one thing after another."""
    rng = np.random.default_rng(3)
    video = (np.arange(count) // FRAMES).astype(np.int32)
    shown = rng.integers(0, len(things), -(-count // 20)).repeat(20)[:count]  # for 20 s each
    return SearchableNodes(_seen(things, shown, 4), video, (np.arange(count) % FRAMES).astype(np.float64))


def _seen(things: Floats, which: NDArray[np.int64], seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((len(which), DIMS), np.float32) * np.float32(NOISE / DIMS**0.5)
    return _unit(things[which] + noise)


def _unit(x: NDArray[np.floating]) -> Floats:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), np.float32)


def _search(nodes: SearchableNodes, query: Floats) -> object:
    return best_apart(scores_of(nodes.pi, query), nodes.video, (nodes.time,), TOP, WINDOW)


def _seconds(work: Callable[[], object]) -> float:
    """Best CPU time of three runs; unlike wall-clock time, it does not count other processes."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


if __name__ == "__main__":
    finish(main())
