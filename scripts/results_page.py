"""Put the tables that `mmcc reproduce` wrote into a document, between the marks that name them.

    python scripts/results_page.py build/tables docs/results.md

A mark is a line `<!-- table2 -->`; the tables after it, up to the next line `<!-- end -->`, are replaced. A name may
be followed by another folder's: `<!-- table2 of semi-real -->` is filled by `semi-real=build/semi-real`, and says so in
its headings, which would else be there twice.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

_MARK = re.compile(r"<!-- (?P<table>\w+)(?: of (?P<folder>[\w-]+))? -->\n.*?<!-- end -->", re.DOTALL)

_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)


def filled(document: str, folders: Mapping[str, Path]) -> str:
    """The document with its tables; those of a folder that is not given, or that has none, stay as they are."""

    def tables(mark: re.Match[str]) -> str:
        folder = folders.get(mark["folder"] or "")
        path = folder / "tables" / f"{mark['table']}.md" if folder else None
        if path is None or not path.is_file():
            return mark[0]
        opening, text = mark[0].split("\n", 1)[0], path.read_text(encoding="utf-8").strip()
        if mark["folder"]:
            text = _HEADING.sub(rf"\g<0> ({mark['folder']})", text)
        return f"{opening}\n\n{text}\n\n<!-- end -->"

    return _MARK.sub(tables, document)


def main(arguments: list[str]) -> None:
    if len(arguments) < 2:
        sys.exit("usage: python scripts/results_page.py [NAME=]FOLDER… DOCUMENT")
    *sources, document = arguments
    named = [source.rpartition("=") for source in sources]
    folders = {name: Path(folder) for name, _, folder in named}
    for folder in folders.values():
        if not (folder / "tables").is_dir():
            sys.exit(f"{folder}: has no tables\n  Name a folder that mmcc reproduce wrote.")
    path = Path(document)
    if not path.is_file():
        sys.exit(f"{path}: is no file\n  Name the document last.")
    path.write_text(filled(path.read_text(encoding="utf-8"), folders), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
