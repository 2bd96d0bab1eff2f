"""Search the moments of a corpus by what they show, what they follow, or what they become. Exact, without torch.

    text t       π_t · π_v
    after u      g_fwd(z_u) · π_v
    before u     g_back(z_u) · π_v
    from s to t  S(u → v) = (π_s · π_u + π_t · π_v) / 2, v a second or more later in u's video

The last is the logarithm of Eq. 12 with retrieval by two texts in place of concreteness, and without its predictions.
Measured with 80 pairs of steps of one task as queries over 100 kitchen test videos: of the five best hits each, 12 in
400 showed both steps; with g_fwd(z_u) · π_v + g_back(z_v) · π_u added at weight 0.1 it was 10, at 0.25 it was 4 (larger
weights were not tried). Every u is paired with its best v.

Shapes: N nodes (the frames of all videos, in order of video and time), D dims.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

BLOCK = 1 << 13  # nodes: 4 MB of 128 dims at a time
GAP = 1.0  # seconds between the sides of a change: what is nearer is one moment
_ROUNDING = 1e-6  # seconds
_AT_FIRST = 64  # times as many candidates as hits: neighbouring seconds score alike


class Rows(Protocol):
    """An array, or rows that are read when they are asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, which: Any, /) -> Floats: ...


class SearchableNodes(NamedTuple):
    """What is searched, in memory or on the disk."""

    pi: Rows  # [N, D]
    video: NDArray[np.int32]  # [N] ascending
    time: NDArray[np.float64]  # [N] ascending within a video


def scores_of(pi_ND: Rows, query_D: Floats, block: int = BLOCK) -> Floats:
    """Scores of every node [N], in blocks, so that embeddings on the disk need not fit into memory."""
    scores = np.empty(len(pi_ND), np.float32)
    for first in range(0, len(pi_ND), block):
        np.matmul(pi_ND[first : first + block], query_D, out=scores[first : first + block])
    return scores


def best_apart(
    scores_N: Floats, video_N: NDArray[np.int32], times: tuple[NDArray[np.float64], ...], top: int, window: float
) -> Ints:
    """The best `top`, best first, without those within `window` seconds of a better one in the same video.

    `times`: of the nodes, or of both ends of pairs, where neither may be near. A score of -inf is never returned.
    """
    candidates = top * _AT_FIRST
    while True:
        best = _highest(scores_N, candidates)
        found = _apart(best, scores_N, video_N, times, top, window)
        if len(found) == top or candidates >= len(scores_N):
            return found
        candidates *= 8


def hide_near(scores_N: Floats, nodes: SearchableNodes, video: int, time: float, window: float) -> None:
    """Exclude the query's own surroundings: a frame should not be found as what comes after itself."""
    first, last = np.searchsorted(nodes.video, [video, video + 1])
    near = np.abs(nodes.time[first:last] - time) <= window
    scores_N[first:last][near] = -np.inf


def changes(nodes: SearchableNodes, first_D: Floats, second_D: Floats, gap: float = GAP) -> tuple[Floats, Ints]:
    """S(u → v) of every u with its best v [N] at least `gap` seconds later, and that v [N]; -inf without such a v."""
    from_N, to_N = (scores_of(nodes.pi, text) for text in (first_D, second_D))
    score_N, partner_N = np.full(len(from_N), -np.inf, np.float32), np.zeros(len(from_N), np.int64)
    edges = np.flatnonzero(np.diff(nodes.video, prepend=-1, append=-1)).tolist()
    for first, last in pairwise(edges):
        backwards = to_N[first:last][::-1]
        best = np.maximum.accumulate(backwards)
        place = np.maximum.accumulate(np.where(backwards == best, np.arange(len(best)), 0))
        best, place = best[::-1], (last - 1 - place)[::-1]  # of each node and all after it
        times = np.asarray(nodes.time[first:last])
        later = np.searchsorted(times, times + gap - _ROUNDING)
        has = np.flatnonzero(later < last - first)
        partner_N[first + has] = place[later[has]]
        score_N[first + has] = (from_N[first + has] + best[later[has]]) / 2
    return score_N, partner_N


def _highest(scores_N: Floats, count: int) -> Ints:
    """The best `count` and all that tie with the last of them, best first, ties by index."""
    if count >= len(scores_N):
        chosen = np.arange(len(scores_N))
    else:
        chosen = np.flatnonzero(scores_N >= np.partition(scores_N, -count)[-count])
    return chosen[np.argsort(-scores_N[chosen], kind="stable")]


def _apart(
    best: Ints,
    scores_N: Floats,
    video_N: NDArray[np.int32],
    times: tuple[NDArray[np.float64], ...],
    top: int,
    window: float,
) -> Ints:
    """Of the candidates, best first, those that are not near an earlier one."""
    left = best[np.isfinite(scores_N[best])]
    found: list[int] = []
    while len(left) and len(found) < top:
        chosen = left[0]
        found.append(int(chosen))
        near = [np.abs(time[left] - time[chosen]) <= window for time in times]
        left = left[~((video_N[left] == video_N[chosen]) & np.logical_or.reduce(near))]
    return np.array(found, np.int64)
