"""Whether a corpus that is damaged on disk is ever answered from wrongly, or ends the program.

    python -m benchmarks.reliability.corruptions [--cases 2000] [--seed 0]

Bits are flipped, stretches zeroed, overwritten or copied elsewhere, files cut, lengthened, swapped, emptied or removed.
Then everything is read: what `mmcc inspect` prints, and every video with its frames, utterances and embeddings. Each
answer must be what it was before, or an error that says what is wrong.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import numpy as np

from benchmarks.common import Figure, Figures, command_line, finish, ingest, make_clip
from mmcc.cli.main import main as mmcc
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import Embedder, Encoder, embed_corpus, open_vectors, stored_encoders
from mmcc.errors import InputError

SECONDS = 60.0  # after which a case is said to hang
CAPTIONS = "".join(f"{n + 1}\n00:00:{3 * n:02d},000 --> 00:00:{3 * n + 2:02d},000\nStir it, {n}.\n\n" for n in range(6))
REFUSED = "refused"

Outcome = Literal["same", "refused", "silent", "exit 1", "signal", "hang"]
OUTCOMES: tuple[Outcome, ...] = ("same", "refused", "silent", "exit 1", "signal", "hang")
Answers = dict[str, str]  # what was asked, and a digest of what was told, or REFUSED


class Case(NamedTuple):
    """One damage: the files that change, with their new content; None removes a file."""

    kind: str
    changes: dict[Path, bytes | None]


def cases(files: dict[Path, bytes], count: int, seed: int) -> Iterator[Case]:
    """Of every kind, in turn, in files of every sort, however large the others are."""
    rng = random.Random(seed)
    sorts: dict[str, list[Path]] = {}
    for path in sorted(files):
        sorts.setdefault(path.parent.name if path.suffix == ".arrow" else path.name, []).append(path)
    kinds = [*_IN_A_FILE, "swap", "remove"]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        path = rng.choice(rng.choice(list(sorts.values())))
        if kind == "swap":
            other = rng.choice([each for each in files if each.suffix == path.suffix and each != path])
            yield Case(kind, {path: files[other], other: files[path]})
        elif kind == "remove":
            yield Case(kind, {path: None})
        else:
            yield Case(kind, {path: _IN_A_FILE[kind](files[path], rng)})


def _flip(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << rng.randrange(8)]) + content[place + 1 :]


def _stretch(content: bytes, rng: random.Random, new: Callable[[int], bytes]) -> bytes:
    place, length = rng.randrange(len(content)), rng.choice((1, 8, 64, 512, 4096))
    old = content[place : place + length]
    return content[:place] + new(len(old)) + content[place + len(old) :]


def _copied(content: bytes, rng: random.Random) -> bytes:
    source = rng.randrange(len(content))
    return _stretch(content, rng, lambda length: (content[source:] + content)[:length])


_IN_A_FILE: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "bit": _flip,
    "another bit": _flip,
    "zeros": lambda content, rng: _stretch(content, rng, bytes),
    "noise": lambda content, rng: _stretch(content, rng, rng.randbytes),
    "ones": lambda content, rng: _stretch(content, rng, lambda length: b"\xff" * length),
    "copied": _copied,
    "cut": lambda content, rng: content[: rng.randrange(len(content))],
    "inserted": lambda content, rng: content[: (at := rng.randrange(len(content)))] + rng.randbytes(8) + content[at:],
    "longer": lambda content, rng: content + rng.randbytes(rng.choice((1, 8, 4096))),
    "empty": lambda content, rng: b"",
}


def answers(folder: Path) -> Answers:
    """Everything that is told about a corpus; anything but an InputError is raised."""
    told: Answers = {}

    def ask(what: str, answer: Callable[[], Any]) -> Any:
        try:
            value = answer()
            told[what] = hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()
            return value
        except InputError:
            told[what] = REFUSED
            return None

    ask("inspect", partial(_inspect, folder))
    corpus = ask("corpus", partial(Corpus.open, folder))
    encoders = ask("encoders", partial(stored_encoders, corpus)) if corpus else None
    vectors = {each.name: ask(each.name, partial(open_vectors, corpus, each)) for each in encoders or ()}
    for name, each in {"": corpus, **vectors}.items():
        for video_id in ask(f"{name}/ids", partial(_ids, each)) or () if each else ():
            ask(f"{name}/{video_id}", partial(_content, each, video_id))
    return told


def _ids(corpus: Corpus) -> list[str]:
    return corpus.ids


def _content(corpus: Corpus, video_id: str) -> tuple[Any, ...]:
    video = corpus[video_id]
    return video.details, video.times.tolist(), video.utterances, video.steps, video.frames().tobytes()


def _inspect(folder: Path) -> str:
    """As a user calls it; ChildProcessError if it ends as no command should."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = mmcc(["inspect", str(folder), "--json"])
    if code == 3:
        raise InputError(folder, "refused")
    if code != 0:
        raise ChildProcessError(err.getvalue())
    return out.getvalue()


def judged(before: Answers, now: Answers) -> Outcome:
    """A question that was not asked, since its corpus could not be opened, was refused; a new one is a wrong answer."""
    if any(value not in (REFUSED, before.get(what)) for what, value in now.items()):
        return "silent"
    if REFUSED in now.values():
        return "refused"
    return "same" if before == now else "silent"


def outcomes(folder: Path, damaged: Sequence[Case], seconds: float = SECONDS) -> Iterator[tuple[Outcome, str]]:
    """How each case ends, and what is said of those that end badly. A process reads until one ends or stops it."""
    before = answers(folder)
    assert REFUSED not in before.values(), "it was damaged before"
    first = 0
    while first < len(damaged):
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(
            target=_answer_all, args=(folder, damaged[first:], before, theirs)
        )
        process.start()
        theirs.close()
        try:
            while first < len(damaged):
                if not ours.poll(seconds):
                    yield "hang", ""
                    break
                yield ours.recv()
                first += 1
        except EOFError:
            process.join()
            yield "signal", str(-(process.exitcode or 0))
        first += 1
        process.kill()
        process.join()


def _answer_all(folder: Path, damaged: Sequence[Case], before: Answers, results: Connection) -> None:
    for case in damaged:
        with _damaged(case):
            try:
                result: tuple[Outcome, str] = (judged(before, answers(folder)), "")
            except Exception as error:
                result = "exit 1", f"{type(error).__name__}: {error}"
        results.send(result)


class _damaged:
    """The files are as a case has them, for the time of a block."""

    def __init__(self, case: Case) -> None:
        self._case, self._kept = case, {path: path.read_bytes() for path in case.changes}

    def __enter__(self) -> None:
        for path, content in self._case.changes.items():
            path.unlink() if content is None else path.write_bytes(content)

    def __exit__(self, *_: object) -> None:
        for path, content in self._kept.items():
            path.write_bytes(content)


def files_of(folder: Path) -> dict[Path, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path: path.read_bytes() for path in paths}


def make_corpus(folder: Path, *options: object) -> Path:
    """Four videos with captions, and embeddings of both sides by encoders that need no network."""
    clip = make_clip(folder / "clip.mp4", seconds=20, size="160x120", rate=5)
    (folder / "clips").mkdir()
    for number in range(4):
        shutil.copy(clip, folder / "clips" / f"{number}.mp4")
        (folder / "clips" / f"{number}.srt").write_text(CAPTIONS)
    ingest(folder / "clips", folder / "corpus", *options)
    corpus = Corpus.open(folder / "corpus")
    embed_corpus(corpus, Embedder(Encoder("colours", "0" * 32, "frames", 3), partial(map, _colours)))
    embed_corpus(corpus, Embedder(Encoder("lengths", "1" * 32, "text", 2), partial(map, _lengths)))
    return corpus.path


def _colours(pictures: Any) -> Any:
    return pictures.mean(axis=(1, 2)).astype(np.float32)


def _lengths(texts: list[str]) -> Any:
    return np.array([[len(text), text.count("t")] for text in texts], np.float32)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    figures = Figures()
    table: dict[str, Counter[Outcome]] = {}
    with TemporaryDirectory() as name:
        for encoding in ("jpeg", "raw"):
            (place := Path(name) / encoding).mkdir()
            corpus = make_corpus(place, "--size", 48, "--encoding", encoding)
            damaged = list(cases(files_of(corpus), options.cases // 2, options.seed))
            for case, (outcome, said) in zip(damaged, outcomes(corpus, damaged), strict=True):
                for row in (case.kind, "all"):
                    table.setdefault(row, Counter())[outcome] += 1
                if outcome not in ("same", "refused"):
                    where = ", ".join(path.name for path in case.changes)
                    print(f"{case.kind} in {where}: {outcome} {said}", flush=True)
    print_table(table)
    for outcome in OUTCOMES[2:]:
        figures.equal(f"damaged corpora, of {table['all'].total():,}: {outcome}", table["all"][outcome], 0)
    return figures.measured


def print_table(table: dict[str, Counter[Outcome]]) -> None:
    print(f"{'damage':<12} {'cases':>6} " + " ".join(f"{outcome:>8}" for outcome in OUTCOMES))
    for row in sorted(table, key=lambda kind: kind == "all"):
        counts = " ".join(f"{table[row][outcome]:>8,}" for outcome in OUTCOMES)
        print(f"{row:<12} {table[row].total():>6,} {counts}", flush=True)


if __name__ == "__main__":
    finish(main())
