"""The layout shows the architecture: each room imports only the rooms before it, and opening the door is cheap."""

import ast
import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "media": set(),
    "corpus": {"media", "locks"},
    "kitchen": {"media", "locks"},
    "data": {"corpus"},
    "pretrained": set(),
    "models": {"pretrained"},
    "objectives": {"models"},
    "training": {"data", "models", "objectives", "metrics", "corpus", "locks"},
    "evaluation": {"data", "models", "objectives", "training", "metrics", "corpus", "pretrained"},
}
MAY_IMPORT["tools"] = {*MAY_IMPORT, "metrics", "locks"} - {"kitchen"}  # not report: it answers, and draws nothing
MAY_IMPORT["report"] = {*MAY_IMPORT, "metrics"} - {"kitchen"}
MAY_IMPORT["reproduce"] = {*MAY_IMPORT, "metrics", "locks"} - {"kitchen", "tools"}
MAY_IMPORT["demo"] = {*MAY_IMPORT, "progress"}
MAY_IMPORT["cli"] = {*MAY_IMPORT, "metrics", "progress", "__version__"}
SHARED = {"errors", "extensions", "files", "registry", "settings", "text"}  # one home for what every room needs
ROOMS = sorted(path.name for path in (ROOT / "mmcc").iterdir() if (path / "__init__.py").exists())


def imported_rooms(path: Path) -> set[str]:
    """Rooms of ours that a file imports; helpers at the top of the package count by their own name."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {module.split(".")[1] for module in modules if module.startswith("mmcc.")} - SHARED


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_the_rooms_before_it(room):
    for path in (ROOT / "mmcc" / room).rglob("*.py"):
        assert imported_rooms(path) <= MAY_IMPORT[room] | {room}, path


def test_only_report_draws_sheets_and_pages():
    """Pictures are opened in media, and the kitchen's world is drawn in kitchen; all else is drawn in report."""
    for path in (ROOT / "mmcc").rglob("*.py"):
        if path.relative_to(ROOT / "mmcc").parts[0] not in ("media", "kitchen", "report"):
            assert not re.search(r"^\s*(from|import) PIL\b", path.read_text(), re.MULTILINE), path
    drawing = r"^\s*from PIL import .*\bImage(Draw|Font)\b"
    files = [path for path in (ROOT / "mmcc" / "report").glob("*.py") if re.search(drawing, path.read_text(), re.M)]
    assert {path.name for path in files} == {"sheets.py", "reliability.py"}  # the primitives, and a plot made of them


def test_importing_the_package_loads_nothing_heavy_or_optional():
    heavy = "{'numpy', 'pyarrow', 'av', 'torch', 'PIL', 'moonshine_voice', 'tqdm'}"
    script = f"import sys, mmcc, mmcc.cli.main; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "set()\n"


def test_every_installed_version_is_pinned():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.lower().replace("_", "-").split("==") for line in lines if line and not line.startswith("#"))
    assert pins["torch"] == "2.13.0"
    tools = {"pip", "setuptools", "wheel", "mmcc"}
    for package in distributions():
        name = re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower()
        if name not in tools:
            assert pins.get(name) == package.version.split("+")[0], (
                f"{name} {package.version} is not in constraints.txt"
            )


def test_no_file_is_longer_than_one_sitting():
    for folder in ("mmcc", "benchmarks", "scripts"):
        for path in (ROOT / folder).rglob("*.py"):
            assert len(path.read_text().splitlines()) <= 400, path
