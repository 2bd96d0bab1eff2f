"""Random numbers that belong to a sample."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.objectives.rng import SampleRng

SAMPLES = torch.arange(1000, 5000)
PINNED = [0.386391818523407, 0.813102662563324, 0.8982345461845398]


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=6, unique=True), st.integers(0, 2**31), st.integers(1, 5))
def test_a_sample_draws_the_same_in_any_batch(samples, seed, size):
    together = SampleRng(seed, torch.tensor(samples)).uniform("coin", size)
    for row, sample in zip(together, samples, strict=True):
        assert torch.equal(SampleRng(seed, torch.tensor([sample])).uniform("coin", size)[0], row)


def test_a_place_draws_the_same_however_far_the_batch_is_padded():
    rng = SampleRng(1, SAMPLES[:3])
    assert torch.equal(rng.gumbel("start", 9, 12)[:, :4, :7], rng.gumbel("start", 4, 7))


def test_name_seed_and_step_all_count():
    streams = [
        SampleRng(seed, SAMPLES, step).uniform(name, 2)
        for seed, step, name in ((0, 0, "a"), (1, 0, "a"), (0, 1, "a"), (0, 0, "b"))
    ]
    rows = torch.stack(streams).flatten(1)
    assert torch.corrcoef(rows).fill_diagonal_(0).abs().max() < 0.05  # 8,000 pairs: 4.5 standard errors
    assert all(torch.equal(SampleRng(0, SAMPLES).uniform("a", 2), streams[0]) for _ in range(2))


def test_uniform_numbers_are_uniform_and_independent():
    numbers = SampleRng(3, SAMPLES).uniform("coin", 16)
    assert numbers.min() > 0 and numbers.max() < 1
    counts = torch.histc(numbers, 20, 0, 1)
    expected = numbers.numel() / 20
    assert ((counts - expected) ** 2 / expected).sum() < 50  # chi-square with 19 degrees: p = 1e-4
    for one, other in ((numbers[:-1], numbers[1:]), (numbers[:, :-1], numbers[:, 1:])):  # samples, places
        assert torch.corrcoef(torch.stack([one.flatten(), other.flatten()]))[0, 1].abs() < 0.02


def test_the_largest_gumbel_is_a_draw_from_the_softmax():
    p = torch.tensor([0.6, 0.3, 0.1])
    drawn = (p.log() + SampleRng(0, SAMPLES).gumbel("start", 3)).argmax(-1)
    assert (torch.bincount(drawn) / len(SAMPLES)).tolist() == pytest.approx(p.tolist(), abs=0.03)


def test_the_stream_is_pinned():
    """A resumed or repeated run draws the same numbers; changing the hash changes every published run."""
    numbers = SampleRng(0, torch.tensor([0, 1, 2**40])).uniform("start/vision", 1).flatten()
    assert numbers.tolist() == PINNED
