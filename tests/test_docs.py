"""The commands and the code of the documents run as they stand."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from torch.distributed.run import get_args_parser

from benchmarks import robustness, runner
from benchmarks.reliability import corruptions, faults, fuzz, kills, runs
from benchmarks.scale import corpus as scale_corpus
from benchmarks.scale import search as scale_search
from benchmarks.speed import app as app_speed
from benchmarks.validity import references
from mmcc.cli.main import VERBS, main
from mmcc.corpus import Corpus
from mmcc.corpus.crosstask import read_crosstask
from mmcc.pretrained import SHIPPED
from mmcc.settings import flatten, to_mapping
from mmcc.training.config import Config, load_config
from scripts import real_results
from tests.forked import forked_code, load_torch

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
# Some of the shortest of twelve videos: the encoders take 35 ms a frame. Pancakes are for validation, by their name.
COOKING = {"omelette": "kitchen0-00006", "pancakes": "kitchen0-00005", "salad": "kitchen0-00004"}


def mmcc(folder: Path, *words: str) -> None:
    """A command as a user gives it, in a folder with a home and a cache of its own."""
    environment = {**os.environ, "HOME": str(folder), "MMCC_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "mmcc", *words], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"mmcc {' '.join(words)}: {done.stderr}"


@pytest.fixture(scope="module")
def home(kitchens, tmp_path_factory) -> Path:
    """A user's: three videos with captions in ~/Videos/cooking, what the Python examples open (soup.mp4 with captions,
    and three photos), and the kitchen and the corpus of a demo."""
    tmp_path = tmp_path_factory.mktemp("home")
    drawn = kitchens.kitchen_corpus(videos=12, size=48, features=True)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "kitchen").symlink_to(drawn.kitchen)
    (tmp_path / "demo" / "corpus").symlink_to(drawn.pictures)
    cooking = tmp_path / "Videos" / "cooking"
    cooking.mkdir(parents=True)
    for name, video in COOKING.items():
        _copy_with_captions(drawn.kitchen, video, cooking / name)
    _copy_with_captions(drawn.kitchen, COOKING["omelette"], tmp_path / "soup")
    stored = Corpus.open(drawn.pictures)[COOKING["omelette"]]
    (tmp_path / "photos").mkdir()
    for at in range(3):
        frame = at * len(stored.times) // 3
        Image.fromarray(stored.frames(frame, frame + 1)[0]).save(tmp_path / "photos" / f"{at}.png")
    return tmp_path


def _copy_with_captions(kitchen: Path, video: str, to: Path) -> None:
    for path in (kitchen / "videos" / f"{video}.mp4", *(kitchen / "captions").glob(f"{video}.*")):
        shutil.copy(path, to.with_name(f"{to.name}{path.name.removeprefix(video)}"))


@pytest.mark.slow
def test_the_lines_for_your_own_video_write_what_they_say(home):
    """All but the installation, as they stand; training for two steps, on too few videos."""
    for words in lines_for_your_own_video(home):
        short = ["--train.steps", "2", "--train.validation_segments", "2", "--anyway"] if words[0] == "train" else []
        mmcc(home, *words, *short)
    assert (home / "changes.png").stat().st_size > 20_000
    assert list((home / "guide").rglob("guide.html"))
    assert (home / "cooking.html").stat().st_size > 20_000


def lines_for_your_own_video(home: Path) -> list[list[str]]:
    """The words after `mmcc`, with the home of the user."""
    part = (ROOT / "README.md").read_text().split("## On your own video")[1]
    install, *lines = re.findall(r"```\n(.*?)```", part, re.DOTALL)[0].strip().splitlines()
    assert install.startswith("pip install") and len(lines) == 4 and all(line.startswith("mmcc ") for line in lines)
    return [line.replace("~", str(home)).split()[1:] for line in lines]


@pytest.fixture(scope="module")
def ingested(home) -> Path:
    """The home with a corpus of its videos, without embeddings, which the examples do not need."""
    load_torch()
    (ingest,) = (words for words in lines_for_your_own_video(home) if words[0] == "ingest")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert main(ingest[: ingest.index("--encode")]) == 0
    return home


@pytest.mark.parametrize("document", ["README.md", "docs/api.md", "docs/corpus.md", "docs/kitchen.md"])
def test_python_in_the_documents_runs(ingested, document):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        done = forked_code(block, cwd=ingested)
        assert done.code == 0 and done.out, done.err


def test_annotations_are_read_as_the_corpus_page_shows_them(tmp_path):
    part = (ROOT / "docs/corpus.md").read_text().split("## Your own annotations")[1].split("\n## ")[0]
    files = re.findall(r"`([\w/]+\.\w+)`:\n\n```\n(.*?)```", part, re.DOTALL)
    assert len(files) == 4
    for name, content in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    source = read_crosstask(tmp_path)
    assert {item.id: (item.split, len(item.steps)) for item in source.items} == {
        "monday": ("train", 0), "tuesday": ("train", 0), "sunday": ("validation", 3)}  # fmt: skip
    assert not source.skipped and source.tasks["101"].steps == ("crack egg", "whisk mixture", "flip pancake")


def test_every_flag_in_the_documents_exists(capsys):
    text = "".join(page.read_text() for page in PAGES)
    for verb in ([], *([verb.__name__] for verb in VERBS)):
        with pytest.raises(SystemExit):
            main([*verb, "--help"])
    reliability, scale = (robustness, corruptions, fuzz, runs, faults, kills), (scale_corpus, scale_search)
    for program in (runner, references, real_results, app_speed, *reliability, *scale):
        with pytest.raises(SystemExit):
            program.main(["--help"])
    told = capsys.readouterr().out + get_args_parser().format_help()
    text = re.sub(
        r"(pip install|python -m pytest|tensorboard|ray start|ray get-auth-token|schemathesis run) [^\n`]*", "", text
    )
    flags = {flag for flag in re.findall(r"--[a-z][a-z-]+(?:\.[a-z_.]+)?", text) if "." not in flag}
    assert flags <= set(re.findall(r"--[a-z][a-z-]+", told))


def test_every_setting_in_the_documents_exists():
    text = (ROOT / "README.md").read_text() + (ROOT / "docs/training.md").read_text()
    prose = re.sub(r"```python\n.*?```", "", text, flags=re.DOTALL)  # where model.order is a method
    named = set(re.findall(r"(?:data|model|objective|train)(?:\.[a-z_0-9]+)+", prose)) - {"model.safetensors"}
    known = flatten(to_mapping(Config())) | flatten(to_mapping(load_config("real")))  # whose encoders have others
    assert named and all(any(f"{key}.".startswith(f"{name}.") for key in known) for name in named), named


def test_every_link_in_the_documents_leads_somewhere():
    links = 0
    for page in (*PAGES, ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if not target.startswith(("https:", "http:", "mailto:")):
                name, _, anchor = target.partition("#")
                path = page.parent / name if name else page
                assert path.exists(), f"{page.relative_to(ROOT)}: {target}"
                assert not anchor or anchor in anchors(path), f"{page.relative_to(ROOT)}: {target}"
                links += 1
    assert links > 50


def anchors(page: Path) -> set[str]:
    """The names that a renderer gives to headings: lower case, spaces as hyphens, without other punctuation."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def cells(page: Path, heads: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The first table of a page: by model, the columns under some heads."""
    table = re.search(r"(^\|.*\n)+", page.read_text(), re.MULTILINE)
    assert table
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in table[0].splitlines()]
    places = [rows[0].index(head) for head in heads]
    return {row[0].removesuffix(", vision only"): tuple(row[at] for at in places) for row in rows[2:]}


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("table2", {"R@1": "R@1", "mean rank": "mean"}),
        ("table3", {"order τ": "Kendall's τ"}),
        ("table4", {"arrow of time %": "random pairs"}),
    ],
)
def test_the_headline_of_the_results_is_that_of_the_tables(table, columns):
    shown = cells(ROOT / "docs/results.md", tuple(columns))
    measured = cells(ROOT / f"docs/results/{table}.md", tuple(columns.values()))
    assert len(shown) == 9 and shown == {model: measured[model] for model in shown}


def test_a_name_stands_for_one_kitchen_in_all_documents():
    """Whoever follows two pages in one folder must not be told that another kitchen, or corpus, is there already."""
    text = "\n".join(page.read_text() for page in (*PAGES, *sorted((ROOT / "mmcc/cli").glob("*.py"))))
    made: dict[str, set[str]] = {}
    for command in re.findall(r"mmcc (?:kitchen|ingest) build/[^\n`&]*", text):
        _, verb, source, *rest = command.split()
        made.setdefault(rest[1] if verb == "ingest" else source, set()).add(" ".join(command.split()))
    assert len(made) > 5 and all(len(commands) == 1 for commands in made.values()), made


def test_the_documents_tell_how_the_shipped_model_is_calibrated():
    found = json.loads((SHIPPED / "kitchen/calibration.json").read_text())["figures"]
    percent = {name: f"{100 * value:.0f} %" for name, value in found.items()}
    told = " ".join((ROOT / "docs/tools.md").read_text().split())
    for kind, words in (("steps", "steps"), ("none", "none of these")):
        assert f"{words} {percent[f'ece/{kind}/before']} → {percent[f'ece/{kind}/after']}" in told
    for lists, words in (("own", "on average for"), ("last", "where the clip shows"), ("other", "for lists of")):
        assert f"{percent[f'none_mean/{lists}']} {words}" in told


def test_the_sheet_of_the_kitchen_is_small_enough_to_commit():
    assert 50_000 < (ROOT / "docs/kitchen.jpg").stat().st_size < 300_000
