"""Feature vectors instead of pixels."""

import numpy as np
import pytest

from mmcc.kitchen.features import DIMS, script_features, tokens
from mmcc.kitchen.plan import KitchenSettings, plan, script_of
from mmcc.kitchen.recipes import PRIMARY, RELATED
from mmcc.kitchen.scene import World
from mmcc.kitchen.script import Moment
from mmcc.kitchen.shots import WORK, Shot


@pytest.fixture(scope="module")
def scripts():
    chosen = KitchenSettings(videos=36)
    return [script_of(each, chosen) for each in plan(chosen)]


def test_one_vector_per_second(scripts):
    features = script_features(scripts[0])
    assert features.shape == (int(scripts[0].timeline.duration), DIMS)
    assert features.dtype == np.float32
    assert np.array_equal(features, script_features(scripts[0]))


def test_numbers_are_of_ordinary_size(scripts):
    features = np.concatenate([script_features(script) for script in scripts])
    assert 0.5 < features.std() < 2


def test_every_number_is_an_integer_before_scaling(scripts):
    scaled = script_features(scripts[1]).astype(np.float64) * (1 << 14)
    assert np.array_equal(scaled, np.rint(scaled))  # no rounding, on any machine


def test_the_view_is_nonlinear_noisy_and_separates_acts(scripts):
    """Frames of one act are nearer to each other than to those of other acts, across videos."""
    rows, acts = [], []
    for script in scripts:
        for moment, row in zip(script.moments(1), script_features(script), strict=True):
            if moment.acting is not None:
                rows.append(row)
                acts.append(moment.acting.act)
    unit = np.array(rows) - np.mean(rows, axis=0)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    same_act = np.array(acts)[:, None] == np.array(acts)
    cosine = unit @ unit.T
    off_diagonal = ~np.eye(len(unit), dtype=bool)
    assert cosine[same_act & off_diagonal].mean() > cosine[~same_act].mean() + 0.05
    assert cosine[off_diagonal].max() < 0.999


def test_a_distractor_shows_nothing_of_the_scene(scripts):
    for moment in scripts[0].moments(1):
        names = [token for token, _ in tokens(moment, "v")]
        assert any(" holds " in name or name.startswith("act ") for name in names) <= (moment.shot.kind == WORK)


@pytest.mark.parametrize("recipe", (*PRIMARY, *RELATED), ids=lambda recipe: recipe.title)
def test_every_step_leaves_a_trace_in_the_vectors(recipe):
    world = World(recipe)
    for at, step in enumerate(recipe.steps):
        shot = Shot(0.0, 1.0, WORK, "seed", step.vessel)
        before, after = world.prepare(at), world.show(at)
        sets = [sorted(tokens(Moment(0.5, shot, scene, None, 0.0), "v")) for scene in (before, after)]
        assert sets[0] != sets[1], step.text
