"""A whole demo, of next to no size: the kitchen, two runs, their figures, the page."""

import pytest
import torch

from tests.demo.tiny_demo import Made


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Made:
    folder = tmp_path_factory.mktemp("demo")
    patch = pytest.MonkeyPatch()
    patch.setenv("MMCC_CACHE", str(folder / "cache"))
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    found = Made(folder / "out")
    found.results = found.run()
    found.first_said = list(found.said)
    yield found
    torch.set_num_threads(before)
    patch.undo()
