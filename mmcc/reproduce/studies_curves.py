"""Learning curves: validation figures by training step, from the runs' metrics.jsonl."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mmcc.training.run import read_metrics

FIGURES = {"score": "validation score", "cross_modal_rank": "cross-modal rank", "future_rank": "future rank"}
Points = tuple[tuple[float, float], ...]


def curve(runs: Iterable[Path], figure: str, first_step: int = 0) -> Points:
    """A validation figure's mean over seeds by step, counted from the last step of the run that it started from."""
    values: dict[int, list[float]] = {}
    for run in runs:
        for line in _lines(run):
            if line.get("part") == "validation" and isinstance(line.get(figure), int | float):
                values.setdefault(int(line["step"]), []).append(float(line[figure]))
    return tuple((float(first_step + step), sum(each) / len(each)) for step, each in sorted(values.items()))


def _lines(run: Path) -> list[dict[str, Any]]:
    """Empty where a run has no metrics.jsonl."""
    try:
        return read_metrics(run)
    except OSError:
        return []
