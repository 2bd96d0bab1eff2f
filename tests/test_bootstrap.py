"""Figures by video, their intervals, and differences of two models on the same videos."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.metrics import Interval, PerVideo, bootstrap, paired_difference


def figure(totals, counts=None, names="abcdefghij"):
    counts = np.ones(len(totals)) if counts is None else np.array(counts, float)
    return PerVideo(tuple(names[: len(totals)]), np.array(totals, float), counts)


def drawn(seed, videos, level=0.0, spread=1.0):
    values = np.random.default_rng(seed).normal(level, spread, videos)
    return PerVideo(tuple(map(str, range(videos))), values, np.ones(videos))


def test_the_mean_is_over_what_was_counted_not_over_videos():
    assert figure([3, 0, 1], [4, 0, 1]).mean == 4 / 5
    assert math.isnan(figure([0, 0], [0, 0]).mean)


def test_values_are_gathered_by_their_video():
    found = PerVideo.of([1.0, 5.0, 2.0], [2, 0, 2], ["a", "b", "c"])
    assert (found.totals.tolist(), found.counts.tolist()) == ([5, 0, 3], [1, 0, 2])
    assert PerVideo.of([], [], ["a"]).counts.tolist() == [0]


def test_json_holds_all_of_it():
    before = figure([0.1, 2 / 3], [3, 0])
    after = PerVideo.from_json(json.loads(json.dumps(before.to_json())))
    assert after.videos == before.videos
    assert after.totals.tolist() == before.totals.tolist() and after.counts.tolist() == before.counts.tolist()


@pytest.mark.parametrize("videos", [("a",), ("a", "a"), ("a", "b", "c")])
def test_each_video_has_one_total_and_one_count(videos):
    with pytest.raises(ValueError, match="each video once"):
        PerVideo(videos, np.zeros(2), np.zeros(2))


def test_one_video_and_one_seed_leave_nothing_to_resample():
    assert bootstrap([figure([6], [4])]) == Interval(1.5, 1.5, 1.5)


def test_two_videos_by_hand():
    """Of two draws from two videos a quarter are the first twice, a quarter the second twice, and half are both."""
    sample = [figure([0, 1])]
    assert bootstrap(sample, level=0.9) == Interval(0.5, 0, 1)
    assert bootstrap(sample, level=0.4) == Interval(0.5, 0.5, 0.5)


def test_counts_weigh_videos_in_every_resample():
    """With counts 1 and 3: 0/1, 3/3 or (0 + 3)/4."""
    sample = [figure([0, 3], [1, 3])]
    assert bootstrap(sample, level=0.9) == Interval(0.75, 0, 1)
    assert bootstrap(sample, level=0.4) == Interval(0.75, 0.75, 0.75)


def test_seeds_are_resampled_too():
    """Two seeds, each constant over its videos, that differ by 1: the seeds alone give 0, 0.5 or 1."""
    seeds = [figure([0, 0, 0]), figure([1, 1, 1])]
    assert bootstrap(seeds, level=0.9) == Interval(0.5, 0, 1)
    assert bootstrap(seeds, level=0.4) == Interval(0.5, 0.5, 0.5)


def test_all_seeds_of_a_resample_see_the_same_videos():
    """Three seeds with the same figures say no more about the videos than one does."""
    one = drawn(0, 40)
    alone, thrice = bootstrap([one]), bootstrap([one] * 3)
    assert thrice.high - thrice.low == pytest.approx(alone.high - alone.low, rel=0.1)


def test_a_video_that_counts_nothing_is_not_drawn():
    assert bootstrap([figure([1, 2, 0], [1, 1, 0])]) == bootstrap([figure([1, 2])])


def test_the_order_of_videos_does_not_matter():
    one, other = figure([1, 2, 3]), figure([2, 2, 5])
    turned = PerVideo(other.videos[::-1], other.totals[::-1], other.counts[::-1])
    assert paired_difference([one], [turned]) == paired_difference([one], [other])


def test_what_two_models_share_cancels():
    """Videos differ by 100, the models by 1 on each: apart their intervals overlap, paired the difference is exact."""
    hard = np.arange(10) * 100.0
    one, other = figure(hard + 1), figure(hard)
    assert paired_difference([one], [other]) == Interval(1, 1, 1)
    assert bootstrap([one]).low < bootstrap([other]).high


def test_seeds_are_paired():
    """Each seed is better by 1 on both videos."""
    one, other = [figure([1, 1]), figure([11, 11])], [figure([0, 0]), figure([10, 10])]
    assert paired_difference(one, other) == Interval(1, 1, 1)


def test_a_model_without_seeds_is_compared_with_each_seed():
    difference = paired_difference([figure([1, 1]), figure([3, 3])], [figure([1, 1])], level=0.9)
    assert difference == Interval(1, 0, 2)


def test_a_difference_is_that_of_the_means():
    one, other = [drawn(seed, 30, 0.5) for seed in range(3)], [drawn(seed + 3, 30) for seed in range(3)]
    means = [np.mean([sample.mean for sample in side]) for side in (one, other)]
    assert paired_difference(one, other).mean == pytest.approx(means[0] - means[1])
    swapped = paired_difference(other, one)
    found = paired_difference(one, other)
    assert (swapped.mean, swapped.low, swapped.high) == pytest.approx((-found.mean, -found.high, -found.low))


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=8), st.integers(0, 5))
def test_an_interval_lies_within_the_observed_range_and_is_reproducible(totals, seed):
    sample = [figure(totals)]
    found = bootstrap(sample, resamples=50, seed=seed)
    assert min(totals) - 1e-9 <= found.low <= found.high <= max(totals) + 1e-9
    assert found == bootstrap(sample, resamples=50, seed=seed)


def test_an_interval_by_a_loop():
    """The definition, one resample at a time, on the same uniform numbers."""
    samples = [drawn(0, 5), drawn(1, 5)]
    draw = np.random.Generator(np.random.PCG64(7)).random((30, 2 + 5))
    resampled = []
    for row in draw:
        seeds, videos = (row[:2] * 2).astype(int), (row[2:] * 5).astype(int)
        per_seed = [samples[s].totals[videos].sum() / samples[s].counts[videos].sum() for s in seeds]
        resampled.append(np.mean(per_seed))
    found = bootstrap(samples, resamples=30, seed=7, level=0.8)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(resampled, (0.1, 0.9))))


def test_nine_of_ten_intervals_hold_the_truth():
    """Of 200 samples of 40 videos around 0, about 90 % of the 90 % intervals hold it, and nearly all of 99 %."""
    samples = [[drawn(seed, 40)] for seed in range(200)]
    held = {
        level: np.mean([found.low <= 0 <= found.high for each in samples if (found := bootstrap(each, level=level))])
        for level in (0.9, 0.99)
    }
    assert 0.84 <= held[0.9] <= 0.95
    assert held[0.99] >= 0.96


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="different videos"):
        paired_difference([figure([1, 2])], [figure([1, 2], names="xy")])
    with pytest.raises(ValueError, match="the same number of training seeds"):
        paired_difference([figure([1])] * 3, [figure([1])] * 2)
    with pytest.raises(ValueError, match="no video has anything to count"):
        bootstrap([figure([0, 0], [0, 0])])
    with pytest.raises(ValueError, match="level"):
        bootstrap([figure([1])], level=95)
    with pytest.raises(ValueError, match="no sample"):
        bootstrap([])
