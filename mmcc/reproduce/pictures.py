"""Plots of the tables: a bar for each row with its interval, and chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from mmcc.report.evaluation import reference
from mmcc.report.html import Markup
from mmcc.report.plots import Bar, Curve, Mark, bars, curves
from mmcc.report.tables import Cell
from mmcc.reproduce import plan
from mmcc.reproduce.findings import Findings
from mmcc.reproduce.studies import multiplications, widths_measured
from mmcc.reproduce.studies_curves import FIGURES, Points
from mmcc.reproduce.tables_rows import LABELS, REFERENCES, measured


class Picture(NamedTuple):
    """A plot and what it shows."""

    title: str
    drawn: Markup


def _of_models(findings: Findings, task: str, figure: str, title: str, axis: str, digits: int = 1) -> list[Picture]:
    """A figure of all models that the task was measured for."""
    rows = measured(findings, task)
    cells = {LABELS[row]: findings.cell(row, task, figure) for row in rows}
    known = findings.references(task, [plan.PLUS, *rows])
    marks: dict[float, Mark] = {}  # one where two references are the same: the first
    for kind in ("chance", "task_known"):
        value = reference(known, kind, figure)
        if value is not None:
            marks.setdefault(value, Mark(REFERENCES[kind].lower(), value))
    return _picture(title, cells, axis, list(marks.values()), digits)


def _picture(title: str, cells: Mapping[str, Cell], axis: str, marks: Sequence[Mark], digits: int) -> list[Picture]:
    shown = [
        Bar(label, cell.mean, cell.low, cell.high, ours=label.startswith(LABELS[plan.PLUS]))
        for label, cell in cells.items()
        if cell.known and cell.mean is not None
    ]
    return [Picture(title, bars(title, shown, axis, marks=marks, digits=digits))] if shown else []


def _table2(findings: Findings, task: str = plan.ANTICIPATION, where: str = "") -> list[Picture]:
    return [
        *_of_models(findings, task, "recall@5", f"Recall@5 of later steps{where}", "percent"),
        *_of_models(findings, task, "percentile_mean", f"Mean rank of later steps{where}", "percentile rank"),
        *_of_models(findings, task, "dyn", f"dyn: higher before a step is shown than after{where}", "percent"),
    ]


def _table3(findings: Findings, task: str = plan.UNSHUFFLING, where: str = "") -> list[Picture]:
    return _of_models(findings, task, "kendall_tau", f"Order of shuffled segments{where}", "Kendall's τ", 3)


def _table1(findings: Findings) -> list[Picture]:
    rows = plan.TABLES["table1"].measures
    cells = {_name(row): findings.cell(row, plan.CYCLE, "travelled_rank") for row in rows}
    return _picture("Cycle rank, loops in place counted as 50", cells, "percentile rank", [Mark("chance", 50.0)], 1)


def _table4(findings: Findings) -> list[Picture]:
    task = row_of = plan.ARROW
    names = (*plan.UNTRAINED, *plan.TRAINED, plan.SCRATCH)
    features = {LABELS[name]: findings.cell(row_of, task, f"accuracy/{name}/{plan.PLUS}") for name in names}
    pairs = {
        "random pairs" if name == plan.RANDOM else LABELS[name]: findings.cell(
            row_of, task, f"accuracy/{plan.AVERAGE}/{name}"
        )
        for name in plan.SAMPLERS
    }
    chance = [Mark("chance", 50.0)]
    return [
        *_picture("Which frame came first: features, on the pairs of MMCC+", features, "accuracy %", chance, 1),
        *_picture("Which frame came first: ways to choose pairs, mean over features", pairs, "accuracy %", chance, 1),
    ]


def _transfer(findings: Findings) -> list[Picture]:
    where = ", related tasks"
    return [
        *_table2(findings, plan.TRANSFER_ANTICIPATION, where),
        *_table3(findings, plan.TRANSFER_UNSHUFFLING, where),
    ]


def _ablation(findings: Findings) -> list[Picture]:
    rows = plan.TABLES["ablation"].measures
    cells = {_name(row): findings.cell(row, plan.ANTICIPATION, "recall@5") for row in rows}
    return _picture("Recall@5 of later steps, part by part", cells, "percent", [], 1)


def _tuning(findings: Findings) -> list[Picture]:
    rows = plan.TABLES["tuning"].measures
    cells = {_name(row): findings.cell(row, plan.CHOOSING_ANTICIPATION, "percentile_mean") for row in rows}
    return _picture("Mean rank of later steps, setting by setting", cells, "percentile rank", [Mark("chance", 50.0)], 1)


def _scale(findings: Findings) -> list[Picture]:
    """Lines over the number of videos, and over the cost of an encoder that is trained."""
    videos = {plan.VIDEOS_100: 100.0, plan.VIDEOS_300: 300.0, plan.QUARTER: float(findings.training_videos or 0)}
    grown = _grown(findings, "Later steps by number of videos", videos, "training videos")
    if not widths_measured(findings):
        return grown
    widths = (plan.WIDTH_8, plan.QUARTER, plan.WIDTH_32)
    costs = {run: multiplications(plan.runs()[run].overrides) / 1e6 for run in widths}
    return [
        *grown,
        *_grown(findings, "Later steps by width", costs, "million multiplications a frame"),
    ]


def _grown(findings: Findings, title: str, places: Mapping[str, float], axis: str) -> list[Picture]:
    figures = {"percentile_mean": "mean rank", "recall@10": "R@10", "recall@5": "R@5"}
    lines = []
    for style, (figure, label) in enumerate(figures.items()):
        cells = {run: findings.cell(run, plan.ANTICIPATION, figure) for run in places}
        points = tuple(sorted((places[run], cell.mean) for run, cell in cells.items() if cell.mean is not None))
        lines += [Curve(label, points, style)] if len(points) > 1 else []
    return [Picture(title, curves(title, lines, axis, "percent"))] if lines else []


PICTURES: dict[str, Callable[[Findings], list[Picture]]] = {
    "table1": _table1,
    "table2": _table2,
    "table3": _table3,
    "table4": _table4,
    "transfer": _transfer,
    "ablation": _ablation,
    "tuning": _tuning,
    "scale": _scale,
}


def learning_curves(found: Mapping[str, Mapping[str, Points]]) -> list[Picture]:
    """Figure → row → points."""
    style = {row: at for at, row in enumerate(dict.fromkeys(row for rows in found.values() for row in rows))}
    pictures = []
    for figure, axis in FIGURES.items():
        lines = [Curve(_name(row), points, style[row]) for row, points in found.get(figure, {}).items() if points]
        if lines:
            title = f"{axis[0].upper()}{axis[1:]} by step"
            pictures.append(Picture(title, curves(title, lines, "steps in all", axis)))
    return pictures


def _name(row: str) -> str:
    name, _, choice = row.partition("/")
    return LABELS.get(name, name.replace("_", " ")) + (f", {choice.replace('_', ' ')}" if choice else "")
