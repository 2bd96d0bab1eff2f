"""Small reproductions that are never stopped, to compare others with."""

from pathlib import Path

import pytest

from mmcc.reproduce import plan
from mmcc.reproduce.plan import TablePlan
from mmcc.reproduce.reproduce import reproduce
from tests.reproduce.tiny_reproduction import SMALL, SMALLEST, TINY


def reproduced(table: TablePlan, corpus: Path, out: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plan.TABLES, "table2", table)
        reproduce(["table2"], corpus, out, budget=TINY, say=lambda line: None)
    return out


@pytest.fixture(scope="session")
def uncut(steps_corpus, tmp_path_factory) -> Path:
    """The folder of SMALL as Table 2, trained one by one and never stopped."""
    return reproduced(SMALL, steps_corpus, tmp_path_factory.mktemp("uncut") / "out")


@pytest.fixture(scope="session")
def smallest_uncut(steps_corpus, tmp_path_factory) -> Path:
    """The same of SMALLEST."""
    return reproduced(SMALLEST, steps_corpus, tmp_path_factory.mktemp("smallest_uncut") / "out")
