"""A training step of an ensemble: each member by its own loss, as if it were alone."""

import pytest
import torch

from mmcc.corpus import Corpus
from mmcc.data import UsableVideos
from mmcc.data.loader import training_batches
from mmcc.data.segments import SegmentSampler
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError
from mmcc.evaluation.evaluate import evaluate
from mmcc.models import Ensemble
from mmcc.models.ensemble import members_of
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.spec import spec_of
from mmcc.training.loop import build_model
from mmcc.training.perception import fit_to_corpus
from mmcc.training.processes import join_world
from mmcc.training.schedule import Schedule
from mmcc.training.step import Stepper
from tests.training.test_loop import Cut, Watcher, assert_same_run, cut, run_of
from tests.training.tiny_runs import tiny_config

MEMBERS = 3


def test_a_member_has_the_gradient_of_its_own_loss(vectors_path):
    """The mean of the losses gives each member 1/M of what it would have alone, which Adam does not notice."""
    corpus = Corpus.open(vectors_path)
    config = fit_to_corpus(tiny_config(f"model.members={MEMBERS}"), corpus)
    videos, words = UsableVideos(corpus, "train", config.data), Vocabulary(["pour", "stir", "the", "egg"])
    (batch,) = training_batches(SegmentSampler(videos, 0), words, start_step=0, steps=1, batch_size=4)
    with join_world("cpu") as world:
        model = build_model(config, len(words.words), world)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)  # leaves gradients as they are
        schedule = Schedule(config.train, 10)
        stepper = Stepper(model, config.objective, optimizer, schedule, config.train, world)
        before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
        figures, _ = stepper.step(3, [batch])
        found = {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}
        model.load_state_dict(before, strict=False)
        spec, totals = spec_of(config.objective), []
        weights = spec.weights(config.objective, schedule.time(3))
        for number, member in enumerate(members_of(model)):
            model.zero_grad(set_to_none=True)
            rng = SampleRng(config.train.seed, batch.samples, step=number)
            losses = spec.loss(config.objective)(member, member(batch), batch, weights, rng)
            losses.total.backward()
            totals.append(losses.total.item())
            for name, weight in member.named_parameters():
                mine = found.get(f"members.{number}.{name}")
                assert (mine is None) == (weight.grad is None), name
                if mine is not None:
                    assert torch.allclose(mine, weight.grad / MEMBERS, atol=1e-6, rtol=1e-4), name
    assert len(set(totals)) == MEMBERS  # from weights of their own
    assert figures["loss"] == pytest.approx(sum(totals) / MEMBERS, rel=1e-5)


def test_cut_and_resumed_an_ensemble_is_the_uncut_run_and_is_measured_like_any_model(vectors_path, tmp_path):
    config = tiny_config("model.members=2")
    report = run_of(vectors_path, tmp_path / "uncut", config)
    with pytest.raises(Cut):
        run_of(vectors_path, tmp_path / "run", config, progress=Watcher(3, cut))
    run_of(vectors_path, tmp_path / "run", config, resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "uncut")
    assert isinstance(Ensemble.from_pretrained(report.best), Ensemble)
    measured = evaluate(str(tmp_path / "run"), vectors_path, tasks=["anticipation", "unshuffling", "cycle"], on="all")
    assert {"anticipation", "unshuffling", "cycle"} <= measured.results.keys()


def test_what_trains_a_model_of_its_own_has_no_members(vectors_path, tmp_path):
    config = tiny_config("objective.name=memdpc", "objective.slots=8", "model.members=2")
    with pytest.raises(InputError, match=r"model\.members: the objective memdpc trains a model of its own"):
        run_of(vectors_path, tmp_path / "run", config)
