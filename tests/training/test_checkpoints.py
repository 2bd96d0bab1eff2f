import errno
import json
import os
import resource
from pathlib import Path

import pytest
import torch
from torch import nn

from mmcc.errors import InputError, OutputError
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.models.model import MMCC
from mmcc.training import checkpoints
from mmcc.training.checkpoints import Checkpoints, TrainingProgress, damage, load, load_optimizer, optimizer_tensors
from tests.forked import forked

CONFIG = ModelConfig(dims=8, frame_encoder=FeatureSettings(feature_dims=4))


def trained(steps=2, seed=0):
    """A small model that has some state in its optimizer."""
    torch.manual_seed(seed)
    model = MMCC(CONFIG, 12)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=True)
    for _ in range(steps):
        optimizer.zero_grad()
        (
            model.embed_frames(torch.randn(5, 4)).square().sum() + model.embed_words(torch.ones(2, 3).long()).sum()
        ).backward()
        optimizer.step()
    return model, optimizer


def save(folder, step, model=None, optimizer=None, keep=2, best=0):
    if model is None:
        model, optimizer = trained(seed=step)
    progress = TrainingProgress(step=step, best_step=best, best_score=1.0 if best else None)
    return Checkpoints(folder, keep).save(
        model, optimizer_tensors(optimizer, model), progress, {"config.yaml": "a: 1\n"}
    )


def no_message(line):
    raise AssertionError(line)


def test_round_trip_is_exact(tmp_path):
    model, optimizer = trained()
    path = save(tmp_path, 7, model, optimizer)
    other, other_optimizer = trained(seed=1)
    assert load(path, other, other_optimizer).step == 7
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))
    mine, theirs = optimizer_tensors(optimizer, model), optimizer_tensors(other_optimizer, other)
    assert mine.keys() == theirs.keys() and all(torch.equal(mine[name], theirs[name]) for name in mine)
    assert optimizer.param_groups[0]["lr"] == other_optimizer.param_groups[0]["lr"]


def test_a_checkpoint_is_a_pretrained_model(tmp_path):
    model, optimizer = trained()
    path = save(tmp_path, 1, model, optimizer)
    assert torch.equal(MMCC.from_pretrained(path).state[0].weight, model.state[0].weight)


def test_it_contains_no_pickle(tmp_path):
    names = {each.name for each in save(tmp_path, 1).iterdir()}
    assert names == {
        *("config.json", "model.safetensors", "config.yaml", "manifest.json"),
        *("training_state.safetensors", "training_state.json"),
    }


def test_state_takes_the_layout_of_its_parameter():
    model = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    state = {"weight/step": torch.tensor(3.0), "weight/exp_avg": torch.arange(108.0).reshape(4, 3, 3, 3)}
    load_optimizer(optimizer, model, state)
    held = optimizer.state[model.weight]["exp_avg"]
    assert held.stride() == model.weight.stride() and torch.equal(held, state["weight/exp_avg"])


def test_the_newest_and_the_best_are_kept(tmp_path):
    model, optimizer = trained()
    for step in (2, 4, 6, 8, 10):
        save(tmp_path, step, model, optimizer, best=4 if step >= 4 else 0)
    assert Checkpoints(tmp_path).steps() == [4, 8, 10]
    assert not [path for path in (tmp_path / "checkpoints").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["model.safetensors", "training_state.safetensors", "training_state.json"])
@pytest.mark.parametrize("how", ["changed", "cut", "gone"])
def test_damage_is_noticed_and_the_previous_checkpoint_used(tmp_path, name, how):
    before, newest = save(tmp_path, 2), save(tmp_path, 4)
    content = (newest / name).read_bytes()
    if how == "changed":
        (newest / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif how == "cut":
        (newest / name).write_bytes(content[: len(content) // 2])
    else:
        (newest / name).unlink()
    said = []
    assert Checkpoints(tmp_path).newest(said.append) == before
    assert len(said) == 1 and str(newest) in said[0] and name in said[0]


@pytest.mark.parametrize("manifest", [None, "", "[]", "{}", '{"model.safetensors": "0"}'])
def test_without_a_good_manifest_it_is_damaged(tmp_path, manifest):
    path = save(tmp_path, 2)
    if manifest is None:
        (path / "manifest.json").unlink()
    else:
        (path / "manifest.json").write_text(manifest)
    assert damage(path)
    with pytest.raises(InputError, match="none of its 1 checkpoints is intact"):
        Checkpoints(tmp_path).newest(lambda _: None)


def test_no_checkpoint_yet(tmp_path):
    assert Checkpoints(tmp_path).newest(no_message) is None


def test_after_a_fallback_the_damaged_one_is_written_again(tmp_path):
    save(tmp_path, 2)
    (save(tmp_path, 6) / "model.safetensors").write_bytes(b"")
    save(tmp_path, 4)  # the run fell back to 2 and reached 4
    assert Checkpoints(tmp_path).steps() == [2, 4]
    assert damage(save(tmp_path, 4)) is None  # and the same step again


@pytest.mark.parametrize("fails_at", ["model", "state", "manifest", "rename"])
def test_a_full_disk_leaves_the_last_checkpoint_intact(tmp_path, monkeypatch, fails_at):
    last = save(tmp_path, 2)
    model, optimizer = trained()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if fails_at == "model":
        monkeypatch.setattr(model, "save_pretrained", full)
    elif fails_at == "rename":
        monkeypatch.setattr(Path, "rename", full)
    else:
        monkeypatch.setattr(checkpoints, {"state": "serialize", "manifest": "seal"}[fails_at], full)
    with pytest.raises(OutputError, match="No space left"):
        save(tmp_path, 4, model, optimizer)
    monkeypatch.undo()
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == [last.name]
    assert Checkpoints(tmp_path).newest(no_message) == last and damage(last) is None
    assert damage(save(tmp_path, 4, model, optimizer)) is None  # once there is room again


def test_writes_that_really_fail(tmp_path):
    """The kernel refuses to write more than 4 kB, also for the library that writes the tensors."""

    def save_what_is_too_large():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        with pytest.raises(OutputError):
            save(tmp_path, 4, model, optimizer)

    model, optimizer = trained()
    save(tmp_path, 2, model, optimizer)
    done = forked(save_what_is_too_large)
    assert done.code == 0, done.err
    assert Checkpoints(tmp_path).steps() == [2] and damage(Checkpoints(tmp_path).path(2)) is None


def test_leftovers_of_an_interrupted_save_are_removed(tmp_path):
    left = tmp_path / "checkpoints" / ".tmp-00000009"
    left.mkdir(parents=True)
    (left / "model.safetensors").write_bytes(b"half")
    assert Checkpoints(tmp_path).newest(no_message) is None
    save(tmp_path, 2)
    assert not left.exists()


def test_another_model_is_named(tmp_path):
    path = save(tmp_path, 2)
    other = MMCC(ModelConfig(dims=4, frame_encoder=FeatureSettings(feature_dims=4)), 12)
    with pytest.raises(InputError, match="does not fit the model"):
        load(path, other, torch.optim.AdamW(other.parameters()))


def test_counters_and_checksums_are_plain_json(tmp_path):
    path = save(tmp_path, 2)
    assert json.loads((path / "training_state.json").read_text())["step"] == 2
