"""The recipes."""

from collections import Counter, defaultdict

import pytest

from mmcc.kitchen.recipes import INGREDIENTS, PRIMARY, RELATED, VESSELS, needs

BY_TITLE = {recipe.title: recipe for recipe in (*PRIMARY, *RELATED)}


def test_as_many_tasks_steps_and_texts_as_crosstask():
    steps = [step for recipe in PRIMARY for step in recipe.steps]
    assert (len(PRIMARY), len(steps), len({step.text for step in steps})) == (18, 133, 105)
    lengths = [len(recipe.steps) for recipe in PRIMARY]
    assert (min(lengths), max(lengths)) == (3, 11)
    assert len({recipe.id for recipe in (*PRIMARY, *RELATED)}) == len(PRIMARY) + len(RELATED)


def test_related_tasks_are_unseen_but_their_steps_are_seen():
    seen = {step.text for recipe in PRIMARY for step in recipe.steps}
    for recipe in RELATED:
        texts = [step.text for step in recipe.steps]
        assert seen.issuperset(texts)
        assert texts not in [[step.text for step in other.steps] for other in PRIMARY]


def test_a_text_is_one_act_on_one_thing_wherever_it_occurs():
    meant = defaultdict(set)
    for recipe in (*PRIMARY, *RELATED):
        for step in recipe.steps:
            meant[step.text].add((step.act, step.item))
    assert {text: acts for text, acts in meant.items() if len(acts) > 1} == {}


def test_every_name_is_known_and_every_ingredient_used():
    used = Counter(step.item for recipe in PRIMARY for step in recipe.steps if step.item)
    assert set(used) == set(INGREDIENTS)
    for recipe in (*PRIMARY, *RELATED):
        assert set(recipe.vessels) <= set(VESSELS)
        assert len({step.text for step in recipe.steps}) == len(recipe.steps)


@pytest.mark.parametrize(
    ("title", "text", "needed"),
    [
        ("Make Pancakes", "crack egg", []),
        ("Make Pancakes", "whisk mixture", ["add flour", "add sugar", "pour milk", "crack egg"]),
        ("Make Lemonade", "squeeze lemon", ["cut lemon"]),
        ("Make Lemonade", "add ice", []),
        ("Make French Toast", "dip bread in mixture", ["crack egg", "pour milk", "whisk mixture"]),
        ("Make Mashed Potatoes", "add potatoes", ["peel potato", "cut potato"]),
    ],
)
def test_a_step_needs_what_it_acts_on(title, text, needed):
    recipe = BY_TITLE[title]
    texts = [step.text for step in recipe.steps]
    assert [texts[at] for at in sorted(needs(recipe)[texts.index(text)])] == needed


def test_needs_come_earlier_and_bring_their_own_needs():
    for recipe in (*PRIMARY, *RELATED):
        wanted = needs(recipe)
        for at, steps in enumerate(wanted):
            assert all(before < at for before in steps)
            assert all(wanted[before] <= steps for before in steps)
