"""Does real narration help? MMCC+ trained with and without it, on the folds of scripts.real_results.

    python -m scripts.narration_results ../shared/data -o build/real

The narration of some 300 YouCook2 videos is added to the training videos in three ways: as videos of its own (of the
videos without stills), all of its sentences or those that a person marked as useful; and the useful ones as further
utterances of their videos. Every model is measured on the stills and step sentences of the videos, or dishes, held
out. Finished runs are kept in the output folder, and those of scripts.real_results are used: the command can be stopped
and run again.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from mmcc.cli.main import main as mmcc
from mmcc.corpus.ingest import IngestSettings, ingest
from mmcc.corpus.youcook2 import read_youcook2
from mmcc.errors import InputError
from mmcc.media.video import Sampling
from scripts.real_results import (
    FEW_FRAMES,
    FOLDS,
    FRAMES,
    KINDS,
    MODELS,
    SIZE,
    TEXT,
    Model,
    differences,
    model_figures,
    prepare,
    table,
    train_and_measure,
)


class Narrated(NamedTuple):
    """MMCC+, trained with narration."""

    model: Model
    apart: bool  # videos of its own, or further utterances
    useful: bool  # sentences marked as useful, or all


NARRATED = (
    Narrated(Model("narration apart", FEW_FRAMES), apart=True, useful=False),
    Narrated(Model("narration apart, useful", FEW_FRAMES), apart=True, useful=True),
    Narrated(Model("narration within, useful", FEW_FRAMES), apart=False, useful=True),
)
PLAIN = MODELS[-1]  # MMCC+


def with_narration(data: Path, out: Path, plain: Path, narrated: Narrated) -> Path:
    """A copy of the corpus with narration, embedded."""
    corpus = out / f"{narrated.model.name}.corpus"
    if not corpus.exists():
        shutil.copytree(plain, corpus)
    root = data / "youcook2"
    source = read_youcook2(root, root / "narration.json", apart=narrated.apart, useful=narrated.useful)
    ingest(source, corpus, IngestSettings(Sampling(size=SIZE)))
    words = ["embed", str(corpus), "--frames", FRAMES, "--text", TEXT]
    if mmcc(words):
        raise InputError(corpus, f"mmcc {' '.join(words)} failed", "See above.")
    return corpus


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that contains youcook2")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    plain = prepare(given.data, given.output)
    corpora = {each.model: with_narration(given.data, given.output, plain, each) for each in NARRATED}
    corpora[PLAIN] = plain
    folds = [f"{fold}/{FOLDS}{end}" for end in KINDS.values() for fold in range(FOLDS)]
    jobs = [(corpus, given.output, model, fold) for model, corpus in corpora.items() for fold in folds]
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        done = pool.map(partial(train_and_measure, on=plain), jobs)
        for _ in tqdm(done, total=len(jobs), desc="train", disable=None):
            pass
    for kind in KINDS:
        results = {model.label: model_figures(given.output, model, kind) for model in corpora}
        print(f"### Held-out {kind}", table(results), "Paired differences:", differences(results), "", sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
