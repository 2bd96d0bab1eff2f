"""Shards by an engine's workers are those of this process, whatever becomes of a worker; and a bad one is told of."""

import dataclasses
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mmcc.engines.local import LocalEngine
from mmcc.errors import InputError
from mmcc.tools import nearest, nearest_jobs
from mmcc.tools.nearest_jobs import compress_by
from mmcc.tools.nearest_worker import ShardJob, handle

faiss = pytest.importorskip("faiss", reason="pip install 'mmcc[search]'")

# Each shard that is named loses as many workers as is said, the others none.
DYING = """
import os, signal
from pathlib import Path
from mmcc.media.sandbox import serve
from mmcc.tools.nearest_worker import handle

def dying(job, report):
    here = Path(job["parts"]).parents[1] / "deaths" / str(job["number"])
    left = int(here.read_text()) if here.exists() else 0
    if left:
        here.write_text(str(left - 1))
        os.kill(os.getpid(), signal.SIGKILL)
    return handle(job, report)

serve(dying, confined=False)
"""


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Two thousand, in a file."""
    made = np.random.default_rng(0).standard_normal((2000, 16))
    path = tmp_path_factory.mktemp("vectors") / "pi.npy"
    np.save(path, (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32))
    return path


@pytest.fixture
def dying(tmp_path, monkeypatch):
    """dying({1: 2}): workers of which shard 1 loses two."""

    def set_up(deaths):
        (tmp_path / "dying_worker.py").write_text(DYING)
        (tmp_path / "deaths").mkdir(exist_ok=True)
        for number, times in deaths.items():
            (tmp_path / "deaths" / str(number)).write_text(str(times))
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
        monkeypatch.setattr(nearest_jobs, "_MODULE", "dying_worker")

    return set_up


def build(folder, vectors, workers=None):
    folder.mkdir(exist_ok=True)
    compress = partial(compress_by, LocalEngine(workers), vectors) if workers else None
    nearest.build(folder, np.load(vectors), compress=compress, shard_nodes=500)
    return content(folder)


def content(folder):
    """Of an index, which names its folder."""
    return {path.name: path.read_bytes().replace(bytes(folder), b"") for path in folder.iterdir()}


def test_workers_make_what_this_process_makes(vectors, tmp_path):
    assert build(tmp_path / "a", vectors, 2) == build(tmp_path / "b", vectors)


@pytest.mark.slow
def test_a_shard_whose_worker_is_killed_is_given_to_another(vectors, tmp_path, dying):
    dying({1: 2, 3: 1})
    assert build(tmp_path / "a", vectors, 2) == build(tmp_path / "b", vectors)
    assert [path.read_text() for path in sorted((tmp_path / "deaths").iterdir())] == ["0", "0"]


@pytest.mark.slow
def test_a_shard_that_loses_three_workers_is_told_of_and_the_next_build_makes_it_alone(vectors, tmp_path, dying):
    dying({1: 3, 2: 9})
    with pytest.raises(InputError) as error:
        build(tmp_path / "a", vectors, 2)
    assert error.value.path == str(vectors) and error.value.remedy == "Run the same command again: it continues."
    assert "could not be compressed: crashed its worker (SIGKILL) 3 times (1 other shard" in str(error.value)
    made = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "a" / "parts").iterdir()}
    assert made.keys() == {"trained.faiss", "shard-00000.faiss", "shard-00003.faiss"}
    asked = []
    (tmp_path / "deaths" / "2").unlink()

    def compress(parts, numbers, shard_nodes):
        asked.extend(numbers)
        compress_by(LocalEngine(1), vectors, parts, asked, shard_nodes)
        now = {path.name: path.stat().st_mtime_ns for path in parts.iterdir()}
        assert made.items() <= now.items()

    nearest.build(tmp_path / "a", np.load(vectors), compress=compress, shard_nodes=500)
    assert asked == [1, 2]
    assert content(tmp_path / "a") == build(tmp_path / "b", vectors)


def test_a_node_with_another_faiss_is_refused_by_name(vectors, tmp_path):
    job = ShardJob(0, 500, str(vectors), str(tmp_path), "1.2.3")
    with pytest.raises(InputError, match=rf"has version {faiss.__version__}, this machine 1\.2\.3") as error:
        handle(dataclasses.asdict(job), lambda seconds, total: None)
    assert "same version on all nodes" in error.value.remedy and not list(Path(tmp_path).iterdir())


def test_what_fails_in_a_worker_is_not_tried_again(vectors, tmp_path, monkeypatch):
    monkeypatch.setattr(faiss, "__version__", "1.2.3")  # here, not there
    with pytest.raises(InputError, match=r"FAISS|has version .*, this machine 1\.2\.3.*3 other shards failed too"):
        build(tmp_path / "a", vectors, 1)
