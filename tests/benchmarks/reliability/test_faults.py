"""A disk that fails at some event, on the way to checkpoints and cached answers; the benchmark takes every event."""

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from benchmarks.reliability.faults import BUG, LOST, try_all
from benchmarks.reliability.jobs import Job, cache_job, checkpoint_job, corpus_jobs
from tests.faults import CRASH, POWER, Fault, events_of, with_fault
from tests.forked import load_torch

pytestmark = pytest.mark.slow  # dozens of faults


@pytest.fixture(scope="module", autouse=True)
def _torch():
    load_torch()


@pytest.mark.parametrize(("make", "every"), [(checkpoint_job, 37), (cache_job, 5)])
def test_some_faults_lose_nothing(tmp_path, make, every):
    found = try_all(make(), tmp_path / "jobs", every=every)
    assert found.events > 10 and not found.told, found.told
    assert found.outcomes == {"same": found.outcomes.total()}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    return {job.name: job for job in corpus_jobs(tmp_path_factory.mktemp("world") / "made")}


@pytest.mark.parametrize(
    ("name", "every"), [("merge", 17), ("compact", 7), ("embed", 17), ("ingest", 13), ("kitchen", 19)]
)
def test_some_faults_of_commands_that_write_a_corpus_lose_nothing(jobs, tmp_path, name, every):
    found = try_all(jobs[name], tmp_path / "jobs", every=every, first=3)
    assert found.events > 20 and not found.told, found.told
    assert found.outcomes.total() > 10


def test_the_events_of_worker_processes_count(jobs, tmp_path):
    """Shards are written by them alone."""
    root = tmp_path / "root"
    root.mkdir()
    events = events_of(lambda: jobs["ingest"].work(root), root, workers=True)
    assert {"create c/shards/00000.arrow", "write c/shards/00000.arrow"} <= set(events)
    shutil.rmtree(root)
    root.mkdir()
    at = events.index("write c/shards/00000.arrow")
    ended = with_fault(lambda: jobs["ingest"].work(root), root, Fault(CRASH, at), workers=True)
    assert ended.code == 77 and (root / "c" / "manifest.json").exists()
    whole = pa.schema([("video", pa.string()), ("time", pa.float64()), ("frame", pa.binary())]).serialize().size
    assert 0 < (root / "c" / "shards" / "00000.arrow").stat().st_size < whole, "half of its head"


def test_a_writer_that_is_not_careful_is_found_out(tmp_path):
    """It writes in place, and believes whatever it finds."""

    def work(place):
        if not (place / "file").exists():
            (place / "file").write_text("whole")
        return 0

    found = try_all(Job("careless", work, lambda place: (place / "file").read_text()), tmp_path / "jobs")
    assert found.outcomes[LOST] == 1 and found.outcomes[BUG] == 4  # it dies while it writes; it is told of errors
    assert "crash at 1 (write file): another result: wh" in " ".join(found.told)


def test_events_are_told_in_order_and_only_those_under_the_folder(tmp_path):
    root = tmp_path / "root"
    root.mkdir()

    def job():
        (root / "draft").write_text("text")
        (root / "draft").replace(root / "file")
        (tmp_path / "elsewhere").write_text("text")
        (root / "inner").mkdir()
        (root / "file").unlink()

    told = ["create draft", "write draft", "rename draft", "mkdir inner", "unlink file"]
    assert events_of(job, root) == told


def test_after_a_power_cut_only_what_was_flushed_is_left(tmp_path):
    import os

    root = tmp_path / "root"
    root.mkdir()
    (root / "old").write_text("old")

    def flush(path):
        opened = os.open(path, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)

    def job():
        (root / "kept").write_text("kept")
        flush(root / "kept")
        (root / "empty").write_text("never flushed itself")
        flush(root)
        (root / "nameless").write_text("flushed, but not its name")
        flush(root / "nameless")
        (root / "old").unlink()
        (root / "end").mkdir()

    last = len(events_of(job, root)) - 1
    for path in root.iterdir():
        path.rmdir() if path.is_dir() else path.unlink()
    (root / "old").write_text("old")
    assert with_fault(job, root, Fault(POWER, last)).code == 77
    assert {path.name: path.read_text() for path in root.iterdir()} == {"kept": "kept", "empty": "", "old": "old"}


def test_links_are_events_and_what_they_lead_to_was_flushed(tmp_path):
    import os

    root, old = tmp_path / "root", tmp_path / "old"
    root.mkdir()
    old.write_text("old")

    def job():
        os.link(old, root / "new")
        opened = os.open(root, os.O_RDONLY)
        os.fsync(opened)
        os.close(opened)
        (root / "end").mkdir()

    assert events_of(job, root) == ["link new", "fsync .", "mkdir end"]
    (root / "new").unlink()
    (root / "end").rmdir()
    assert with_fault(job, root, Fault(POWER, 2)).code == 77
    assert {path.name: path.read_text() for path in root.iterdir()} == {"new": "old"}


def test_a_crash_in_a_write_leaves_half_of_it(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    assert with_fault(lambda: (root / "file").write_text("abcdef"), root, Fault(CRASH, 1)).code == 77
    assert (root / "file").read_text() == "abc"


def test_faults_in_training_and_indexing_lose_nothing():
    command = [sys.executable, "-m", "benchmarks.reliability.faults", "--only", "train,index", "--every", "11"]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok") == 6
