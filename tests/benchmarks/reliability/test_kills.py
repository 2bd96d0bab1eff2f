"""Commands that are killed at random times; the benchmark kills hundreds."""

import random
import time
from pathlib import Path

import pytest

from benchmarks.reliability.jobs import Job, corpus_jobs
from benchmarks.reliability.kills import KILLED, kill_often

pytestmark = pytest.mark.slow  # dozens of processes


def test_a_writer_that_is_not_careful_is_found_out(tmp_path):
    """It believes whatever it finds."""

    def work(place: Path) -> int:
        if not (place / "file").exists():
            for number in range(20):
                (place / "file").write_text("x" * number)
                time.sleep(0.01)
        return 0

    found = kill_often(Job("careless", work, lambda place: (place / "file").read_text()), tmp_path / "a", 8, chance())
    assert found.kills >= 8 and found.outcomes["other"] > 0 and "another result" in found.told[0]


def test_what_is_torn_right_after_a_kill_counts(tmp_path):
    def work(place: Path) -> int:
        (place / "file").write_text("half")
        time.sleep(0.3)
        (place / "file").write_text("whole")
        return 0

    def sound(place: Path) -> str:
        return "half a file" if (place / "file").exists() and (place / "file").read_text() == "half" else ""

    job = Job("torn", work, lambda place: (place / "file").read_text(), sound=sound)
    found = kill_often(job, tmp_path / "a", 6, chance())
    assert found.outcomes["other"] > 0 and "half a file" in " ".join(found.told)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory) -> dict[str, Job]:
    return {job.name: job for job in corpus_jobs(tmp_path_factory.mktemp("world") / "made")}


@pytest.mark.parametrize("name", ["merge", "compact", "embed"])
def test_a_few_kills_lose_nothing(jobs, tmp_path, name):
    assert set(jobs) <= set(KILLED)
    found = kill_often(jobs[name], tmp_path / "a", 3, chance())
    assert found.kills >= 3 and not found.told, found.told


def test_shards_that_a_killed_compaction_left_change_no_result(jobs, tmp_path):
    """Its new shards get other numbers, and with them the index other checksums, of more or fewer digits."""
    job, results = jobs["compact"], set()
    for number in (None, *range(2, 22)):
        place = tmp_path / str(number)
        place.mkdir()
        job.prepare(place)
        if number:
            (place / "c/shards" / f"{number:05d}.arrow").write_bytes(b"half a shard")
        assert job.work(place) == 0
        results.add(job.result(place))
    assert len(results) == 1 and "shards" in results.pop()


def chance() -> random.Random:
    return random.Random(0)
