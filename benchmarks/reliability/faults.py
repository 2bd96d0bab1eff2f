"""Whether a crash, a failing disk or a power cut at any file event loses or changes a result.

    python -m benchmarks.reliability.faults [--every 1] [--only train,ingest,kitchen,merge,compact,…]

For every n, the n-th file event (create, write, rename, link, fsync, unlink, mkdir) of a job ends the process, or fails
with ENOSPC or EIO, or is where the power goes and only what was flushed is left. Then the same command runs again, on a
disk that works: its result must be that of an undisturbed one, to the bit. Of commands with worker processes, the
events of all of them count.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch look: forked children have no threads of their own

import runpy
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tqdm import tqdm

from benchmarks.common import Figure, Figures, command_line, finish
from benchmarks.reliability.jobs import REFUSED, Job, do, make_jobs
from tests import power_cut
from tests.faults import DIED, KINDS, POWER, Fault, events_of, with_fault
from tests.forked import forked
from tests.power_cut import moments, recording

LOST, BUG, TORN = "another result", "exit 1 or a signal", "torn in between"
BAD = (LOST, BUG, TORN)
_MEMORY = Path("/dev/shm")  # what survives a power cut is worked out here, so no flush need reach a disk


class Found(NamedTuple):
    """Of one job: how many events it has, and what each fault led to."""

    events: int
    outcomes: Counter[str]
    told: list[str]  # what is not as it should be


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every so many events")
    parser.add_argument("--only", help="comma-separated names of jobs")
    options = parser.parse_args(arguments)
    figures = Figures()
    with TemporaryDirectory(prefix="faults-", dir=_MEMORY if _MEMORY.is_dir() else None) as name:
        for job in make_jobs(Path(name), options.only.split(",") if options.only else ()):
            begun = time.monotonic()
            found = try_all(job, Path(name) / job.name, every=options.every)
            for line in found.told:
                print(line)
            done = sum(found.outcomes.values())
            print(f"{job.name}: {done:,} faults in {time.monotonic() - begun:.0f} s", flush=True)
            for outcome in BAD:
                bad = found.outcomes[outcome]
                figures.equal(f"{job.name}: {outcome}, of {done:,} faults at {found.events} events", bad, 0)
    return figures.measured


def try_all(job: Job, place: Path, *, every: int = 1, kinds: Sequence[str] = KINDS, first: int = 0) -> Found:
    """Every kind of fault at every event, or at every so many, beginning with the `first`."""
    place.mkdir(parents=True, exist_ok=True)
    whole = _fresh(job, place / "whole")
    events = events_of(lambda: do(job, whole), whole, workers=job.workers)
    expected = job.result(whole)
    outcomes, told = Counter[str](), []

    def note(what: str, outcome: str, why: str) -> None:
        outcomes[outcome] += 1
        if outcome in BAD:
            told.append(f"{job.name}: {what}: {outcome}: {why[-800:]}")

    faults = [Fault(kind, at) for at in range(first, len(events), every) for kind in kinds]
    for fault in tqdm(faults, desc=job.name, unit="", disable=None):
        if not (job.workers and fault.kind == POWER):
            root = _fresh(job, place / "one")
            note(f"{fault.kind} at {fault.at} ({events[fault.at]})", *_try(job, root, fault, expected))
            shutil.rmtree(root)
    if job.workers and POWER in kinds:
        for number, ended in _power_cuts(job, place, expected, every):
            note(f"power cut after flush {number}", *ended)
    return Found(len(events), outcomes, told)


def _fresh(job: Job, root: Path) -> Path:
    root.mkdir()
    job.prepare(root)
    return root


def _power_cuts(job: Job, place: Path, expected: str, every: int) -> Iterator[tuple[int, tuple[str, str]]]:
    """Of a job with workers: what is on the disk changes with every flush, so one after each is one at any event."""
    root, record = _fresh(job, place / "recorded"), place / "record"
    with recording(root, record) as environment:
        os.environ.update(environment)
        ended = forked(_work_recorded, job, root)
        for name in ("POWER_CUT_TREE", "POWER_CUT_LOG"):
            del os.environ[name]
    assert ended.code == 0, ended.err
    for moment in tqdm([each for each in moments(root, record) if each.strict][::every], desc=job.name, disable=None):
        disk = moment.restore(place / "one")
        yield moment.number, _complete(job, disk, expected)
        shutil.rmtree(disk)


def _work_recorded(job: Job, place: Path) -> None:
    """Workers load what records by themselves; in this process it is loaded here."""
    runpy.run_path(str(Path(power_cut.__file__).with_name("sitecustomize.py")))
    do(job, place)


def _try(job: Job, root: Path, fault: Fault, expected: str) -> tuple[str, str]:
    ended = with_fault(lambda: do(job, root), root, fault, workers=job.workers)
    root.mkdir(exist_ok=True)
    if ended.code not in (0, DIED, *REFUSED):
        return BUG, f"it ended with {ended.code}\n{ended.err}"
    return _complete(job, root, expected)


def _complete(job: Job, root: Path, expected: str) -> tuple[str, str]:
    """Run it again, on a disk that works."""
    if torn := job.sound(root):
        return TORN, torn
    again = forked(do, job, root)
    if again.code:
        return BUG, f"the second ended with {again.code}\n{again.err}"
    return ("same", "") if job.result(root) == expected else (LOST, job.result(root))


if __name__ == "__main__":
    finish(main())
