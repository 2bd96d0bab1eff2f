"""How sure an order is: against every permutation, by hand, and the sample against what is exact."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mmcc.evaluation import set_order as bag_order
from mmcc.evaluation.ordering import EXACT_UP_TO
from mmcc.evaluation.set_order import confidence_by_chance, fit_sharpness, order_set


def matrices(sizes=(2, 6)):
    elements = st.floats(-6, 0, allow_subnormal=False)
    return st.integers(*sizes).flatmap(lambda n: arrays.arrays(np.float64, (n, n), elements=elements))


ways = st.sampled_from(["pairs", "path"])


def log_weight(log_P, order, by, sharpness=1.0):
    """The definitions, one factor at a time."""
    n = len(order)
    if by == "path":
        return sharpness * sum(log_P[u, v] for u, v in pairwise(order))
    pairs = [(order[i], order[j]) for i in range(n) for j in range(i + 1, n)]
    return sharpness * 2 / n * sum(log_P[u, v] for u, v in pairs)


def every_order(log_P, by, sharpness=1.0):
    """Each order with its probability."""
    orders = list(permutations(range(len(log_P))))
    weights = np.exp([log_weight(log_P, order, by, sharpness) for order in orders])
    return list(zip(orders, weights / weights.sum(), strict=True))


@settings(max_examples=60)
@given(matrices(), ways, st.sampled_from([0.3, 1.0, 2.0]))
def test_probabilities_are_those_of_every_order_counted(log_P, by, sharpness):
    found, every = order_set(log_P, by, sharpness), every_order(log_P, by, sharpness)
    n = len(log_P)
    before, places = np.zeros((n, n)), np.zeros((n, n))
    for order, probability in every:
        for place, thing in enumerate(order):
            places[thing, place] += probability
            for later in order[place + 1 :]:
                before[thing, later] += probability
    assert found.exact
    assert found.before_nn == pytest.approx(before, abs=1e-9)
    assert found.places_nn == pytest.approx(places, abs=1e-9)
    assert found.probability == pytest.approx(max(probability for _, probability in every))
    assert found.probability == pytest.approx(dict(every)[tuple(found.order.tolist())])
    pairs = [before[found.order[i], found.order[j]] for i in range(n) for j in range(i + 1, n)]
    assert found.confidence == pytest.approx(np.mean(pairs))
    assert found.links.tolist() == pytest.approx([before[u, v] for u, v in pairwise(found.order)])


@settings(max_examples=60)
@given(matrices(), ways)
def test_the_runner_up_is_the_second_best_of_all(log_P, by):
    found, every = order_set(log_P, by, sharpness=1), dict(every_order(log_P, by))
    best, second = sorted(every.values())[-1], sorted(every.values())[-2]
    assert sorted(found.runner_up) == list(range(len(log_P)))
    assert found.runner_up.tolist() != found.order.tolist()
    assert every[tuple(found.runner_up.tolist())] == pytest.approx(second)
    assert found.runner_up_ratio == pytest.approx(second / best)


@pytest.mark.parametrize("by", ["pairs", "path"])
def test_two_things_by_hand(by):
    """P(0 → 1) is three times P(1 → 0), and 2/n is 1: three to one."""
    found = order_set(np.log([[1, 0.6], [0.2, 1]]), by, sharpness=1)
    assert found.order.tolist() == [0, 1] and found.runner_up.tolist() == [1, 0]
    assert found.probability == pytest.approx(0.75) and found.runner_up_ratio == pytest.approx(1 / 3)
    assert found.confidence == pytest.approx(0.75) and found.links.tolist() == pytest.approx([0.75])
    assert found.places_nn.tolist() == [pytest.approx([0.75, 0.25]), pytest.approx([0.25, 0.75])]


def test_three_things_in_a_path_by_hand():
    """Only 0 → 1 → 2 (weight 4) and 2 → 0 → 1 (weight 2) and 1 → 2 → 0 (weight 2) are more than 1."""
    P = np.ones((3, 3))
    P[0, 1], P[1, 2], P[2, 0] = 2, 2, 1
    found = order_set(np.log(P), "path", sharpness=1)
    total = 4 + 2 + 2 + 3 * 1
    assert found.order.tolist() == [0, 1, 2] and found.probability == pytest.approx(4 / total)
    assert found.before_nn[0, 1] == pytest.approx((4 + 2 + 1) / total)  # 012, 201, 021
    assert found.runner_up_ratio == pytest.approx(0.5)


@pytest.mark.parametrize("by", ["pairs", "path"])
@pytest.mark.parametrize("n", [2, 5, EXACT_UP_TO + 3])
def test_a_bag_that_says_nothing_gives_chance(by, n):
    found = order_set(np.full((n, n), -3.0), by)
    assert found.confidence == pytest.approx(0.5, abs=0.05)
    assert found.runner_up_ratio == 1
    if found.exact:
        assert found.probability == pytest.approx(1 / math.factorial(n))
        assert found.places_nn == pytest.approx(np.full((n, n), 1 / n))


@pytest.mark.parametrize("by", ["pairs", "path"])
def test_an_order_that_stands_out_is_sure(by):
    for n in (6, EXACT_UP_TO + 5):
        hidden = np.random.default_rng(n).permutation(n)
        place = np.argsort(hidden)
        ahead = place - place[:, None]
        log_P = np.where(ahead == 1, 0.0, -30.0) if by == "path" else np.where(ahead > 0, 0.0, -30.0 * n)
        found = order_set(log_P, by, sharpness=1)
        assert found.order.tolist() == hidden.tolist()
        assert found.confidence > 0.999 and found.runner_up_ratio < 1e-6
        assert found.exact == (n <= EXACT_UP_TO) and (found.probability is None) == (n > EXACT_UP_TO)


@pytest.mark.parametrize("by", ["pairs", "path"])
def test_the_largest_exact_bag_adds_up(by):
    log_P = -np.random.default_rng(0).exponential(2, (EXACT_UP_TO, EXACT_UP_TO))
    found = order_set(log_P, by)
    pairs = found.before_nn + found.before_nn.T + np.eye(EXACT_UP_TO)
    assert pairs == pytest.approx(np.ones_like(pairs)) and np.diag(found.before_nn).tolist() == [0] * EXACT_UP_TO
    assert found.places_nn.sum(axis=0) == pytest.approx(np.ones(EXACT_UP_TO))
    assert found.places_nn.sum(axis=1) == pytest.approx(np.ones(EXACT_UP_TO))
    assert 0 < found.runner_up_ratio <= 1


@pytest.mark.parametrize("by", ["pairs", "path"])
def test_the_sample_is_near_what_is_exact(by, monkeypatch):
    log_P = -np.random.default_rng(1).exponential(1, (7, 7))
    exact = order_set(log_P, by, sharpness=1)
    monkeypatch.setattr(bag_order, "EXACT_UP_TO", 6)
    sampled = order_set(log_P, by, sharpness=1)
    assert not sampled.exact
    assert np.abs(sampled.before_nn - exact.before_nn).max() < 0.12  # 270 sweeps: a standard error of 0.03 or more
    assert abs(sampled.confidence - exact.confidence) < 0.05


@settings(max_examples=30)
@given(matrices((3, 6)), ways)
def test_the_runner_up_beyond_exact_sizes_is_the_best_of_those_with_one_thing_moved(log_P, by):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bag_order, "EXACT_UP_TO", 2)
        patch.setattr(bag_order, "_SWEEPS", 0)
        found = order_set(log_P, by)
    order = found.order.tolist()
    neighbours = set()
    for thing in order:
        rest = [other for other in order if other != thing]
        neighbours |= {(*rest[:place], thing, *rest[place:]) for place in range(len(order))}
    neighbours.discard(tuple(order))
    best = max(log_weight(log_P, neighbour, by) for neighbour in neighbours)
    assert tuple(found.runner_up.tolist()) in neighbours
    assert log_weight(log_P, found.runner_up, by) == pytest.approx(best)


def test_a_sample_is_the_same_every_time():
    log_P = -np.random.default_rng(2).exponential(1, (18, 18))
    assert order_set(log_P).before_nn.tolist() == order_set(log_P).before_nn.tolist()


def test_one_thing_has_no_order():
    with pytest.raises(ValueError, match="two items"):
        order_set([[0.0]])


@pytest.mark.slow
def test_confidence_by_chance_is_that_of_scores_without_direction():
    random = np.random.default_rng(0)
    clear = np.array([[3.0 * (v > u) for v in range(6)] for u in range(6)])  # each leads to all after it
    assert order_set(clear).confidence > confidence_by_chance(clear) + 0.03 > 0.55
    none = [random.normal(size=(5, 5)) for _ in range(30)]
    above = [order_set(each).confidence > confidence_by_chance(each) for each in none]
    assert 0.2 < np.mean(above) < 0.8  # as often as not
    assert confidence_by_chance(np.zeros((5, 5))) == pytest.approx(0.5)


def test_confidence_by_chance_is_not_told_of_two_or_of_many():
    assert confidence_by_chance(np.eye(2)) == confidence_by_chance(np.eye(9)) == 0.5


@pytest.mark.slow
def test_the_sharpness_that_fits_is_found():
    """Scores of known noise: the fitted exponent is the one at which probabilities are right."""
    rng = np.random.default_rng(0)
    sets = []
    for _ in range(60):
        late = np.arange(3) + 0.0
        noisy = 0.7 * (late[None] - late[:, None]) + rng.normal(size=(3, 3))
        sets.append(np.triu(noisy, 1) - np.triu(noisy, 1).T)
    found = fit_sharpness(sets)

    def loss(sharpness):
        before = np.concatenate([order_set(each, "pairs", sharpness).before_nn[np.triu_indices(3, 1)] for each in sets])
        return -np.log(before.clip(1e-9)).mean()

    assert loss(found) <= min(loss(found * 1.2), loss(found / 1.2)) and 0.05 < found < 19
    assert fit_sharpness([3 * each for each in sets]) == pytest.approx(found / 3, rel=0.11), "scores of another scale"
