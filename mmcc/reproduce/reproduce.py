"""The paper's tables in one call.

>>> published = reproduce(["table2"], Path("kitchen.corpus"), Path("out"), budget=QUICK, seeds=1)
>>> print(published.to_markdown())
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mmcc.errors import InputError
from mmcc.evaluation.evaluator import Bars
from mmcc.files import writing
from mmcc.locks import only_writer
from mmcc.reproduce.plan import FULL, TABLES, Budget
from mmcc.reproduce.publish import Published, publish
from mmcc.reproduce.runner import Runner
from mmcc.reproduce.trainings import Say
from mmcc.training.bar import say

ALL = "all"


def reproduce(
    tables: Sequence[str],
    corpus: Path,
    out: Path,
    *,
    budget: Budget = FULL,
    seeds: int | None = None,
    say: Say = say,
    bars: Bars | None = None,
    at_once: int = 1,
    imagenet: Path | None = None,
    encoder: str | None = None,
) -> Published:
    """Train and measure what the tables ("all" means every one) still need, and write them to `out`.

    `seeds`: the number of training seeds; by default each table's own. Tables finished before are shown too.
    `at_once`: the number of runs to train at a time, each in a process. `imagenet`: ResNet-18 weights for that row.
    `encoder`: the pretrained frame encoder whose vectors every model reads; by default all learn to see from scratch.
    """
    wanted = [name for name in TABLES if name in tables or ALL in tables]
    if out.exists() and not out.is_dir():
        raise InputError(out, "is not a folder", "Name a folder for the results.")
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    with only_writer(out):
        runner = Runner(corpus, out, budget, say=say, bars=bars, at_once=at_once, imagenet=imagenet, encoder=encoder)
        measured = runner.run(wanted, seeds)
        shown = [name for name in TABLES if name in measured or runner.is_complete(name, seeds)]
        return publish(runner, shown, seeds)
