"""Folders that know what their files should be."""

import hashlib
import json
import zlib

import pytest

from mmcc.checksums import (
    MANIFEST,
    Damage,
    checksum,
    checksums,
    damage_of,
    damages,
    quick_checksum,
    read_manifest,
    seal,
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inner").mkdir()
    for name in ("a.txt", "b.txt", "inner/c.txt"):
        (tmp_path / name).write_text(f"the content of {name}")
    return tmp_path


def test_checksums_are_those_of_the_libraries(tmp_path):
    content = bytes(range(256)) * 10_000  # more than is read at a time
    path = tmp_path / "file"
    path.write_bytes(content)
    assert checksum(path) == hashlib.sha256(content).hexdigest()
    assert quick_checksum(path) == f"crc32:{zlib.crc32(content):08x}:{len(content)}"
    for first in (0, 1, 1 << 20, (1 << 20) + 1, len(content), len(content) + 1):
        part = content[:first]
        assert quick_checksum(path, first) == f"crc32:{zlib.crc32(part):08x}:{len(part)}"


@pytest.mark.parametrize("by", [checksum, quick_checksum])
@pytest.mark.parametrize("durable", [False, True])
def test_what_is_sealed_is_intact_until_it_is_changed(folder, by, durable):
    seal(folder, ["b.txt", "a.txt", "inner/c.txt"], by, durable=durable)
    assert read_manifest(folder) == checksums(folder, ["a.txt", "b.txt", "inner/c.txt"], by)
    assert damage_of(folder) is None and {path.name for path in folder.iterdir()} == {
        "a.txt",
        "b.txt",
        "inner",
        MANIFEST,
    }
    (folder / "b.txt").write_text("the content of B.txt")
    (folder / "inner" / "c.txt").unlink()
    found = [Damage("b.txt", "has a wrong checksum"), Damage("inner/c.txt", "is missing")]
    assert [*damages(folder, read_manifest(folder))] == found and damage_of(folder) == found[0]
    assert str(damage_of(folder, without=["b.txt"])) == "inner/c.txt is missing"
    assert damage_of(folder, without=["b.txt", "inner/c.txt"]) is None
    (folder / "inner" / "c.txt").mkdir()
    assert str(damage_of(folder, without=["b.txt"])) == "inner/c.txt is not a file"


def test_a_manifest_that_is_missing_or_lacks_something_is_damage(folder):
    assert read_manifest(folder) is None
    assert str(damage_of(folder)) == "manifest.json is missing"
    seal(folder, ["a.txt"], manifest="other.json")
    assert damage_of(folder, manifest="other.json") is None
    assert str(damage_of(folder, needs=["b.txt"], manifest="other.json")) == "other.json does not list b.txt"


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"a.txt": 1}', '{"../a.txt": "x"}', '{"/dev/zero": "x"}', '{"": "x"}', "\xff"]
)
def test_a_manifest_that_is_no_manifest_is_damage(folder, content):
    (folder / MANIFEST).write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError):
        read_manifest(folder)
    assert str(damage_of(folder)).startswith("manifest.json cannot be read")


def test_every_change_of_one_bit_is_seen(folder):
    for by in (checksum, quick_checksum):
        seal(folder, ["a.txt"], by)
        whole = (folder / "a.txt").read_bytes()
        for bit in range(8 * len(whole)):
            (folder / "a.txt").write_bytes(
                bytes(byte ^ (1 << bit % 8 if at == bit // 8 else 0) for at, byte in enumerate(whole))
            )
            assert damage_of(folder), bit
        (folder / "a.txt").write_bytes(whole)


def test_no_bit_of_the_manifest_hides_damage(folder):
    seal(folder, ["a.txt", "b.txt"])
    (folder / "b.txt").write_text("another content")
    whole = (folder / MANIFEST).read_bytes()
    for bit in range(8 * len(whole)):
        changed = bytes(byte ^ (1 << bit % 8 if at == bit // 8 else 0) for at, byte in enumerate(whole))
        (folder / MANIFEST).write_bytes(changed)
        assert damage_of(folder), changed
    assert json.loads(whole).keys() == {"a.txt", "b.txt"}
