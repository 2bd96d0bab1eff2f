"""Settings of a run that takes seconds."""

import pytest

from mmcc.training.config import Config
from tests.training.tiny_runs import tiny_config


@pytest.fixture
def tiny() -> Config:
    return tiny_config()
