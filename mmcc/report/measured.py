"""What `mmcc evaluate` measured, for the report: a question for each task, its headline figures on a scale, and a
folded table of all figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mmcc.evaluation.task import EvaluationTask, known_tasks
from mmcc.metrics import LEAST_VIDEOS, Interval
from mmcc.report.evaluation import reference, reference_kinds
from mmcc.report.gallery import Gauge, folded, gauges
from mmcc.report.html import Markup, element, joined
from mmcc.report.page import Section, listed, titled
from mmcc.report.tables import EMPTY, Cell, Column, Row, Table, to_html

Evaluation = Mapping[str, Any]  # as `mmcc evaluate --json` prints it
_FIRST = ("anticipation", "unshuffling")  # the easiest to understand; the others keep the order of the tasks
_CEILINGS = ("done_known", "step_known")  # references that know the steps so far, or the step that each clip shows
_MOST_DIGITS = 2  # on a scale: a third is for tables


def measured(evaluations: Sequence[Evaluation]) -> Section:
    """The first is the model in question; others are shown beside it."""
    names = [str(each.get("model", "?")) for each in evaluations]
    said = f"Measured on test videos; bars are 95 % intervals over videos, of which it takes {LEAST_VIDEOS} or more."
    lead = element("p", said)
    known = known_tasks()
    found = dict.fromkeys(task for each in evaluations for task in each.get("tasks", {}))
    order = [name for name in dict.fromkeys((*_FIRST, *known, *found)) if name in found]
    parts = [_part(name, known.get(name), evaluations, names) for name in order]
    skipped = [f"{task}: {why}" for task, why in evaluations[0].get("skipped", {}).items()]
    left_out = [element("p", "Not measured:"), listed(skipped)] if skipped else []
    return Section("What was measured", (lead, *parts, *left_out))


def _part(name: str, task: EvaluationTask | None, evaluations: Sequence[Evaluation], models: Sequence[str]) -> Markup:
    """`task`: None where the results name a task that is not registered here."""
    results = [each.get("tasks", {}).get(name) for each in evaluations]
    of_first = next(result for result in results if result)
    tables = [
        titled(model, to_html(_table(name, result))) for model, result in zip(models, results, strict=True) if result
    ]
    notes = [str(note) for note in of_first.get("notes", [])]
    return joined(
        [
            element("h3", task.title if task else name),
            *([element("p", task.question), _gauges(task, of_first, results, models)] if task else []),
            *([listed(notes)] if notes else []),
            folded("All figures", joined(tables)),
        ]
    )


def _gauges(
    task: EvaluationTask,
    of_first: Mapping[str, Any],
    results: Sequence[Mapping[str, Any] | None],
    models: Sequence[str],
) -> Markup:
    shown = [
        Gauge(
            words,
            [_interval(result, figure) for result in results],
            reference(of_first["references"], "chance", figure),
            _ceiling(of_first["references"], figure),
            min(task.digits, _MOST_DIGITS),
        )
        for figure, words in task.headlines(of_first["figures"]).items()
        if any(_interval(result, figure) for result in results)
    ]
    return gauges(shown, models, *task.scale)


def _ceiling(references: Mapping[str, float], figure: str) -> float | None:
    known = (reference(references, kind, figure) for kind in _CEILINGS)
    return next((value for value in known if value is not None), None)


def _interval(result: Mapping[str, Any] | None, name: str) -> Interval | None:
    """None where there is no such figure, or its value is NaN."""
    figure = result["figures"].get(name) if result else None
    if not figure or figure.get("mean") is None:
        return None
    count = sum(each > 0 for each in figure.get("counts", ()))
    return Interval(figure["mean"], figure.get("low"), figure.get("high"), count)


def _table(task: str, result: Mapping[str, Any]) -> Table:
    """Every figure, and every reference that it has."""
    kinds = reference_kinds(result["references"])
    columns = [Column(task, 2, better=0), *(Column(kind.replace("_", " "), 2, better=0) for kind in kinds)]
    rows = []
    for name in result["figures"]:
        interval = _interval(result, name)
        others = [reference(result["references"], kind, name) for kind in kinds]
        cells = [Cell(*interval) if interval else EMPTY, *(EMPTY if each is None else Cell(each) for each in others)]
        rows.append(Row((name,), tuple(cells)))
    return Table(task, ("figure",), tuple(columns), tuple(rows))


def headline(evaluation: Evaluation) -> str:
    """A model's recall@10 of later steps in a sentence; "" where it was not measured."""
    result = evaluation.get("tasks", {}).get("anticipation")
    interval = _interval(result, "recall@10")
    if result is None or interval is None:
        return ""
    chance = reference(result["references"], "chance", "recall@10")
    against = "" if chance is None else f" (chance: {chance:.0f} %)"
    return f"Asked for ten steps that may still come, {interval.mean:.0f} % of those that do are among them{against}."
