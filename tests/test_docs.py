"""The commands and the code of the documents run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """What `make demo` makes, by the commands of the Makefile."""
    folder = tmp_path_factory.mktemp("demo")
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    for line in recipe[1].replace("$(DEMO)", "build/demo").strip().splitlines():
        tool, *words = line.split()
        start = [sys.executable, "-m", "mmcc"] if tool == "$(BIN)/mmcc" else [sys.executable]
        words = [str(ROOT / word) if word.startswith("scripts/") else word for word in words]
        subprocess.run([*start, *words], cwd=folder, check=True, capture_output=True)
    return folder


def test_the_demo_draws_its_sheet(demo):
    assert (demo / "build/demo/sheet.png").stat().st_size > 20_000


@pytest.mark.parametrize("document", ["README.md", "docs/corpus.md", "docs/kitchen.md"])
def test_python_in_the_documents_runs(demo, document):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], cwd=demo, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout, done.stderr


def test_every_flag_in_the_documents_exists():
    text = "".join((ROOT / name).read_text() for name in ("README.md", "docs/corpus.md", "docs/kitchen.md"))
    told = ""
    for command in (["mmcc", "kitchen"], ["mmcc", "ingest"], ["mmcc", "inspect"], ["benchmarks.references"]):
        help_of = subprocess.run([sys.executable, "-m", *command, "--help"], cwd=ROOT, capture_output=True, text=True)
        told += help_of.stdout
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= set(re.findall(r"--[a-z][a-z-]+", told))


def test_the_sheet_of_the_kitchen_is_small_enough_to_commit():
    assert 50_000 < (ROOT / "docs/kitchen.jpg").stat().st_size < 300_000
