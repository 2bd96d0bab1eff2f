"""The things of the kitchen: everything recipes can reach has a picture, and the picture shows the state."""

from dataclasses import replace

import pytest
from PIL import Image

from mmcc.kitchen.drawing.actions import draw_action
from mmcc.kitchen.drawing.canvas import Canvas, View
from mmcc.kitchen.drawing.contents import EMPTY, colour_of
from mmcc.kitchen.drawing.ingredients import draw_ingredient
from mmcc.kitchen.drawing.look import draw_look
from mmcc.kitchen.drawing.pieces import PIECES
from mmcc.kitchen.drawing.vessels import draw_oven, draw_vessel
from mmcc.kitchen.recipes import INGREDIENTS, LIQUIDS, POWDERS, PRIMARY, RELATED, VESSELS, Step
from mmcc.kitchen.recipes import PIECES as PIECE_NAMES
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Portion, Scene, Vessel, World, during, laid_out

COUNTER = (128, 132, 150)
BATTER = tuple(Portion(item, "smooth") for item in ("flour", "milk", "egg"))


@pytest.fixture(scope="module")
def look():
    return draw_look(Rng("a look"))


def picture(draw):
    """The pixels that something leaves on an empty counter."""
    image = Image.new("RGB", (144, 144), COUNTER)
    draw(Canvas(image, View(0.0, -0.2, 2.0)))
    return image.tobytes()


BLANK = picture(lambda canvas: None)


def ingredient_picture(look, item, form="whole", cooked=0.0, name="shot"):
    return picture(lambda canvas: draw_ingredient(canvas, look, item, form, 0.0, 0.0, 0.9, Rng(name), cooked))


def action_picture(look, step, progress, scene, seconds):
    return picture(
        lambda canvas: draw_action(canvas, look, step, progress, scene, 0.0, 0.25, 1.0, Rng("shot"), seconds)
    )


def vessel_picture(look, kind, vessel, name="shot"):
    return picture(lambda canvas: draw_vessel(canvas, look, kind, vessel, 0.0, 0.25, 1.0, Rng(name)))


def wandering(recipe, name, count=14):
    """A video that shows steps in any order: (scene before, step) of each."""
    world, rng = World(recipe), Rng(name, recipe.id)
    for _ in range(count):
        at = rng.integer(0, len(recipe.steps) - 1)
        yield world.prepare(at), recipe.steps[at]
        world.show(at)


def states():
    """(kind, vessel) that videos reach."""
    found = {}
    for recipe in PRIMARY + RELATED:
        for name, vessel in laid_out(recipe).vessels:
            found[name, vessel] = None
        for scene, step in wandering(recipe, "states"):
            for progress in (0.3, 0.8):
                for name, vessel in during(scene, step, progress).vessels:
                    found[name, vessel] = None
    return list(found)


STATES = states()
REACHED = sorted({(p.item, p.form) for _, vessel in STATES for p in vessel.portions + vessel.stain})


@pytest.mark.parametrize("item", INGREDIENTS)
def test_every_ingredient_has_its_own_whole_picture(look, item):
    drawn = ingredient_picture(look, item)
    assert drawn != BLANK
    assert all(drawn != ingredient_picture(look, other) for other in INGREDIENTS if other != item)


@pytest.mark.parametrize(("item", "form"), REACHED)
def test_every_form_that_recipes_reach_is_drawn_the_same_each_time(look, item, form):
    drawn = ingredient_picture(look, item, form)
    assert drawn != BLANK
    assert drawn == ingredient_picture(look, item, form)
    assert drawn != ingredient_picture(look, item, form, name="another shot")


def test_all_that_can_be_cut_has_pieces():
    assert set(PIECES) == set(PIECE_NAMES)


def test_heat_changes_what_it_meets(look):
    unchanged = {"water", "salt"}
    for item, form in REACHED:
        raw, done = (ingredient_picture(look, item, form, cooked) for cooked in (0.0, 1.0))
        assert raw != done or item in unchanged, (item, form)


def test_every_state_of_every_vessel_is_drawn_the_same_each_time(look):
    for kind, vessel in STATES:
        once = vessel_picture(look, kind, vessel)
        assert once != BLANK, (kind, vessel)
        assert once == vessel_picture(look, kind, vessel), (kind, vessel)


@pytest.mark.parametrize("kind", VESSELS)
def test_each_portion_shows(look, kind):
    vessel = Vessel()
    before = vessel_picture(look, kind, vessel)
    for item, form in (("milk", "poured"), ("carrot", "cut"), ("sugar", "powder"), ("cream", "poured")):
        vessel = replace(vessel, top=(*vessel.top, Portion(item, form)))
        now = vessel_picture(look, kind, vessel)
        assert now != before, (item, form)
        before = now


@pytest.mark.parametrize("kind", VESSELS)
def test_mixing_cooking_and_emptying_show(look, kind):
    shown = [
        vessel_picture(look, kind, vessel)
        for vessel in (
            Vessel(),
            Vessel(stain=BATTER),
            Vessel(top=(Portion("flour", "powder"), Portion("milk", "poured"), Portion("egg", "cracked"))),
            Vessel(mixed=BATTER),
            Vessel(mixed=BATTER).cooked_to(0.7),
            Vessel(mixed=BATTER).cooked_to(1.0),
        )
    ]
    assert len(set(shown)) == len(shown)


def test_a_lid_and_the_oven_hide_what_was_there(look):
    full = Vessel(mixed=BATTER)
    assert vessel_picture(look, "pot", full) != vessel_picture(look, "pot", replace(full, covered=True))
    assert vessel_picture(look, "jar", full) != vessel_picture(look, "jar", replace(full, covered=True))
    gone = vessel_picture(look, "tin", replace(full, in_oven=True))
    assert gone == vessel_picture(look, "tin", replace(full.cooked_to(1.0), in_oven=True))


def test_the_oven_shows_how_far_it_is(look):
    def oven(degree):
        vessel = replace(Vessel(mixed=BATTER).cooked_to(degree), in_oven=True)
        return picture(lambda canvas: draw_oven(canvas, look, vessel, 0.0, 0.0, 1.0, Rng("x")))

    assert len({oven(0.0), oven(0.5), oven(1.0)}) == 3


def test_what_lies_there_stays_where_it_is(look):
    """Another portion on the far side of the board moves nothing of the first."""
    first, second = Portion("carrot", "cut"), Portion("salt", "powder")
    alone = vessel_picture(look, "board", Vessel(top=(first,)))
    both = vessel_picture(look, "board", Vessel(top=(first, second)))
    changed = sum(a != b for a, b in zip(alone, both, strict=True))
    assert 0 < changed < 0.06 * len(alone)


def test_every_act_is_drawn_at_every_moment(look):
    acts = set()
    for recipe in PRIMARY + RELATED:
        for scene, step in wandering(recipe, "acts", 8):
            for progress in (0.0, 0.25, 0.45, 0.55, 1.0):
                now = during(scene, step, progress)
                drawn = action_picture(look, step, progress, now, 7 * progress)
                assert drawn == action_picture(look, step, progress, now, 7 * progress)
                assert drawn != BLANK or progress in (0.0, 1.0), (step, progress)
            acts.add(step.act)
    assert {"add", "pour", "sprinkle", "squeeze", "crack", "cut", "peel", "spread", "move", "bake", "flip"} <= acts
    assert {"stir", "whisk", "blend", "mash", "knead", "cook", "cover"} <= acts


def test_the_clock_moves_the_hand(look):
    scene, step = Scene((("bowl", Vessel(mixed=BATTER)),)), Step("whisk mixture", "whisk", vessel="bowl")
    assert action_picture(look, step, 0.5, scene, 0.0) != action_picture(look, step, 0.5, scene, 0.2)


def test_a_left_handed_cook_mirrors_the_arm(look):
    scene, step = Scene((("bowl", Vessel(mixed=BATTER)),)), Step("stir mixture", "stir", vessel="bowl")
    right, left = (action_picture(replace(look, left_handed=hand), step, 0.5, scene, 0.0) for hand in (False, True))
    row, half = 3 * 144, 3 * 72
    starts = range(0, len(right), row)
    in_right_half = sum(right[start + half : start + row] != BLANK[:half] for start in starts)
    in_left_half = sum(left[start : start + half] != BLANK[:half] for start in starts)
    assert right != left
    assert abs(in_right_half - in_left_half) <= 2


def by_hand(*terms):
    """The weighted mean of (weight, colour), rounded half up."""
    total = sum(weight for weight, _ in terms)
    return tuple(int(sum(weight * colour[band] for weight, colour in terms) / total + 0.5) for band in range(3))


MILK, FLOUR, EGG, COFFEE = (246, 244, 236), (248, 242, 228), (252, 200, 60), (66, 36, 18)


def test_the_colour_of_a_mix_is_the_weighted_mean():
    assert colour_of([Portion("milk", "poured")]) == MILK
    assert colour_of(BATTER) == by_hand((1.0, FLOUR), (1.0, MILK), (1.2, EGG))
    assert colour_of([Portion("coffee", "poured"), Portion("milk", "poured")]) == by_hand((4.0, COFFEE), (1.0, MILK))
    assert colour_of([]) == EMPTY


def test_strong_colours_win_and_heat_browns():
    def lightness(*portions):
        return sum(colour_of(portions))

    flour, milk = Portion("flour", "smooth"), Portion("milk", "poured")
    assert lightness(milk, Portion("chocolate", "cut")) < 0.6 * lightness(milk)
    assert lightness(replace(flour, cooked=1.0)) < lightness(replace(flour, cooked=0.5)) < lightness(flour)
    red, green, _ = colour_of([Portion("tomato", "smooth"), Portion("onion", "smooth"), Portion("water", "poured")])
    assert red > 2 * green


def test_what_is_unknown_is_named(look):
    canvas = Canvas(Image.new("RGB", (32, 32)), View(0, 0, 1))
    with pytest.raises(KeyError, match="tofu"):
        draw_ingredient(canvas, look, "tofu", "whole", 0, 0, 1, Rng("x"))
    with pytest.raises(KeyError, match="tofu"):
        colour_of([Portion("tofu", "cut")])
    with pytest.raises(ValueError, match="apple: no such form: fizzy"):
        draw_ingredient(canvas, look, "apple", "fizzy", 0, 0, 1, Rng("x"))
    with pytest.raises(KeyError, match="bucket"):
        draw_vessel(canvas, look, "bucket", Vessel(), 0, 0, 1, Rng("x"))
    with pytest.raises(KeyError, match="juggle"):
        draw_action(canvas, look, Step("juggle", "juggle"), 0.5, Scene(()), 0, 0, 1, Rng("x"), 0.0)


def test_liquids_and_powders_come_in_packages(look):
    """They have no pieces: drawn whole or cut, they appear as their package."""
    for item in (*LIQUIDS, *POWDERS):
        assert ingredient_picture(look, item, "whole") == ingredient_picture(look, item, "cut")
