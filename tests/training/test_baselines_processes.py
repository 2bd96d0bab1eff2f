"""A model with a frozen half trains in two processes as in one."""

import os
import socket
from pathlib import Path

import pytest
import torch
import torch.multiprocessing as mp
from safetensors.torch import load_file

from mmcc.training.run import read_metrics
from tests.training.test_loop import run_of
from tests.training.tiny_runs import tiny_config


def anticipating(init: str):
    return tiny_config(
        *("objective.name=representation_anticipation", "data.frame_rates=[1.0]", f"train.init={init}"),
        *("train.steps=2", "train.checkpoint_every=1", "train.keep=2"),
    )


def one_of_two(rank: int, port: int, corpus: str, run: str, init: str) -> None:
    """What torchrun does: the same command with these variables set."""
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    run_of(Path(corpus), Path(run), anticipating(init))


def test_two_processes_equal_one(vectors_path, tmp_path):
    run_of(vectors_path, tmp_path / "init", tiny_config("objective.name=cross_modal", "train.steps=2"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    init = str(tmp_path / "init")
    mp.spawn(one_of_two, (port, str(vectors_path), str(tmp_path / "two"), init), nprocs=2)
    run_of(vectors_path, tmp_path / "one", anticipating(init))
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
