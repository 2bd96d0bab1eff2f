"""Which videos a kitchen consists of, and their course."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.kitchen.plan import KitchenSettings, plan, recipes_of, script_of, timeline_of
from mmcc.kitchen.recipes import PRIMARY, RELATED
from mmcc.kitchen.shots import WORK


def test_the_default_kitchen():
    planned = plan(KitchenSettings())
    assert len(planned) == len({each.id for each in planned}) == 1200
    splits = Counter((each.recipe.primary, each.split) for each in planned)
    assert splits == {(True, "train"): 969, (True, "validation"): 171, (False, "validation"): 60}
    of_task = Counter(each.recipe.id for each in planned)
    assert {of_task[recipe.id] for recipe in PRIMARY} == {63, 64}
    assert {of_task[recipe.id] for recipe in RELATED} == {10}
    for recipe in PRIMARY:
        held_out = sum(each.recipe == recipe and each.split == "validation" for each in planned)
        assert held_out in (9, 10)


@given(st.integers(1, 60), st.integers(1, 18), st.integers(0, 3))
def test_any_settings_give_as_many_videos_of_seen_steps(videos, tasks, seed):
    chosen = KitchenSettings(videos=videos, tasks=tasks, seed=seed)
    planned = plan(chosen)
    assert len(planned) == videos
    assert {each.recipe for each in planned} <= set(recipes_of(chosen))
    seen = {step.text for recipe in PRIMARY[:tasks] for step in recipe.steps}
    assert all(step.text in seen for each in planned for step in each.recipe.steps)


@pytest.mark.parametrize(("videos", "held_out"), [(1, 0), (5, 1), (18, 3), (40, 6)])
def test_small_kitchens_hold_out_videos_too(videos, held_out):
    planned = plan(KitchenSettings(videos=videos))
    assert sum(each.split == "validation" for each in planned if each.recipe.primary) == held_out


def test_only_the_seed_moves_a_video():
    first = plan(KitchenSettings(videos=40))[3]
    other = plan(KitchenSettings(videos=80, size=64, fps=1))[3]
    assert (first.id, timeline_of(first)) == (other.id, timeline_of(other))
    assert timeline_of(plan(KitchenSettings(videos=40, seed=1))[3]) != timeline_of(first)
    assert script_of(first, KitchenSettings()) == script_of(first, KitchenSettings(size=32))


@pytest.fixture(scope="module")
def script():
    chosen = KitchenSettings(videos=20)
    return script_of(plan(chosen)[4], chosen)


def test_a_moment_is_what_the_timeline_says(script):
    for shown, scene in zip(script.timeline.shown, script.scenes, strict=True):
        moment = script.at(shown.start)
        assert moment.step == script.recipe.steps[shown.step] and moment.progress == 0
        assert moment.scene == scene or moment.step.act in ("stir", "whisk", "cook", "flip", "bake", "cut")
        later = script.at(shown.end)
        assert later.step is None or later.progress == 0  # of the next
    assert script.at(0).step is None


def test_an_act_is_seen_only_at_work(script):
    for moment in script.moments(2):
        assert (moment.acting is not None) == (moment.step is not None and moment.shot.kind == WORK)
    assert len(list(script.moments(2))) == int(script.timeline.duration * 2)


def test_done_steps_only_grow(script):
    done = [script.done_at(float(second)) for second in range(int(script.timeline.duration))]
    assert done == sorted(done) and done[0] == 0 and done[-1] >= len({s.step for s in script.timeline.shown})


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_a_script_is_the_same_twice(number):
    chosen = KitchenSettings(videos=number + 1)
    planned = plan(chosen)[-1]
    assert script_of(planned, chosen) == script_of(planned, chosen)
