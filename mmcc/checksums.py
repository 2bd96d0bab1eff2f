"""Folders whose files can be told from damaged ones: a manifest has the checksum of each, and whoever reads checks.

    manifest.json    {"model.safetensors": "<sha256>", …}

What is trained or published has sha256. What can be computed again, and is read at every question, has crc32 with the
number of bytes, which is read off twice as fast: "crc32:<checksum>:<bytes>".
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from mmcc.files import replacing, writing
from mmcc.untrusted import Malformed, read_json

MANIFEST = "manifest.json"
_QUICK = "crc32:"
_PART = 1 << 20  # bytes: what is checked need not fit into memory


class Damage(NamedTuple):
    """A file that is not what was written."""

    name: str  # in its folder
    cause: str

    def __str__(self) -> str:
        return f"{self.name} {self.cause}"


def checksum(path: Path) -> str:
    """sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def quick_checksum(path: Path, first: int | None = None) -> str:
    """crc32 and number of bytes of a file, or of its first bytes."""
    found, size = 0, 0
    with path.open("rb") as file:
        while part := file.read(_PART if first is None else min(_PART, first - size)):
            found, size = zlib.crc32(part, found), size + len(part)
    return f"{_QUICK}{found:08x}:{size}"


def checksums(folder: Path, names: Iterable[str], by: Callable[[Path], str] = checksum) -> dict[str, str]:
    return {name: by(folder / name) for name in sorted(names)}


def seal(
    folder: Path,
    names: Iterable[str],
    by: Callable[[Path], str] = checksum,
    *,
    manifest: str = MANIFEST,
    durable: bool = True,
) -> None:
    """Write the manifest, as the last of a folder's files. `durable`: on the disk, where the files must be already."""
    path = folder / manifest
    with writing(path), replacing(path, durable=durable, shared=not durable) as draft:
        draft.write_text(json.dumps(checksums(folder, names, by), indent=1) + "\n", encoding="utf-8")


def read_manifest(folder: Path, manifest: str = MANIFEST) -> dict[str, str] | None:
    """What the files should be; None where there is no manifest, ValueError or OSError where it cannot be read."""
    try:
        content = read_json(folder / manifest, dict)
    except FileNotFoundError:
        return None
    for name, expected in content.items():
        place = PurePosixPath(name)
        if not isinstance(expected, str) or place.is_absolute() or ".." in place.parts or not place.parts:
            raise Malformed(f"{str(name)[:40]!r} is no file with a checksum")
    return dict(content)


def damages(folder: Path, expected: Mapping[str, str], without: Collection[str] = ()) -> Iterator[Damage]:
    """Whatever is not as the manifest says, except for the files `without`; as far as one reads on."""
    for name, wanted in expected.items():
        if name not in without and (cause := _damage(folder / name, wanted)):
            yield Damage(name, cause)


def damage_of(
    folder: Path, without: Collection[str] = (), *, needs: Collection[str] = (), manifest: str = MANIFEST
) -> Damage | None:
    """The first damage of a sealed folder; one whose manifest is missing, or lacks what it `needs`, is damaged."""
    try:
        expected = read_manifest(folder, manifest)
    except (OSError, ValueError) as error:
        return Damage(manifest, f"cannot be read ({getattr(error, 'strerror', None) or error})")
    if expected is None:
        return Damage(manifest, "is missing")
    if lacking := sorted(set(needs) - expected.keys()):
        return Damage(manifest, f"does not list {lacking[0]}")
    return next(damages(folder, expected, without), None)


def _damage(path: Path, expected: str) -> str | None:
    try:
        if not path.is_file():
            return "is not a file" if path.exists() else "is missing"
        by = quick_checksum if expected.startswith(_QUICK) else checksum
        return None if by(path) == expected else "has a wrong checksum"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
