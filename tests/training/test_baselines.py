"""Every objective end to end: trained, validated, saved, interrupted, resumed, loaded; and what can initialize it."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mmcc.corpus import Corpus
from mmcc.data import UsableVideos
from mmcc.errors import InputError, UsageError
from mmcc.models import MMCC, Anticipator, MemDPC, load_network
from mmcc.objectives.losses import Losses
from mmcc.objectives.spec import (
    FUTURE,
    OBJECTIVES,
    PAST,
    SKILLS,
    TEXT_SKILL,
    ObjectiveConfig,
    ObjectiveSpec,
    register_objective,
    spec_of,
)
from mmcc.training import initialization
from mmcc.training.config import Config, load_config
from mmcc.training.loop import build_model
from mmcc.training.processes import ProcessGroup
from mmcc.training.run import read_metrics
from mmcc.training.validation import FIGURES, SKILL_OF
from tests.training.test_loop import Cut, Watcher, assert_same_run, cut, run_of
from tests.training.tiny_runs import tiny_config

BASELINES = {  # its settings, its model's class, its terms
    "cross_modal": ((), MMCC, {"cross_modal"}),
    "representation_anticipation": (
        ("data.frame_rates=[1.0]",),
        Anticipator,
        {"anticipation", "target_share/vision", "target_share/text"},
    ),
    "time_agnostic": (
        ("objective.across=true",),
        Anticipator,
        {"anticipation", "anticipation_across", "target_share/vision", "target_share/text"},
    ),
    "memdpc": (("objective.slots=32",), MemDPC, {"future", "past"}),
}
ALWAYS = {"step", "part", "loss", "gradient_norm", "lr", "frames_per_second", "waiting_share"}
IDLE = ("projections.", "state.", "predictors.backward_head.")


@pytest.fixture(scope="module")
def cross_modal(vectors_path, tmp_path_factory):
    run = tmp_path_factory.mktemp("cross_modal") / "run"
    return run, run_of(vectors_path, run, tiny_config("objective.name=cross_modal"))


def baseline_config(name, cross_modal, *overrides):
    own, kind, _ = BASELINES[name]
    init = (f"train.init={cross_modal[0]}",) if kind is Anticipator else ()
    return tiny_config(f"objective.name={name}", *own, *init, *overrides)


@pytest.fixture(scope="module")
def uncut(vectors_path, cross_modal, tmp_path_factory):
    """One uninterrupted run of each."""
    folder = tmp_path_factory.mktemp("uncut_baselines")
    return {
        name: (folder / name, run_of(vectors_path, folder / name, baseline_config(name, cross_modal)))
        for name in BASELINES
    }


@pytest.mark.parametrize("name", BASELINES)
def test_a_run_of_each_baseline(uncut, name):
    run, report = uncut[name]
    _, kind, terms = BASELINES[name]
    model = load_network(report.best)
    assert type(model) is kind and Config.from_yaml(Path(report.best) / "config.yaml").objective.name == name
    lines = [line for line in read_metrics(run) if line["part"] == "train"]
    assert lines[0].keys() == ALWAYS | terms and len({line["loss"] for line in lines}) == 6
    first, last = (load_file(run / "checkpoints" / step / "model.safetensors") for step in ("00000004", "00000006"))
    assert any(not torch.equal(first[key], last[key]) for key in first)


@pytest.mark.parametrize("name", BASELINES)
def test_only_what_it_was_trained_for_is_measured(uncut, name):
    figures, skills = uncut[name][1].validation, OBJECTIVES.find(name).skills
    for figure in FIGURES:
        assert (figures[figure] is None) == (SKILL_OF[figure] not in skills), figure
    parts = {"cross_modal_rank": TEXT_SKILL, "future_rank": FUTURE, "travelled_rank": PAST}
    expected = [figures[part] if skill in skills else 50.0 for part, skill in parts.items()]
    assert figures["score"] == pytest.approx(sum(expected) / 3)
    if name == "memdpc":
        assert figures["text/future_rank"] is None and figures["vision/future_rank"] == figures["future_rank"]


@pytest.mark.parametrize("name", BASELINES)
def test_cut_and_resumed_it_is_the_uncut_run(uncut, vectors_path, cross_modal, tmp_path, name):
    run, config = tmp_path / "run", baseline_config(name, cross_modal)
    with pytest.raises(Cut):
        run_of(vectors_path, run, config, progress=Watcher(5, cut))
    run_of(vectors_path, run, config, resume=True)
    assert_same_run(run, uncut[name][0])


@pytest.mark.parametrize("name", ["representation_anticipation", "time_agnostic"])
def test_the_targets_are_the_cross_modal_run_whatever_was_trained(uncut, cross_modal, name):
    run, report = uncut[name]
    origin, model = load_network(cross_modal[1].best).state_dict(), load_network(report.checkpoint)
    assert all(torch.equal(tensor, origin[key]) for key, tensor in model.target.state_dict().items())
    moved = {key for key, tensor in model.model.state_dict().items() if not torch.equal(tensor, origin[key])}
    assert "predictors.forward_head.0.weight" in moved and "text_encoder.w1.weight" in moved
    assert not any(key.startswith(IDLE) for key in moved)
    ranks = [line["cross_modal_rank"] for line in read_metrics(run) if line["part"] == "validation"]
    assert len(set(ranks)) == 1
    state = load_file(Path(report.checkpoint) / "training_state.safetensors")
    assert state and all(key.startswith("model.") for key in state)
    assert (run / "vocabulary.txt").read_text() == (cross_modal[0] / "vocabulary.txt").read_text()


def test_a_run_with_a_checkpoint_no_longer_needs_its_initial_run(vectors_path, cross_modal, uncut, tmp_path):
    name, moved = "time_agnostic", tmp_path / "cross_modal"
    shutil.copytree(cross_modal[0], moved)
    config = baseline_config(name, (moved,))
    with pytest.raises(Cut):
        run_of(vectors_path, tmp_path / "run", config, progress=Watcher(5, cut))
    shutil.rmtree(moved)
    run_of(vectors_path, tmp_path / "run", config, resume=True)
    assert_same_run(tmp_path / "run", uncut[name][0])


def fails(corpus, run, *overrides):
    with pytest.raises(InputError) as caught:
        run_of(corpus, run, tiny_config(*overrides))
    return caught.value


@pytest.mark.parametrize("name", ["representation_anticipation", "time_agnostic"])
def test_without_a_cross_modal_run_it_says_what_to_train_first(vectors_path, tmp_path, name):
    error = fails(vectors_path, tmp_path / "run", f"objective.name={name}")
    assert error.path == "train.init" and "--objective.name cross_modal first" in error.remedy
    assert not (tmp_path / "run").exists()


def test_what_cannot_initialize_a_run(vectors_path, cross_modal, uncut, tmp_path):
    """Each mistake is reported, and no folder of a run is left."""
    run, tap = tmp_path / "run", "objective.name=time_agnostic"
    error = fails(vectors_path, run, tap, f"train.init={tmp_path / 'nowhere'}")
    assert "no such folder" in error.cause
    assert "neither a run nor a checkpoint" in fails(vectors_path, run, tap, f"train.init={tmp_path}").cause
    (tmp_path / "started" / "checkpoints").mkdir(parents=True)
    assert "no checkpoint yet" in fails(vectors_path, run, tap, f"train.init={tmp_path / 'started'}").cause
    error = fails(vectors_path, run, tap, f"train.init={uncut['memdpc'][0]}")
    assert "was trained for memdpc" in error.cause and "cross_modal" in error.remedy
    damaged = tmp_path / "damaged"
    shutil.copytree(cross_modal[1].best, damaged)
    (damaged / "model.safetensors").write_bytes(b"")
    assert "is damaged" in fails(vectors_path, run, tap, f"train.init={damaged}").cause
    assert not run.exists()
    error = fails(vectors_path, tmp_path / "wide", tap, f"train.init={cross_modal[0]}", "model.dims=24")
    assert error.cause == "was trained with model.dims = 16, not 24" and "--model.dims 16" in error.remedy
    error = fails(vectors_path, tmp_path / "mmcc", f"train.init={uncut['memdpc'][0]}")
    assert "memdpc cannot initialize one of type mmcc" in error.cause
    assert not (tmp_path / "wide").exists() and not (tmp_path / "mmcc").exists()


@pytest.mark.parametrize("name", ["mmcc", "memdpc"])
def test_any_objective_can_start_from_a_checkpoint(vectors_path, cross_modal, tmp_path, name):
    """MMCC after pre-training, without its cross-modal loss; the first step is taken from there."""
    checkpoint = cross_modal[1].checkpoint
    without = ("objective.lambda2=0",) if name == "mmcc" else ()
    config = tiny_config(f"objective.name={name}", f"train.init={checkpoint}", *without, "train.steps=1")
    said = []
    report = run_of(vectors_path, tmp_path / "run", config, say=said.append)
    assert f"initialized with the weights of {checkpoint}" in said
    origin, model = load_network(checkpoint).state_dict(), load_network(report.checkpoint).state_dict()
    seen = [key for key in origin if key.startswith("frame_encoder.")]
    assert all((origin[key] - model[key]).abs().max() < 2e-3 for key in seen)  # Adam's first step is lr = 1e-3


def test_an_initial_run_given_by_a_relative_path_is_found_from_elsewhere(
    vectors_path, cross_modal, tmp_path, monkeypatch
):
    monkeypatch.chdir(cross_modal[0].parent)
    run_of(vectors_path, tmp_path / "run", tiny_config("train.init=run", "train.steps=1"))
    assert Config.from_yaml(tmp_path / "run" / "config.yaml").train.init == str(cross_modal[0])


def test_the_best_checkpoint_of_an_initial_run_is_used(cross_modal, tmp_path):
    config = tiny_config(f"train.init={cross_modal[0]}")
    assert str(initialization.first_weights(config, tmp_path, print)) == cross_modal[1].best
    assert initialization.first_weights(tiny_config(), tmp_path, print) is None


@pytest.mark.parametrize("rates", ["[0.5]", "[1.0, 0.25]"])
def test_ra_refuses_a_rate_that_has_no_frame_a_second_ahead(vectors_path, cross_modal, tmp_path, rates):
    config = baseline_config("representation_anticipation", cross_modal, f"data.frame_rates={rates}")
    with pytest.raises(InputError) as caught:
        run_of(vectors_path, tmp_path / "run", config)
    assert caught.value.path == "data.frame_rates" and "1 s (± 0.25) after it" in caught.value.cause
    videos = UsableVideos(Corpus.open(vectors_path), "train", load_config("tap").data)
    initialization.check_frame_rates(load_config("tap"), videos)


@dataclass(frozen=True)
class SmallConfig(ObjectiveConfig):
    name: str = "tests/small"


def small_loss(config):
    def shrink(model, nodes, batch, weights, rng):
        total = nodes["vision"].z.square().mean()
        return Losses(total, {"size": total.detach()})

    return shrink


def test_a_registered_objective_is_trained_by_its_name(vectors_path, tmp_path):
    register_objective(ObjectiveSpec(SmallConfig, "Small", "to be small", small_loss, skills=frozenset()))
    report = run_of(vectors_path, tmp_path / "run", tiny_config("objective.name=tests/small"))
    sizes = [line["size"] for line in read_metrics(tmp_path / "run") if "size" in line]
    assert sizes[-1] < sizes[0] and report.validation["score"] == 50


def test_an_unknown_objective_is_named(vectors_path, tmp_path):
    with pytest.raises(UsageError, match=r"objective: no objective is named 'mcmc' \(known: cross_modal") as caught:
        load_config(None, ["objective.name=mcmc"])
    assert "--import" in caught.value.remedy
    with pytest.raises(UsageError, match=r"train\.frame_weights and init cannot both be set"):
        load_config(None, ["train.init=run", "train.frame_weights=resnet.safetensors"])


def test_a_run_from_before_the_baselines_still_loads(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("objective: {cycle: {path: across}, fine_tune: false}\ntrain: {steps: 9}\n")
    config = Config.from_yaml(path)
    assert config.objective.name == "mmcc" and config.train.init is None
    assert config.objective.cycle.path == "across" and not config.objective.fine_tune


@pytest.mark.parametrize("name", ["cross_modal", "ra", "tap", "memdpc"])
def test_shipped_baselines_are_sized_like_mmcc_plus(name):
    config, plus = load_config(name), load_config("mmcc_plus")
    assert config.model == plus.model and config.train.batch_size == plus.train.batch_size
    assert config.data.max_frames == plus.data.max_frames and config.train.lr == plus.train.lr
    if config.objective.name == "representation_anticipation":
        assert config.data.frame_rates == (1.0,)
    assert spec_of(config.objective).skills < SKILLS
    model = build_model(config, 20, ProcessGroup())
    assert model.training and len(model.frame_encoders()) == (2 if name in ("ra", "tap") else 1)
