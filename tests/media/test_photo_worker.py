"""Photos are read in one worker, with the outcome of reading them here; they cannot take this process's memory."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from mmcc.errors import InputError
from mmcc.media import photo_worker
from mmcc.media.photo_worker import get_ready, read_fitted, read_to_show
from mmcc.media.photos import fitted, read_photo
from mmcc.media.sandbox import Limits, WorkerPool
from tests.forked import Forked

READ = """
import resource, sys
from pathlib import Path
import mmcc.media.photos
from mmcc.media.photo_worker import read_fitted
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
shape = read_fitted(Path(sys.argv[1]), 48, "crop").shape
print(*shape, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.fixture
def photo(tmp_path):
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (90, 120, 3), np.uint8)).save(tmp_path / "a.png")
    return tmp_path / "a.png"


@pytest.fixture
def limited(monkeypatch):
    """Photos are read by a worker with other limits."""
    pools = []

    def limit(**limits):
        pools.append(WorkerPool("mmcc.media.photo_worker", 1, Limits(**limits)))
        owner = photo_worker._Owner(pools[-1])
        monkeypatch.setattr(photo_worker, "_owner", lambda process: owner)
        return pools[-1]

    yield limit
    for pool in pools:
        pool.__exit__()


@pytest.mark.parametrize("fit", ["crop", "letterbox", "short"])
def test_a_photo_is_what_it_would_be_here(photo, fit):
    there = read_fitted(photo, 48, fit)
    assert np.array_equal(there, fitted(read_photo(photo), photo, 48, fit)) and there.flags.writeable
    assert np.array_equal(read_to_show(photo, 60), read_photo(photo, longest=60))


def test_why_a_photo_cannot_be_read_is_what_it_would_be_here(tmp_path):
    (tmp_path / "noise.jpg").write_bytes(b"no photo")
    (tmp_path / "empty.jpg").write_bytes(b"")
    for name in ("noise.jpg", "empty.jpg", "none.jpg"):
        with pytest.raises(InputError) as here:
            read_photo(tmp_path / name)
        with pytest.raises(InputError) as there:
            read_fitted(tmp_path / name, 48, "crop")
        assert str(there.value) == str(here.value)


def test_names_of_any_bytes(photo):
    odd = photo.with_name(os.fsdecode(b"caf\xe9 \n.png"))
    photo.rename(odd)
    assert read_fitted(odd, 48, "crop").shape == (48, 48, 3)


def test_one_worker_reads_all_photos(photo, limited):
    pool = limited()
    get_ready()
    first = pool._workers[0].process.pid
    for _ in range(3):
        read_fitted(photo, 48, "crop")
    get_ready()
    assert [worker.process.pid for worker in pool._workers.values()] == [first]


def test_a_worker_that_is_gone_is_replaced(photo, limited):
    pool = limited()
    read_fitted(photo, 48, "crop")
    os.kill(pool._workers[0].process.pid, signal.SIGKILL)
    pool._workers[0].process.wait()
    assert read_fitted(photo, 48, "crop").shape == (48, 48, 3)


def test_a_photo_of_many_pixels_takes_none_of_our_memory(tmp_path):
    Image.new("L", (8000, 8000)).save(tmp_path / "bomb.png", compress_level=1)
    done = subprocess.run([sys.executable, "-c", READ, tmp_path / "bomb.png"], capture_output=True, text=True)
    height, width, _, grown = map(int, done.stdout.split())
    assert (height, width) == (48, 48) and grown < 30_000, "kB; decoded it has 192 MB"


def test_memory_has_a_limit(tmp_path, photo, limited):
    Image.new("L", (10_000, 10_000)).save(tmp_path / "bomb.png", compress_level=1)
    limited(memory=700 << 20)
    with pytest.raises(InputError, match=r"needs more than 0.684 GB of memory\n") as caught:
        read_fitted(tmp_path / "bomb.png", 48, "crop")
    assert "--" not in caught.value.cause, "no flag that the command does not have"
    assert read_fitted(photo, 48, "crop").shape == (48, 48, 3)


@pytest.mark.parametrize("answer", [{}, {"pixels": "AAAA", "height": 9, "width": 9}, {"pixels": 5}, {"cause": "x"}])
def test_an_answer_that_makes_no_sense_fails_the_photo(photo, limited, monkeypatch, answer):
    pool = limited()
    monkeypatch.setattr(pool, "run", lambda jobs: [SimpleOutcome(answer)])
    with pytest.raises(InputError, match="could not be parsed"):
        read_fitted(photo, 48, "crop")


class SimpleOutcome:
    def __init__(self, answer):
        self.answer = answer


def test_the_worker_outlives_the_threads_that_ask_it(photo):
    def pid() -> int:
        (worker,) = photo_worker._owner(os.getpid())._pool._workers.values()
        return worker.process.pid

    photo_worker._owner.cache_clear()  # the first to ask is a thread
    seen = set()
    for _ in range(10):
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(read_fitted, photo, 48, "crop").result().shape == (48, 48, 3)
        seen.add(pid())
    assert len(seen) == 1


def test_a_forked_process_has_a_worker_of_its_own(photo):
    read_fitted(photo, 48, "crop")
    with Forked(lambda: print(read_fitted(photo, 48, "crop").shape)) as child:
        assert child.end().out == "(48, 48, 3)\n"
    assert read_fitted(photo, 48, "crop").shape == (48, 48, 3)
