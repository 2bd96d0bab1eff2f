"""The commands and the code of the documents run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mmcc.cli import VERBS
from mmcc.training.config import Config
from mmcc.training.settings import flatten, to_mapping

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
    text = "".join(
        (ROOT / name).read_text()
        for name in ("README.md", *(f"docs/{page}.md" for page in ("corpus", "kitchen", "training", "results")))
    )
    told = ""
    verbs = [["mmcc", verb.__name__] for verb in VERBS]
    for command in (*verbs, ["benchmarks.references"], ["torch.distributed.run"]):
        help_of = subprocess.run([sys.executable, "-m", *command, "--help"], cwd=ROOT, capture_output=True, text=True)
        told += help_of.stdout
    flags = {flag for flag in re.findall(r"--[a-z][a-z-]+(?:\.[a-z_.]+)?", text) if "." not in flag}
    assert flags <= set(re.findall(r"--[a-z][a-z-]+", told))


def test_every_setting_in_the_documents_exists():
    text = (ROOT / "README.md").read_text() + (ROOT / "docs/training.md").read_text()
    named = set(re.findall(r"(?:data|model|objective|train)(?:\.[a-z_0-9]+)+", text)) - {"model.safetensors"}
    known = flatten(to_mapping(Config()))
    assert named and all(any(f"{key}.".startswith(f"{name}.") for key in known) for name in named), named


def test_the_sheet_of_the_kitchen_is_small_enough_to_commit():
    assert 50_000 < (ROOT / "docs/kitchen.jpg").stat().st_size < 300_000
