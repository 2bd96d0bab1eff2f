"""Tables of figures with intervals, as Markdown, LaTeX and HTML.

>>> table = Table("Recall", ("model",), (Column("R@1"),), (Row(("ours",), (Cell(12.34, 11.9, 12.9),)),))
>>> print(to_markdown(table))
| model |            R@1 |
|:------|---------------:|
| ours  | **12.3 ± 0.5** |
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mmcc.metrics import counted
from mmcc.report.html import Markup, element, joined

NOTHING = "–"  # where there is no figure
_LATEX = {
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    **{"±": r"$\pm$", "λ": r"$\lambda$", "τ": r"$\tau$", "ρ": r"$\rho$", "→": r"$\to$", "<": "$<$", ">": "$>$"},
    **{"–": "--", "−": "$-$", "·": r"$\cdot$", "≤": r"$\le$", "≥": r"$\ge$", "×": r"$\times$"},
}


@dataclass(frozen=True)
class Column:
    """How a column is headed and formatted."""

    name: str
    digits: int = 1
    better: int = 1  # 1: the higher the better, -1: the lower, 0: neither
    quoted: bool = False  # from a paper: set back


@dataclass(frozen=True)
class Cell:
    """A figure and its interval, or the number of videos where they are too few for one; or text instead."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None
    videos: int | None = None  # that a measured figure is over
    text: str = ""
    strong: bool = False

    @property
    def known(self) -> bool:
        return self.mean is not None and math.isfinite(self.mean)


EMPTY = Cell()


@dataclass(frozen=True)
class Row:
    """One row of a table."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]
    competes: bool = True  # for the best; chance and oracles do not
    rule: bool = False  # a line above it


@dataclass(frozen=True)
class Table:
    """Rows by columns, with the best competing figure of each column in bold."""

    title: str
    heads: tuple[str, ...]  # of the labels
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.labels) != len(self.heads) or len(row.cells) != len(self.columns):
                raise ValueError(f"the row {row.labels} does not fit the columns of {self.title!r}")

    def strong(self) -> frozenset[tuple[int, int]]:
        """The cells to set in bold; all of those that are rounded to the best figure."""
        marked = {(r, c) for r, row in enumerate(self.rows) for c, cell in enumerate(row.cells) if cell.strong}
        for c, column in enumerate(self.columns):
            shown = {
                r: column.better * round(row.cells[c].mean or 0.0, column.digits)
                for r, row in enumerate(self.rows)
                if row.competes and row.cells[c].known
            }
            if column.better and shown:
                best = max(shown.values())
                marked |= {(r, c) for r, value in shown.items() if value == best}
        return frozenset(marked)


def unranked(table: Table, why: str) -> Table:
    """The same without anything in bold, and the reason above its notes: for figures that mean nothing."""
    columns = tuple(replace(column, better=0) for column in table.columns)
    rows = tuple(replace(row, cells=tuple(replace(cell, strong=False) for cell in row.cells)) for row in table.rows)
    return replace(table, columns=columns, rows=rows, notes=(why, *table.notes))


def figure_text(cell: Cell, digits: int) -> str:
    """12.3 ± 0.4 with half the width of its interval; 12.3 (7 videos) of too few; 12.3 of what was not measured."""
    if cell.text:
        return cell.text
    if not cell.known:
        return NOTHING
    text = f"{cell.mean:.{digits}f}"
    if cell.low is None or cell.high is None or not math.isfinite(cell.high - cell.low):
        return text if cell.videos is None else f"{text} ({counted(cell.videos)})"
    return f"{text} ± {(cell.high - cell.low) / 2:.{digits}f}"


def to_markdown(table: Table) -> str:
    """Padded, so that it reads well on a terminal too."""
    strong = table.strong()
    lines = [[_markdown(head) for head in (*table.heads, *(column.name for column in table.columns))]]
    for r, row in enumerate(table.rows):
        texts = [_markdown(figure_text(cell, table.columns[c].digits)) for c, cell in enumerate(row.cells)]
        texts = [f"**{text}**" if (r, c) in strong else text for c, text in enumerate(texts)]
        lines.append([*(_markdown(label) for label in row.labels), *texts])
    widths = [max(3, *(len(line[at]) for line in lines)) for at in range(len(lines[0]))]
    left = len(table.heads)
    rule = [f":{'-' * (width + 1)}" if at < left else f"{'-' * (width + 1)}:" for at, width in enumerate(widths)]
    padded = [
        [f" {text:<{width}} " if at < left else f" {text:>{width}} " for at, (text, width) in _columns(line, widths)]
        for line in lines
    ]
    return "\n".join(f"|{'|'.join(line)}|" for line in (padded[0], rule, *padded[1:]))


def to_latex(table: Table) -> str:
    """A tabular for booktabs, with its notes below."""
    strong = table.strong()
    heads = [f"\\textbf{{{latex_text(name)}}}" for name in (*table.heads, *(column.name for column in table.columns))]
    lines = [
        f"% {_one_line(table.title)}",
        f"\\begin{{tabular}}{{{'l' * len(table.heads)}{'r' * len(table.columns)}}}",
        "\\toprule",
        f"{' & '.join(heads)} \\\\",
        "\\midrule",
    ]
    for r, row in enumerate(table.rows):
        if row.rule and r:
            lines.append("\\midrule")
        cells = [latex_text(figure_text(cell, table.columns[c].digits)) for c, cell in enumerate(row.cells)]
        cells = [f"\\textbf{{{text}}}" if (r, c) in strong else text for c, text in enumerate(cells)]
        lines.append(f"{' & '.join([*(latex_text(label) for label in row.labels), *cells])} \\\\")
    lines += ["\\bottomrule", "\\end{tabular}", *(f"% {_one_line(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def to_html(table: Table) -> Markup:
    """A table element in a scrolling box, and its notes."""
    strong = table.strong()
    heads = [
        *(element("th", head, scope="col") for head in table.heads),
        *(element("th", each.name, scope="col", class_=_class(each)) for each in table.columns),
    ]
    body = []
    for r, row in enumerate(table.rows):
        cells = [
            element(
                "td", _html_figure(cell, table.columns[c].digits, (r, c) in strong), class_=_class(table.columns[c])
            )
            for c, cell in enumerate(row.cells)
        ]
        labels = [element("th", label, scope="row") for label in row.labels]
        body.append(element("tr", *labels, *cells, class_="rule" if row.rule else None))
    drawn = element("table", element("thead", element("tr", *heads)), element("tbody", *body))
    notes = [element("p", note, class_="note") for note in table.notes]
    return joined([element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=table.title), *notes])


def notes_as_markdown(notes: Iterable[str]) -> str:
    return "\n".join(f"- {_markdown(note)}" for note in notes)


def latex_text(text: str) -> str:
    return "".join(_LATEX.get(mark, mark) for mark in _one_line(text))


def _html_figure(cell: Cell, digits: int, strong: bool) -> str:
    text = figure_text(cell, digits).replace("± ", "±\N{NO-BREAK SPACE}")  # a narrow page breaks before it
    return element("strong", text) if strong else text


def _class(column: Column) -> str:
    return "figure quoted" if column.quoted else "figure"


def _columns(line: Sequence[str], widths: Sequence[int]) -> Iterable[tuple[int, tuple[str, int]]]:
    return enumerate(zip(line, widths, strict=True))


def _markdown(text: str) -> str:
    """Escape what Markdown would take as markup: neither underscores within a word nor brackets without a link."""
    return re.sub(r"([\\`*<>|]|(?<!\w)_|_(?!\w)|\](?=[(\[:]))", r"\\\1", _one_line(text))


def _one_line(text: str) -> str:
    return " ".join(text.split())
