"""The results of `mmcc evaluate` as text: a table for each task."""

from __future__ import annotations

from collections.abc import Mapping

from mmcc.evaluation.evaluate import Evaluation
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import find_task
from mmcc.metrics import bootstrap
from mmcc.report.tables import EMPTY, Cell, Column, Row, Table, notes_as_markdown, to_markdown

_FEWER_CANDIDATES = "current_removed"


def render_evaluation(evaluation: Evaluation) -> str:
    """Every figure with its interval over videos, or their number where they are too few for one, beside its
    references: chance, and what partial knowledge gives."""
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
    digits = find_task(task).digits
    kinds = reference_kinds(result.references)
    columns = [Column(task, better=0), *(Column(kind.replace("_", " "), better=0) for kind in kinds)]
    rows = []
    for name, figure in result.figures.items():
        others = [reference(result.references, kind, name) for kind in kinds]
        cells = [Cell(text=bootstrap([figure]).text(digits)), *(_reference_cell(value, digits) for value in others)]
        rows.append(Row((name,), tuple(cells)))
    return Table(task, ("figure",), tuple(columns), tuple(rows))


def reference_kinds(references: Mapping[str, float]) -> list[str]:
    """ "chance", "task_known", …"""
    return list(dict.fromkeys(name.split("/", 1)[0] for name in references))


def reference(references: Mapping[str, float], kind: str, figure: str) -> float | None:
    """The value to compare a figure with; None where there is none.

    For "kendall_tau/text" it is the reference of that name, else that of "kendall_tau"; for
    "accuracy/FEATURES/SAMPLER" also that of the sampler. A figure over fewer candidates does not share the base
    figure's reference, since its chance differs.
    """
    base, *rest = figure.split("/")
    names = [figure]
    if rest and rest[-1] != _FEWER_CANDIDATES:
        names += [base, *(rest[-1:] if base == "accuracy" else [])]
    return next((references[f"{kind}/{name}"] for name in names if f"{kind}/{name}" in references), None)


def _reference_cell(value: float | None, digits: int) -> Cell:
    return EMPTY if value is None else Cell(text=f"{value:.{digits}f}")
