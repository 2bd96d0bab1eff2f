"""Objectives by name: model, loss, skills, and a user-defined one."""

from dataclasses import dataclass

import pytest
import torch

from mmcc.models import MMCC, Anticipator, MemDPC, ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.objectives import CycleConfig, DirectionConfig, Losses, MMCCConfig
from mmcc.objectives.spec import (
    COMBINE,
    FUTURE,
    OBJECTIVES,
    PAST,
    SKILLS,
    TEXT_SKILL,
    ObjectiveConfig,
    ObjectiveSpec,
    TrainingTime,
    register_objective,
    spec_of,
)
from mmcc.settings import WrongSetting, build

SMALL = ModelConfig(dims=4, frame_encoder=FeatureSettings(feature_dims=3))
EXPECTED = {  # model, skills, initialized with, name in results, label
    "mmcc": (MMCC, SKILLS, "", "mmcc+", "MMCC+"),
    "cross_modal": (MMCC, {TEXT_SKILL}, "", "cross_modal", "Cross-modal"),
    "representation_anticipation": (Anticipator, {TEXT_SKILL, FUTURE}, "cross_modal", "ra", "Repr. Ant."),
    "time_agnostic": (Anticipator, {TEXT_SKILL, FUTURE}, "cross_modal", "tap", "TAP"),
    "memdpc": (MemDPC, {FUTURE, PAST}, "", "memdpc", "MemDPC"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_objective_is_known_by_its_name(name):
    kind, skills, starts_from, short, label = EXPECTED[name]
    config = build(ObjectiveConfig, name)
    spec = spec_of(config)
    assert type(config) is spec.settings and spec.name == name and spec.purpose.startswith("to ")
    model = spec.model(SMALL, config, 9)
    assert type(model) is kind and spec.skills_of(config) == skills and spec.starts_from == starts_from
    assert spec.identity(config) == (short, label) and callable(spec.loss(config))
    assert isinstance(spec.cycle(config), CycleConfig) and spec.temperature(config) == 0.1


def test_settings_reach_the_model():
    config = build(ObjectiveConfig, {"name": "memdpc", "slots": 7})
    assert spec_of(config).model(SMALL, config, 9).memory.shape == (7, 4)


def test_mmcc_is_the_default_and_settings_decide_its_name_and_skills():
    assert build(ObjectiveConfig, {}) == MMCCConfig()
    paper = MMCCConfig(direction=DirectionConfig(leads=0, arrives=0, contrast=0))
    assert spec_of(paper).identity(paper) == ("mmcc", "MMCC")
    alone = MMCCConfig(cycle=CycleConfig(p_unimodal=1))
    assert spec_of(alone).skills_of(alone) == SKILLS - {COMBINE}


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(WrongSetting, match=r"no objective is named 'mcmc' \(known: cross_modal, memdpc, mmcc, rep"):
        build(ObjectiveConfig, "mcmc", "objective")


def test_a_name_belongs_to_one_objective():
    with pytest.raises(ValueError, match="an objective named 'mmcc' is registered already"):
        register_objective(ObjectiveSpec(MMCCConfig, label="", purpose="", loss=lambda config: shrink))


def test_an_unknown_skill_is_refused():
    with pytest.raises(ValueError, match=r"skills of 'mmcc': flight \(known: combine, future, memory, past, text\)"):
        register_objective(ObjectiveSpec(MMCCConfig, "", "", lambda config: shrink, skills=frozenset({"flight"})))


@dataclass(frozen=True)
class ShrinkConfig(ObjectiveConfig):
    name: str = "tests/shrink"
    power: float = 2.0


def shrink(model, nodes, batch, weights, rng):
    total = weights["size"] * nodes["vision"].z.abs().sum()
    return Losses(total, {"size": total.detach()})


def test_another_objective_takes_a_few_lines():
    spec = ObjectiveSpec(
        ShrinkConfig,
        label="Shrink",
        purpose="to be small",
        loss=lambda config: shrink,
        weights=lambda config, time: {"size": config.power * time.step / time.steps},
        skills=frozenset({FUTURE}),
    )
    register_objective(spec)
    config = build(ObjectiveConfig, {"name": "tests/shrink", "power": 3})
    assert spec_of(config) is spec and OBJECTIVES.find("tests/shrink") is spec
    assert spec.weights(config, TrainingTime(5, 10, 1.0)) == {"size": 1.5}
    assert spec.model(SMALL, config, 9).embed_frames(torch.zeros(2, 3)).shape == (2, 4)
