"""What was computed once is kept: whole, without pickle, and not without end."""

import json
import os
import time

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.tools.cache import Answer, Cache, _checksum
from tests.schemas import check


class Making:
    """Counts how often an answer had to be made."""

    def __init__(self, **arrays):
        self.times, self.arrays = 0, arrays

    def __call__(self) -> Answer:
        self.times += 1
        return Answer(self.arrays, {"made": self.times, "text": "½ cup"})


def test_an_answer_is_made_once(tmp_path):
    make = Making(z=np.arange(6.0).reshape(2, 3))
    for _ in range(3):
        found = Cache(tmp_path).remember("embedding", ["model", "video"], make)
    assert make.times == 1
    assert found.facts == {"made": 1, "text": "½ cup"}
    np.testing.assert_array_equal(found.arrays["z"], make.arrays["z"])


def test_another_kind_or_key_is_another_answer(tmp_path):
    cache, make = Cache(tmp_path), Making()
    for kind, key in (("a", ["x", "y"]), ("b", ["x", "y"]), ("a", ["xy", ""]), ("a", ["x"])):
        cache.remember(kind, key, make)
    assert make.times == 4


@pytest.mark.parametrize("damage", [b"", b"not a zip", "cut", "flipped", "another"])
def test_a_damaged_answer_is_made_anew(tmp_path, damage):
    cache, make = Cache(tmp_path), Making(z=np.zeros(1000))
    cache.remember("embedding", ["k"], make)
    path = cache.place("embedding", ["k"]).with_suffix(".npz")
    whole = path.read_bytes()
    cache.remember("embedding", ["other"], Making(z=np.ones(1000)))
    another = cache.place("embedding", ["other"]).with_suffix(".npz").read_bytes()
    flipped = whole[:500] + bytes([whole[500] ^ 1]) + whole[501:]
    path.write_bytes({"cut": whole[: len(whole) // 2], "flipped": flipped, "another": another}.get(damage, damage))
    assert cache.remember("embedding", ["k"], make).facts["made"] == 2
    assert cache.remember("embedding", ["k"], make).facts["made"] == 2


def test_a_pickle_is_never_loaded(tmp_path):
    cache = Cache(tmp_path)
    path = cache.place("embedding", ["k"]).with_suffix(".npz")
    path.parent.mkdir(parents=True)
    np.savez(path, **{"facts.json": np.frombuffer(b"{}", np.uint8), "z": np.array([{"a": 1}], object)})
    path.write_bytes(path.read_bytes() + _checksum(path, path.read_bytes()))
    assert cache.remember("embedding", ["k"], Making()).facts["made"] == 1


def test_a_folder_is_whole_once_it_is_sealed_and_removed_when_it_is_damaged(tmp_path):
    cache = Cache(tmp_path)
    folder = cache.place("footage", ["k"])
    (folder / "shards").mkdir(parents=True)
    for name in ("index", "shards/0", ".lock"):
        (folder / name).write_bytes(b"content")
    assert not cache.holds(folder) and not cache.holds_intact(folder) and folder.is_dir()
    cache.seal(folder)
    (folder / ".lock").unlink()
    assert cache.holds(folder) and cache.holds_intact(folder)
    cache.seal(folder)  # by another process
    (folder / "shards" / "0").write_bytes(b"kontent")
    assert cache.holds(folder) and not cache.holds_intact(folder) and not folder.exists()


def test_what_was_used_longest_ago_goes(tmp_path):
    for name in "abc":
        Cache(tmp_path).remember("kind", [name], Making(x=np.zeros(1000)))
    kept = {name: Cache(tmp_path).place("kind", [name]).with_suffix(".npz") for name in "abcd"}
    for age, name in ((300, "b"), (200, "c"), (100, "a")):
        os.utime(kept[name], (time.time() - age,) * 2)
    Cache(tmp_path).remember("kind", ["b"], Making())  # of use again
    Cache(tmp_path, limit=30_000).remember("kind", ["d"], Making(x=np.zeros(1000)))
    assert {name for name, path in kept.items() if path.exists()} == {"a", "b", "d"}


def test_footage_in_use_stays_however_little_room_there_is(tmp_path):
    cache = Cache(tmp_path, limit=10)
    mine, other = (cache.place("footage", [name]) for name in ("mine", "other"))
    for folder in (mine, other):
        folder.mkdir(parents=True)
        (folder / "shard").write_bytes(b"x" * 100)
    cache.use(mine)
    cache.make_room(1)
    assert list((tmp_path / "footage").iterdir()) == [mine]


def test_an_answer_that_cannot_be_kept_is_given_all_the_same(tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert Cache(tmp_path / "file").remember("kind", ["k"], Making()).facts["made"] == 1


def test_a_write_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(TypeError):
        Cache(tmp_path).remember("kind", ["k"], lambda: Answer({}, {"not JSON": object()}))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_where_it_is(tmp_path, monkeypatch):
    monkeypatch.delenv("MMCC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert Cache.default().folder == tmp_path / "xdg" / "mmcc"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Cache.default().folder == tmp_path / ".cache" / "mmcc"
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "mine"))
    assert Cache.default().folder == tmp_path / "mine"


def test_the_shared_path_loads_no_torch(without_torch):
    assert "mmcc.tools.domain" in without_torch.tools_load and "torch" not in without_torch.tools_load


def test_its_size_by_kind_and_what_clearing_leaves(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path))
    cache = Cache.default()
    for number in range(3):
        cache.remember("looks", [str(number)], lambda: Answer({"a": np.zeros(1000)}))
    footage = cache.place("footage", ["soup"])
    (footage / "shards").mkdir(parents=True)
    (footage / "shards" / "00000.arrow").write_bytes(bytes(50_000))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("somebody keeps this here")
    assert list(cache.sizes()) == ["footage", "looks"] and cache.sizes()["footage"] == (1, 50_000)
    assert cache.sizes()["looks"].entries == 3
    assert main(["cache"]) == 0
    assert "footage" in capsys.readouterr().out
    assert main(["cache", "--clear", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    check("cache", told)
    assert told["removed"] > 74_000 and told["bytes"] == 0 and told["kinds"] == {}
    assert [path.name for path in tmp_path.rglob("*")] == ["notes", "mine.txt"]
    assert main(["cache"]) == 0 and "0.0 MB" in capsys.readouterr().out


def test_an_entry_that_claims_to_be_encrypted_is_made_again(tmp_path):
    make = Making(x=np.arange(3.0))
    Cache(tmp_path).remember("kind", ["a"], make)
    path = Cache(tmp_path).place("kind", ["a"]).with_suffix(".npz")
    content = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # of an entry, and of the list of entries
        at = content.find(mark)
        while at >= 0:
            content[at + flags] |= 1
            at = content.find(mark, at + 4)
    path.write_bytes(content)
    assert Cache(tmp_path).remember("kind", ["a"], make).arrays["x"].tolist() == [0, 1, 2] and make.times == 2
