"""Small classifiers that look for leaks: what an input reveals but should not.

Ridge regression on ±1 labels at several strengths of regularization, also on random nonlinear features of the input.
The best held-out accuracy of all is reported, which errs towards finding a leak.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.bool_]

_STRENGTHS = (1e-2, 1e-1, 1.0, 10.0)  # of the ridge, in units of the mean eigenvalue
_HIDDEN = 512


def best_accuracy(inputs: Array, labels: Labels, groups: NDArray[np.int64], *, odd: bool = False) -> float:
    """Held-out accuracy in percent, with equal weight for both classes; training and test groups (videos) differ.

    `odd` is for differences of pairs: the probe is linear without offset, so that both orders of a pair are equivalent.
    """
    test = groups % 5 < 2
    scores = (
        _balanced(labels[test], prediction)
        for views in _views(inputs, odd)
        for prediction in _ridge(views[~test], labels[~test], views[test])
    )
    return 100 * max(scores)


def _views(inputs: Array, odd: bool) -> Iterator[Array]:
    spread = inputs.std(axis=0) + 1e-9
    if odd:
        yield inputs / spread
        return
    scaled = (inputs - inputs.mean(axis=0)) / spread
    yield np.hstack([scaled, np.ones((len(scaled), 1))])
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((scaled.shape[1], _HIDDEN)) / np.sqrt(scaled.shape[1])
    hidden = np.maximum(scaled @ weights + rng.standard_normal(_HIDDEN), 0)
    yield np.hstack([hidden - hidden.mean(axis=0), np.ones((len(scaled), 1))])


def _ridge(train: Array, labels: Labels, test: Array) -> Iterator[Array]:
    gram, target = train.T @ train, train.T @ np.where(labels, 1.0, -1.0)
    mean = np.trace(gram) / len(gram)
    for strength in _STRENGTHS:
        yield test @ np.linalg.solve(gram + strength * mean * np.eye(len(gram)), target)


def _balanced(labels: Labels, scores: Array) -> float:
    """Mean over both classes of the share classified correctly; a score of zero counts half."""
    right = np.where(scores == 0, 0.5, (scores > 0) == labels)
    return float((right[labels].mean() + right[~labels].mean()) / 2)
