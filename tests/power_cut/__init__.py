"""A simulated power cut: what the disk has at every moment if only what was flushed survives.

    with recording(folder, record) as environment:
        subprocess.run([…], env=environment)
    for moment in moments(folder, record):
        moment.restore(tmp_path / "after")

A file has the content that it had when it was last flushed; one that never was is empty. A folder has the names that
it had when it was last flushed (`strict`), or those of the moment itself: file systems are free to write names before
contents.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@contextmanager
def recording(tree: Path, record: Path) -> Iterator[dict[str, str]]:
    """The environment for processes that write to the tree."""
    record.mkdir()
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    yield {**os.environ, "PYTHONPATH": paths, "POWER_CUT_TREE": str(tree), "POWER_CUT_LOG": str(record)}


@dataclass(frozen=True)
class Moment:
    """What survives a power cut right after an event."""

    number: int
    strict: bool
    names: dict[str, int]  # paths to inodes
    contents: dict[int, Path]  # of files that were flushed

    def restore(self, folder: Path) -> Path:
        """Lay it out in a new folder."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in sorted(self.names):
            path = folder / name
            if self.names[name] < 0:
                path.mkdir()
            elif self.names[name] in self.contents:
                shutil.copyfile(self.contents[self.names[name]], path)
            else:
                path.touch()
        return folder


def moments(tree: Path, record: Path) -> Iterator[Moment]:
    """Both kinds, after every event."""
    contents: dict[int, Path] = {}
    flushed: dict[str, dict[str, int]] = {}  # by folder, the names in it
    folders: dict[int, str] = {}
    for number, path in enumerate(sorted(record.glob("*.json"))):
        event = json.loads(path.read_text())
        names: dict[str, int] = event["names"]
        inner = {os.path.dirname(name) for name in names} - {""}  # noqa: PTH120
        inner |= {name for name in names if (tree / name).is_dir()}
        folders |= {names[name]: name for name in inner if name in names} | {tree.stat().st_ino: ""}
        if not event["folder"]:
            contents[event["inode"]] = path.with_suffix(".content")
        elif event["inode"] in folders:
            place = folders[event["inode"]]
            flushed[place] = {
                name: -inode if name in inner else inode
                for name, inode in names.items()
                if os.path.dirname(name) == place  # noqa: PTH120
            }
        yield Moment(number, True, dict(_reachable("", flushed)), dict(contents))
        loose = {name: -inode if name in inner else inode for name, inode in names.items()}
        yield Moment(number, False, loose, dict(contents))


def _reachable(place: str, flushed: dict[str, dict[str, int]]) -> Iterator[tuple[str, int]]:
    """Names in folders whose own names have survived."""
    for name, inode in flushed.get(place, {}).items():
        yield name, inode
        if inode < 0:
            yield from _reachable(name, flushed)
