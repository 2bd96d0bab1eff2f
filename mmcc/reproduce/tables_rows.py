"""What the tables share: columns with the paper's beside them, rows of references, differences to MMCC+."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mmcc.metrics import LEAST_VIDEOS
from mmcc.report.evaluation import reference
from mmcc.report.tables import EMPTY, Cell, Column, Row, Table
from mmcc.reproduce import plan
from mmcc.reproduce.findings import Findings, Measure

LABELS = {
    **{row: plan.label_of(row) for row in plan.TRAINED},
    plan.RANDOM: "Random init",
    plan.IMAGENET: "ImageNet",
    plan.SCRATCH: "From scratch",
    plan.AVERAGE: "Average",
    plan.CHANCE: "Chance",
}
REFERENCES = {
    "chance": "Chance",
    "task_known": "Task known, step random",
    "step_known": "Task and step known",
    "done_known": "What was done so far known",
}
PAPER = "The paper's figures are on its own data (HowTo100M's recipes, CrossTask)."


def intervals_note(findings: Findings) -> str:
    """What ± means below a table of these findings."""
    over = "training seeds and videos" if findings.seeds > 1 else "videos; one training seed"
    few = f" Below {LEAST_VIDEOS} videos there is none." if findings.fewest_videos < LEAST_VIDEOS else ""
    return f"± half the 95 % interval, by bootstrap over {over}.{few}"


def differences_note(findings: Findings) -> str:
    """The same of differences between two rows."""
    same = "seeds and videos" if findings.seeds > 1 else "videos, one training seed"
    return f"On the same resampled {same}, with the 95 % interval; bold where it excludes 0."


@dataclass(frozen=True)
class FigureColumn:
    """A column: a figure of a task, and how it is shown."""

    name: str
    head: str
    digits: int = 1
    better: int = 1
    in_paper: bool = True  # False: the paper does not measure it, so there is nothing to set beside it

    def variant(self, suffix: str) -> FigureColumn:
        return replace(self, name=f"{self.name}{suffix}")


def measured(findings: Findings, task: str) -> list[str]:
    """The models that the task was measured for, in the order of the tables."""
    return [row for row in (*plan.UNTRAINED, *plan.TRAINED) if (row, task) in findings.results]


def columns_of(figures: Sequence[FigureColumn], quotes: bool) -> tuple[Column, ...]:
    """A column for each figure, followed by the paper's if it is quoted."""
    columns: list[Column] = []
    for figure in figures:
        columns.append(Column(figure.head, figure.digits, figure.better))
        if quotes and figure.in_paper:
            columns.append(Column("paper", figure.digits, figure.better, quoted=True))
    return tuple(columns)


def beside(
    cells: Sequence[Cell], figures: Sequence[FigureColumn], quoted: Mapping[str, float] | None
) -> tuple[Cell, ...]:
    """Our cells, each followed by the paper's; `quoted` is None where the paper is not quoted."""
    if quoted is None:
        return tuple(cells)
    laid: list[Cell] = []
    for cell, figure in zip(cells, figures, strict=True):
        laid += [cell, *([quoted_cell(quoted, figure.name)] if figure.in_paper else [])]
    return tuple(laid)


def quoted_cell(quoted: Mapping[str, float], name: str) -> Cell:
    return Cell(quoted[name]) if name in quoted else EMPTY


def cells_of(
    findings: Findings, row: str, task: str, figures: Sequence[FigureColumn], quoted: Mapping[str, float] | None
) -> tuple[Cell, ...]:
    """The cells of a row, with the paper's beside them."""
    return beside([findings.cell(row, task, figure.name) for figure in figures], figures, quoted)


def reference_rows(
    findings: Findings, task: str, figures: Sequence[FigureColumn], quoted: Mapping[str, Mapping[str, float]] | None
) -> list[Row]:
    """Chance, and what partial knowledge of the answer gives."""
    known = findings.references(task, [plan.PLUS, *measured(findings, task)])
    rows = []
    for kind, label in REFERENCES.items():
        values = [reference(known, kind, figure.name) for figure in figures]
        if any(value is not None for value in values):
            of_paper = None if quoted is None else quoted.get(kind, {})
            cells = beside([EMPTY if value is None else Cell(value) for value in values], figures, of_paper)
            rows.append(Row((label,), cells, competes=False))
    return rows


def ahead(findings: Findings, task: str, figures: Sequence[FigureColumn], title: str) -> list[Table]:
    """MMCC+ minus each of the others; nothing where there is no other."""
    rows = [
        Row(
            (LABELS[row],),
            tuple(
                difference_cell(findings, (plan.PLUS, task, each.name), (row, task, each.name), each.digits)
                for each in figures
            ),
            competes=False,
        )
        for row in measured(findings, task)
        if row != plan.PLUS
    ]
    if not rows or (plan.PLUS, task) not in findings.results:
        return []
    columns = tuple(Column(each.head, each.digits, 0) for each in figures)
    return [
        Table(f"{title}: MMCC+ minus the others", ("MMCC+ minus",), columns, tuple(rows), (differences_note(findings),))
    ]


def difference_cell(findings: Findings, one: Measure, other: Measure, digits: int) -> Cell:
    """`one` minus `other`, with its interval."""
    found = findings.difference(one, other)
    if found is None:
        return EMPTY
    return Cell(text=found.text(digits, "+"), strong=found.excludes_zero)


def notes_of(findings: Findings, task: str, quotes: bool, *more: str) -> tuple[str, ...]:
    """Notes below a table."""
    said = (*more, intervals_note(findings), *([PAPER] if quotes else []))
    return (*said, *findings.task_notes(task, measured(findings, task), LABELS))
