"""Nothing tells time in a kitchen video but what the recipe did. The benchmark of the same name takes more videos."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.leaks import artefacts, coarse
from benchmarks.probes import best_accuracy


def test_probes_find_nothing_and_the_oracle_does():
    command = [sys.executable, "-m", "benchmarks.leaks", "--videos", "150", "--size", "48", "--fps", "1"]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok") == 6


@pytest.fixture
def chance():
    return np.random.default_rng(3)


def test_a_probe_finds_what_is_there(chance):
    labels, groups = chance.random(4000) < 0.5, np.arange(4000) // 20
    noise = chance.standard_normal((4000, 12))
    assert 45 < best_accuracy(noise, labels, groups) < 54
    leak = noise.copy()
    leak[:, 5] += 0.4 * labels  # a weak trace
    assert best_accuracy(leak, labels, groups) > 56


def test_a_probe_finds_what_is_not_linear(chance):
    labels, groups = chance.random(4000) < 0.5, np.arange(4000) // 20
    inputs = chance.standard_normal((4000, 3))
    inputs[:, 1] *= np.where(labels, 2.0, 0.5)
    assert best_accuracy(inputs, labels, groups) > 65


def test_a_probe_of_pairs_has_no_favourite_side(chance):
    """All labels alike: a probe with an offset would be right by it alone."""
    inputs, groups = chance.standard_normal((2000, 4)), np.arange(2000) // 20
    labels = np.arange(2000) % 10 > 0
    assert 40 < best_accuracy(inputs, labels, groups, odd=True) < 58


def test_a_coarse_view_is_the_mean_of_blocks():
    frame = np.zeros((1, 4, 4, 3), np.uint8)
    frame[0, :2, 2:] = [8, 16, 24]
    frame[0, 0, 0] = 4
    assert coarse(frame, side=2).tolist() == [[1, 1, 1, 8, 16, 24, 0, 0, 0, 0, 0, 0]]


def test_artefacts_see_blocks_and_brightness():
    flat = np.full((2, 16, 16, 3), 100, np.uint8)
    blocky = flat.copy()
    blocky[1, :, 8:] = 120
    at_border, everywhere, _, brightness, _, change, still, parity = artefacts(blocky)[1]
    assert (at_border, brightness, change, still, parity) == (10, 110, 10, 10, 1)
    assert everywhere == pytest.approx(20 / 15 / 2)
    assert not artefacts(flat)[:, [0, 1, 5, 6]].any()
