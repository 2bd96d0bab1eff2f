"""What is tried on disks that fail, and killed: commands and writers, each with what counts of its result."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Collection
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.reliability.runs import SMALL
from mmcc.checksums import checksum
from mmcc.cli.main import main as mmcc
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import Embedder, Encoder, embed_corpus, with_embeddings
from mmcc.corpus.format import is_corpus
from mmcc.corpus.index import latest_positions, open_index, whole_row
from mmcc.corpus.verify import verify
from mmcc.errors import InputError, OutputError
from mmcc.tools.cache import Answer, Cache
from tests.forked import load_torch

REFUSED = (3, 4)  # exit codes of a command that says that the disk failed, or which videos failed for it
MODEL_JOBS, CORPUS_JOBS = ("index", "train"), ("ingest", "kitchen", "embed", "merge", "compact")


class Job(NamedTuple):
    """`work(place)` writes into a folder and ends with an exit code; `result(place)` is what counts of it."""

    name: str
    work: Callable[[Path], int]
    result: Callable[[Path], str]
    prepare: Callable[[Path], object] = lambda place: None  # what the folder has before
    sound: Callable[[Path], str] = lambda place: ""  # what is wrong with it after a fault, before the second run
    workers: bool = False  # whether it has worker processes, whose events count, too


def do(job: Job, place: Path) -> None:
    """The work, as a process does it."""
    code = job.work(place)
    if code:
        raise SystemExit(code)


def make_jobs(folder: Path, only: Collection[str] = ()) -> list[Job]:
    """All of them, or those of some names, in a world of a few videos, which is made first."""
    makers: dict[tuple[str, ...], Callable[[], list[Job]]] = {
        ("checkpoint",): lambda: [checkpoint_job()],
        ("cache",): lambda: [cache_job()],
        MODEL_JOBS: lambda: model_jobs(folder / "models"),
        CORPUS_JOBS: lambda: corpus_jobs(folder / "corpora"),
    }
    if unknown := set(only) - {name for names in makers for name in names}:
        raise SystemExit(f"no such job: {', '.join(sorted(unknown))}")
    load_torch()
    jobs = [job for names, make in makers.items() if not only or set(names) & set(only) for job in make()]
    return [job for job in jobs if not only or job.name in only]


def model_jobs(folder: Path) -> list[Job]:
    """Of commands that train a model and use it."""
    corpus = folder / "corpus"
    quietly("kitchen", folder / "kitchen", "--videos", 8, "--recipes", 1, "--features", "--no-pixels")
    quietly("ingest", folder / "kitchen", "-o", corpus, "--features", 1)
    _train(corpus, folder / "run")

    def index(place: Path) -> int:
        os.environ["MMCC_CACHE"] = str(folder / "cache")
        words = ("search", folder / "run", corpus, "--text", "add", "--index", place / "index", "--json")
        return run_here(*words)

    def index_of(place: Path) -> str:
        return contents(place / "index", "*.*")

    index(folder)  # so that what it embeds is in the cache
    return [
        Job("index", index, index_of),
        Job("train", lambda place: _train(corpus, place / "run"), _trained),
    ]


def cache_job() -> Job:
    """Two answers that are kept."""

    def work(place: Path) -> int:
        cache = Cache(place / "cache")
        for number in range(2):
            found = cache.remember("embedding", [str(number)], lambda: Answer({"z": np.arange(9.0)}, {"a": "b"}))
            assert found.facts == {"a": "b"} and found.arrays["z"].tolist() == list(range(9))
        return 0

    return Job("cache", work, lambda place: contents(place / "cache", "*.npz"))


def checkpoint_job() -> Job:
    """Three checkpoints of a run, of which two are kept."""
    import torch

    from mmcc.models.config import ModelConfig
    from mmcc.models.encoders import FeatureSettings
    from mmcc.models.model import MMCC
    from mmcc.training.checkpoints import Checkpoints, TrainingProgress, optimizer_tensors

    torch.manual_seed(0)
    model = MMCC(ModelConfig(dims=4, frame_encoder=FeatureSettings(feature_dims=4)), 8)
    tensors = optimizer_tensors(torch.optim.AdamW(model.parameters()), model)

    def work(place: Path) -> int:
        try:
            kept = Checkpoints(place, keep=2)
            newest = kept.newest(lambda line: None)
            for step in range(int(newest.name) + 1 if newest else 1, 4):
                kept.save(model, tensors, TrainingProgress(step=step), {"config.yaml": "a: 1\n"})
        except OutputError:
            return REFUSED[0]
        return 0

    def result(place: Path) -> str:
        newest = Checkpoints(place).newest(lambda line: None)
        return contents(newest, "*") if newest else ""

    return Job("checkpoint", work, result)


def _trained(place: Path) -> str:
    """The last weights, the state of the optimizer, and what was logged, without how long it took."""
    last = place / "run" / "checkpoints" / f"{SMALL['train.steps']:08d}"
    lines = [json.loads(line) for line in (place / "run" / "metrics.jsonl").read_text().splitlines()]
    timed = ("frames_per_second", "waiting_share")
    logged = [{name: value for name, value in line.items() if name not in timed} for line in lines]
    return json.dumps([contents(last, "*.safetensors"), contents(last, "*.txt"), logged])


def contents(folder: Path, pattern: str) -> str:
    return json.dumps({path.name: checksum(path) for path in sorted(folder.rglob(pattern)) if path.is_file()})


def _train(corpus: Path, run: Path) -> int:
    """Start a run, or continue one that has a checkpoint."""
    settings = [word for name, value in SMALL.items() for word in (f"--{name}", value)]
    resume = ["--resume"] if any((run / "checkpoints").glob("0*")) else []
    return run_here("train", corpus, "-o", run, "--anyway", *settings, *resume)


def quietly(*words: object) -> None:
    if run_here(*words) not in (0, 4):
        raise RuntimeError(f"mmcc {' '.join(map(str, words))} failed")


def run_here(*words: object) -> int:
    shown = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(shown):
        code = mmcc([str(word) for word in words])
    if code not in (0, 4):
        print(shown.getvalue(), file=sys.stderr)
    return code


def corpus_jobs(folder: Path) -> list[Job]:
    """Of commands that write a corpus, on a world of a few videos, which is made first."""
    world, first, second, stale = (folder / name for name in ("world", "first", "second", "stale"))
    _make_world(world)
    ingest = partial(run_here, "ingest", world, "--features", 1, "--workers", 1)
    for number, part in enumerate((first, second), 1):
        quietly("ingest", world, "--features", 1, "-o", part, "--part", f"{number}/2")
        _embed(part)
    _make_stale(world, folder / "changed", stale)
    answers = told_by(stale)

    def kitchen(place: Path) -> int:
        words = ("--videos", 3, "--recipes", 1, "--features", "--no-pixels", "--workers", 1)
        return run_here("kitchen", place / "kitchen", *words)

    def kitchen_of(place: Path) -> str:
        return contents(place / "kitchen", "[!.]*")

    def merged_or_absent(place: Path) -> str:
        """Whatever has the name of the corpus is a whole one."""
        return _damage(place / "c") if (place / "c").exists() else ""

    def begun(place: Path) -> str:
        return _damage(place / "c") if is_corpus(place / "c") else ""

    return [
        Job(
            "ingest",
            lambda place: ingest("-o", place / "c"),
            lambda place: told_by(place / "c"),
            sound=begun,
            workers=True,
        ),
        Job("kitchen", kitchen, kitchen_of, workers=True),
        Job(
            "embed",
            lambda place: _embed(place / "c"),
            lambda place: told_by(place / "c"),
            prepare=lambda place: shutil.copytree(first, place / "c", ignore=shutil.ignore_patterns("embeddings")),
            sound=lambda place: _damage(place / "c"),
        ),
        Job(
            "merge",
            lambda place: run_here("merge", first, second, "-o", place / "c"),
            lambda place: told_by(place / "c"),
            sound=merged_or_absent,
        ),
        Job(
            "compact",
            lambda place: run_here("compact", place / "c"),
            lambda place: told_by(place / "c") + _files_of(place / "c"),
            prepare=lambda place: shutil.copytree(stale, place / "c"),
            sound=lambda place: _damage(place / "c") or ("" if told_by(place / "c") == answers else "other answers"),
        ),
    ]


def _make_world(folder: Path) -> None:
    """Four videos as feature vectors, of which one has no captions."""
    folder.mkdir(parents=True)
    for number in range(4):
        np.save(folder / f"v{number}.npy", np.random.default_rng(number).random((15 + number, 4), np.float32))
    for number in range(3):
        said = "".join(f"00:{at:02d}.000 --> 00:{at + 2:02d}.000\nadd {at}\n\n" for at in range(0, 12, 3))
        (folder / f"v{number}.vtt").write_text(f"WEBVTT\n\n{said}")


def _make_stale(world: Path, changed: Path, corpus: Path) -> None:
    """A corpus with embeddings in which some videos were replaced."""
    shutil.copytree(world, changed)
    quietly("ingest", changed, "--features", 1, "--workers", 1, "-o", corpus)
    _embed(corpus)
    for path in sorted(changed.glob("*.npy"))[::2]:
        np.save(path, np.load(path)[:-3])
    quietly("ingest", changed, "--features", 1, "--workers", 1, "-o", corpus)
    _embed(corpus)


def _embed(corpus: Path) -> int:
    """With an encoder of texts that needs no network: how long they are."""
    encoder = Encoder("lengths", "0" * 64, "text", 2)

    def lengths(texts: list[str]) -> np.ndarray:
        return np.array([[len(text), text.count("a")] for text in texts], np.float32)

    try:
        embed_corpus(Corpus.open(corpus), Embedder(encoder, partial(map, lengths)))
    except (InputError, OutputError, OSError) as error:
        print(error, file=sys.stderr)
        return REFUSED[0]
    return 0


def told_by(corpus: Path) -> str:
    """Everything that a corpus and its embeddings say, whatever their shards are."""
    told = {}
    for folder in filter(is_corpus, with_embeddings(corpus)):
        opened, (_, table) = Corpus.open(folder), open_index(folder)
        for video_id, position in latest_positions(table).items():
            row, name = whole_row(table, position), f"{folder.name if folder != corpus else ''}/{video_id}"
            row |= {"shard": 0, "batches": [{**each, "offset": 0} for each in row["batches"] or []]}
            told[name] = row, hashlib.sha256(opened[video_id].frames().tobytes()).hexdigest()
    return json.dumps(told, sort_keys=True)


def _damage(corpus: Path) -> str:
    return "; ".join(f"{each.path}: {each.cause}" for each in verify(corpus).damaged)


def _files_of(corpus: Path) -> str:
    """How many there are in each folder, and how long shards are. A part of an index differs by some bytes with the
    numbers of shards that it names, which go on from those that a run before a kill has left: it spells checksums out
    in digits, which may be fewer."""
    found = [
        (str(path.parent.relative_to(corpus)), path.stat().st_size if path.parent.name == "shards" else 0)
        for path in corpus.rglob("*.arrow")
    ]
    return json.dumps(sorted(found))
