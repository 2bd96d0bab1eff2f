"""Orders: against every permutation, by hand, and local search against the exact solution."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mmcc.evaluation.local_search import search_order, search_path
from mmcc.evaluation.ordering import EXACT_UP_TO, best_order, best_orders, cheapest_path, cheapest_paths


def matrices(sizes=(1, 7)):
    """Whole numbers, few of them different, so that ties are common and sums exact."""
    return st.integers(*sizes).flatmap(lambda n: arrays.arrays(np.int64, (n, n), elements=st.integers(-3, 9)))


def path_cost(cost, order):
    return sum(cost[i][j] for i, j in pairwise(order))


def pairs_worth(margin, order):
    return sum(margin[order[i]][order[j]] for i in range(len(order)) for j in range(i + 1, len(order)))


@given(matrices())
def test_the_cheapest_path_is_the_cheapest_of_all_permutations(cost):
    found = cheapest_path(cost)
    assert sorted(found.order) == list(range(len(cost)))
    assert found.total == path_cost(cost, found.order)
    assert found.total == min(path_cost(cost, order) for order in permutations(range(len(cost))))


@given(matrices())
def test_the_best_order_is_the_best_of_all_permutations(margin):
    found = best_order(margin)
    assert sorted(found.order) == list(range(len(margin)))
    assert found.total == pairs_worth(margin, found.order)
    assert found.total == max(pairs_worth(margin, order) for order in permutations(range(len(margin))))


def test_a_path_by_hand():
    """1 → 2 → 0 costs 2; every other path has a 9 in it."""
    cost = [[0, 9, 9], [9, 0, 1], [1, 9, 0]]
    assert cheapest_path(cost).order.tolist() == [1, 2, 0] and cheapest_path(cost).total == 2


def test_all_pairs_by_hand():
    """0 before 1 and 1 before 2, but 2 before 0 by more: the pair that says the least is put the wrong way."""
    margin = np.array([[0, 2, -5], [-2, 0, 1], [5, -1, 0]])
    assert best_order(margin).order.tolist() == [2, 0, 1] and best_order(margin).total == 5 - 1 + 2


def test_what_stands_on_the_diagonal_does_not_matter():
    cost = np.arange(16.0).reshape(4, 4) % 7
    with_infinity = cost + np.diag(np.full(4, np.inf))
    assert cheapest_path(cost).order.tolist() == cheapest_path(with_infinity).order.tolist()
    assert best_order(cost).total == best_order(with_infinity).total


@given(matrices((3, 6)), st.randoms())
def test_a_path_does_not_depend_on_how_things_are_numbered_but_for_ties(cost, chance):
    order = list(range(len(cost)))
    chance.shuffle(order)
    renumbered = cost[np.ix_(order, order)]
    assert cheapest_path(renumbered).total == cheapest_path(cost).total
    assert best_order(renumbered).total == best_order(cost).total


@pytest.mark.parametrize("solve, solve_all", [(cheapest_path, cheapest_paths), (best_order, best_orders)])
def test_many_bags_at_once_are_as_one_by_one(solve, solve_all):
    sets = np.random.default_rng(0).random((40, 12, 12))  # more than fit in one table
    found = solve_all(sets)
    for set_, order, total in zip(sets, found.orders, found.totals, strict=True):
        alone = solve(set_)
        assert alone.order.tolist() == order.tolist() and alone.total == pytest.approx(total)


@settings(max_examples=20)
@given(matrices((3, 7)))
def test_the_search_for_a_path_finds_what_is_exact(cost):
    cost = cost + 4  # above 0, as a -log P is
    np.fill_diagonal(cost, 0)
    order = search_path(cost.astype(float), kicks=50)
    assert sorted(order) == list(range(len(cost)))
    assert path_cost(cost, order) == cheapest_path(cost).total


@settings(max_examples=20)
@given(matrices((2, 7)))
def test_the_search_by_pairs_finds_what_is_exact(margin):
    order = search_order(margin.astype(float), kicks=50)
    assert sorted(order) == list(range(len(margin)))
    assert pairs_worth(margin, order) == best_order(margin).total


def random_costs(n, seed):
    """-log P of Eq. 12 with random predictions: no order stands out, which is the hardest."""
    chance = np.random.default_rng(seed)
    pi, future, past = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in chance.normal(size=(3, n, 16)))
    return -sum(_log_softmax(each @ pi.T / 0.1, turned) for each, turned in ((future, False), (past, True)))


def _log_softmax(scores, turned):
    np.fill_diagonal(scores, -np.inf)
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.fill_diagonal(logs, 0)
    return logs.T if turned else logs


def test_local_search_equals_the_exact_solution_where_there_is_one():
    for seed in range(12):
        cost = random_costs(8 + seed % 5, seed)
        assert path_cost(cost, search_path(cost, kicks=20)) == pytest.approx(cheapest_path(cost).total)
        margin = cost.T - cost
        assert pairs_worth(margin, search_order(margin, kicks=20)) == pytest.approx(best_order(margin).total)


def test_beyond_exact_sizes_an_order_that_stands_out_is_found():
    n = 2 * EXACT_UP_TO
    hidden = np.random.default_rng(0).permutation(n)
    place = np.argsort(hidden)
    cost = 1.0 + (place[None, :] - place[:, None] != 1)
    assert cheapest_path(cost).order.tolist() == hidden.tolist() and cheapest_path(cost).total == n - 1
    margin = np.sign(place[None, :] - place[:, None])
    assert best_order(margin).order.tolist() == hidden.tolist()


def test_a_search_begins_with_the_same_chance_every_time():
    cost = random_costs(40, 0)
    assert search_path(cost).tolist() == search_path(cost).tolist()
    assert search_order(cost).tolist() == search_order(cost).tolist()


def test_what_is_no_matrix_of_numbers_is_told():
    with pytest.raises(ValueError, match="square"):
        cheapest_path(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="square"):
        best_order(np.zeros((0, 0)))
    with pytest.raises(ValueError, match="finite"):
        cheapest_path([[0, np.nan], [1, 0]])
