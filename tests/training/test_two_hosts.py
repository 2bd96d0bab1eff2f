"""Training on two hosts, of which one dies: torchrun starts both again, and they arrive at the same losses."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file

from mmcc.training.checkpoints import Checkpoints
from mmcc.training.run import read_metrics
from tests.training.test_processes import TIMES
from tests.two_hosts import Host, two_hosts

STEPS, EVERY = 40, 2
SETTINGS = {"model.dims": 16, "train.steps": STEPS, "train.batch_size": 4, "train.checkpoint_every": EVERY}
SETTINGS |= {"train.keep": STEPS, "train.log_every": 1, "train.workers": 0, "train.validate_every": STEPS}
SETTINGS |= {"train.validation_segments": 8, "train.device": "cpu"}
PATIENCE = 300  # seconds


def training(corpus: Path, run: Path) -> list[str]:
    """With --resume from the start, so that a restart continues; the configuration must be named for that."""
    words = ["-m", "mmcc", "train", corpus, "-o", run, "--config", "mmcc_plus", "--anyway", "--resume"]
    return [*map(str, words), *(word for name, value in SETTINGS.items() for word in (f"--{name}", str(value)))]


def start(host: Host, rendezvous: str, words: list[str], log: Path) -> subprocess.Popen:
    environment = os.environ | {"GLOO_SOCKET_IFNAME": host.device, "OMP_NUM_THREADS": "1"}
    environment["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"  # else who returns waits for an address that nobody tells
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
    torchrun += ["--max-restarts", "3", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"{rendezvous}:29400"]
    torchrun += ["--rdzv-id", "kitchen", "--local-addr", host.address]
    torchrun += ["--rdzv-conf", f"is_host={int(host.address == rendezvous)},join_timeout={PATIENCE}"]
    with log.open("a") as file:
        return subprocess.Popen(host.command(*torchrun, *words), env=environment, stdout=file, stderr=file)


@pytest.mark.slow
def test_when_a_host_dies_and_comes_back_the_losses_are_those_of_an_undisturbed_run(vectors_path, tmp_path):
    alone = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    reference = subprocess.Popen(
        [*alone, *training(vectors_path, tmp_path / "undisturbed")],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    run, log = tmp_path / "run", tmp_path / "log"
    with two_hosts() as (first, second):
        words = training(vectors_path, run)
        stays = start(first, first.address, words, log)
        dies = start(second, first.address, words, log)
        wait_for(lambda: Checkpoints(run).steps(), log)
        second.kill_all()
        dies.wait()
        reached = max(Checkpoints(run).steps())
        assert reached < STEPS, "it had ended before: the test proves nothing"
        returns = start(second, first.address, words, log)
        assert stays.wait(PATIENCE) == 0 and returns.wait(PATIENCE) == 0, log.read_text()[-4000:]
    assert reference.wait(PATIENCE) == 0
    assert same(run, tmp_path / "undisturbed")
    assert "resuming from step" in log.read_text()


def wait_for(condition, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.01)


def same(run: Path, other: Path) -> bool:
    """The same losses, validation and last weights, to the bit."""
    ours, theirs = (
        [{k: v for k, v in line.items() if k not in TIMES} for line in read_metrics(each)] for each in (run, other)
    )
    weights = [load_file(each / "checkpoints" / f"{STEPS:08d}" / "model.safetensors") for each in (run, other)]
    assert len(ours) == STEPS + 1
    return ours == theirs and all(weights[0][name].equal(weights[1][name]) for name in weights[1])
