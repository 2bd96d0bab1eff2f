import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.training.config import TrainConfig
from mmcc.training.schedule import Schedule


def schedule(videos=100, **settings):
    given_steps = {"epochs": None} if "steps" in settings else {}
    given_ramp = {"ramp_epochs": None} if "ramp_share" in settings else {}
    return Schedule(TrainConfig(**given_steps, **given_ramp, **settings), videos)


def test_epochs_are_counted_in_segments():
    assert schedule(videos=100, epochs=3.0, batch_size=32).steps == 10  # 9.375, and the last part of it too
    assert schedule(steps=7).steps == 7


def test_the_ramp_by_hand():
    ramp = schedule(steps=100, ramp_share=0.5, lambda1=1.0, lambda1_start=0.01)
    assert ramp.weights(0).cycle == pytest.approx(0.01)
    assert ramp.weights(25).cycle == pytest.approx(0.1)  # half of the way is the geometric mean
    assert ramp.weights(50).cycle == 1.0 and ramp.weights(99).cycle == 1.0


def test_the_papers_ramp_lasts_thirty_epochs():
    ramp = schedule(videos=64, epochs=100.0, batch_size=32, lambda1=2.0, lambda1_start=0.02)
    assert ramp.weights(59).cycle < 2 == ramp.weights(60).cycle
    assert ramp.weights(30).cycle == pytest.approx(0.2)


def test_the_other_weights_hang_on_the_first():
    weights = schedule(steps=100, ramp_share=0.5, similarity_ratio=3, direction_ratio=4, lambda2=0.7).weights(10)
    assert weights.cross_modal == 0.7
    assert weights.similarity == pytest.approx(3 * weights.cycle)
    assert weights.direction == pytest.approx(4 * weights.cycle)


def test_the_cycle_alone_can_be_left_out():
    weights = schedule(steps=100, ramp_share=0.0, cycle_ratio=0.0, direction_ratio=4.0).weights(10)
    assert (weights.cycle, weights.similarity, weights.direction) == (0.0, 3.0, 4.0)


def test_without_a_ramp_or_without_a_cycle():
    assert schedule(steps=10, ramp_share=0.0).weights(0).cycle == 1.0
    assert schedule(steps=10, ramp_share=1.0, lambda1=0.0).weights(5).cycle == 0.0


def test_learning_rates_by_hand():
    assert {schedule(steps=10, lr=0.5).lr(step) for step in range(10)} == {0.5}
    warm = schedule(steps=100, lr=0.4, warmup_steps=3)
    assert [warm.lr(step) for step in range(5)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4])
    cosine = schedule(steps=10, lr=2.0, lr_schedule="cosine")
    assert cosine.lr(0) == 2.0 and cosine.lr(5) == pytest.approx(1.0)
    assert cosine.lr(9) == pytest.approx(1 + math.cos(0.9 * math.pi))


@given(st.integers(1, 500), st.floats(0.01, 1), st.floats(0.05, 3), st.integers(0, 20))
def test_weights_grow_and_rates_stay_within_bounds(steps, share, final, warmup):
    plan = schedule(
        steps=steps, ramp_share=share, lambda1=final, lambda1_start=0.01, warmup_steps=warmup, lr_schedule="cosine"
    )
    weights = [plan.weights(step).cycle for step in range(steps)]
    assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(weights))
    assert all(0.01 <= weight <= final * (1 + 1e-12) for weight in weights)
    assert all(0 < plan.lr(step) <= plan.config.lr for step in range(steps))
