"""Every metric by hand, against a slow loop, and at chance; figures by video, their intervals and differences."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mmcc.metrics import (
    Interval,
    PerVideo,
    bootstrap,
    chance_by_permutation,
    edit_distance,
    kendall_tau,
    mid_ranks,
    paired_difference,
    percentile_rank,
    recall_at,
    recall_by_chance,
    retrieval_figures,
    share_above,
    spearman_rho,
)

# Few different scores, so that ties are common.
rows = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=2, max_size=7)
orders = st.integers(2, 6).flatmap(lambda n: st.permutations(range(n)))


def test_percentile_rank_by_hand() -> None:
    scores = [[0.1, 0.5, 0.9], [0.1, 0.5, 0.9], [0.1, 0.5, 0.9], [0.5, 0.5, 0.9]]
    assert percentile_rank(scores, [2, 1, 0, 0]).tolist() == [100, 50, 0, 25]


@given(st.integers(1, 5), st.integers(2, 9))
def test_a_constant_score_ranks_at_50(queries: int, candidates: int) -> None:
    assert (percentile_rank(np.full((queries, candidates), 0.3), np.zeros(queries, int)) == 50).all()


@given(rows, st.data())
def test_percentile_rank_equals_a_loop(row: list[tuple[int, bool]], data: st.DataObject) -> None:
    scores = [score for score, _ in row]
    target = data.draw(st.integers(0, len(scores) - 1))
    points = 0.0
    for at, score in enumerate(scores):
        if at != target:
            points += 1 if score < scores[target] else 0.5 if score == scores[target] else 0
    found = percentile_rank([scores, scores], [target, target])
    assert found == pytest.approx(100 * points / (len(scores) - 1))


@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), max_size=4))
def test_mid_ranks_are_scipys_and_ignore_a_shift(scores: list[list[int]]) -> None:
    values = np.array(scores, float).reshape(-1, 5)
    found = mid_ranks(values)
    assert found.tolist() == [(stats.rankdata(row) - 1).tolist() for row in values]
    assert mid_ranks(values + np.arange(len(values))[:, None]).tolist() == found.tolist()


@given(st.lists(st.integers(0, 3), max_size=5), st.lists(st.integers(0, 3), max_size=5))
def test_share_above_equals_a_loop(upper: list[int], lower: list[int]) -> None:
    points = [1.0 if a > b else 0.5 if a == b else 0.0 for a in upper for b in lower]
    assert share_above(upper, lower) == pytest.approx(np.mean(points) if points else math.nan, nan_ok=True)


def test_recall_by_hand() -> None:
    scores = [[4, 3, 2, 1], [4, 3, 2, 1], [4, 3, 3, 3], [4, 3, 3, 3]]
    positive = [[0, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0], [0, 1, 1, 0]]
    assert recall_at(scores, positive, 1).tolist() == [0, 0, 0, 0]
    assert recall_at(scores, positive, 2) == pytest.approx([1, 0, 1 / 3, 2 / 3])
    assert recall_at(scores, positive, 9).tolist() == [1, 1, 1, 1]
    assert recall_at([[1, 2]], [[False, False]], 2).tolist() == [0]


@given(rows, st.integers(1, 8))
def test_recall_is_the_mean_over_all_ways_to_break_ties(row: list[tuple[int, bool]], k: int) -> None:
    """A set of k is a possible best one when nothing outside it scores above anything inside."""
    everything = range(len(row))
    k_best = []
    for chosen in combinations(everything, min(k, len(row))):
        others = [row[at][0] for at in everything if at not in chosen]
        if not others or max(others) <= min(row[at][0] for at in chosen):
            k_best.append(any(row[at][1] for at in chosen))
    found = recall_at([[score for score, _ in row]], [[positive for _, positive in row]], k)
    assert found == pytest.approx([sum(k_best) / len(k_best)])


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 30))
def test_a_constant_score_recalls_by_chance(positive: list[bool], k: int) -> None:
    found = recall_at(np.zeros((1, len(positive))), [positive], k)
    assert found == pytest.approx(recall_by_chance([sum(positive)], len(positive), k))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 70))
def test_recall_by_chance_equals_the_formula(m: int, others: int, k: int) -> None:
    n = m + others
    exact = 1 - Fraction(comb(n - m, min(k, n)), comb(n, min(k, n)))
    assert recall_by_chance(m, n, k) == pytest.approx(float(exact), abs=1e-12)


def test_recall_by_chance_takes_arrays() -> None:
    assert recall_by_chance([0, 1, 3], 4, 2) == pytest.approx([0, 1 / 2, 1])
    assert recall_by_chance([[1], [2]], [4, 8], 1) == pytest.approx(np.array([[1 / 4, 1 / 8], [1 / 2, 1 / 4]]))


def tau_loop(order: list[int]) -> float:
    signs = [1 if later > earlier else -1 for earlier, later in combinations(order, 2)]
    return sum(signs) / len(signs)


def rho_loop(order: list[int]) -> float:
    """Pearson's correlation of place and true place."""
    return float(np.corrcoef(order, range(len(order)))[0, 1])


def edit_loop(order: list[int]) -> float:
    true = sorted(order)

    @cache
    def distance(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        substituted = distance(i - 1, j - 1) + (order[i - 1] != true[j - 1])
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, substituted)

    return distance(len(order), len(order))


LOOPS = [(kendall_tau, tau_loop), (spearman_rho, rho_loop), (edit_distance, edit_loop)]


@pytest.mark.parametrize(("metric", "loop"), LOOPS)
@given(order=orders)
def test_orders_equal_a_loop(metric: Callable, loop: Callable, order: list[int]) -> None:
    assert metric(order) == pytest.approx(loop(order))
    spread = [3 * place + 10 for place in order]
    assert metric([[order, order[::-1]], [spread, order]]) == pytest.approx(
        np.array([[loop(order), loop(order[::-1])], [loop(order), loop(order)]])
    )


@given(order=orders)
def test_orders_are_scipys(order: list[int]) -> None:
    places = range(len(order))
    assert kendall_tau(order) == pytest.approx(stats.kendalltau(order, places).statistic)
    assert spearman_rho(order) == pytest.approx(stats.spearmanr(order, places).statistic)


def test_orders_by_hand() -> None:
    true, turned, late = [0, 1, 2, 3], [3, 2, 1, 0], [1, 2, 3, 0]
    assert kendall_tau([true, turned, late]).tolist() == [1, -1, 0]
    assert kendall_tau(np.array(turned, np.uint8)) == -1
    assert spearman_rho([true, turned, late]) == pytest.approx([1, -1, -0.2])
    assert edit_distance([true, turned, late]).tolist() == [0, 4, 2]


@pytest.mark.parametrize(("metric", "loop"), LOOPS)
def test_chance_is_the_mean_over_permutations(metric: Callable, loop: Callable) -> None:
    every = [loop(list(order)) for order in permutations(range(5))]
    assert chance_by_permutation(metric, 5) == pytest.approx(sum(every) / len(every), abs=1e-12)


def test_chance_of_many_is_sampled_and_stays_the_same() -> None:
    assert chance_by_permutation(kendall_tau, 12, samples=4000) == pytest.approx(0, abs=0.02)
    found = chance_by_permutation(edit_distance, 10, samples=500)
    assert found == chance_by_permutation(edit_distance, 10, samples=500)
    assert found != chance_by_permutation(edit_distance, 10, samples=500, seed=1)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: percentile_rank([[0.5]], [0]), "two candidates"),
        (lambda: percentile_rank([0.5, 1], [0]), "queries by candidates"),
        (lambda: percentile_rank([[float("nan"), 1]], [0]), "contain NaN"),
        (lambda: recall_at([[1, 2]], [[True]], 1), "differ in shape"),
        (lambda: recall_at([[1, 2]], [[True, False]], 0), "k must be 1"),
        (lambda: recall_by_chance(3, 2, 1), "positives"),
        (lambda: kendall_tau([1]), "two elements"),
        (lambda: edit_distance([1, 1]), "each place once"),
    ],
)
def test_what_cannot_be_counted_is_refused(call: Callable, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        call()


def test_retrieval_by_hand() -> None:
    positives = np.array([[True, True, False, False, False]])
    constant = retrieval_figures(np.zeros((1, 5)), positives)
    assert {name: values.tolist() for name, values in constant.items()} == {
        **{"recall@1": [pytest.approx(40)], "recall@5": [100], "recall@10": [100]},
        **{"percentile_worst": [50], "percentile_mean": [50], "percentile_best": [50]},
    }
    perfect = retrieval_figures(np.array([[2.0, 1.0, 0.0, 0.0, 0.0]]), positives, ks=[1])
    assert {name: values.tolist() for name, values in perfect.items()} == {
        "recall@1": [100],
        **{"percentile_worst": [75], "percentile_mean": [87.5], "percentile_best": [100]},
    }


@given(st.integers(1, 4).flatmap(lambda q: st.lists(rows.filter(lambda row: any(p for _, p in row)), min_size=q)))
def test_retrieval_equals_a_loop(queries: list[list[tuple[int, bool]]]) -> None:
    for row in queries:  # of different numbers of candidates, so one at a time
        scores, positive = [score for score, _ in row], [hit for _, hit in row]
        found = retrieval_figures([scores], [positive])
        ranks = [
            100 * (sum(s < scores[at] for s in scores) + (scores.count(scores[at]) - 1) / 2) / (len(row) - 1)
            for at, hit in enumerate(positive)
            if hit
        ]
        for name, value in (("worst", min(ranks)), ("mean", sum(ranks) / len(ranks)), ("best", max(ranks))):
            assert found[f"percentile_{name}"][0] == pytest.approx(value)
        assert found["recall@5"][0] == pytest.approx(100 * recall_at([scores], [positive], 5)[0])


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


def test_few_videos_have_a_mean_and_no_interval():
    """One has none however few are asked for; those that count nothing are not videos to resample."""
    assert bootstrap([figure([6], [4])], least=1) == Interval(1.5, None, None, 1)
    nineteen, twenty = (PerVideo(drawn(0, 30).videos, np.ones(30), np.arange(30) < n) for n in (19, 20))
    assert bootstrap([nineteen])[1:] == (None, None, 19) and bootstrap([twenty])[1:] == (1.0, 1.0, 20)
    assert paired_difference([drawn(0, 19)], [drawn(1, 19)]).low is None
    assert not paired_difference([drawn(0, 19, 99.0)], [drawn(1, 19)]).excludes_zero
    assert paired_difference([drawn(0, 20, 99.0)], [drawn(1, 20)]).excludes_zero


def test_an_interval_as_text_and_as_json():
    whole, few = Interval(12.34, 11.9, -12.8, 40), Interval(12.34, None, None, 7)
    assert whole.text(1) == "12.3 [11.9, -12.8]" and whole.text(0, "+") == "+12 [+12, -13]"
    assert few.text(1) == "12.3 (7 videos)" and few._replace(over=1).text(2, "+", "set") == "+12.34 (1 set)"
    assert few.to_json() == {"mean": 12.34, "low": None, "high": None}


def test_two_videos_by_hand():
    """Of two draws from two videos a quarter are the first twice, a quarter the second twice, and half are both."""
    sample = [figure([0, 1])]
    assert bootstrap(sample, level=0.9, least=2) == Interval(0.5, 0, 1, 2)
    assert bootstrap(sample, level=0.4, least=2) == Interval(0.5, 0.5, 0.5, 2)


def test_counts_weigh_videos_in_every_resample():
    """With counts 1 and 3: 0/1, 3/3 or (0 + 3)/4."""
    sample = [figure([0, 3], [1, 3])]
    assert bootstrap(sample, level=0.9, least=2) == Interval(0.75, 0, 1, 2)
    assert bootstrap(sample, level=0.4, least=2) == Interval(0.75, 0.75, 0.75, 2)


def test_seeds_are_resampled_too():
    """Two seeds, each constant over its videos, that differ by 1: the seeds alone give 0, 0.5 or 1."""
    seeds = [figure([0, 0, 0]), figure([1, 1, 1])]
    assert bootstrap(seeds, level=0.9, least=3) == Interval(0.5, 0, 1, 3)
    assert bootstrap(seeds, level=0.4, least=3) == Interval(0.5, 0.5, 0.5, 3)


def test_all_seeds_of_a_resample_see_the_same_videos():
    """Three seeds with the same figures say no more about the videos than one does."""
    one = drawn(0, 40)
    alone, thrice = bootstrap([one]), bootstrap([one] * 3)
    assert thrice.high - thrice.low == pytest.approx(alone.high - alone.low, rel=0.1)


def test_a_video_that_counts_nothing_is_not_drawn():
    assert bootstrap([figure([1, 2, 0], [1, 1, 0])], least=2) == bootstrap([figure([1, 2])], least=2)


def test_the_order_of_videos_does_not_matter():
    one, other = figure([1, 2, 3]), figure([2, 2, 5])
    turned = PerVideo(other.videos[::-1], other.totals[::-1], other.counts[::-1])
    assert paired_difference([one], [turned], least=3) == paired_difference([one], [other], least=3)


def test_what_two_models_share_cancels():
    """Videos differ by 100, the models by 1 on each: apart their intervals overlap, paired the difference is exact."""
    hard = np.arange(10) * 100.0
    one, other = figure(hard + 1), figure(hard)
    assert paired_difference([one], [other], least=10) == Interval(1, 1, 1, 10)
    assert bootstrap([one], least=10).low < bootstrap([other], least=10).high


def test_seeds_are_paired():
    """Each seed is better by 1 on both videos."""
    one, other = [figure([1, 1]), figure([11, 11])], [figure([0, 0]), figure([10, 10])]
    assert paired_difference(one, other, least=2) == Interval(1, 1, 1, 2)


def test_a_model_without_seeds_is_compared_with_each_seed():
    difference = paired_difference([figure([1, 1]), figure([3, 3])], [figure([1, 1])], level=0.9, least=2)
    assert difference == Interval(1, 0, 2, 2)


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
    found = bootstrap(sample, resamples=50, seed=seed, least=2)
    assert min(totals) - 1e-9 <= found.low <= found.high <= max(totals) + 1e-9
    assert found == bootstrap(sample, resamples=50, seed=seed, least=2)


def test_an_interval_by_a_loop():
    """The definition, one resample at a time, on the same uniform numbers."""
    samples = [drawn(0, 5), drawn(1, 5)]
    draw = np.random.Generator(np.random.PCG64(7)).random((30, 2 + 5))
    resampled = []
    for row in draw:
        seeds, videos = (row[:2] * 2).astype(int), (row[2:] * 5).astype(int)
        per_seed = [samples[s].totals[videos].sum() / samples[s].counts[videos].sum() for s in seeds]
        resampled.append(np.mean(per_seed))
    found = bootstrap(samples, resamples=30, seed=7, level=0.8, least=2)
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
