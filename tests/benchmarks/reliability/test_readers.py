"""Every reader takes what is sound, and reads or refuses what was once found to break one."""

import random
from pathlib import Path

import pytest

from benchmarks.reliability.readers import READERS
from benchmarks.reliability.samples import corrupt

FINDINGS = Path(__file__).parents[2] / "findings"
FOUND = sorted(FINDINGS.glob("*/*"))


@pytest.mark.parametrize("name", READERS)
def test_sound_content_is_read(tmp_path, name):
    path = READERS[name].prepare(tmp_path)
    for seed in READERS[name].seeds:
        assert READERS[name].try_on(path, seed)


@pytest.mark.parametrize("name", READERS)
def test_damaged_content_is_read_or_refused(tmp_path, name):
    reader, rng = READERS[name], random.Random(name)
    path = reader.prepare(tmp_path)
    others = [seed for each in READERS.values() for seed in each.seeds]
    for _ in range(40):
        reader.try_on(path, corrupt(rng.choice(reader.seeds), others, rng))


@pytest.mark.parametrize("found", FOUND, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_stays_fixed(tmp_path, found):
    reader = READERS[found.parent.name]
    reader.try_on(reader.prepare(tmp_path), found.read_bytes())


def test_findings_stay_small():
    assert (
        sum(path.stat().st_size for path in FOUND) < 64_000 and {path.parent.name for path in FOUND} <= READERS.keys()
    )
