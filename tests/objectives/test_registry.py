"""The registry: which model, which loss, and a user's own."""

import pytest
import torch

from mmcc.models import MMCC, Anticipator, MemDPC, ModelConfig
from mmcc.objectives import Losses, MemDPCConfig, ObjectiveConfig, find_objective, register_objective
from mmcc.objectives.config import MMCCConfig
from mmcc.objectives.registry import ALL_SKILLS, CORRESPONDENCE, FUTURE, PAST

SMALL = ModelConfig(dims=4, frame_encoder="features", feature_dims=3)
EXPECTED = {
    "mmcc": (MMCC, ALL_SKILLS, False),
    "cross_modal": (MMCC, {CORRESPONDENCE}, False),
    "representation_anticipation": (Anticipator, {CORRESPONDENCE, FUTURE}, True),
    "time_agnostic": (Anticipator, {CORRESPONDENCE, FUTURE}, True),
    "memdpc": (MemDPC, {FUTURE, PAST}, False),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_rival_is_known_by_its_name(name):
    kind, skills, predicts = EXPECTED[name]
    recipe = find_objective(name)
    config = ObjectiveConfig(name=name, memdpc=MemDPCConfig(slots=7))
    model = recipe.build_model(SMALL, config, 9)
    assert type(model) is kind and recipe.skills == skills and recipe.predicts_cross_modal == predicts
    assert callable(recipe.build_objective(config))
    if name == "memdpc":
        assert model.memory.shape == (7, 4)


def test_an_unknown_name_lists_those_there_are():
    with pytest.raises(ValueError, match=r"'mcmc' \(known: cross_modal, memdpc, mmcc, rep"):
        find_objective("mcmc")


def test_a_name_belongs_to_one_objective():
    with pytest.raises(ValueError, match="registered already"):
        register_objective("mmcc", lambda *_: None, lambda _: None)


def test_yours_in_a_few_lines():
    def shrink(model, nodes, batch, weights, rng):
        total = nodes["vision"].z.square().sum()
        return Losses(total, {"size": total.detach()})

    register_objective("tests/shrink", lambda model, _, words: MMCC(model, words), lambda _: shrink, skills={FUTURE})
    recipe = find_objective("tests/shrink")
    model = recipe.build_model(SMALL, ObjectiveConfig(name="tests/shrink"), 9)
    assert recipe.skills == {FUTURE} and model.embed_frames(torch.zeros(2, 3)).shape == (2, 4)


def test_mmcc_is_the_default_and_its_settings_are_a_part_of_all():
    assert ObjectiveConfig().name == "mmcc" and isinstance(ObjectiveConfig(), MMCCConfig)
