"""The nearest vectors are among the candidates, however an index was built: at once, in shards, or after a stop."""

import ctypes

import numpy as np
import pytest

from mmcc.tools import nearest
from mmcc.tools.nearest import Nearest, lists_for

pytest.importorskip("faiss", reason="pip install 'mmcc[search]'")


@pytest.fixture(scope="module")
def vectors():
    """Two thousand, in clusters."""
    rng = np.random.default_rng(0)
    around = rng.standard_normal((40, 16)).repeat(50, 0)
    made = around + 0.5 * rng.standard_normal(around.shape)
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def recall(index, vectors, count=64, top=10) -> float:
    found = []
    for query in vectors[::100]:
        places = index.candidates(query, count)
        assert len(places) == len(set(places.tolist())) <= count
        best = places[np.argsort(-(vectors[places] @ query))[:top]]
        found.append(len({*best.tolist()} & {*np.argsort(-(vectors @ query))[:top].tolist()}) / top)
    return float(np.mean(found))


@pytest.mark.parametrize("shard", [300, 5000])
def test_the_nearest_are_among_the_candidates(vectors, tmp_path, shard):
    nearest.build(tmp_path, vectors, shard_nodes=shard)
    assert sorted(path.name for path in tmp_path.iterdir()) == [nearest.INDEX, nearest.LISTS]
    assert recall(Nearest(tmp_path), vectors) > 0.95


def test_an_index_can_be_moved(vectors, tmp_path, capfd):
    (tmp_path / "here").mkdir()
    nearest.build(tmp_path / "here", vectors)
    (tmp_path / "here").rename(tmp_path / "there")
    assert recall(Nearest(tmp_path / "there"), vectors) > 0.95
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == "", "that is where answers go"


def test_a_stopped_build_continues(vectors, tmp_path, monkeypatch):
    def two_of(shards):
        yield from shards[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nearest.build(tmp_path, vectors, shard_nodes=500, progress=two_of)
    assert len(list((tmp_path / "parts").iterdir())) == 3  # what was trained, and two shards
    (tmp_path / "parts" / ".tmp-shard-00002.faiss.node-1-2").touch()  # of a process that was killed
    (tmp_path / nearest.LISTS).write_bytes(bytes(10**6))  # of a merging that was
    kept = []
    write = nearest._write
    monkeypatch.setattr(nearest, "_write", lambda index, path: (kept.append(path.name), write(index, path)))
    nearest.build(tmp_path, vectors, shard_nodes=500)
    assert kept == ["shard-00002.faiss", "shard-00003.faiss"]
    assert recall(Nearest(tmp_path), vectors) > 0.95
    assert {path.name for path in tmp_path.iterdir()} == {nearest.INDEX, nearest.LISTS}
    (tmp_path / "whole").mkdir()
    nearest.build(tmp_path / "whole", vectors, shard_nodes=500)
    assert (tmp_path / nearest.LISTS).read_bytes() == (tmp_path / "whole" / nearest.LISTS).read_bytes()


def test_what_faiss_prints_is_not_an_answer(capfd):
    printed = ctypes.CDLL(None).puts
    with nearest.without_chatter():
        printed(b"merged 1024 lists")
    printed(b"answer")
    ctypes.CDLL(None).fflush(None)
    assert capfd.readouterr().out == "answer\n"


def test_more_candidates_than_vectors(vectors, tmp_path):
    nearest.build(tmp_path, vectors[:100])
    assert sorted(Nearest(tmp_path).candidates(vectors[0], 500).tolist()) == list(range(100))


def test_there_are_about_as_many_lists_as_nodes_in_each():
    assert [lists_for(nodes) for nodes in (1, 100, 10**6, 10**7, 10**8)] == [4, 8, 1024, 4096, 8192]
