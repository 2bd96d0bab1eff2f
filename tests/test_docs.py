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


@pytest.mark.parametrize("document", ["README.md", "docs/corpus.md"])
def test_python_in_the_documents_runs(demo, document):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], cwd=demo, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout, done.stderr


def test_every_flag_in_the_documents_exists():
    text = (ROOT / "README.md").read_text() + (ROOT / "docs/corpus.md").read_text()
    told = subprocess.run([sys.executable, "-m", "mmcc", "ingest", "--help"], capture_output=True, text=True).stdout
    told += subprocess.run([sys.executable, "-m", "mmcc", "inspect", "--help"], capture_output=True, text=True).stdout
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= set(re.findall(r"--[a-z][a-z-]+", told))
