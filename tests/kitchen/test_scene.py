"""The state of the scene persists until something changes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.kitchen.recipes import PRIMARY, RELATED
from mmcc.kitchen.scene import MOST_ON_TOP, Portion, World, after, during, laid_out

RECIPES = (*PRIMARY, *RELATED)
BY_TITLE = {recipe.title: recipe for recipe in RECIPES}


def cooked(title, *texts):
    """The scene after these steps; what they require is done off camera."""
    recipe = BY_TITLE[title]
    world = World(recipe)
    for text in texts:
        at = [step.text for step in recipe.steps].index(text)
        world.prepare(at)
        world.show(at)
    return world.scene


def items(portions):
    return [portion.item for portion in portions]


def test_a_bowl_holds_what_was_added_until_it_is_whisked():
    assert items(cooked("Make Pancakes", "add flour", "crack egg")["bowl"].top) == ["flour", "egg"]
    whisked = cooked("Make Pancakes", "add flour", "crack egg", "whisk mixture")["bowl"]
    assert whisked.top == ()
    assert sorted(items(whisked.mixed)) == ["egg", "flour", "milk", "sugar"]
    assert {portion.form for portion in whisked.mixed} == {"smooth"}


def test_a_pancake_is_poured_browned_and_taken_out():
    poured = cooked("Make Pancakes", "pour mixture into pan")
    assert len(poured["pan"].mixed) == 4 and not poured["bowl"].portions and len(poured["bowl"].stain) == 4
    flipped = cooked("Make Pancakes", "flip pancake")
    assert {portion.cooked for portion in flipped["pan"].mixed} == {0.7}
    taken = cooked("Make Pancakes", "take pancake from pan")
    assert taken["plate"].mixed == flipped["pan"].mixed and not taken["pan"].portions


def test_what_goes_into_the_pan_leaves_the_board_with_its_seasoning():
    assert items(cooked("Grill a Steak", "season steak")["board"].top) == ["steak", "salt"]
    fried = cooked("Grill a Steak", "season steak", "put steak in pan")
    assert items(fried["board"].top) == [] and items(fried["pan"].top) == ["steak", "salt"]


def test_a_cake_is_in_the_oven_until_it_is_taken_out():
    assert cooked("Make Strawberry Cake", "put tin in oven")["tin"].in_oven
    out = cooked("Make Strawberry Cake", "take cake out of tin")
    assert not out["tin"].in_oven and {portion.cooked for portion in out["plate"].mixed} == {1.0}


def test_dough_is_kneaded_beside_the_apples():
    board = cooked("Make Apple Pie", "cut apple", "knead dough")["board"]
    assert items(board.mixed) == ["flour"] and items(board.top) == ["apple"]


def test_pasta_is_plated_without_its_water():
    assert items(cooked("Make Pasta with Tomato Sauce", "put pasta on plate")["plate"].top) == ["pasta"]


def test_a_second_batch_replaces_the_first():
    twice = cooked("Make Pancakes", "pour mixture into pan", "flip pancake", "whisk mixture", "pour mixture into pan")
    assert {portion.cooked for portion in twice["pan"].mixed} == {0.0}


def test_a_second_batch_holds_all_of_the_first():
    again = cooked("Make Pancakes", "pour mixture into pan", "add sugar", "whisk mixture")["bowl"]
    assert sorted(items(again.mixed)) == ["egg", "flour", "milk", "sugar"] and again.top == ()


def test_a_steak_that_is_seasoned_after_another_went_into_the_pan():
    assert items(cooked("Grill a Steak", "put steak in pan", "season steak")["board"].top) == ["steak", "salt"]


def test_however_often_a_step_is_shown_nothing_goes_missing():
    often = ["season steak"] * 12
    assert "steak" in items(cooked("Grill a Steak", *often)["board"].top)
    glass = cooked("Make Iced Coffee", "pour coffee", "add ice", *["pour cream"] * 12)["glass"]
    assert set(items(glass.top)) == {"coffee", "ice", "cream"} and len(glass.top) == MOST_ON_TOP


def test_a_second_sauce_leaves_the_pasta():
    plate = cooked("Make Pasta with Tomato Sauce", "pour sauce over pasta", "simmer sauce", "pour sauce over pasta")
    assert sorted(items(plate["plate"].portions)) == ["pasta", "salt", "tomato"]


def test_apples_that_wait_on_the_board_do_not_get_into_the_dough():
    tin = cooked("Make Apple Pie", "cut apple", "put dough in tin", "put dough in tin")["tin"]
    assert items(tin.portions) == ["flour"]


def test_chocolate_melts_into_the_milk():
    pot = cooked("Make Hot Chocolate", "warm milk", "add chocolate")["pot"]
    assert items(pot.mixed) == ["milk", "chocolate"] and pot.top == ()


def test_within_a_step_things_arrive_half_way_and_cook_gradually():
    recipe = BY_TITLE["Make Tomato Soup"]
    texts = [step.text for step in recipe.steps]
    start = laid_out(recipe)
    pour = recipe.steps[texts.index("pour water")]
    assert during(start, pour, 0.4) == start
    assert during(start, pour, 0.6)["pot"].top == (Portion("water", "poured"),)
    simmer = recipe.steps[texts.index("simmer soup")]
    degrees = [during(after(start, pour), simmer, share)["pot"].top[0].cooked for share in (0.0, 0.25, 1.0)]
    assert degrees == [0.0, 0.25, 1.0]


@given(st.data())
def test_any_order_of_steps_leaves_a_scene(data):
    recipe = data.draw(st.sampled_from(RECIPES))
    world = World(recipe)
    for step in data.draw(st.lists(st.integers(0, len(recipe.steps) - 1), max_size=20)):
        before = world.prepare(step)
        for share in (0.0, 0.3, 0.7, 1.0):
            during(before, recipe.steps[step], share)
        scene = world.show(step)
        assert step in world.done
        for _, vessel in scene.vessels:
            assert len(vessel.top) <= MOST_ON_TOP
            assert len(set(vessel.mixed)) == len(vessel.mixed)
            assert not (vessel.stain and vessel.mixed)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)
def test_every_step_changes_what_can_be_seen(recipe):
    world = World(recipe)
    for at in range(len(recipe.steps)):
        before = world.prepare(at)
        assert world.show(at) != before, recipe.steps[at].text
