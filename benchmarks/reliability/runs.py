"""Whether damage to runs, models, search indexes and caches is ever silent, a crash or a hang.

    python -m benchmarks.reliability.runs [--share 1.0] [--at-once 2] [--list]

Every file of a small run, of the shipped kitchen model, of a search index and of the tools' cache has bits flipped, is
cut, zeroed in part, has parts moved, is swapped for another, appended to, or deleted. Then the tools, `mmcc evaluate`,
`mmcc report` and `mmcc train --resume` are asked again: the answer must be the same, or be refused with the file and a
remedy (exit code 3), or come with a line that names the file.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch look: forked children have no threads of their own

import io
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from benchmarks.common import Figure, Figures, command_line, finish
from benchmarks.reliability.corruption import BAD, Case, Ended, Target, run_cases, table
from mmcc.checksums import checksum, read_manifest
from mmcc.cli.main import main as mmcc
from mmcc.corpus import Corpus
from mmcc.pretrained import SHIPPED
from mmcc.terminal import show
from mmcc.training.intact import LIST

SMALL = {"model.dims": 16, "train.steps": 6, "train.batch_size": 4, "train.workers": 0, "train.validate_every": 3}
SMALL |= {"train.checkpoint_every": 2, "train.log_every": 1, "train.validation_segments": 8, "data.min_word_count": 2}


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the cases")
    parser.add_argument("--at-once", type=int, default=2, help="cases at a time")
    parser.add_argument("--list", action="store_true", help="also show every case that is not as it should be")
    options = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="runs-") as name:
        found = run_cases(make_targets(Path(name)), options.share, options.at_once)
    print(table(found))
    if options.list:
        print_bad(found)
    return figures_of(found)


def figures_of(found: dict[Case, tuple[str, Ended]]) -> list[Figure]:
    figures = Figures()
    counts = Counter(outcome for outcome, _ in found.values())
    for outcome in BAD:
        figures.equal(
            f"{outcome}, of {len(found):,} damaged files of runs, models, indexes and caches", counts[outcome], 0
        )
    return figures.measured


def print_bad(found: dict[Case, tuple[str, Ended]]) -> None:
    for case, (outcome, ended) in found.items():
        if outcome in BAD:
            print(f"\n{outcome}: {case} (code {ended.code})\n{ended.err[-1500:]}")


def make_targets(folder: Path) -> list[Target]:
    """A world of twelve videos, a run on their vectors, and everything that the tools keep about it."""
    os.environ["MMCC_CACHE"] = str(folder / "no-cache")
    corpus, clip = _world(folder)
    run, going, index, cache = folder / "run", folder / "going", folder / "index", folder / "cache"
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        if _train(corpus, run):
            raise RuntimeError("mmcc train failed")
    _without_last(shutil.copytree(run, going))
    measured = ("--corpus", corpus, "--tasks", "cycle")
    _quietly("evaluate", run, *measured, "-o", folder / "results.json")
    _quietly("search", run, corpus, "--text", "add", "--index", index, code=None)
    os.environ["MMCC_CACHE"] = str(cache)
    with redirect_stdout(io.StringIO()):
        _ask_cached(run, corpus, clip)
    video = Corpus.open(corpus).ids[0]
    own = _files(run, "*.*")

    def evaluate(place: Path) -> int:
        return _run("evaluate", place, *measured, "--json")

    def transitions(place: Path) -> int:
        return _run("transitions", place, corpus, "--json")

    def last(place: Path) -> int:
        return _run(
            "evaluate", place, "--corpus", corpus, "--tasks", "cycle", "--checkpoint", "last", "--on", "all", "--json"
        )

    def report(place: Path) -> int:
        page = place / "page.html"
        results = ("--corpus", corpus, "--results", folder / "results.json")
        return _run("report", place, "-o", page, *results) or show(page.read_text()) or 0  # type: ignore[func-returns-value]

    def resume(place: Path) -> int:
        with redirect_stdout(io.StringIO()):  # it says how long it took
            code = _run("train", corpus, "-o", place, "--resume")
        weights = place / "checkpoints" / "00000006" / "model.safetensors"
        show(f"{code} {hash_of(weights)}")
        return code

    def photos(place: Path) -> int:
        return _run("unshuffle", place, folder / "photos", "--json") or _run(
            *("anticipate", place, folder / "photos" / "1.png", "--steps", folder / "steps.txt", "--json")
        )

    def search(place: Path) -> int:
        return _run("search", run, corpus, "--text", "add", "--index", place, "--json") or _run(
            *("search", run, corpus, "--after", f"{video}@0:10", "--index", place, "--json")
        )

    def cached(place: Path) -> int:
        os.environ["MMCC_CACHE"] = str(place)
        return _ask_cached(run, corpus, clip)

    metrics = ("metrics.jsonl", "checkpoints/00000006/training_state.json")
    return [
        Target("run, evaluated", run, own, evaluate),
        Target("run, the last checkpoint", run, tuple(name for name in own if "00000006" in name), last),
        Target("run, transitions", run, tuple(name for name in own if "00000004" not in name), transitions),
        Target("run, reported", run, metrics, report),
        Target("run, resumed", going, _files(going, "*.*"), resume),
        Target("shipped model", _shipped(folder), _files(folder / "shipped", "*.[jnsty]*"), photos),
        Target("search index", index, _files(index, "*.*"), search),
        Target("cache", cache, _files(cache, "*"), cached),
    ]


def hash_of(path: Path) -> str:
    """Of what was trained; "" if nothing was."""
    return checksum(path) if path.is_file() else ""


def _world(folder: Path) -> tuple[Path, Path]:
    """A corpus of vectors, a short video file, and three photos."""
    kitchen = ("--videos", 12, "--recipes", 2, "--size", 32, "--fps", 1, "--features")
    _quietly("kitchen", folder / "kitchen", *kitchen)
    _quietly("ingest", folder / "kitchen", "-o", folder / "corpus", "--features", 1, code=None)
    clip = min((folder / "kitchen" / "videos").glob("*.mp4"), key=lambda path: path.stat().st_size)
    (folder / "photos").mkdir()
    for number in range(1, 4):
        pixels = np.random.default_rng(number).integers(0, 255, (48, 48, 3), np.uint8)
        Image.fromarray(pixels).save(folder / "photos" / f"{number}.png")
    (folder / "steps.txt").write_text("add the sugar\npour the milk\nstir the soup\n")
    shutil.copyfile(clip, folder / "clip.mp4")
    return folder / "corpus", folder / "clip.mp4"


def _shipped(folder: Path) -> Path:
    shutil.copytree(SHIPPED / "kitchen", folder / "shipped")
    return folder / "shipped"


def _ask_cached(run: Path, corpus: Path, clip: Path) -> int:
    return _run("transitions", "kitchen", clip, "--json") or _run("search", run, corpus, "--text", "add", "--json")


def _files(folder: Path, pattern: str) -> tuple[str, ...]:
    paths = (path for path in folder.rglob(pattern) if path.is_file() and path.name != ".lock")
    return tuple(sorted(path.relative_to(folder).as_posix() for path in paths))


def _train(corpus: Path, run: Path) -> int:
    settings = [word for name, value in SMALL.items() for word in (f"--{name}", value)]
    return _run("train", corpus, "-o", run, "--anyway", *settings)


def _without_last(run: Path) -> None:
    """As if it had been stopped after the checkpoint before."""
    last = max((run / "checkpoints").iterdir())
    shutil.rmtree(last)
    listed = {name: each for name, each in (read_manifest(run, LIST) or {}).items() if name != last.name}
    (run / LIST).write_text(json.dumps(listed))


def _quietly(*words: object, code: int | None = 0) -> None:
    """A command that has to succeed; `code` None: it may skip something."""
    with redirect_stdout(io.StringIO()):
        ended = _run(*words, "-q")
    if ended not in ((0, 4) if code is None else (code,)):
        raise RuntimeError(f"mmcc {' '.join(map(str, words))} ended with {ended}")


def _run(*words: object) -> int:
    return mmcc([str(word) for word in words])


if __name__ == "__main__":
    finish(main())
