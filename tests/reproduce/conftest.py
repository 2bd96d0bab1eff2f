"""A small reproduction that is never stopped, to compare others with."""

from pathlib import Path

import pytest

from mmcc.reproduce import plan
from mmcc.reproduce.reproduce import reproduce
from tests.reproduce.tiny_reproduction import SMALL, TINY


@pytest.fixture(scope="session")
def uncut(steps_corpus, tmp_path_factory) -> Path:
    """The folder of SMALL as Table 2, trained one by one and never stopped."""
    out = tmp_path_factory.mktemp("uncut") / "out"
    before, plan.TABLES["table2"] = plan.TABLES["table2"], SMALL
    reproduce(["table2"], steps_corpus, out, budget=TINY, say=lambda line: None)
    plan.TABLES["table2"] = before
    return out
