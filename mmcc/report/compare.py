"""Two models compared, as text: a table for each task."""

from __future__ import annotations

from mmcc.evaluation.compare import Comparison
from mmcc.evaluation.task import find_task
from mmcc.report.tables import Cell, Column, Row, Table, notes_as_markdown, to_markdown

_CLEAR = "clear: the interval of the difference excludes 0"


def render_comparison(found: Comparison) -> str:
    """Both figures, and their difference with its interval over videos, paired."""
    names = [each.checkpoint or each.model for each in (found.one, found.other)]
    parts = [f"A: {found.one.model} ({names[0]})", f"B: {found.other.model} ({names[1]})", f"on {found.one.corpus}"]
    columns = (Column("A", better=0), Column("B", better=0), Column("A - B", better=0))
    for task, figures in found.tasks.items():
        digits = find_task(task).digits
        rows = []
        for name, each in figures.items():
            mark = ", clear" if each.difference.excludes_zero else ""
            texts = (f"{each.one:.{digits}f}", f"{each.other:.{digits}f}", each.difference.text(digits, "+") + mark)
            rows.append(Row((name,), tuple(Cell(text=text) for text in texts)))
        parts.append(f"\n{task}\n\n{to_markdown(Table(task, ('figure',), columns, tuple(rows)))}")
    if any(each.difference.excludes_zero for figures in found.tasks.values() for each in figures.values()):
        parts.append(f"\n{_CLEAR}")
    if found.skipped:
        parts.append("\nskipped\n\n" + notes_as_markdown(f"{task}: {why}" for task, why in found.skipped.items()))
    return "\n".join(parts)
