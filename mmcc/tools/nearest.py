"""The nearest of up to 10⁸ vectors, on the disk: compressed ones in lists of near ones (IVF-PQ), by FAISS.

    nodes.faiss    the centres of the lists, and how a vector is compressed
    nodes.lists    the lists, memory-mapped: for each node a byte for every four dims, and its number

A query looks into the lists whose centres are nearest. What it finds there are candidates: the compressed vectors
differ from the real ones, so whoever asks compares those, of the candidates alone. Both steps are measured in
docs/scale.md.

The centres are trained on a sample; then shards of a million nodes are compressed, each by itself, so that many
machines can (nearest_jobs.py); and merged. What is not yet merged is in a folder `parts`: a shard that is there already
is kept, so a build that was stopped continues. Memory is taken for the centres, the sample, and a shard's compressed
vectors.

Shapes: N nodes, D dims.
"""

from __future__ import annotations

import ctypes
import importlib.util
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mmcc.files import draft_of, make_folder, remove_drafts, replacing

INDEX, LISTS = "nodes.faiss", "nodes.lists"
TRAINED = "trained.faiss"
SHARD_NODES = 1_000_000
_PARTS, _SHARD = "parts", "shard-{:05d}.faiss"
_AT_ONCE = 1 << 16  # nodes that are compressed together: 32 MB of 128 dims
_TRAINED_ON = 64  # nodes per list
_LEAST_TRAINED_ON = 1 << 14  # nodes: a byte has 256 values for each four dims, which need examples, too
_EXAMPLES, _ROUNDS = 64, 10  # of each of these values, and of k-means; with 256 and 25, as FAISS has them: minutes
_PROBED_SHARE = 1 / 32  # of the lists, but at least _PROBED_LEAST
_PROBED_LEAST = 32
_DIMS_PER_BYTE = 4

Floats = NDArray[np.float32]
Progress = Callable[[list[str]], Iterable[str]]
Compress = Callable[[Path, Iterable[int], int], None]  # in a folder, shards by their numbers, each of so many nodes


class Rows(Protocol):
    """Vectors [N, D]: an array, or rows that are read when they are asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, which: Any, /) -> Floats: ...


def has_faiss() -> bool:
    return importlib.util.find_spec("faiss") is not None


def lists_for(nodes: int) -> int:
    """About the square root, so that finding the lists and looking into one cost the same: a power of two."""
    return 1 << max(2, round(math.log2(max(nodes, 1)) / 2))


def build(
    folder: Path,
    pi_ND: Rows,
    *,
    progress: Progress | None = None,
    compress: Compress | None = None,
    shard_nodes: int = SHARD_NODES,
) -> None:
    """Write the index of some vectors into a folder. `compress`: what makes the shards, by default this process."""
    parts = folder / _PARTS
    remove_drafts(folder)
    make_folder(parts)
    train(pi_ND, parts / TRAINED)
    # The folder is listed: a file that is asked for too early is missing for a while on a network file system.
    present = {path.name for path in parts.iterdir()}
    numbers = range(-(-len(pi_ND) // shard_nodes))
    missing = [str(number) for number in numbers if _SHARD.format(number) not in present]
    if missing:
        (compress or _here(pi_ND))(parts, map(int, progress(missing) if progress else missing), shard_nodes)
    merge([parts / _SHARD.format(number) for number in numbers], parts / TRAINED, folder)
    finished = draft_of(parts)
    parts.replace(finished)  # all at once; and a worker that was given up, but lives, has no place to write to
    shutil.rmtree(finished)


def _here(pi_ND: Rows) -> Compress:
    def compress(parts: Path, numbers: Iterable[int], shard_nodes: int) -> None:
        for number in numbers:
            compress_shard(pi_ND, number, parts, shard_nodes)

    return compress


def train(pi_ND: Rows, path: Path) -> None:
    """Find the centres of the lists, and how vectors are compressed, from a sample of them."""
    if path.exists():
        return
    faiss = import_module("faiss")
    lists, dims = lists_for(len(pi_ND)), len(pi_ND[0])
    parts = max(1, round(dims / _DIMS_PER_BYTE))
    while dims % parts:
        parts -= 1
    bits = 8 if len(pi_ND) >= 10_000 else 4  # few vectors have no examples of 256 values
    index = faiss.index_factory(dims, f"IVF{lists},PQ{parts}x{bits}", faiss.METRIC_INNER_PRODUCT)
    index.pq.cp.niter, index.pq.cp.max_points_per_centroid = _ROUNDS, _EXAMPLES
    index.train(_sample(pi_ND, max(_TRAINED_ON * lists, _LEAST_TRAINED_ON)))
    _write(index, path)


def compress_shard(
    pi_ND: Rows, number: int, parts: Path, shard_nodes: int, report: Callable[[float], None] = lambda share: None
) -> None:
    """Compress so many of the vectors, with nothing but what was trained. `report` is told what share is done."""
    faiss = import_module("faiss")
    index = faiss.read_index(str(parts / TRAINED))
    begin, last = number * shard_nodes, min(len(pi_ND), (number + 1) * shard_nodes)
    for first in range(begin, last, _AT_ONCE):
        stop = min(first + _AT_ONCE, last)
        index.add_with_ids(np.ascontiguousarray(pi_ND[first:stop], np.float32), np.arange(first, stop))
        report((stop - begin) / (last - begin))
    _write(index, parts / _SHARD.format(number))


def merge(shards: list[Path], trained: Path, folder: Path) -> None:
    """One index of all shards, whose lists are on the disk."""
    faiss = import_module("faiss")
    merge_ondisk = import_module("faiss.contrib.ondisk").merge_ondisk
    index = faiss.read_index(str(trained))
    with without_chatter():
        merge_ondisk(index, [str(path) for path in shards], str(folder / LISTS))
    faiss.write_index(index, str(folder / INDEX))


class Nearest:
    """An opened index."""

    def __init__(self, folder: Path) -> None:
        faiss = import_module("faiss")
        with without_chatter():  # it tells where the lists were when they were written
            flags = faiss.IO_FLAG_ONDISK_SAME_DIR | faiss.IO_FLAG_READ_ONLY
            self._index = faiss.read_index(str(folder / INDEX), flags)
        self._index.nprobe = min(self._index.nlist, max(_PROBED_LEAST, round(self._index.nlist * _PROBED_SHARE)))

    def candidates(self, query_D: Floats, count: int) -> NDArray[np.int64]:
        """The numbers of at most `count` nodes, the nearest of which are most likely the nearest of all."""
        places = self._index.search(np.asarray(query_D, np.float32)[None], count)[1][0]
        found: NDArray[np.int64] = places[(places >= 0) & (places < self._index.ntotal)]
        return found


@contextmanager
def without_chatter() -> Iterator[None]:
    """FAISS tells its progress on the standard output of the process, where answers go."""
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    ours = os.dup(1)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        flush(None)
        os.dup2(ours, 1)
        os.close(ours)


def _sample(pi_ND: Rows, count: int) -> Floats:
    """Vectors of stretches that are spread evenly: to read single ones from a disk takes far longer."""
    if len(pi_ND) <= count:
        return np.ascontiguousarray(pi_ND[0 : len(pi_ND)], np.float32)
    stretch = 32
    firsts = np.linspace(0, len(pi_ND) - stretch, count // stretch).astype(np.int64).tolist()
    return np.concatenate([np.asarray(pi_ND[first : first + stretch], np.float32) for first in firsts])


def _write(index: Any, path: Path) -> None:
    with replacing(path, shared=True) as draft:  # a worker that was given up may be writing the same
        import_module("faiss").write_index(index, str(draft))
