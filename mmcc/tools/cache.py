"""A cache of computed answers: arrays and facts, keyed by what they were computed from. Nothing is ever unpickled.

An answer is an .npz file that ends with a checksum of its content and of its key: one that is damaged, or in the place
of another, is computed again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcc.arrays import parse_arrays
from mmcc.checksums import damage_of, quick_checksum, seal
from mmcc.errors import OutputError
from mmcc.files import cache_folder, is_draft, replacing
from mmcc.locks import LOCK
from mmcc.untrusted import parse_json

LIMIT = 4 << 30  # bytes: about a hundred hours of footage
_VERSION = "3"  # of all entries: raise it when an old answer would be wrong
_TRIM_EVERY = 256 << 20  # bytes written: measuring the cache takes a look at every entry
# As `place` names them; what killed processes left; and encoders, as mmcc.backbones keeps them.
_ENTRY = re.compile(r"[\w-]+/([0-9a-f]{40}(\.npz)?|\.tmp-.*)|backbones/.+\.safetensors", re.DOTALL)
_CHECKSUMS = "checksums.json"  # of an entry that is a folder
_CHECKSUM = hashlib.sha256().digest_size  # bytes at the end of a file
_FACTS = "facts.json"  # stored among the arrays of a file; no array has this name


@dataclass(frozen=True)
class Answer:
    """A computed answer: arrays by name, and everything else as JSON."""

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


class KindSize(NamedTuple):
    """How much there is of one kind of entry."""

    entries: int
    bytes: int


class Cache:
    """A folder of answers and ingested footage; the least recently used entries are evicted when it grows too large."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder, self._limit = folder, limit
        self._written = _TRIM_EVERY  # so that the first write measures
        self._used: set[Path] = set()  # by this process: not evicted while it runs

    @classmethod
    def default(cls) -> Cache:
        """In the folder that `cache_folder` names."""
        return cls(cache_folder())

    def remember(self, kind: str, key: Sequence[str], make: Callable[[], Answer]) -> Answer:
        """The cached answer for a key, or a new one. A damaged one is computed again."""
        path = self.place(kind, key).with_suffix(".npz")
        found = _read(path)
        if found is None:
            found = make()
            with suppress(OSError):  # no space, no permission: the answer is still good
                self._write(path, found)
        self.use(path)
        return found

    def has_answer(self, kind: str, key: Sequence[str]) -> bool:
        """Whether there is an answer for a key, damaged or not."""
        return self.place(kind, key).with_suffix(".npz").is_file()

    def place(self, kind: str, key: Sequence[str]) -> Path:
        """The path of an entry of this kind and key, whether or not it exists."""
        text = json.dumps([_VERSION, *key])
        return self.folder / kind / hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]

    def seal(self, folder: Path) -> None:
        """An entry that is a folder is whole: keep the checksums of its files, and make room for them."""
        sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != LOCK}
        names = [path.relative_to(folder).as_posix() for path in sizes if not is_draft(path)]
        seal(folder, {*names} - {_CHECKSUMS}, quick_checksum, manifest=_CHECKSUMS, durable=False)
        self.make_room(sum(sizes.values()))

    def holds(self, folder: Path) -> bool:
        """Whether an entry was sealed; nothing else tells a folder that is whole from one that is being written."""
        return (folder / _CHECKSUMS).is_file()

    def holds_intact(self, folder: Path) -> bool:
        """The same, after its files were compared with their checksums; a damaged entry is removed."""
        if self.holds(folder) and damage_of(folder, manifest=_CHECKSUMS):
            shutil.rmtree(folder, ignore_errors=True)
        return self.holds(folder)

    def use(self, path: Path) -> None:
        """Mark an entry as just used."""
        self._used.add(path)
        with suppress(OSError):
            os.utime(path)

    def make_room(self, size: int) -> None:
        """Call it after writing `size` bytes: now and then it evicts the least recently used entries."""
        self._written += size
        if self._written < _TRIM_EVERY:
            return
        self._written = 0
        entries = sorted(_entries(self.folder))
        total = sum(size for _, size, _ in entries)
        for _, size, path in entries:
            if total <= self._limit:
                break
            if path not in self._used:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
                total -= size

    def sizes(self) -> dict[str, KindSize]:
        """How much there is of each kind of entry, the largest first."""
        found: dict[str, list[int]] = {}
        for _, size, path in _entries(self.folder):
            found.setdefault(path.parent.name, []).append(size)
        sizes = {kind: KindSize(len(each), sum(each)) for kind, each in found.items()}
        return dict(sorted(sizes.items(), key=lambda item: -item[1].bytes))

    def clear(self) -> int:
        """Remove all entries, and nothing else that somebody may keep in the folder; how many bytes that were."""
        removed = 0
        for _, size, path in _entries(self.folder):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
            removed += size
        for kind in self.folder.glob("*/"):
            with suppress(OSError):  # not empty: it is not ours alone
                kind.rmdir()
        return removed

    def make_folder(self, path: Path) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            cause = f"{path}: cannot be written: {error.strerror}"
            raise OutputError(cause, "Set MMCC_CACHE to a folder you can write to.") from None

    def _write(self, path: Path, answer: Answer) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = np.frombuffer(json.dumps(answer.facts, allow_nan=False).encode(), np.uint8)
        arrays: dict[str, Any] = {**answer.arrays, _FACTS: facts}
        content = io.BytesIO()
        np.savez(content, **arrays)
        whole = content.getvalue()
        with replacing(path, durable=False, shared=True) as draft:
            draft.write_bytes(whole + _checksum(path, whole))
        self.make_room(path.stat().st_size)


def _read(path: Path) -> Answer | None:
    """None if it is missing or damaged."""
    try:
        stored = path.read_bytes()
        content, told = stored[:-_CHECKSUM], stored[-_CHECKSUM:]
        if _checksum(path, content) != told:
            return None
        arrays = parse_arrays(content)
        facts = parse_json(arrays.pop(_FACTS).tobytes(), dict)
    except (OSError, ValueError, KeyError, MemoryError):
        return None
    return Answer(arrays, facts)


def _checksum(path: Path, content: bytes) -> bytes:
    """The name is that of the key."""
    digest = hashlib.sha256(f"{path.parent.name}/{path.name}".encode())
    digest.update(content)
    return digest.digest()


def render_cache(folder: Path, kinds: Mapping[str, KindSize], removed: int) -> str:
    """The sizes as text."""
    total = sum(kind.bytes for kind in kinds.values())
    lines = [f"removed {_megabytes(removed)}"] if removed else []
    lines.append(f"{folder}: {_megabytes(total)} (at most {_megabytes(LIMIT)}; mmcc cache --clear removes it)")
    wide = max(map(len, kinds), default=0)
    lines += [f"  {name:<{wide}}  {_megabytes(kind.bytes):>11}  {kind.entries:>7,}" for name, kind in kinds.items()]
    return "\n".join(lines)


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MB"


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """When each entry was last used, its size and its path. An entry is a file or a folder."""
    found = []
    for path in (each for each in folder.glob("*/*") if _ENTRY.fullmatch("/".join(each.parts[-2:]))):
        with suppress(OSError):  # another process may be removing it
            files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
            found.append((path.stat().st_mtime, sum(each.stat().st_size for each in files), path))
    return found
