"""A corpus of feature vectors with steps, related tasks and all, and a whole reproduction of it in seconds."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from mmcc.cli.main import main
from mmcc.models.resnet import ResNet18
from mmcc.reproduce import plan
from mmcc.reproduce.publish import Published
from mmcc.reproduce.reproduce import reproduce
from tests.reproduce.tiny_reproduction import SMALL, TINY, own_videos


@pytest.fixture(scope="session")
def steps_corpus(tmp_path_factory) -> Path:
    """60 kitchen videos of 3 primary tasks and a related one, 12 of them held out."""
    folder = tmp_path_factory.mktemp("reproduce")
    arguments = ["kitchen", str(folder / "kitchen"), "--videos", "60", "--recipes", "3", "--features", "--no-pixels"]
    assert main(arguments) == 0
    assert main(["ingest", str(folder / "kitchen"), "-o", str(folder / "corpus"), "--features", "1"]) == 0
    return folder / "corpus"


@pytest.fixture(scope="session")
def unlabelled(tmp_path_factory) -> Path:
    """A corpus without steps."""
    return own_videos(tmp_path_factory.mktemp("unlabelled"), dims=256)


@pytest.fixture(scope="session")
def pictures(tmp_path_factory) -> Path:
    """Ten videos of one task, 32 pixels wide; two of them held out."""
    folder = tmp_path_factory.mktemp("pictures")
    arguments = ["kitchen", str(folder / "kitchen"), "--videos", "10", "--recipes", "1", "--size", "32", "--fps", "1"]
    assert main(arguments) == 0
    assert main(["ingest", str(folder / "kitchen"), "-o", str(folder / "corpus"), "--size", "32"]) == 0
    return folder / "corpus"


@pytest.fixture(scope="session")
def resnet(tmp_path_factory) -> Callable[[int], Path]:
    """Weights like torchvision's, of a seed, in a file."""
    folder = tmp_path_factory.mktemp("weights")

    def write(seed: int) -> Path:
        torch.manual_seed(seed)
        save_file(ResNet18().state_dict(), folder / f"resnet18-{seed}.safetensors")
        return folder / f"resnet18-{seed}.safetensors"

    return write


@pytest.fixture(scope="session")
def finished(steps_corpus, tmp_path_factory) -> tuple[Path, Published]:
    """Tables 2 to 4 and transfer, of one seed: the folder, and what was found."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("finished") / "out"
    found = reproduce(["table2", "table3", "table4", "transfer"], steps_corpus, out, budget=TINY, seeds=1)
    torch.set_num_threads(before)
    return out, found


@pytest.fixture(scope="session")
def uncut(steps_corpus, tmp_path_factory) -> Path:
    """The folder of SMALL as Table 2, trained one by one and never stopped."""
    out = tmp_path_factory.mktemp("uncut") / "out"
    before, plan.TABLES["table2"] = plan.TABLES["table2"], SMALL
    torch.set_num_threads(1)
    reproduce(["table2"], steps_corpus, out, budget=TINY, say=lambda line: None)
    plan.TABLES["table2"] = before
    return out


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
