"""What was computed once, kept: arrays and facts by what they were computed from. Nothing of it is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.errors import OutputError
from mmcc.files import replacing

LIMIT = 4 << 30  # bytes: some hundred hours of footage
_VERSION = "2"  # of all that is kept: raise it when an old answer would be wrong
_TRIM_EVERY = 256 << 20  # bytes written: to see how much there is takes a look at every entry
_FACTS = "facts.json"  # among the arrays of a file; no array is named so


@dataclass(frozen=True)
class Answer:
    """Something computed: arrays by name, and all else as JSON."""

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


class Cache:
    """A folder of answers and of ingested footage; what was used longest ago goes when there is too much."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder, self._limit = folder, limit
        self._written = _TRIM_EVERY  # so that the first to write looks
        self._used: set[Path] = set()  # by this process: they stay while it runs

    @classmethod
    def default(cls) -> Cache:
        """$MMCC_CACHE, else $XDG_CACHE_HOME/mmcc, else ~/.cache/mmcc."""
        if named := os.environ.get("MMCC_CACHE"):
            return cls(Path(named))
        home = os.environ.get("XDG_CACHE_HOME")
        return cls((Path(home) if home else Path.home() / ".cache") / "mmcc")

    def remember(self, kind: str, key: Sequence[str], make: Callable[[], Answer]) -> Answer:
        """The answer kept under a key, or a new one. A damaged one is made anew."""
        path = self.place(kind, key).with_suffix(".npz")
        found = _read(path)
        if found is None:
            found = make()
            with suppress(OSError):  # no space, no permission: the answer is good all the same
                self._write(path, found)
        self.use(path)
        return found

    def place(self, kind: str, key: Sequence[str]) -> Path:
        """Where something of this kind and key is, or would be, kept."""
        text = json.dumps([_VERSION, *key])
        return self.folder / kind / hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]

    def use(self, path: Path) -> None:
        """Note that an entry was of use just now."""
        self._used.add(path)
        with suppress(OSError):
            os.utime(path)

    def make_room(self, size: int) -> None:
        """Call it after writing so many bytes: every now and then, what was used longest ago goes."""
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

    def make_folder(self, path: Path) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            cause = f"{path}: cannot be written: {error.strerror}"
            raise OutputError(cause, "Name another folder for what is kept in MMCC_CACHE.") from None

    def _write(self, path: Path, answer: Answer) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = np.frombuffer(json.dumps(answer.facts, allow_nan=False).encode(), np.uint8)
        arrays: dict[str, Any] = {**answer.arrays, _FACTS: facts}
        with replacing(path, durable=False, shared=True) as draft, draft.open("wb") as file:
            np.savez(file, **arrays)
        self.make_room(path.stat().st_size)


def _read(path: Path) -> Answer | None:
    """None where there is none, or none that is whole: a zip file carries a checksum of each array."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        facts = json.loads(arrays.pop(_FACTS).tobytes())
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError):
        return None
    return Answer(arrays, facts) if isinstance(facts, dict) else None


def _entries(folder: Path) -> list[tuple[float, int, Path]]:
    """When each entry was last of use, and how large it is. An entry is a file or a folder of a kind."""
    found = []
    for path in folder.glob("*/*"):
        with suppress(OSError):  # another process may be removing it
            files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
            found.append((path.stat().st_mtime, sum(each.stat().st_size for each in files), path))
    return found
