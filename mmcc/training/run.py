"""A run is a folder: config.yaml, corpus.json, vocabulary.txt, metrics.jsonl, checkpoints/; and tensorboard/ if that is
installed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mmcc.corpus import Corpus
from mmcc.corpus.vectors import stored_manifest
from mmcc.errors import InputError
from mmcc.files import replace_text, writing
from mmcc.training.config import FREE_ON_RESUME, Config, differences

CONFIG, VOCABULARY, METRICS, TENSORBOARD = "config.yaml", "vocabulary.txt", "metrics.jsonl", "tensorboard"
CORPUS = "corpus.json"


def open_run(run: Path, config: Config, *, resume: bool) -> None:
    """Create a run's folder, or check that the run can be resumed; then write its settings to config.yaml."""
    if run.exists() and not run.is_dir():
        raise InputError(run, "is not a folder", "Give a folder for the run.")
    started = (run / CONFIG).is_file()
    if started and not resume:
        raise InputError(run, "already contains a run", "Resume it with --resume, or choose another folder.")
    if not started and run.is_dir() and any(path.name != ".lock" for path in run.iterdir()):
        raise InputError(run, "is neither empty nor a run", "Choose another folder.")
    if started:
        check_same_settings(run, config)
    with writing(run):
        run.mkdir(parents=True, exist_ok=True)
    replace_text(run / CONFIG, config.to_yaml())


def describe_corpus(corpus: Corpus) -> str:
    """corpus.json: where the corpus was, and how its frames were made, so that others can be made the same way."""
    content = {"path": str(corpus.path.absolute()), "videos": len(corpus), **stored_manifest(corpus).settings()}
    return json.dumps(content, indent=1) + "\n"


def check_same_settings(run: Path, config: Config) -> None:
    """A run is resumed with its original settings, except those that do not affect what a training step computes."""
    changed = differences(Config.from_yaml(run / CONFIG), config)
    for key in sorted(changed.keys() - FREE_ON_RESUME):
        old, new = changed[key]
        cause = f"was started with {key} = {old}, not {new}"
        raise InputError(run, cause, "Resume with the run's own settings, or start another run.")


class Metrics:
    """metrics.jsonl, one JSON object per line, and the same figures for TensorBoard if that is installed."""

    def __init__(self, run: Path, step: int) -> None:
        self._path = run / METRICS
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


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """The lines of a run's metrics.jsonl."""
    lines = (run / METRICS).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if _step_of(line) is not None]


def _step_of(line: str) -> int | None:
    try:
        step = json.loads(line)["step"]
    except (ValueError, KeyError, TypeError):
        return None
    return step if isinstance(step, int) else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and abs(value) != float("inf") and value == value else None


def _tensorboard(folder: Path, step: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step + 1)
