"""Tables find their places in a document."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "results_page.py"
PAGE = """# Results
<!-- table2 -->
old
<!-- end -->
between
<!-- table2 of semi-real -->
other
<!-- end -->
<!-- table3 -->
kept
<!-- end -->
"""


def test_tables_are_put_between_their_marks_and_nothing_else_changes(tmp_path):
    for folder, text in (("main", "### T\nfirst\n"), ("semi", "### T\nsecond\n")):
        (tmp_path / folder / "tables").mkdir(parents=True)
        (tmp_path / folder / "tables" / "table2.md").write_text(text)
    page = tmp_path / "results.md"
    page.write_text(PAGE)
    command = [sys.executable, SCRIPT, tmp_path / "main", f"semi-real={tmp_path / 'semi'}", page]
    subprocess.run(command, check=True)
    filled = PAGE.replace("\nold\n", "\n\n### T\nfirst\n\n").replace("\nother\n", "\n\n### T (semi-real)\nsecond\n\n")
    assert page.read_text() == filled
    subprocess.run(command, check=True)
    assert page.read_text() == filled


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "usage"),
        (["results.md"], "usage"),
        (["nowhere", "results.md"], "nowhere: has no tables"),
        (["main", "nothing.md"], "nothing.md: is no file"),
    ],
)
def test_what_cannot_be_filled_is_said(tmp_path, arguments, message):
    (tmp_path / "main" / "tables").mkdir(parents=True)
    (tmp_path / "results.md").write_text(PAGE)
    done = subprocess.run([sys.executable, SCRIPT, *arguments], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "results.md").read_text() == PAGE
