"""Fill the results pages with the tables that `mmcc reproduce` wrote.

    python scripts/results_page.py build/tables semi-real=build/semi-real-tables docs/results.md

fills `docs/results.md` and every page of `docs/results/`. A line `<!-- table2 -->` marks the place of a table: the text
between it and the next line `<!-- end -->` is replaced. `<!-- table2 of semi-real -->` takes the table from the folder
given as `semi-real=`, and adds that name to its headings. `<!-- headline -->` has one or two figures from each of
Tables 2 to 4, for every model, read from `results.json`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mmcc.report.tables import EMPTY, Cell, Column, Row, Table, to_markdown
from mmcc.reproduce import plan
from mmcc.reproduce.tables_rows import LABELS

HEADLINE = "headline"

_MARK = re.compile(r"<!-- (?P<table>\w+)(?: of (?P<folder>[\w-]+))? -->\n.*?<!-- end -->", re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

# Column, and where results.json has it: table, task, figure.
_FIGURES = (
    (Column("R@1"), "table2", "anticipation", "recall@1"),
    (Column("mean rank"), "table2", "anticipation", "percentile_mean"),
    (Column("dyn"), "table2", "anticipation", "dyn"),
    (Column("order τ", digits=3), "table3", "unshuffling", "kendall_tau"),
    (Column("arrow of time %"), "table4", "arrow", "accuracy/{model}/random"),
)


def headline(results: Mapping[str, Any]) -> str | None:
    """The table of the first page; None unless the results contain all of Tables 2 to 4."""
    tables = results["tables"]
    if not all(name in tables for _, name, _, _ in _FIGURES):
        return None
    chance = [Cell(tables[name]["references"].get(task, {}).get(_chance(figure))) for _, name, task, figure in _FIGURES]
    rows = [Row((LABELS[plan.CHANCE],), tuple(chance), competes=False)]
    for model in (*plan.UNTRAINED, *plan.TRAINED):
        cells = [_cell(tables[name]["figures"], model, task, figure) for _, name, task, figure in _FIGURES]
        if any(cell.known for cell in cells):
            rows.append(Row((LABELS[model],), tuple(cells)))
    return to_markdown(Table("Headline", ("model",), tuple(column for column, *_ in _FIGURES), tuple(rows)))


def _cell(figures: Mapping[str, Any], model: str, task: str, figure: str) -> Cell:
    """Mean and interval. All rows of Table 4 are measured together and stored under the name of the task."""
    row = task if "{model}" in figure else model
    found = figures.get(row, {}).get(task, {}).get(figure.format(model=model))
    return Cell(found["mean"], found["low"], found["high"], found.get("videos")) if found else EMPTY


def _chance(figure: str) -> str:
    return f"chance/{figure.split('/')[0]}"


def filled(document: str, folders: Mapping[str, Path]) -> str:
    """The document with its tables filled; tables that no folder has are kept."""

    def replacement(mark: re.Match[str]) -> str:
        folder = folders.get(mark["folder"] or "")
        text = _content(folder, mark["table"]) if folder else None
        if text is None:
            return mark[0]
        suffix = f" ({mark['folder']})" if mark["folder"] else ""
        text = _HEADING.sub(rf"## \1{suffix}", text)  # the page has its own title above
        return f"{mark[0].splitlines()[0]}\n\n{text}\n\n<!-- end -->"

    return _MARK.sub(replacement, document)


def _content(folder: Path, table: str) -> str | None:
    path = folder / "results.json" if table == HEADLINE else folder / "tables" / f"{table}.md"
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    return headline(json.loads(text)) if table == HEADLINE else text.strip()


def main(arguments: list[str]) -> None:
    if len(arguments) < 2:
        sys.exit("usage: python scripts/results_page.py [NAME=]FOLDER… PAGE")
    *sources, last = arguments
    folders = {name: Path(folder) for name, _, folder in (source.rpartition("=") for source in sources)}
    for folder in folders.values():
        if not (folder / "tables").is_dir():
            sys.exit(f"{folder}: contains no tables\n  Give a folder written by mmcc reproduce.")
    page = Path(last)
    if not page.is_file():
        sys.exit(f"{page}: no such file\n  Give the results page as the last argument.")
    for path in (page, *sorted(page.with_suffix("").glob("*.md"))):
        path.write_text(filled(path.read_text(encoding="utf-8"), folders), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
