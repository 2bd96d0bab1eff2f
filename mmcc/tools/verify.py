"""Read every file of a run, a checkpoint, a shipped model or a search index, and list what is damaged.

Commands check what they read; this reads everything, also what only `mmcc train --resume` would need.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mmcc.checksums import MANIFEST, checksum, damages, quick_checksum, read_manifest
from mmcc.errors import InputError
from mmcc.pretrained import SHIPPED, with_shipped
from mmcc.text import counted
from mmcc.training.intact import COUNTERS, FOLDER, LIST, STATE, listed_checkpoints, require_own_checksum
from mmcc.untrusted import read_json, typed

RUN, CHECKPOINT, MODEL, INDEX = "run", "checkpoint", "model", "search index"
_WEIGHTS, _INDEX, _METRICS = "model.safetensors", "index.json", "metrics.jsonl"
_SETTINGS = "config.yaml"
_COPIES = (_SETTINGS, "vocabulary.txt")  # of a run: as those of its newest checkpoint


@dataclass(frozen=True)
class Damaged:
    """A file that is not what was written."""

    path: str
    cause: str


@dataclass
class Verified:
    """What was read, and what is wrong with it."""

    path: str
    kind: str
    files: int = 0
    bytes: int = 0
    damaged: list[Damaged] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what could not be checked

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def can_verify(source: Path) -> bool:
    """Whether a folder, or a name, is one of the kinds that are read here."""
    return _kind(with_shipped(source)) is not None


def verify(source: Path) -> Verified:
    """Compare all files with their checksums."""
    folder = with_shipped(source)
    kind = _kind(folder)
    if kind is None:
        cause = "is no corpus, run, checkpoint or search index" if folder.exists() else "there is no such folder"
        raise InputError(source, cause, "Name a folder that mmcc wrote, or a model that comes with it.")
    found = Verified(str(source), kind)
    if kind == RUN:
        _verify_run(folder, found)
    else:
        _verify_folder(folder, found)
    return found


def render_verified(found: Verified) -> str:
    """As text: a line for each damaged file, then what was read."""
    lines = [f"{each.path}: {each.cause}" for each in found.damaged]
    state = f"{len(found.damaged)} damaged" if found.damaged else "all as they were written"
    size = f"{found.bytes / 1e6:,.1f} MB"
    lines.append(f"{found.path}: {found.kind}, {counted(found.files, 'file')} read ({size}), {state}")
    return "\n".join(lines)


def _kind(folder: Path) -> str | None:
    if (folder / FOLDER).is_dir() or (folder / LIST).is_file():
        return RUN
    listed = set(_manifest_of(folder))
    if _INDEX in listed or (folder / _INDEX).is_file():
        return INDEX
    if _WEIGHTS in listed or (folder / _WEIGHTS).is_file() or (folder / "config.json").is_file():
        return MODEL if folder.parent == SHIPPED else CHECKPOINT
    return None


def _manifest_of(folder: Path) -> dict[str, str]:
    try:
        return read_manifest(folder) or {}
    except (OSError, ValueError):
        return {}


def _verify_folder(folder: Path, found: Verified, listed: str | None = None) -> None:
    """One whose manifest has the checksums of all its files."""
    try:
        expected = read_manifest(folder)
    except (OSError, ValueError) as error:
        found.damaged.append(Damaged(str(folder / MANIFEST), f"cannot be read ({error})"))
        return
    if expected is None:
        if listed is not None or (folder / STATE).is_file() or (folder / _INDEX).is_file():
            found.damaged.append(Damaged(str(folder / MANIFEST), "is missing"))
        found.notes.append(f"{folder}: has no checksums, so nothing in it could be checked")
        return
    _count(folder / MANIFEST, found)
    if listed is not None and checksum(folder / MANIFEST) != listed:
        found.damaged.append(Damaged(str(folder / MANIFEST), "is that of another checkpoint"))
    for name in expected:
        _count(folder / name, found)
    found.damaged += [Damaged(str(folder / each.name), each.cause) for each in damages(folder, expected)]


def _verify_run(run: Path, found: Verified) -> None:
    listed: dict[int, str] = {}
    try:
        listed = listed_checkpoints(run)
    except InputError as error:
        found.damaged.append(Damaged(error.path, error.cause))
    if (run / LIST).is_file():
        _count(run / LIST, found)
    else:
        found.notes.append(f"{run}: has no list of its checkpoints, so a missing one would not be noticed")
    folder = run / FOLDER
    present = {int(each.name) for each in folder.iterdir() if each.name.isdecimal()} if folder.is_dir() else set()
    for step in sorted({*present, *listed}):
        if step in present:
            _verify_folder(folder / f"{step:08d}", found, listed.get(step))
        else:
            found.damaged.append(Damaged(str(folder / f"{step:08d}"), "is missing"))
    if present:
        _verify_own_files(run, folder / f"{max(present):08d}", found)


def _verify_own_files(run: Path, newest: Path, found: Verified) -> None:
    """What lies beside the checkpoints, compared with what the newest of them knows."""
    for name in _COPIES:
        if (newest / name).is_file():
            _compare(run / name, newest / name, found)
            _count(run / name, found)
    try:
        known = str(read_json(newest / COUNTERS, dict).get("metrics") or "")
    except (OSError, ValueError):
        return  # it is listed already
    path, size = run / _METRICS, known.rpartition(":")[2]
    if known and not path.is_file():
        found.damaged.append(Damaged(str(path), "is missing"))
    elif known and quick_checksum(path, int(size) if size.isdecimal() else 0) != known:
        found.damaged.append(Damaged(str(path), "has a wrong checksum"))
    _count(path, found)
    try:
        typed(read_json(run / "corpus.json", dict), "fps", float)
        _count(run / "corpus.json", found)
    except (OSError, ValueError) as error:
        found.damaged.append(Damaged(str(run / "corpus.json"), f"cannot be read ({error})"))


def _compare(path: Path, other: Path, found: Verified) -> None:
    """A run's own copy with that of a checkpoint."""
    told = f"differs from that of checkpoint {other.parent.name}"
    try:
        if path.read_bytes() == other.read_bytes():
            return
        if path.name == _SETTINGS:
            require_own_checksum(path)
            if not (changed := _changed_settings(path, other)):
                return
            told += f" in {', '.join(changed)}"
            if _is_free(changed):
                found.notes.append(f"{path}: {told}, as after a resume with other settings")
                return
    except InputError as error:
        told = error.cause
    except OSError as error:
        told = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
    found.damaged.append(Damaged(str(path), told))


def _changed_settings(path: Path, other: Path) -> list[str]:
    from mmcc.training.config import Config, differences

    return sorted(differences(Config.from_yaml(other), Config.from_yaml(path)))


def _is_free(changed: list[str]) -> bool:
    """Whether a run may be resumed with them."""
    from mmcc.training.config import FREE_ON_RESUME

    return {*changed} <= FREE_ON_RESUME


def _count(path: Path, found: Verified) -> None:
    if path.is_file():
        found.files += 1
        found.bytes += path.stat().st_size
