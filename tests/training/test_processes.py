"""Two processes train like one."""

import os
from pathlib import Path

import pytest
import torch
import torch.multiprocessing as mp
from safetensors.torch import load_file

from mmcc.errors import InputError
from mmcc.training.checkpoints import read_progress
from mmcc.training.loop import train
from mmcc.training.processes import ProcessGroup, choose_device, join_world, talks
from mmcc.training.run import read_metrics
from tests.training.tiny_runs import tiny_config

CONFIG = ("train.steps=3", "train.checkpoint_every=1", "train.keep=3", "train.validate_every=3")
TIMES = {"frames_per_second", "waiting_share"}


def one_of_two(rank: int, port: int, corpus: str, run: str) -> None:
    """What torchrun does: the same command with these variables set."""
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    train(Path(corpus), Path(run), tiny_config(*CONFIG))


@pytest.fixture(scope="module")
def both(vectors_path, tmp_path_factory):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("processes")
    mp.spawn(one_of_two, (port, str(vectors_path), str(folder / "two")), nprocs=2)
    torch.set_num_threads(1)
    train(vectors_path, folder / "one", tiny_config(*CONFIG))
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
