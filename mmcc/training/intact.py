"""Whether a checkpoint is what was written: every command asks here before it answers. Loads nothing heavy.

A checkpoint of `mmcc train` and a model that comes with the package have manifests of their files; a folder without one
is read all the same, with a note. A run lists its checkpoints, so that one that is gone is missed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import cache
from pathlib import Path

from mmcc.checksums import MANIFEST, Damage, checksum, damages, read_manifest
from mmcc.errors import InputError
from mmcc.pretrained import SHIPPED
from mmcc.terminal import note

FOLDER = "checkpoints"
LIST = "checkpoints.json"  # of a run: like a manifest, with the checkpoints as its files
STATE, COUNTERS = "training_state.safetensors", "training_state.json"  # what a run is resumed from
_OWN = "# sha256 of the lines above: "
_TRAINING = (STATE, COUNTERS, "environment.json")  # no answer depends on them
_READ = ["config.json", "config.yaml", "corpus.json", "model.safetensors", "vocabulary.txt"]
_READ += ["calibration.json", "domain.npz", "order.json"]  # of a published model


def require_intact(checkpoint: Path, only: Collection[str] | None = None) -> dict[str, str]:
    """The checksums of a checkpoint's files, which it has just checked: all that an answer depends on, or `only` these.
    InputError where one is damaged."""
    try:
        expected = read_manifest(checkpoint)
    except (OSError, ValueError) as error:
        raise _damaged(checkpoint, Damage(MANIFEST, f"cannot be read ({error})")) from None
    known = expected or {}
    asked = [name for name in known if name not in _TRAINING] if only is None else [*known.keys() & {*only}]
    for problem in damages(checkpoint, {name: known[name] for name in asked}):
        raise _damaged(checkpoint, problem)
    place = checkpoint.absolute()
    if place.parent.name == FOLDER and place.name.isdecimal():
        listed = listed_checkpoints(place.parents[1]).get(int(place.name))
        if listed is not None and (expected is None or checksum(checkpoint / MANIFEST) != listed):
            cause = "is missing" if expected is None else "is that of another checkpoint"
            raise _damaged(checkpoint, Damage(MANIFEST, cause))
    for name in _READ if only is None else ():
        if name not in known and (checkpoint / name).is_file():
            _say_once(f"{checkpoint}: has no checksum of {name}, so damage to it would not be noticed.")
            break
    return known


def listed_checkpoints(run: Path) -> dict[int, str]:
    """The checkpoints that a run should have, by their steps, with the checksums of their manifests; none of a run that
    is older than the list."""
    try:
        listed = read_manifest(run, LIST) or {}
        return {int(name): expected for name, expected in listed.items()}
    except (OSError, ValueError) as error:
        remedy = f"Restore it, or delete it: then the run has whatever is in {FOLDER}/."
        raise InputError(run / LIST, f"cannot be read ({error})", remedy) from None


def with_own_checksum(settings: str) -> str:
    """Settings in YAML, with a last line by which damage to them is noticed: a run that is resumed takes them."""
    return f"{settings}{_OWN}{hashlib.sha256(settings.encode()).hexdigest()}\n"


def require_own_checksum(path: Path) -> None:
    """InputError if settings are not those that their last line belongs to; without such a line they may be any."""
    try:
        content, line, told = path.read_bytes().rpartition(_OWN.encode())
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "Copy that of the newest checkpoint.") from None
    if line and hashlib.sha256(content).hexdigest().encode() != told.rstrip(b"\n"):
        remedy = "Copy that of the newest checkpoint; if you changed it on purpose, delete its last line."
        raise InputError(path, "has a wrong checksum: it is damaged, or was changed", remedy)


def _damaged(checkpoint: Path, problem: Damage) -> InputError:
    place = checkpoint.absolute()
    if SHIPPED in place.parents:
        remedy = "Install mmcc again."
    elif place.parent.name == FOLDER:
        remedy = "Restore it from a backup, or name another checkpoint of the run; --resume trains it again."
    else:
        remedy = "Copy the folder again from where it was made."
    return InputError(checkpoint / problem.name, f"{problem.cause}: it is damaged", remedy)


@cache
def _say_once(line: str) -> None:
    note(line)
