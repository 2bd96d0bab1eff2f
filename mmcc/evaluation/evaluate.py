"""One model on the test videos of a corpus: a run, a checkpoint's folder, or a learner known by name.

>>> evaluation = evaluate("runs/kitchen", Path("kitchen.corpus"), tasks=["anticipation"])
>>> evaluation.results["anticipation"].figures["recall@5"].mean
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mmcc.corpus import Corpus
from mmcc.data.config import DataConfig
from mmcc.errors import InputError
from mmcc.evaluation.adapter import ModelAdapter, build_adapter
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.evaluator import Bars, Exam, NotMeasured, Sitting
from mmcc.evaluation.features_only import imagenet_adapter  # registers the learners that need no training
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.runs import BEST, Checkpoint, find_checkpoint
from mmcc.metrics import Interval, PerVideo, bootstrap
from mmcc.pretrained import with_shipped
from mmcc.report.tables import EMPTY, Cell, Column, Row, Table, notes_as_markdown, to_markdown
from mmcc.reproduce import plan
from mmcc.reproduce.store import SCHEMA

# What a user can ask for, and what that measures.
TASKS: dict[str, tuple[str, ...]] = {
    "cycle": (plan.CYCLE,),
    "anticipation": (plan.ANTICIPATION,),
    "unshuffling": (plan.UNSHUFFLING,),
    "arrow": (plan.ARROW,),
    "transitions": (plan.TRANSITIONS,),
    "neurons": (plan.NEURONS,),
    "transfer": (plan.TRANSFER_ANTICIPATION, plan.TRANSFER_UNSHUFFLING),
}
_FEWER_CANDIDATES = "current_removed"
_SMALL = ("kendall_tau", "spearman_rho", "edit_distance")  # figures that take more digits


@dataclass
class Evaluation:
    """What was measured of a model, and what could not be."""

    model: str
    checkpoint: str | None  # its folder
    corpus: str
    results: dict[str, TaskResult] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)  # task → why

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "model": self.model,
            "checkpoint": self.checkpoint,
            "corpus": self.corpus,
            "tasks": {task: _with_intervals(result) for task, result in self.results.items()},
            "skipped": self.skipped,
        }


def evaluate(
    source: str,
    corpus: Path,
    *,
    tasks: Iterable[str] | None = None,
    checkpoint: str | int = BEST,
    on: str = "test",
    bars: Bars | None = None,
    imagenet: Path | None = None,
) -> Evaluation:
    """Measure a model by the tasks named, or by all. What says nothing of it is skipped; if all is, InputError.

    `imagenet`: for the learner of that name, the weights of a ResNet-18 in place of the extra's network.
    """
    asked = list(TASKS if tasks is None else tasks)
    unknown = [task for task in asked if task not in TASKS]
    if unknown:
        raise ValueError(f"there is no task {unknown[0]!r}; choose among {', '.join(TASKS)}")
    opened = Corpus.open(corpus)
    adapter, found = _open(source, opened, checkpoint, imagenet)
    held_out = found.setting("data.held_out", DataConfig.held_out) if found else DataConfig.held_out
    sitting = Sitting(adapter, Exam(opened, on=on, held_out=held_out), found, bars)
    evaluation = Evaluation(adapter.name, str(found.folder) if found else None, str(corpus))
    for task in (each for name in asked for each in TASKS[name]):
        try:
            evaluation.results[task] = sitting.measure(task)
        except NotMeasured as why:
            evaluation.skipped[task] = str(why)
    if not evaluation.results:
        reasons = "; ".join(f"{task}: {why}" for task, why in evaluation.skipped.items())
        raise InputError(corpus, f"nothing can be measured of {adapter.name} ({reasons})", "Choose other --tasks.")
    return evaluation


def _open(
    source: str, corpus: Corpus, which: str | int, imagenet: Path | None
) -> tuple[ModelAdapter, Checkpoint | None]:
    if source == plan.IMAGENET and imagenet:
        return imagenet_adapter(corpus, weights=imagenet), None
    if with_shipped(source).is_dir():
        found = find_checkpoint(Path(source), which)
        return open_adapter(found.folder), found
    try:
        return build_adapter(source, corpus), None
    except ValueError as error:
        cause = f"there is no such folder, and {str(error).splitlines()[0]}"
        raise InputError(source, cause, "Name a folder that mmcc train wrote, or a learner.") from None


def render_evaluation(evaluation: Evaluation) -> str:
    """Tables as text: each figure with its interval over videos, and what it is read against."""
    where = f" ({evaluation.checkpoint})" if evaluation.checkpoint else ""
    parts = [f"{evaluation.model}{where} on {evaluation.corpus}"]
    for task, result in evaluation.results.items():
        parts.append(f"\n{task}\n\n{to_markdown(result_table(task, result))}")
        if result.notes:
            parts.append(f"\n{notes_as_markdown(result.notes)}")
    if evaluation.skipped:
        parts.append("\nskipped\n\n" + notes_as_markdown(f"{task}: {why}" for task, why in evaluation.skipped.items()))
    return "\n".join(parts)


def result_table(task: str, result: TaskResult) -> Table:
    """A row for each figure; a column for each kind of reference."""
    kinds = list(dict.fromkeys(name.split("/", 1)[0] for name in result.references))
    columns = [Column(task, better=0), *(Column(kind.replace("_", " "), better=0) for kind in kinds)]
    rows = []
    for name, figure in result.figures.items():
        interval = bootstrap([figure])
        digits = 3 if name.split("/")[0] in _SMALL else 1
        others = [reference(result.references, kind, name) for kind in kinds]
        cells = [Cell(text=_text(interval, digits)), *(_reference_cell(value, digits) for value in others)]
        rows.append(Row((name,), tuple(cells)))
    return Table(task, ("figure",), tuple(columns), tuple(rows))


def reference(references: Mapping[str, float], kind: str, figure: str) -> float | None:
    """What a figure is read against: of "kendall_tau/text", the reference of that name, else that of "kendall_tau";
    of "accuracy/FEATURES/SAMPLER", else that of the sampler. With fewer candidates chance is another."""
    base, *rest = figure.split("/")
    names = [figure]
    if rest and rest[-1] != _FEWER_CANDIDATES:
        names += [base, *(rest[-1:] if base == "accuracy" else [])]
    return next((references[f"{kind}/{name}"] for name in names if f"{kind}/{name}" in references), None)


def _reference_cell(value: float | None, digits: int) -> Cell:
    return EMPTY if value is None else Cell(text=f"{value:.{digits}f}")


def _text(interval: Interval, digits: int) -> str:
    return f"{interval.mean:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"


def _with_intervals(result: TaskResult) -> dict[str, Any]:
    content = result.to_json()
    for name, figure in result.figures.items():
        content["figures"][name] |= interval_json([figure])
    return content


def interval_json(samples: Sequence[PerVideo]) -> dict[str, float]:
    """The mean over seeds, and its interval over seeds and videos."""
    return bootstrap(samples)._asdict()
