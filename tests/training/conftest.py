"""A corpus small enough to train on in seconds."""

from pathlib import Path

import pytest
import torch

from mmcc.cli.main import main
from mmcc.training.config import Config
from tests.training.tiny_runs import tiny_config


@pytest.fixture(scope="session")
def vectors_path(tmp_path_factory) -> Path:
    """Feature vectors of 24 kitchen videos, some of them for validation."""
    folder = tmp_path_factory.mktemp("training")
    arguments = ["kitchen", str(folder / "kitchen"), "--videos", "24", "--features", "--no-pixels"]
    assert main(arguments) == 0
    assert main(["ingest", str(folder / "kitchen"), "-o", str(folder / "corpus"), "--features", "1"]) == 0
    return folder / "corpus"


@pytest.fixture
def tiny() -> Config:
    return tiny_config()


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
