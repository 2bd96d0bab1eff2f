"""Search over 10⁶ or 10⁷ frames on the disk: recall, time to build, time and memory of a question, bytes.

    python -m benchmarks.scale.search [--nodes 1000000] [--folder DIR]

The vectors are made up: frames of ten-minute videos that show one of many things for twenty seconds each. A thing is a
point of 16 dims among 128 (a random linear map and a sine make a curved surface of it), a frame differs from it within
these dims, and a little in all others: of low intrinsic dimension and in clusters, as embeddings are. Queries are made
the same way, of things that were shown. A frame is right if it is one of the ten nearest by an exact search. Each
stage has a process of its own, which uses one core; memory is the largest resident set, mapped files included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Figure, Figures, command_line, finish
from benchmarks.scale.invented import peak_gb
from mmcc.tools import nearest
from mmcc.tools.nearest import Nearest
from mmcc.tools.stored_rows import AppendedRows, CheckedRows, StoredRows, write_checksums

DIMS, INTRINSIC, SHOWN, FRAMES_PER_THING = 128, 16, 20, 1000
QUERIES, TOP, CANDIDATES = 100, 10, 640
AT_ONCE = 100_000
Floats = NDArray[np.float32]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where the vectors are made, and removed from")
    parser.add_argument("--stage", nargs=2, metavar=("WHAT", "FOLDER"), help="used by the benchmark itself")
    options = parser.parse_args(arguments)
    if options.stage:
        import_faiss().omp_set_num_threads(1)
        print(json.dumps(STAGES[options.stage[0]](Path(options.stage[1]))))
        return []
    if not nearest.has_faiss():
        print("FAISS is not installed: skipped")
        return []
    figures = Figures()
    with TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        truth = make_vectors(folder, options.nodes)
        built = _in_process("build", folder)
        asked = _in_process("ask", folder)
        recall = np.mean([len({*a} & {*b}) / TOP for a, b in zip(asked["found"], truth.tolist(), strict=True)])
        size = sum((folder / each).stat().st_size for each in (nearest.INDEX, nearest.LISTS))
    million = options.nodes / 1e6
    what = f"{options.nodes:,} frames"
    figures.at_least(f"recall@{TOP} of an exact search, {what}", float(recall), 0.9)
    # Why the real vectors are compared; what is found is the figure above, so it has no bound of its own.
    print(f"recall@{TOP} of FAISS alone, before the real vectors are compared: {asked['among']:.3f}", flush=True)
    figures.at_most(f"CPU seconds to build it, per million frames ({what})", built["seconds"] / million, 600)
    figures.at_most(f"GB of memory to build it ({what})", built["gb"], 2.0)
    figures.at_most(f"CPU milliseconds per question ({what})", asked["seconds"] * 1e3, 200)
    figures.at_most(f"GB of memory to ask {QUERIES} questions ({what})", asked["gb"], 1.0)
    figures.at_most(f"bytes per frame of the index, beside the vectors ({what})", size / options.nodes, 64)
    return figures.measured


def make_vectors(folder: Path, count: int) -> NDArray[np.int64]:
    """Vectors and queries on the disk; returns the nearest of each query [Q, 10], by an exact search."""
    things = max(1, count // FRAMES_PER_THING)
    queries = _seen(np.random.default_rng(1).integers(0, things, QUERIES), 2)
    np.save(folder / "queries.npy", queries)
    best, score = np.zeros((QUERIES, 0), np.int64), np.zeros((QUERIES, 0), np.float32)
    with AppendedRows(folder / "pi.npy", queries) as rows:
        for first in range(0, count, AT_ONCE):
            made = min(AT_ONCE, count - first)
            shown = np.random.default_rng([3, first]).integers(0, things, -(-made // SHOWN)).repeat(SHOWN)[:made]
            pi = _seen(shown, first + 4)
            rows.append(pi)
            score = np.concatenate([score, queries @ pi.T], axis=1)
            best = np.concatenate([best, np.broadcast_to(np.arange(first, first + made), (QUERIES, made))], axis=1)
            kept = np.argpartition(-score, TOP - 1)[:, :TOP]
            best, score = np.take_along_axis(best, kept, 1), np.take_along_axis(score, kept, 1)
            _tell(f"{first + made:,} of {count:,} vectors are made")
    write_checksums(folder / "pi.npy")
    return best


def _seen(which: NDArray[np.int64], seed: int) -> Floats:
    """Frames of things: on a surface of few dims, and not quite on it."""
    fixed, rng = np.random.default_rng(0), np.random.default_rng(seed)
    flat, curved = fixed.standard_normal((2, INTRINSIC, DIMS)).astype(np.float32)
    points = np.stack([np.random.default_rng([5, each]).standard_normal(INTRINSIC) for each in np.unique(which)])
    inner = points[np.unique(which, return_inverse=True)[1]].astype(np.float32)
    inner += 0.3 * rng.standard_normal(inner.shape, np.float32)
    outer = inner @ flat + 2 * np.sin(inner @ curved) + 0.3 * rng.standard_normal((len(which), DIMS), np.float32)
    return np.asarray(outer / np.linalg.norm(outer, axis=1, keepdims=True), np.float32)


def _in_process(stage: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale.search", "--stage", stage, str(folder)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # waiting for a busy core takes ages
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=alone).stdout
    answer: dict[str, Any] = json.loads(output.splitlines()[-1])  # FAISS may print, too
    print(f"{stage}: {answer['seconds']:.3f} s of CPU, {answer['gb']:.2f} GB", flush=True)
    return answer


def _build(folder: Path) -> dict[str, Any]:
    start = time.process_time()
    nearest.build(folder, StoredRows(folder / "pi.npy"), progress=_told)
    return {"seconds": time.process_time() - start, "gb": peak_gb()}


def _told(shards: list[str]) -> Iterator[str]:
    """So that one can see how far a build of hours is, and what the rest will take."""
    for done, shard in enumerate(shards):
        _tell(f"centres and {done} of {len(shards)} shards: {time.process_time():.0f} s of CPU")
        yield shard


def _tell(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def _ask(folder: Path) -> dict[str, Any]:
    """As `mmcc search` does: candidates from FAISS, of which the real vectors are compared."""
    index, vectors, found, among = Nearest(folder), CheckedRows(folder / "pi.npy"), [], []
    queries = np.load(folder / "queries.npy")
    start = time.process_time()
    for query in queries:
        places = index.candidates(query, CANDIDATES)
        scores = vectors.take(places) @ query
        found.append(places[np.argsort(-scores)[:TOP]].tolist())
        among.append(len({*found[-1]} & {*places[:TOP].tolist()}) / TOP)
    seconds = (time.process_time() - start) / len(queries)
    return {"seconds": seconds, "gb": peak_gb(), "found": found, "among": float(np.mean(among))}


def import_faiss() -> Any:
    import faiss

    return faiss


STAGES = {"build": _build, "ask": _ask}


if __name__ == "__main__":
    finish(main())
