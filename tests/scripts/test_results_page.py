"""The results pages take their tables and their headline from what `mmcc reproduce` wrote."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mmcc.reproduce import plan
from scripts import results_page

SCRIPT = Path(results_page.__file__)
PAGE = """# Results
<!-- headline -->
older
<!-- end -->
<!-- table2 -->
old
<!-- end -->
between
"""
BESIDE = """# Tables
<!-- table2 of semi-real -->
other
<!-- end -->
<!-- table3 -->
kept
<!-- end -->
"""


def fill(*arguments: str | Path) -> None:
    results_page.main(list(map(str, arguments)))


@pytest.fixture
def page(tmp_path) -> Path:
    """A page, and one in the folder beside it."""
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "results.md").write_text(PAGE)
    (tmp_path / "docs" / "results" / "tables.md").write_text(BESIDE)
    return tmp_path / "docs" / "results.md"


def test_tables_are_put_between_their_marks_and_nothing_else_changes(page, tmp_path):
    for folder, text in (("main", "### T\nfirst\n"), ("semi", "### T\nsecond\n")):
        (tmp_path / folder / "tables").mkdir(parents=True)
        (tmp_path / folder / "tables" / "table2.md").write_text(text)
    for _ in range(2):  # filling again changes nothing
        fill(tmp_path / "main", f"semi-real={tmp_path / 'semi'}", page)
        assert page.read_text() == PAGE.replace("\nold\n", "\n\n## T\nfirst\n\n")
        beside = page.with_suffix("") / "tables.md"
        assert beside.read_text() == BESIDE.replace("\nother\n", "\n\n## T (semi-real)\nsecond\n\n")


def rows(markdown: str) -> dict[str, dict[str, str]]:
    """The first table of a text: model → column → cell; of columns with one name, the first."""
    table = re.search(r"(^\|.*\n)+", markdown, re.MULTILINE)
    assert table
    heads, _, *lines = ([cell.strip(" *") for cell in line.strip("|").split("|")] for line in table[0].splitlines())
    return {line[0]: dict(reversed(list(zip(heads, line, strict=True)))) for line in lines}


def test_the_headline_agrees_with_the_tables_of_a_reproduction(finished, page):
    out, _ = finished
    fill(out, page)
    first, *_ = page.read_text().split("<!-- end -->")
    table2, table3, table4 = (rows((out / "tables" / f"table{number}.md").read_text()) for number in (2, 3, 4))
    models = ["Chance", "Random init", "Cross-modal", "Repr. Ant.", "TAP", "MemDPC", "MMCC", "MMCC+"]  # no pictures
    assert rows(first) == {
        model: {
            "model": model,
            "R@1": table2[model]["R@1"],
            "mean rank": table2[model]["mean"],
            "dyn": table2[model]["dyn"],
            "order τ": table3.get(model, table3.get(f"{model}, vision only"))["Kendall's τ"],
            "arrow of time %": table4[model]["random pairs"],
        }
        for model in models
    }
    assert "**" in first and first.count("(9 videos)") == 4 * (len(models) - 1)
    tables = (out / "tables" / "table2.md").read_text().strip().replace("### ", "## ")
    assert f"<!-- table2 -->\n\n{tables}\n\n<!-- end -->" in page.read_text()


@pytest.mark.parametrize("missing", ["table2", "table3", "table4", None])
def test_without_all_its_tables_the_headline_stays_as_it_is(finished, page, tmp_path, missing):
    (tmp_path / "part" / "tables").mkdir(parents=True)
    if missing:
        results = json.loads((finished[0] / "results.json").read_text())
        del results["tables"][missing]
        (tmp_path / "part" / "results.json").write_text(json.dumps(results))
    fill(tmp_path / "part", page)
    assert page.read_text() == PAGE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage"),
        (["docs/results.md"], "usage"),
        (["nowhere", "docs/results.md"], "nowhere: contains no tables"),
        (["main", "nothing.md"], "nothing.md: no such file"),
    ],
)
def test_what_cannot_be_filled_is_said(page, tmp_path, monkeypatch, arguments, message):
    (tmp_path / "main" / "tables").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=message):  # with a text, which is printed; the code is then 1
        fill(*arguments)
    assert page.read_text() == PAGE


@pytest.mark.slow
def test_as_a_script_it_takes_words_and_ends_with_a_code():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("usage")


def test_every_table_has_a_page_in_the_documents():
    docs = SCRIPT.parents[1] / "docs"
    marks = [
        (path.stem, mark)
        for path in sorted((docs / "results").glob("*.md"))
        for mark in re.findall(r"^<!-- ((?!end)[^>]+) -->$", path.read_text(), re.MULTILINE)
    ]
    semi_real = [(f"semi-real-{table}", f"{table} of semi-real") for table in ("table2", "table3")]
    assert sorted(marks) == sorted([*((table, table) for table in plan.TABLES), *semi_real])
    assert "<!-- headline -->" in (docs / "results.md").read_text()
