"""A probe finds nothing in noise, and finds weak and nonlinear traces of a label."""

import numpy as np
import pytest

from benchmarks.validity.probes import best_accuracy


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_a_probe_finds_a_weak_trace(rng):
    labels, groups = rng.random(4000) < 0.5, np.arange(4000) // 20
    noise = rng.standard_normal((4000, 12))
    assert 45 < best_accuracy(noise, labels, groups) < 54
    leak = noise.copy()
    leak[:, 5] += 0.4 * labels
    assert best_accuracy(leak, labels, groups) > 56


def test_a_probe_finds_a_nonlinear_trace(rng):
    labels, groups = rng.random(4000) < 0.5, np.arange(4000) // 20
    inputs = rng.standard_normal((4000, 3))
    inputs[:, 1] *= np.where(labels, 2.0, 0.5)
    assert best_accuracy(inputs, labels, groups) > 65
