"""References of the kitchen: chance by formula, ceilings by what an oracle knows."""

import numpy as np
import pytest

from benchmarks.validity.references import anticipation, arrow_of_time, ceilings, cross_modal, unshuffling
from mmcc.kitchen.plan import KitchenSettings, plan, script_of
from mmcc.kitchen.recipes import PRIMARY
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.script import write_script
from mmcc.kitchen.timeline import Shown, Timeline

SETTINGS = KitchenSettings(videos=90)


@pytest.fixture(scope="module")
def scripts():
    return [script_of(each, SETTINGS) for each in plan(SETTINGS) if each.recipe.primary]


def in_order(recipe):
    """A video that shows every step once, in canonical order."""
    shown = tuple(Shown(step, 10.0 + 20 * step, 20.0 + 20 * step) for step in range(len(recipe.steps)))
    return write_script(recipe, Timeline(shown, 20.0 + 20 * len(shown)), Rng("in order", recipe.id))


def test_anticipation_by_hand():
    """Hot chocolate has three steps; of its clips the first has two later steps and the second one."""
    recipe = PRIMARY[-1]
    table = anticipation([in_order(recipe)], KitchenSettings())
    assert table["chance"]["R@1"] == pytest.approx(100 * (2 / 105 + 1 / 105) / 2)
    assert table["task known, step random"]["R@1"] == pytest.approx(100 * (2 / 3 + 1 / 3) / 2)
    oracle = table["oracle: task and step known"]
    assert oracle["R@1"] == oracle["best"] == 100
    assert oracle["mean"] == pytest.approx((100 * (1 + 103 / 104) / 2 + 100) / 2)


def test_unshuffling_is_perfect_where_nothing_is_repeated_or_out_of_order():
    table = unshuffling([in_order(recipe) for recipe in PRIMARY])
    for row in ("oracle: task and step known", "oracle: what was done so far known"):
        assert table[row] == {"kendall tau": 1, "spearman rho": 1, "edit dist.": 0}
    assert table["chance"]["kendall tau"] == pytest.approx(0, abs=0.01)


@pytest.mark.slow
def test_every_ceiling_is_above_chance_and_below_perfection(scripts):
    tables = [
        anticipation(scripts, SETTINGS),
        unshuffling(scripts),
        arrow_of_time(scripts, scripts, 20),
        cross_modal(scripts),
    ]
    for table in tables:
        chance, *oracles = table.values()
        for oracle in oracles:
            for name, value in oracle.items():
                if not np.isnan(value):
                    assert (value < chance[name]) if name == "edit dist." else (chance[name] < value <= 100), name


def test_an_oracle_below_chance_misses_its_bound():
    table = {
        "chance": {"R@1": 4.0, "R@5": 20.0},
        "good": {"R@1": 90.0, "R@5": 1.0},
        "  bad": {"R@1": 3.0, "R@5": 100.0},
    }
    figures = list(ceilings("anticipation", table))
    assert [(figure.name, figure.measured, figure.bound, figure.ok) for figure in figures] == [
        ("anticipation, R@1, good", 90.0, 4.0, True),
        ("anticipation, R@1, bad", 3.0, 4.0, False),
    ]
