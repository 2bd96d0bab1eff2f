"""Whether SIGKILL at random times loses or changes a result.

    python -m benchmarks.reliability.kills [--kills 500] [--only ingest,kitchen,train,embed,merge,compact] [--seed 0]

A command is started and killed after a random part of the time that it takes, up to three times in the same folder;
then it runs to its end. Its result must be that of a command that nobody killed, to the bit, and what it writes must be
sound after each kill. A command that ends before it is killed does not count.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch look: forked children have no threads of their own

import random
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tqdm import tqdm

from benchmarks.common import Figure, Figures, command_line, finish
from benchmarks.reliability.jobs import Job, do, make_jobs
from tests.forked import Forked, forked

KILLED = ("ingest", "kitchen", "train", "embed", "merge", "compact")
_IN_A_ROW = 3


class Killed(NamedTuple):
    """Of one job."""

    kills: int
    outcomes: Counter[str]  # of the runs that were completed after kills
    told: list[str]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--kills", type=int, default=500, help="of all commands together")
    parser.add_argument("--only", help="comma-separated names of commands")
    parser.add_argument("--seed", type=int, default=0, help="of the random times")
    options = parser.parse_args(arguments)
    names = options.only.split(",") if options.only else KILLED
    figures = Figures()
    with TemporaryDirectory(prefix="kills-") as name:
        jobs = make_jobs(Path(name), names)
        for job in jobs:
            chance = random.Random(f"{options.seed} {job.name}")
            found = kill_often(job, Path(name) / job.name, -(-options.kills // len(jobs)), chance)
            print(*found.told, sep="\n", end="\n" if found.told else "")
            bad = found.outcomes.total() - found.outcomes["same"]
            figures.equal(f"{job.name}: not as without a kill, of {found.kills} kills", bad, 0)
    return figures.measured


def kill_often(job: Job, place: Path, kills: int, chance: random.Random) -> Killed:
    """At least so many kills."""
    place.mkdir(parents=True)
    whole = _fresh(job, place / "whole")
    begun = time.monotonic()
    ended = forked(do, job, whole)
    assert ended.code == 0, ended.err
    seconds, expected = time.monotonic() - begun, job.result(whole)
    done, outcomes, told = 0, Counter[str](), []
    with tqdm(total=kills, desc=job.name, unit="", disable=None) as bar:
        while done < kills:
            root, killed, torn = _fresh(job, place / "one"), 0, ""
            for _ in range(_IN_A_ROW):
                with Forked(do, job, root) as command:
                    killed += not command.ends_within(seconds * chance.random())
                torn = torn or job.sound(root)
            last = forked(do, job, root)
            bar.update(killed)
            done += killed
            same = not torn and not last.code and job.result(root) == expected
            outcomes["same" if same else "other"] += 1
            if not same:
                told.append(f"{job.name}, after {done} kills: {torn or last.err[-800:] or 'another result'}")
            shutil.rmtree(root)
    return Killed(done, outcomes, told)


def _fresh(job: Job, root: Path) -> Path:
    root.mkdir()
    job.prepare(root)
    return root


if __name__ == "__main__":
    finish(main())
