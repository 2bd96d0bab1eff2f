"""Whether a crash, a failing disk or a power cut at any file event loses or changes a result.

    python -m benchmarks.reliability.faults [--every 1] [--only train,checkpoint,cache,index]

For every n, the n-th file event (create, write, rename, fsync, unlink, mkdir) of a job ends the process, or fails with
ENOSPC or EIO, or is where the power goes and only what was flushed is left. Then the same command runs again, on a disk
that works: its result must be that of an undisturbed one, to the bit.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch look: forked children have no threads of their own

import io
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from benchmarks.common import Figure, Figures, command_line, finish
from benchmarks.reliability.runs import SMALL
from mmcc.checksums import checksum
from mmcc.cli.main import main as mmcc
from mmcc.errors import OutputError
from mmcc.tools.cache import Answer, Cache
from tests.faults import DIED, KINDS, Fault, events_of, with_fault
from tests.forked import forked, load_torch

REFUSED = (3,)  # exit codes of a command that says that the disk failed
LOST, BUG = "another result", "exit 1 or a signal"


class Job(NamedTuple):
    """`work(place)` writes into a folder and ends with an exit code; `result(place)` is what counts of it."""

    name: str
    work: Callable[[Path], int]
    result: Callable[[Path], str]


class Found(NamedTuple):
    """Of one job: how many events it has, and what each fault led to."""

    events: int
    outcomes: Counter[str]
    told: list[str]  # what is not as it should be


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every so many events")
    parser.add_argument("--only", help="comma-separated: train, checkpoint, cache, index")
    options = parser.parse_args(arguments)
    figures = Figures()
    with TemporaryDirectory(prefix="faults-") as name:
        jobs = make_jobs(Path(name))
        for job in jobs if options.only is None else [each for each in jobs if each.name in options.only.split(",")]:
            found = try_all(job, Path(name) / job.name, every=options.every)
            for line in found.told:
                print(line)
            done = sum(found.outcomes.values())
            for outcome in (LOST, BUG):
                bad = found.outcomes[outcome]
                figures.equal(f"{job.name}: {outcome}, of {done:,} faults at {found.events} events", bad, 0)
    return figures.measured


def try_all(job: Job, place: Path, *, every: int = 1, kinds: Sequence[str] = KINDS, first: int = 0) -> Found:
    """Every kind of fault at every event, or at every so many, beginning with the `first`."""
    place.mkdir(parents=True, exist_ok=True)
    whole = place / "whole"
    whole.mkdir()
    events = events_of(lambda: _work(job, whole), whole)
    expected = job.result(whole)
    outcomes, told = Counter[str](), []
    faults = [Fault(kind, at) for at in range(first, len(events), every) for kind in kinds]
    for fault in tqdm(faults, desc=job.name, unit="", disable=None):
        root = place / "one"
        root.mkdir()
        outcome, why = _try(job, root, fault, expected)
        outcomes[outcome] += 1
        if outcome in (LOST, BUG):
            told.append(f"{job.name}: {fault.kind} at {fault.at} ({events[fault.at]}): {outcome}: {why[-800:]}")
        shutil.rmtree(root)
    return Found(len(events), outcomes, told)


def _try(job: Job, root: Path, fault: Fault, expected: str) -> tuple[str, str]:
    ended = with_fault(lambda: _work(job, root), root, fault)
    root.mkdir(exist_ok=True)
    if ended.code not in (0, DIED, *REFUSED):
        return BUG, f"it ended with {ended.code}\n{ended.err}"
    again = forked(_work, job, root)
    if again.code:
        return BUG, f"the second ended with {again.code}\n{again.err}"
    return ("same", "") if job.result(root) == expected else (LOST, job.result(root))


def _work(job: Job, place: Path) -> None:
    code = job.work(place)
    if code:
        raise SystemExit(code)


def make_jobs(folder: Path) -> list[Job]:
    """On a world of a few videos, which are made first."""
    load_torch()
    corpus = folder / "corpus"
    _quietly("kitchen", folder / "kitchen", "--videos", 8, "--recipes", 1, "--features", "--no-pixels")
    _quietly("ingest", folder / "kitchen", "-o", corpus, "--features", 1)
    _train(corpus, folder / "run")

    def index(place: Path) -> int:
        os.environ["MMCC_CACHE"] = str(folder / "cache")
        words = ("search", folder / "run", corpus, "--text", "add", "--index", place / "index", "--json")
        return _mmcc(*words)

    def index_of(place: Path) -> str:
        return _contents(place / "index", "*.*")

    index(folder)  # so that what it embeds is in the cache
    return [
        checkpoint_job(),
        cache_job(),
        Job("index", index, index_of),
        Job("train", lambda place: _train(corpus, place / "run"), _trained),
    ]


def cache_job() -> Job:
    """Two answers that are kept."""

    def work(place: Path) -> int:
        cache = Cache(place / "cache")
        for number in range(2):
            found = cache.remember("embedding", [str(number)], lambda: Answer({"z": np.arange(9.0)}, {"a": "b"}))
            assert found.facts == {"a": "b"} and found.arrays["z"].tolist() == list(range(9))
        return 0

    return Job("cache", work, lambda place: _contents(place / "cache", "*.npz"))


def checkpoint_job() -> Job:
    """Three checkpoints of a run, of which two are kept."""
    import torch

    from mmcc.models.config import ModelConfig
    from mmcc.models.encoders import FeatureSettings
    from mmcc.models.model import MMCC
    from mmcc.training.checkpoints import Checkpoints, TrainingProgress, optimizer_tensors

    torch.manual_seed(0)
    model = MMCC(ModelConfig(dims=4, frame_encoder=FeatureSettings(feature_dims=4)), 8)
    tensors = optimizer_tensors(torch.optim.AdamW(model.parameters()), model)

    def work(place: Path) -> int:
        try:
            kept = Checkpoints(place, keep=2)
            newest = kept.newest(lambda line: None)
            for step in range(int(newest.name) + 1 if newest else 1, 4):
                kept.save(model, tensors, TrainingProgress(step=step), {"config.yaml": "a: 1\n"})
        except OutputError:
            return REFUSED[0]
        return 0

    def result(place: Path) -> str:
        newest = Checkpoints(place).newest(lambda line: None)
        return _contents(newest, "*") if newest else ""

    return Job("checkpoint", work, result)


def _trained(place: Path) -> str:
    """The last weights, the state of the optimizer, and what was logged, without how long it took."""
    last = place / "run" / "checkpoints" / f"{SMALL['train.steps']:08d}"
    lines = [json.loads(line) for line in (place / "run" / "metrics.jsonl").read_text().splitlines()]
    timed = ("frames_per_second", "waiting_share")
    logged = [{name: value for name, value in line.items() if name not in timed} for line in lines]
    return json.dumps([_contents(last, "*.safetensors"), _contents(last, "*.txt"), logged])


def _contents(folder: Path, pattern: str) -> str:
    return json.dumps({path.name: checksum(path) for path in sorted(folder.rglob(pattern)) if path.is_file()})


def _train(corpus: Path, run: Path) -> int:
    """Start a run, or continue one that has a checkpoint."""
    settings = [word for name, value in SMALL.items() for word in (f"--{name}", value)]
    resume = ["--resume"] if any((run / "checkpoints").glob("0*")) else []
    return _mmcc("train", corpus, "-o", run, "--anyway", *settings, *resume)


def _quietly(*words: object) -> None:
    if _mmcc(*words) not in (0, 4):
        raise RuntimeError(f"mmcc {' '.join(map(str, words))} failed")


def _mmcc(*words: object) -> int:
    shown = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(shown):
        code = mmcc([str(word) for word in words])
    if code not in (0, 4):
        print(shown.getvalue(), file=sys.stderr)
    return code


if __name__ == "__main__":
    finish(main())
