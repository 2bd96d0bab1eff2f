"""Kitchens that tests share: written and ingested once, as a user would, and kept on disk from run to run.

A kitchen is known by its settings and by a digest of whatever draws and ingests it, so changed code never
meets an old kitchen. Several processes may ask at once: the first one builds while the others wait for its lock.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from mmcc import __version__
from mmcc.cli.main import main
from mmcc.corpus.format import FORMAT_VERSION
from mmcc.kitchen import KITCHEN_VERSION

PACKAGE = Path(__file__).parents[1] / "mmcc"
BUILDERS = ("*.py", "cli/*.py", "corpus/**/*.py", "kitchen/**/*.py", "media/**/*.py", "storage/**/*.py")
LIBRARIES = ("av", "numpy", "pillow", "pyarrow", "simplejpeg")
A_DAY = 24 * 3600


@dataclass(frozen=True)
class KitchenFolder:
    """The folder of a shared kitchen. Tests only read it; a test that changes something makes a copy."""

    folder: Path

    @property
    def kitchen(self) -> Path:
        """What `mmcc kitchen` wrote."""
        return self.folder / "kitchen"

    @property
    def pictures(self) -> Path:
        """The corpus of its videos, one frame per second."""
        return self.folder / "pictures"

    @property
    def vectors(self) -> Path:
        """The corpus of its feature vectors, one per second."""
        return self.folder / "vectors"


class KitchenStore:
    """The shared kitchens under one folder."""

    def __init__(self, root: Path) -> None:
        self._root, self._used = root / _digest(), {}

    def kitchen_corpus(
        self,
        *,
        videos: int,
        tasks: int | None = None,
        seed: int = 0,
        size: int | None = None,
        drawn: int | None = None,
        features: bool = False,
    ) -> KitchenFolder:
        """A kitchen with a corpus of pictures (`size` pixels wide, drawn at that or `drawn` pixels), a corpus of
        vectors (`features`), or both."""
        flags = ["--videos", str(videos), "--seed", str(seed)]
        flags += ["--recipes", str(tasks)] if tasks else []
        flags += ["--size", str(drawn or size), "--fps", "1"] if size else ["--no-pixels"]
        flags += ["--features"] if features else []
        corpora = {"pictures": ["--size", str(size)]} if size else {}
        corpora |= {"vectors": ["--features", "1"]} if features else {}
        return self._get("_".join(word.strip("-") for word in (*flags, "at", str(size))), flags, corpora)

    def _get(self, name: str, flags: list[str], corpora: dict[str, list[str]]) -> KitchenFolder:
        folder, listing = self._root / name, self._root / f"{name}.json"
        self._root.mkdir(parents=True, exist_ok=True)
        with _locked(self._root / f"{name}.lock"):
            if not (listing.is_file() and json.loads(listing.read_text()) == _files(folder)):
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                assert main(["kitchen", str(folder / "kitchen"), *flags]) == 0
                for corpus, options in corpora.items():
                    assert main(["ingest", str(folder / "kitchen"), "-o", str(folder / corpus), *options]) == 0
                listing.write_text(json.dumps(_files(folder)))
                self._forget_old_ones()
        self._used[listing] = folder
        return KitchenFolder(folder)

    def check_unchanged(self) -> None:
        """The files are still those that were built: a test that writes into them would spoil the next one."""
        for listing, folder in self._used.items():
            before, now = json.loads(listing.read_text()), _files(folder)
            changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
            assert not changed, f"a test changed the shared kitchen in {folder}: {', '.join(sorted(changed)[:5])}"

    def _forget_old_ones(self) -> None:
        """Kitchens drawn by earlier code, unless a run may still be reading them."""
        for other in self._root.parent.iterdir():
            if other != self._root and time.time() - other.stat().st_mtime > A_DAY:
                shutil.rmtree(other, ignore_errors=True)


@cache
def _digest() -> str:
    """Of the code and the libraries that make a kitchen and a corpus."""
    versions = [__version__, KITCHEN_VERSION, FORMAT_VERSION, sys.version, *map(version, LIBRARIES)]
    digest = hashlib.sha256(json.dumps(versions).encode())
    for path in sorted({path for pattern in BUILDERS for path in PACKAGE.glob(pattern)}):
        digest.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _files(folder: Path) -> dict[str, list[int]]:
    """Size and time of every file."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            stat = Path(parent, name).stat()
            found[str(Path(parent, name).relative_to(folder))] = [stat.st_size, stat.st_mtime_ns]
    return found


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other process holds it; it is released even if this process is killed."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
