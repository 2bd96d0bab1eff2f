"""Whole runs: what they write, and that interrupting and resuming them changes nothing."""

import json
import os
import shutil
import signal
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from mmcc.corpus import Corpus
from mmcc.errors import Diverged, InputError, OutputError
from mmcc.models.encoders import FeatureSettings, FrameEncoderSettings
from mmcc.models.model import MMCC
from mmcc.models.resnet import ResNet18
from mmcc.objectives.mmcc import MMCCObjective
from mmcc.training.checkpoints import Checkpoints, damage
from mmcc.training.config import Config
from mmcc.training.loop import build_model, render_training, train
from mmcc.training.perception import fit_to_corpus
from mmcc.training.processes import join_world
from mmcc.training.run import read_metrics
from mmcc.training.step import Stepper
from tests.forked import forked
from tests.s3 import upload_folder
from tests.training.tiny_runs import tiny_config

TIMES = {"frames_per_second", "waiting_share"}  # the only figures that two equal runs do not share


class Cut(BaseException):
    """The power fails: nothing more is written."""


class Watcher:
    """A bar that does something after a step."""

    def __init__(self, at, action):
        self.at, self.action = at, action

    def __call__(self, total, done):
        self.done = done
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def step(self, shown):
        self.done += 1
        if self.done == self.at:
            self.action()


def cut():
    raise Cut


def quiet(line):
    pass


def run_of(corpus, run, config=None, **options):
    options = {"progress": Watcher(-1, cut), "say": quiet} | options
    return train(corpus, run, config or tiny_config(), **options)


@pytest.fixture(scope="module")
def uncut(vectors_path, tmp_path_factory):
    run = tmp_path_factory.mktemp("uncut") / "run"
    return run, run_of(vectors_path, run)


def assert_same_run(run, other):
    """The same weights, optimizer and figures, bit for bit."""
    for name in ("model.safetensors", "training_state.safetensors"):
        mine, theirs = (load_file(each / "checkpoints" / "00000006" / name) for each in (run, other))
        assert mine.keys() == theirs.keys()
        for key in mine:
            assert torch.equal(mine[key], theirs[key]), key
    mine, theirs = (
        [{key: value for key, value in line.items() if key not in TIMES} for line in read_metrics(each)]
        for each in (run, other)
    )
    assert mine == theirs
    assert Checkpoints(run).steps() == Checkpoints(other).steps()


def test_a_run_writes_all_that_it_should(uncut):
    run, report = uncut
    written = {"config.yaml", "corpus.json", "vocabulary.txt", "metrics.jsonl", "checkpoints"}
    assert {path.name for path in run.iterdir()} >= written
    lines = read_metrics(run)
    assert [line["step"] for line in lines if line["part"] == "train"] == [1, 2, 3, 4, 5, 6]
    assert [line["step"] for line in lines if line["part"] == "validation"] == [3, 6]
    assert {"loss", "cycle", "cross_modal", "direction", "lambda1"} <= lines[0].keys()
    assert report.steps == 6 and report.frames > 0 and Path(report.checkpoint).name == "00000006"
    assert damage(Path(report.best)) is None and report.score == max(
        line["score"] for line in lines if line["part"] == "validation"
    )
    assert "best:" in render_training(report) and json.dumps(report.to_json())
    assert len(MMCC.from_pretrained(report.best).state) and (Path(report.best) / "vocabulary.txt").is_file()
    assert Config.from_yaml(run / "config.yaml").model.frame_encoder.feature_dims > 0


def test_a_run_and_its_checkpoints_record_what_they_were_trained_on(uncut, vectors_path):
    run, report = uncut
    corpus = Corpus.open(vectors_path)
    for folder in (run, Path(report.best)):
        description = json.loads((folder / "corpus.json").read_text())
        assert description == {
            "path": str(vectors_path.absolute()),
            "videos": len(corpus),
            **corpus.manifest.settings(),
        }


def test_training_changes_the_weights_and_the_seed_changes_training(uncut, vectors_path, tmp_path):
    run_of(vectors_path, tmp_path / "run", tiny_config("train.seed=1"))
    losses = [[line["loss"] for line in read_metrics(run) if "loss" in line] for run in (uncut[0], tmp_path / "run")]
    assert losses[0] != losses[1] and len(set(losses[0])) == 6


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("at", [1, 3, 5])
def test_cut_and_resumed_it_is_the_uncut_run(uncut, vectors_path, tmp_path, workers, at):
    run, config = tmp_path / "run", tiny_config(f"train.workers={workers}")
    with pytest.raises(Cut):
        run_of(vectors_path, run, config, progress=Watcher(at, cut))
    run_of(vectors_path, run, config, resume=True)
    assert_same_run(run, uncut[0])


@pytest.mark.parametrize("workers", [0, 2])
def test_killed_and_resumed_it_is_the_uncut_run(uncut, vectors_path, tmp_path, workers):
    run = tmp_path / "run"
    die = Watcher(5, lambda: os.kill(os.getpid(), signal.SIGKILL))
    done = forked(run_of, vectors_path, run, tiny_config(f"train.workers={workers}"), progress=die)
    assert done.code == -signal.SIGKILL, done.err
    assert Checkpoints(run).steps()[-1] == 4
    run_of(vectors_path, run, tiny_config(f"train.workers={workers}"), resume=True)
    assert_same_run(run, uncut[0])


def test_on_a_remote_corpus_cut_and_resumed_it_is_the_uncut_local_run(uncut, vectors_path, s3, tmp_path):
    """From a local copy, which may be elsewhere when it is resumed."""
    remote, run = upload_folder(vectors_path, s3.bucket() / "kitchen"), tmp_path / "run"
    workers = "train.workers=2"  # forked, after the copy was made
    with pytest.raises(Cut):
        run_of(remote, run, tiny_config(workers, f"data.local={tmp_path / 'one'}"), progress=Watcher(3, cut))
    run_of(remote, run, tiny_config(workers, f"data.local={tmp_path / 'two'}"), resume=True)
    assert all(len(list((tmp_path / name).glob("kitchen-*/manifest.json"))) == 1 for name in ("one", "two"))
    assert json.loads((run / "corpus.json").read_text())["path"] == str(remote)
    assert_same_run(run, uncut[0])


def test_killed_before_its_first_checkpoint_it_does_not_block_the_next(uncut, vectors_path, tmp_path):
    run = tmp_path / "run"
    die = Watcher(1, lambda: os.kill(os.getpid(), signal.SIGKILL))
    done = forked(run_of, vectors_path, run, tiny_config("train.seed=1"), progress=die)
    assert done.code == -signal.SIGKILL, done.err
    assert (run / "config.yaml").is_file() and not Checkpoints(run).steps()
    run_of(vectors_path, run)  # with other settings, and as a new run
    assert_same_run(run, uncut[0])


def signalled_at_its_first_step(number, corpus, run):
    def step(*_):
        os.kill(os.getpid(), number)  # twice: the first one waits for the step to end
        os.kill(os.getpid(), number)

    Stepper.step = step
    run_of(corpus, run)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_before_its_first_checkpoint_it_leaves_nothing(vectors_path, tmp_path, number):
    done = forked(terminable, signalled_at_its_first_step, number, vectors_path, tmp_path / "runs" / "one")
    assert done.code and ("KeyboardInterrupt" in done.err or "Terminated" in done.err), done.err
    assert not (tmp_path / "runs").exists()


def terminable(job, *arguments):
    """As the command line does, let SIGTERM end the program through its exits."""

    class Terminated(BaseException):
        pass

    def terminate(*_):
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    job(*arguments)


@pytest.mark.parametrize("at", [2, 3, 6])  # 3 and 6 are validated
def test_ctrl_c_saves_after_the_step(uncut, vectors_path, tmp_path, at):
    run = tmp_path / "run"
    interrupt = Watcher(at, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run_of(vectors_path, run, progress=interrupt)
    assert Checkpoints(run).steps()[-1] in (at, at + 1)  # it may be heard only after the step that follows
    run_of(vectors_path, run, resume=True)
    assert_same_run(run, uncut[0])


def test_sigterm_reaches_the_program_after_saving(vectors_path, tmp_path):
    class Terminated(BaseException):
        pass

    def terminate(*_):
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        with pytest.raises(Terminated):
            run_of(vectors_path, tmp_path / "run", progress=Watcher(1, lambda: os.kill(os.getpid(), signal.SIGTERM)))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert Checkpoints(tmp_path / "run").steps() == [2]


def test_a_damaged_checkpoint_costs_no_more_than_its_steps(uncut, vectors_path, tmp_path):
    run = tmp_path / "run"
    with pytest.raises(Cut):
        run_of(vectors_path, run, progress=Watcher(5, cut))
    newest = Checkpoints(run).path(4)
    (newest / "model.safetensors").write_bytes(b"damaged")
    said = []
    run_of(vectors_path, run, resume=True, say=said.append)
    assert any("damaged" in line and str(newest) in line for line in said)
    assert any("resuming from step 3" in line for line in said)
    assert_same_run(run, uncut[0])


def test_a_finished_run_has_nothing_left_to_do(uncut, vectors_path, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(uncut[0], run)
    assert run_of(vectors_path, run, resume=True).steps == 6
    assert_same_run(run, uncut[0])


def test_a_run_can_be_made_longer(uncut, vectors_path, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(uncut[0], run)
    assert run_of(vectors_path, run, tiny_config("train.steps=8"), resume=True).steps == 8


def test_in_parts_the_same_samples_are_seen(vectors_path, tmp_path, monkeypatch):
    seen = {1: [], 2: []}
    step = Stepper.step
    for parts, samples in seen.items():

        def watched(self, number, batches, stop=False, samples=samples):
            samples.append(torch.cat([batch.samples for batch in batches]).tolist())
            return step(self, number, batches, stop)

        monkeypatch.setattr(Stepper, "step", watched)
        run_of(vectors_path, tmp_path / str(parts), tiny_config("train.steps=2", f"train.accumulation={parts}"))
    assert seen[1] == seen[2] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_loss_of_nan_ends_the_run_and_is_named(vectors_path, tmp_path, monkeypatch):
    run, objective = tmp_path / "run", MMCCObjective.__call__

    def diverge(self, model, nodes, batch, weights, random):
        losses = objective(self, model, nodes, batch, weights, random)
        if batch.samples[0] >= 12:
            losses.terms["cycle"] = torch.tensor(float("nan"))
        return losses

    monkeypatch.setattr(MMCCObjective, "__call__", diverge)
    with pytest.raises(Diverged, match=r"non-finite loss at step 4 \(cycle = nan\)") as caught:
        run_of(vectors_path, run)
    assert "lr" in caught.value.remedy
    assert Checkpoints(run).steps()[-1] == 3


def test_an_infinite_gradient_never_reaches_the_weights(vectors_path, tmp_path):
    with pytest.raises(Diverged, match="non-finite loss"):
        run_of(vectors_path, tmp_path / "run", tiny_config("train.lr=1e30", "train.steps=20"))


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")])
def test_out_of_memory_says_what_to_do(vectors_path, tmp_path, monkeypatch, error):
    def no_memory(*_):
        raise error

    monkeypatch.setattr(Stepper, "step", no_memory)
    with pytest.raises(InputError, match="ran out of memory") as caught:
        run_of(vectors_path, tmp_path / "run")
    assert "batch_size (now 4)" in caught.value.remedy


def test_another_error_is_not_mistaken_for_a_lack_of_memory(vectors_path, tmp_path, monkeypatch):
    def wrong(*_):
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(Stepper, "step", wrong)
    with pytest.raises(RuntimeError, match="shapes"):
        run_of(vectors_path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_full_disk_ends_the_run_with_its_checkpoint_intact(uncut, vectors_path, tmp_path, monkeypatch):
    run, save = tmp_path / "run", MMCC.save_pretrained

    def full(self, folder):
        if "00000004" in str(folder):
            raise OSError(28, "No space left on device")
        save(self, folder)

    monkeypatch.setattr(MMCC, "save_pretrained", full)
    with pytest.raises(OutputError, match="No space left"):
        run_of(vectors_path, run)
    monkeypatch.undo()
    assert Checkpoints(run).steps() == [2, 3]
    run_of(vectors_path, run, resume=True)
    assert_same_run(run, uncut[0])


def test_a_second_run_in_the_same_folder_is_refused(uncut, vectors_path):
    with pytest.raises(InputError, match="already contains a run"):
        run_of(vectors_path, uncut[0])


@dataclass(frozen=True)
class OfImages(FrameEncoderSettings):
    name: str = "tests/images"


def test_settings_that_fit_the_corpus(vectors_path, tiny):
    corpus = Corpus.open(vectors_path)
    fitted = fit_to_corpus(tiny, corpus)
    assert fitted.model.frame_encoder == FeatureSettings(feature_dims=corpus.manifest.size)
    with pytest.raises(InputError, match="but the frame encoder tests/images reads images"):
        fit_to_corpus(replace(tiny, model=replace(tiny.model, frame_encoder=OfImages())), corpus)
    with pytest.raises(InputError, match="not a device"):
        run_of(vectors_path, Path("unused"), tiny_config("train.device=abacus"))


def test_clipping_bounds_the_gradient(vectors_path, tmp_path):
    """The logged norm is that before clipping; with a tiny bound Adam's second moments stay tiny."""
    run_of(vectors_path, tmp_path / "run", tiny_config("train.grad_clip=1e-6", "train.steps=1"))
    state = load_file(tmp_path / "run" / "checkpoints" / "00000001" / "training_state.safetensors")
    first_moments = torch.cat([value.flatten() for name, value in state.items() if name.endswith("/exp_avg")])
    assert first_moments.norm().item() == pytest.approx(0.1 * 1e-6, rel=1e-3)
    assert read_metrics(tmp_path / "run")[0]["gradient_norm"] > 1e-3


def test_published_weights_that_do_not_fit_are_bad_input(vectors_path, tmp_path):
    with pytest.raises(InputError, match="published weights are for"):
        run_of(vectors_path, tmp_path / "run", tiny_config("train.frame_weights=resnet18.safetensors"))


def test_training_starts_from_published_weights(tmp_path):
    save_file(ResNet18().state_dict(), tmp_path / "resnet18.safetensors")
    config = tiny_config(f"train.frame_weights={tmp_path}/resnet18.safetensors")
    with join_world("cpu") as world:
        built = build_model(config, 10, world).frame_encoder.resnet.state_dict()
    published = load_file(tmp_path / "resnet18.safetensors")
    assert all(torch.equal(built[name], tensor) for name, tensor in published.items())
