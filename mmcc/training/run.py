"""A run is a folder: config.yaml, corpus.json, vocabulary.txt, metrics.jsonl, checkpoints/, checkpoints.json; and
tensorboard/ if that is installed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mmcc.checksums import checksum, quick_checksum, read_manifest
from mmcc.corpus import Corpus
from mmcc.corpus.local_copy import origin_of
from mmcc.corpus.vectors import stored_manifest
from mmcc.errors import InputError
from mmcc.files import flush_to_disk, is_draft, remove_drafts, replace_text, sync_folder, writing
from mmcc.locks import LOCK, only_writer
from mmcc.terminal import note
from mmcc.training.checkpoints import Checkpoints, read_progress
from mmcc.training.config import FREE_ON_RESUME, Config, differences
from mmcc.training.intact import FOLDER as CHECKPOINTS
from mmcc.training.intact import LIST, require_own_checksum, with_own_checksum
from mmcc.untrusted import parse_json, typed

CONFIG, VOCABULARY, METRICS, TENSORBOARD = "config.yaml", "vocabulary.txt", "metrics.jsonl", "tensorboard"
CORPUS = "corpus.json"
_FILES = (CHECKPOINTS, LIST, TENSORBOARD, METRICS, VOCABULARY, CONFIG, CORPUS)  # written from last to first


def check_run(run: Path, config: Config, *, resume: bool) -> bool:
    """Refuse a folder that cannot be used, before anything is written. Returns whether it has a run to continue: one
    with a checkpoint. A run that ended before its first one has nothing to lose, and starts over."""
    if run.exists() and not run.is_dir():
        raise InputError(run, "is not a folder", "Give a folder for the run.")
    if Checkpoints(run).steps():
        if not resume:
            raise InputError(run, "already contains a run", "Resume it with --resume, or choose another folder.")
        check_same_settings(run, config)
        return True
    if run.is_dir() and not _is_ours({path.name for path in run.iterdir() if not is_draft(path)}):
        raise InputError(run, "is neither empty nor a run", "Choose another folder.")
    return False


@contextmanager
def open_run(run: Path, config: Config, corpus: Corpus, *, resume: bool) -> Iterator[None]:
    """Hold a run's folder for one writer, with its settings in config.yaml. If a new run fails before it has anything
    to show, a checkpoint or a line of metrics, what this call has written is removed."""
    made = [folder for folder in (run, *run.parents) if not folder.exists()]
    with writing(run):
        run.mkdir(parents=True, exist_ok=True)
        for folder in made:
            sync_folder(folder.parent)
    with only_writer(run):
        continued = check_run(run, config, resume=resume)
        try:
            if not continued:
                with writing(run):
                    _clear(run)
            # First corpus.json: it tells a run that was killed from a folder where someone keeps a config.yaml.
            replace_text(run / CORPUS, describe_corpus(corpus))
            replace_text(run / CONFIG, with_own_checksum(config.to_yaml()))
            yield
        except BaseException:
            if not continued and not Checkpoints(run).steps() and not _has_metrics(run):
                with suppress(OSError):  # what went wrong before is what matters
                    _clear(run)
                    (run / LOCK).unlink()
                    for folder in made:
                        folder.rmdir()
            raise


def _is_ours(names: set[str]) -> bool:
    """Whether a folder holds nothing, or what a run has written before its first checkpoint."""
    return names <= {LOCK} or (CORPUS in names and names <= {LOCK, *_FILES})


def _clear(run: Path) -> None:
    """Remove what a run without a checkpoint has written; cut short, what is left is still known to be a run's."""
    for name in _FILES:
        path = run / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    remove_drafts(run)


def describe_corpus(corpus: Corpus) -> str:
    """corpus.json: where the corpus was, and how its frames were made, so that others can be made the same way."""
    content = {
        "path": str(origin_of(corpus.path).absolute()),
        "videos": len(corpus),
        **stored_manifest(corpus).settings(),
    }
    return json.dumps(content, indent=1) + "\n"


def check_same_settings(run: Path, config: Config) -> None:
    """A run is resumed with its original settings, except those that do not affect what a training step computes."""
    changed = differences(Config.from_yaml(_settings_of(run)), config)
    for key in sorted(changed.keys() - FREE_ON_RESUME):
        old, new = changed[key]
        cause = f"was started with {key} = {old}, not {new}"
        raise InputError(run, cause, "Resume with the run's own settings, or start another run.")


def settings_to_resume(run: Path) -> Path | None:
    """The settings with which a run was last started: its own, or, if they are gone, those of its newest checkpoint.
    InputError where its own are damaged."""
    path = run / CONFIG
    if path.is_file():
        require_own_checksum(path)
        return path
    return found if (found := _settings_of(run)).is_file() else None


def _settings_of(run: Path) -> Path:
    """The newest checkpoint's, whose checksum is known; the run's own if no checkpoint has an intact one."""
    checkpoints = Checkpoints(run)
    for step in reversed(checkpoints.steps()):
        folder = checkpoints.path(step)
        with suppress(OSError, ValueError):
            if (listed := (read_manifest(folder) or {}).get(CONFIG)) and checksum(folder / CONFIG) == listed:
                return folder / CONFIG
    return run / CONFIG


class Metrics:
    """metrics.jsonl, one JSON object per line, and the same figures for TensorBoard if that is installed."""

    def __init__(self, run: Path, step: int, known: str = "", say: Callable[[str], None] = note) -> None:
        """Continue after a step, whose checkpoint knows what is `recorded` until then."""
        self._path = run / METRICS
        if aside := _put_aside(run, known):
            say(f"{self._path}: damaged; it is now {aside.name}, and the curves begin anew.")
        keep_lines_until(self._path, step)
        with writing(self._path):
            self._file = self._path.open("a", encoding="utf-8")
        self._board = _tensorboard(run / TENSORBOARD, step)

    def write(self, step: int, part: str, values: Mapping[str, float | None]) -> None:
        """One line. NaN and Inf are written as null: JSON has neither."""
        line = {"step": step, "part": part, **{name: _finite(value) for name, value in values.items()}}
        with writing(self._path):
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        if self._board is not None:
            for name, value in values.items():
                if value is not None:
                    self._board.add_scalar(f"{part}/{name}", value, step)

    def close(self) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def keep_lines_until(path: Path, step: int) -> None:
    """Drop the lines after a step, and any incomplete one: the run resumes there and writes them again."""
    if not path.is_file():
        return
    with writing(path):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    kept = [line for line in lines if (at := _step_of(line)) is not None and at <= step]
    if kept != lines:
        replace_text(path, "".join(f"{line}\n" for line in kept))


def recorded(run: Path) -> str:
    """What a checkpoint keeps of metrics.jsonl: its checksum and length, once it is on the disk; "" without any."""
    path = run / METRICS
    with writing(path):
        if not _has_metrics(run):
            return ""
        flush_to_disk(path)
        return quick_checksum(path)


def _put_aside(run: Path, known: str) -> Path | None:
    """Rename metrics.jsonl if it does not begin as a checkpoint knew it, and say to what: it is no longer trusted."""
    path = run / METRICS
    if not known or not path.is_file() or quick_checksum(path, _length(known)) == known:
        return None
    aside = path.with_name(f"damaged-{METRICS}")
    with writing(run):
        path.replace(aside)
        sync_folder(run)
    return aside


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics.jsonl up to its newest checkpoint, which knows their checksum; all of them, of a run
    that is older than that. InputError where they are damaged."""
    path, steps = run / METRICS, Checkpoints(run).steps()
    known = read_progress(Checkpoints(run).path(steps[-1])).metrics if steps else ""
    content = path.read_bytes()
    if known:
        content = content[: _length(known)]
        if quick_checksum(path, _length(known)) != known:
            cause = "has a wrong checksum: it is damaged"
            raise InputError(path, cause, "Restore it from a backup, or delete it, to do without its curves.")
    lines = content.decode("utf-8", errors="replace").splitlines()
    return [line for text in lines if (line := _metrics_of(text)) is not None]


def _length(known: str) -> int:
    size = known.rpartition(":")[2]
    return int(size) if size.isdecimal() else 0


def _has_metrics(run: Path) -> bool:
    return (run / METRICS).is_file() and (run / METRICS).stat().st_size > 0


def _step_of(line: str) -> int | None:
    metrics = _metrics_of(line)
    return None if metrics is None else int(metrics["step"])


def _metrics_of(line: str) -> dict[str, Any] | None:
    """None for an incomplete line, and for garbage that a crash left."""
    try:
        metrics = parse_json(line, dict)
        typed(metrics, "step", int)
    except ValueError:
        return None
    return metrics


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) != float("inf") and value == value else None


def _tensorboard(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step + 1)
