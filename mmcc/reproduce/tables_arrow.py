"""Table 4: rows of features by columns of ways to choose the pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from mmcc.report.tables import Cell, Column, Row, Table
from mmcc.reproduce import plan, tables_paper
from mmcc.reproduce.findings import Findings
from mmcc.reproduce.tables_rows import LABELS, PAPER, difference_cell, differences_note, intervals_note, quoted_cell

_HEADS = {
    **{row: LABELS[row] for row in (plan.TAP, plan.MMCC, plan.PLUS)},
    **{plan.RANDOM: "random pairs", plan.CROSS_MODAL: "cosine", plan.RA: "RA", plan.AVERAGE: "average"},
}
_ALL = plan.ARROW  # one result holds all rows
_APART = (plan.AVERAGE, plan.SCRATCH)  # rows below a rule, which cannot be the best


def table4(findings: Findings) -> list[Table]:
    """Which of two frames came first."""
    samplers = [each for each in plan.SAMPLERS if _samples(findings, plan.AVERAGE, each)]
    shown = [*samplers, plan.AVERAGE]
    columns: list[Column] = []
    for sampler in shown:
        columns += [Column(_HEADS[sampler]), *([Column("paper", quoted=True)] if sampler != plan.PLUS else [])]
    rows = []
    for name in (*plan.UNTRAINED, *plan.TRAINED, *_APART):
        if _samples(findings, name, plan.AVERAGE):
            cells = [findings.cell(_ALL, plan.ARROW, f"accuracy/{name}/{sampler}") for sampler in shown]
            apart = name in _APART
            rows.append(Row((LABELS[name],), _quoted(cells, shown, name), competes=not apart, rule=apart))
    chance = _quoted([Cell(50.0)] * len(shown), shown, plan.CHANCE)
    rows.append(Row((LABELS[plan.CHANCE],), chance, competes=False))
    said = "Accuracy in percent; rows: features, columns: who chose the pairs. From scratch: a network for each column."
    notes = (said, intervals_note(findings), PAPER, *findings.task_notes(plan.ARROW, [_ALL], LABELS))
    table = Table("Table 4: the arrow of time", ("features",), tuple(columns), tuple(rows), notes)
    return [table, _pairs(findings, samplers), *_ahead(findings, samplers)]


def _samples(findings: Findings, row: str, sampler: str) -> bool:
    return bool(findings.samples(_ALL, plan.ARROW, f"accuracy/{row}/{sampler}"))


def _quoted(cells: Sequence[Cell], samplers: Sequence[str], row: str) -> tuple[Cell, ...]:
    """Our cells with the paper's beside them; the paper has no MMCC+."""
    quoted: Mapping[str, float] = tables_paper.TABLE4.get(row, {})
    laid: list[Cell] = []
    for cell, sampler in zip(cells, samplers, strict=True):
        laid += [cell, *([quoted_cell(quoted, sampler)] if sampler != plan.PLUS else [])]
    return tuple(laid)


def _pairs(findings: Findings, samplers: Sequence[str]) -> Table:
    """Properties of each column's pairs."""
    rows = [
        Row(
            (_HEADS[sampler],),
            (
                findings.cell(_ALL, plan.ARROW, f"forward/{sampler}"),
                findings.cell(_ALL, plan.ARROW, f"seconds_apart/{sampler}"),
                Cell(_right_by_steps(findings, sampler)),
            ),
        )
        for sampler in samplers
    ]
    heads = ("to a later frame %", "seconds apart", "right by step numbers %")
    said = (
        "Right by step numbers: by the order of the steps that the frames show, or a coin toss where that says nothing."
    )
    columns = tuple(Column(head, better=0) for head in heads)
    return Table("Table 4: the pairs", ("chosen by",), columns, tuple(rows), (said, intervals_note(findings)))


def _right_by_steps(findings: Findings, sampler: str) -> float | None:
    """The mean over seeds: unlike chance, it depends on the model that chose the pairs."""
    results = findings.results.get((_ALL, plan.ARROW), {}).values()
    known = [value for each in results if (value := each.references.get(f"steps_known/{sampler}")) is not None]
    return fmean(known) if known else None


def _ahead(findings: Findings, samplers: Sequence[str]) -> list[Table]:
    """MMCC+'s features on the pairs it chose, minus other features on these, and minus any features on other pairs."""
    if plan.PLUS not in samplers:
        return []
    own = f"accuracy/{plan.PLUS}/{plan.PLUS}"
    rows = []
    for name in (*plan.UNTRAINED, *plan.TRAINED, plan.SCRATCH):
        other = f"accuracy/{name}/{plan.PLUS}"
        if name != plan.PLUS and findings.samples(_ALL, plan.ARROW, other):
            rows.append(
                Row((f"{LABELS[name]} on the same pairs",), (_difference(findings, own, other),), competes=False)
            )
    for sampler in samplers:
        if sampler != plan.PLUS:
            other = f"accuracy/{plan.PLUS}/{sampler}"
            label = f"MMCC+ on pairs of {_HEADS[sampler]}" if sampler != plan.RANDOM else "MMCC+ on random pairs"
            rows.append(Row((label,), (_difference(findings, own, other),), competes=False))
    title = "Table 4: MMCC+ on its own pairs, minus the others"
    notes = (differences_note(findings),)
    return [Table(title, ("MMCC+ minus",), (Column("accuracy", better=0),), tuple(rows), notes)]


def _difference(findings: Findings, one: str, other: str) -> Cell:
    return difference_cell(findings, (_ALL, plan.ARROW, one), (_ALL, plan.ARROW, other), 1)
