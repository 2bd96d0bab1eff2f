"""Random streams that are the same everywhere."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.kitchen.rng import Rng


def test_the_stream_of_a_name_is_frozen():
    rng = Rng("kitchen", 1)
    assert [rng.integer(0, 99) for _ in range(6)] == [59, 4, 57, 35, 32, 90]
    assert rng.name == "kitchen/1"


def test_streams_do_not_touch_each_other():
    alone = [Rng("a").uniform() for _ in range(2)]
    rng = Rng("a")
    child = rng.child("b")
    child.uniform()
    assert rng.uniform() == alone[0] == alone[1]
    assert child.name == "a/b"


@given(st.text(max_size=5), st.integers(-5, 5), st.integers(0, 5))
def test_integers_lie_within_both_ends(name, low, more):
    rng = Rng(name)
    assert {rng.integer(low, low + more) for _ in range(50)} <= set(range(low, low + more + 1))


@given(st.lists(st.integers(), max_size=8), st.integers())
def test_shuffling_keeps_every_item(items, seed):
    rng = Rng(seed)
    assert sorted(rng.shuffled(items)) == sorted(items)
    assert len(rng.sample(items, 3)) == min(3, len(items))


def test_weights_are_frequencies():
    rng = Rng("weights")
    drawn = [rng.weighted({"a": 3.0, "b": 1.0, "never": 0.0}) for _ in range(4000)]
    assert drawn.count("a") / len(drawn) == pytest.approx(0.75, abs=0.03)
    assert "never" not in drawn


def test_normal_and_lognormal_have_their_moments():
    rng = Rng("moments")
    normal = [rng.normal(5, 2) for _ in range(4000)]
    assert statistics.fmean(normal) == pytest.approx(5, abs=0.15)
    assert statistics.stdev(normal) == pytest.approx(2, abs=0.1)
    assert statistics.median(rng.lognormal(4, 0.5) for _ in range(4000)) == pytest.approx(4, rel=0.05)
