"""Pictures that are no video: sets of photos in their order, and pairs of pictures of which one is later.

    order   as for stills: the order with the highest Σ_{i before j} log P(i → j) - log P(j → i)              (Eq. 12)
    pairs   with two pictures Eq. 12 says nothing, each can only lead to the other; so the similarities decide:
            g_fwd(a) · π_b + g_back(b) · π_a  against  g_fwd(b) · π_a + g_back(a) · π_b

The pictures of pairs may repeat, so intervals are over pictures: a resample draws pictures, and a pair counts as often
as both of its pictures were drawn, multiplied.

Shapes: n pictures, Q pairs, R resamples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from mmcc.evaluation.adapter import ModelAdapter
from mmcc.evaluation.ordering import best_order
from mmcc.evaluation.unshuffling import log_transitions
from mmcc.metrics import Interval, kendall_tau

Floats = NDArray[np.float64]
Pictures = NDArray[np.uint8]

_RESAMPLES = 2000


class PhotoSet(NamedTuple):
    """Photos in their true order."""

    name: str
    pictures: Pictures  # [n, S, S, 3]


class Pairs(NamedTuple):
    """Pairs of pictures; those of one recipe, of which one is later."""

    pictures: Pictures  # [n, S, S, 3] each once
    first: NDArray[np.int64]  # [Q]
    second: NDArray[np.int64]  # [Q]
    second_is_later: NDArray[np.bool_]  # [Q]


@torch.inference_mode()
def order_margins(adapter: ModelAdapter, pictures: Pictures) -> Floats:
    """[n, n]: the value of one before the other."""
    log_P = log_transitions(adapter, adapter.embed_frames(torch.from_numpy(pictures))).numpy()
    return np.asarray(log_P - log_P.T, np.float64)


@torch.inference_mode()
def later_margins(adapter: ModelAdapter, pairs: Pairs) -> Floats:
    """[Q]: how much rather the second picture is later than the first."""
    nodes = adapter.embed_frames(torch.from_numpy(pairs.pictures))
    similar = adapter.future(nodes) @ nodes.pi.T
    if adapter.past is not None:
        similar = similar + (adapter.past(nodes) @ nodes.pi.T).T
    values = similar.double().numpy()
    return np.asarray(values[pairs.first, pairs.second] - values[pairs.second, pairs.first], np.float64)


def tau_of(margin_nn: Floats) -> float:
    """Kendall's τ of the best order of a set given in its true order."""
    return float(kendall_tau(best_order(margin_nn).order))


def pair_accuracy(pairs: Pairs, margins_Q: Floats, seed: int = 0) -> Interval:
    """The share of pairs judged right, in percent; ties count half. Its interval is over pictures."""
    right_Q = np.where(margins_Q == 0, 0.5, (margins_Q > 0) == pairs.second_is_later)
    count = len(pairs.pictures)
    drawn_Rn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), _RESAMPLES)
    weights_RQ = drawn_Rn[:, pairs.first] * drawn_Rn[:, pairs.second]
    totals_R = weights_RQ.sum(axis=1)
    shares_R = (weights_RQ @ right_Q)[totals_R > 0] / totals_R[totals_R > 0]
    low, high = np.quantile(shares_R, (0.025, 0.975))
    return Interval(100 * float(right_Q.mean()), 100 * float(low), 100 * float(high), count)
