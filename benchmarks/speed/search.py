"""Search over a million frames: an exact one against its matrix product, and FAISS against the exact one.

    python -m benchmarks.speed.search [--nodes 1000000]

Embeddings are made up: videos of ten minutes that show one of two thousand things after another, through as much noise.
Questions are such frames, too. FAISS is measured where it is installed (`pip install 'mmcc[search]'`).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Figures
from mmcc.evaluation.search import SearchableNodes, best_apart, changes, scores_of
from mmcc.tools.search_index import has_faiss, make_faiss

DIMS, FRAMES, THINGS, NOISE = 128, 600, 2000, 1.0
QUESTIONS, TOP, WINDOW = 50, 10, 10.0
Floats = NDArray[np.float32]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    options = parser.parse_args()
    figures = Figures()
    things = _unit(np.random.default_rng(0).normal(size=(THINGS, DIMS)))
    nodes = made_up_nodes(options.nodes, things)
    questions = _seen(things, np.random.default_rng(1).integers(0, THINGS, QUESTIONS), 2)
    product = _seconds(lambda: [nodes.pi @ query for query in questions[:10]])
    exact = _seconds(lambda: [_search(nodes, query) for query in questions[:10]])
    change = _seconds(lambda: [changes(nodes, query, query) for query in questions[:3]]) / 3
    what = f"{len(nodes.pi):,} nodes x {DIMS}"
    figures.show(f"exact search / matrix product ({exact / 10:.3f} s, {what})", exact / product, most=1.5)
    figures.show(f"changes / two matrix products ({change:.3f} s)", change / (2 * product / 10), most=2.5)
    if not has_faiss():
        print("faiss is not installed: nothing to compare with")
        figures.exit()
    start = time.process_time()
    index = make_faiss(nodes.pi)
    built = time.process_time() - start
    found = index.search(questions, TOP)[1]
    truth = [_best(scores_of(nodes.pi, query)) for query in questions]
    recall = np.mean([len(set(a.tolist()) & set(b.tolist())) / TOP for a, b in zip(found, truth, strict=True)])
    faiss = _seconds(lambda: [index.search(query[None], TOP) for query in questions[:10]])
    figures.show(f"recall@10 of FAISS (built in {built:.0f} s of CPU)", float(recall), least=0.95)
    figures.show(f"FAISS / exact search ({faiss / 10:.4f} s)", faiss / exact, most=0.5)
    figures.exit()


def made_up_nodes(count: int, things: Floats) -> SearchableNodes:
    """Each video shows a thing for a while, then another."""
    chance = np.random.default_rng(3)
    video = (np.arange(count) // FRAMES).astype(np.int32)
    shown = chance.integers(0, len(things), -(-count // 20)).repeat(20)[:count]  # for 20 s each
    return SearchableNodes(_seen(things, shown, 4), video, (np.arange(count) % FRAMES).astype(np.float64))


def _seen(things: Floats, which: NDArray[np.int64], seed: int) -> Floats:
    chance = np.random.default_rng(seed)
    noise = chance.standard_normal((len(which), DIMS), np.float32) * np.float32(NOISE / DIMS**0.5)
    return _unit(things[which] + noise)


def _unit(x: NDArray[np.floating]) -> Floats:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), np.float32)


def _search(nodes: SearchableNodes, query: Floats) -> object:
    return best_apart(scores_of(nodes.pi, query), nodes.video, (nodes.time,), TOP, WINDOW)


def _best(scores: Floats) -> NDArray[np.int64]:
    return np.argpartition(scores, -TOP)[-TOP:]


def _seconds(work: Callable[[], object]) -> float:
    """CPU time of the best of three: other processes do not count."""
    spent = []
    for _ in range(3):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


if __name__ == "__main__":
    main()
