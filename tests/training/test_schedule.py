"""What a step is given: the learning rate, and how far training is."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.training.config import TrainConfig
from mmcc.training.schedule import Schedule


def schedule(videos=100, **settings):
    given_steps = {"epochs": None} if "steps" in settings else {}
    return Schedule(TrainConfig(**given_steps, **settings), videos)


def test_epochs_are_counted_in_segments():
    assert schedule(videos=100, epochs=3.0, batch_size=32).steps == 10  # 9.375, and the last part of it too
    assert schedule(steps=7).steps == 7


def test_losses_are_given_the_step_of_all_steps_and_of_an_epoch():
    assert schedule(videos=64, steps=50, batch_size=32).time(7) == (7, 50, 2.0)


def test_learning_rates_by_hand():
    assert {schedule(steps=10, lr=0.5).lr(step) for step in range(10)} == {0.5}
    warm = schedule(steps=100, lr=0.4, warmup_steps=3)
    assert [warm.lr(step) for step in range(5)] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4])
    cosine = schedule(steps=10, lr=2.0, lr_schedule="cosine")
    assert cosine.lr(0) == 2.0 and cosine.lr(5) == pytest.approx(1.0)
    assert cosine.lr(9) == pytest.approx(1 + math.cos(0.9 * math.pi))


@given(st.integers(1, 500), st.integers(0, 20))
def test_rates_stay_within_bounds(steps, warmup):
    plan = schedule(steps=steps, warmup_steps=warmup, lr_schedule="cosine")
    assert all(0 < plan.lr(step) <= plan.config.lr for step in range(steps))
