"""A trained run at rest: its checkpoints, settings and vocabulary. Whatever is opened has been checked for damage.

RUN/config.yaml, corpus.json, vocabulary.txt, checkpoints.json
RUN/checkpoints/<step>/config.json, model.safetensors, config.yaml, vocabulary.txt, training_state.json
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmcc.errors import InputError
from mmcc.pretrained import shipped_names, with_shipped
from mmcc.training.intact import COUNTERS, FOLDER, listed_checkpoints, require_intact
from mmcc.untrusted import LARGEST_YAML, parse_yaml, read_json, read_start, typed

if TYPE_CHECKING:
    from mmcc.data.vocabulary import Vocabulary

BEST, LAST = "best", "last"
CORPUS = "corpus.json"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint's folder, and the settings it was trained with."""

    folder: Path
    settings: Mapping[str, Any]  # of config.yaml
    checksums: Mapping[str, str]  # of its files, as they are; none of a folder that has no manifest

    def setting(self, path: str, default: Any) -> Any:
        """The value of, say, `objective.cycle.temperature`; the default where the run predates the setting."""
        value: Any = self.settings
        for name in path.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return default if value is None else value

    def vocabulary(self) -> Vocabulary:
        from mmcc.data.vocabulary import Vocabulary  # here, since it loads torch, which finding a run does not need

        return Vocabulary.load(self.folder / "vocabulary.txt")

    def corpus(self) -> dict[str, Any]:
        """What it was trained on: corpus.json beside the weights, or that of the run; {} where there is none."""
        for path in (self.folder / CORPUS, self.folder.parent.parent / CORPUS):
            if path.is_file():
                try:
                    content = read_json(path, dict)
                    for name, kind in (("size", int), ("fit", str), ("fps", float)):
                        typed(content, name, kind)
                except (OSError, ValueError) as error:
                    remedy = "Copy it again from where the run was made."
                    raise InputError(path, f"cannot be read ({error})", remedy) from None
                return content
        return {}


def find_checkpoint(source: Path, which: str | int = BEST) -> Checkpoint:
    """The checkpoint of a folder, of a shipped model, or of a run: its best by validation, its last, or a step's."""
    source = with_shipped(source)
    if (source / "config.json").is_file():
        folder = source
    elif (source / FOLDER).is_dir():
        folder = _of_run(source, which)
    else:
        shipped = ", ".join(shipped_names())
        remedy = (
            f"Name a folder that mmcc train wrote, one of its checkpoints, or a model that comes with mmcc: {shipped}."
        )
        raise InputError(
            source, "is neither a run nor a checkpoint" if source.exists() else "there is no such folder", remedy
        )
    checksums = require_intact(folder)
    return Checkpoint(folder, _settings(folder / "config.yaml"), checksums)


def _of_run(run: Path, which: str | int) -> Path:
    listed = listed_checkpoints(run)
    folders = {int(each.name): each for each in (run / FOLDER).iterdir() if each.name.isdecimal()}
    if not folders:
        raise InputError(run, "has no checkpoint yet", "Wait for the first one, or continue it with --resume.")
    known = ", ".join(map(str, sorted(folders)))
    step: str | int = which
    if which in (BEST, LAST):
        last = max({*folders, *listed})
        step = (which == BEST and last in folders and _best_step(folders[last])) or last
        if step not in folders:
            place = run / FOLDER / f"{step:08d}"
            raise InputError(place, "is missing", f"Restore it from a backup, or name another checkpoint: {known}.")
    if not isinstance(step, int) or step not in folders:
        raise InputError(run, f"has no checkpoint {which!r}", f"Choose best, last or a step: {known}.")
    return folders[step]


def _best_step(newest: Path) -> int:
    """0 where the run has not been validated yet."""
    path = newest / COUNTERS
    try:
        require_intact(newest, only=(COUNTERS,))
        return typed(read_json(path, dict), "best_step", int)
    except InputError as error:
        raise InputError(error.path, error.cause, "Name the checkpoint: last, or a step.") from None
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", "Name the checkpoint: last, or a step.") from None


def _settings(path: Path) -> Mapping[str, Any]:
    try:
        content = parse_yaml(read_start(path, LARGEST_YAML).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", "Copy it again from where the run was made.") from None
    if not isinstance(content, Mapping):
        raise InputError(path, "contains no settings", "Copy it again from where the run was made.")
    return content
