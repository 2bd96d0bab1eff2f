"""Two processes train like one: MMCC, and a model with a frozen half."""

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from mmcc.errors import InputError
from mmcc.training.checkpoints import read_progress
from mmcc.training.processes import ProcessGroup, choose_device, join_world, talks
from mmcc.training.run import read_metrics
from tests.training.test_loop import run_of
from tests.training.tiny_runs import tiny_config
from tests.two_processes import free_port

CONFIG = ("train.steps=3", "train.checkpoint_every=1", "train.keep=3", "train.validate_every=3")
TIMES = {"frames_per_second", "waiting_share"}


def anticipating(init: str) -> tuple[str, ...]:
    return (
        *("objective.name=representation_anticipation", "data.frame_rates=[1.0]", f"train.init={init}"),
        *("train.steps=2", "train.checkpoint_every=1", "train.keep=2"),
    )


def one_of_two(rank: int, port: int, corpus: str, run: str, settings: tuple[str, ...]) -> None:
    """What torchrun does: the same command with these variables set."""
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    run_of(Path(corpus), Path(run), tiny_config(*settings))


@pytest.fixture(scope="module")
def both(two_processes, vectors_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("processes")
    two_processes.run(one_of_two, free_port(), str(vectors_path), str(folder / "two"), CONFIG)
    run_of(vectors_path, folder / "one", tiny_config(*CONFIG))
    return folder / "one", folder / "two"


def test_gradients_are_equal(both):
    """After one step Adam's first moment is 0.1 of the gradient."""
    one, two = (load_file(run / "checkpoints" / "00000001" / "training_state.safetensors") for run in both)
    names = [name for name in one if name.endswith("/exp_avg")]
    assert names and one.keys() == two.keys()
    for name in names:
        assert torch.allclose(10 * one[name], 10 * two[name], atol=1e-5), name
    assert max(one[name].abs().max() for name in names) > 1e-3


def test_losses_and_validation_are_equal(both):
    one, two = map(read_metrics, both)
    assert len(one) == len(two) == 4
    for a, b in zip(one, two, strict=True):
        assert a["part"] == b["part"]
        if a["part"] == "train":
            assert a.keys() == b.keys()
            for name in a.keys() - TIMES - {"part"}:
                assert a[name] == pytest.approx(b[name], rel=1e-5, abs=1e-5), (a["step"], name)
        else:  # ranks can jump where two scores nearly tie
            assert a["score"] == pytest.approx(b["score"], abs=0.5)


def test_frames_of_all_processes_are_counted(both):
    one, two = (read_progress(run / "checkpoints" / "00000003") for run in both)
    assert one.frames == two.frames > 0 and one.samples == two.samples


def test_a_frozen_half_stays_and_the_rest_learns_as_in_one_process(two_processes, vectors_path, tmp_path):
    run_of(vectors_path, tmp_path / "init", tiny_config("objective.name=cross_modal", "train.steps=2"))
    settings = anticipating(str(tmp_path / "init"))
    two_processes.run(one_of_two, free_port(), str(vectors_path), str(tmp_path / "two"), settings)
    run_of(vectors_path, tmp_path / "one", tiny_config(*settings))
    first, second = "checkpoints/00000001", "checkpoints/00000002"
    one, two = (load_file(tmp_path / run / first / "training_state.safetensors") for run in ("one", "two"))
    assert one.keys() == two.keys()
    for name in one:  # after one step Adam's first moment is 0.1 of the gradient
        if name.endswith("/exp_avg"):
            assert torch.allclose(10 * one[name], 10 * two[name], atol=1e-5), name
    one, two = (load_file(tmp_path / run / second / "model.safetensors") for run in ("one", "two"))
    frozen = [name for name in one if name.startswith("target.")]
    assert len(frozen) > 20 and all(torch.equal(one[name], two[name]) for name in frozen)
    for ours, theirs in zip(*(read_metrics(tmp_path / run) for run in ("one", "two")), strict=True):
        if ours["part"] == "train":
            assert ours["anticipation"] == pytest.approx(theirs["anticipation"], abs=1e-5)


def test_a_single_process_is_its_own_world(monkeypatch):
    assert talks()
    monkeypatch.setenv("RANK", "1")
    assert not talks()
    with join_world("cpu") as world:
        assert (world.rank, world.size, world.writes) == (0, 1, True)
    tensor = torch.ones(3)
    assert ProcessGroup().average(tensor) is tensor and ProcessGroup().add(tensor).tolist() == [1, 1, 1]
    assert ProcessGroup().broadcast_text("words") == "words"


def test_devices():
    assert choose_device("cpu").type == "cpu"
    if not torch.cuda.is_available():
        assert choose_device("auto").type == "cpu"
        with pytest.raises(InputError, match="not available"):
            choose_device("cuda")
    with pytest.raises(InputError, match="not a device"):
        choose_device("abacus")
