"""Time and memory of corpora of up to a million videos: opening, splits, words, batches, inspect, re-runs.

    python -m benchmarks.scale.corpus [--videos 1000 10000 100000] [--files 1000 10000 100000] [--folder DIR]

Rows are invented, in the real format (see benchmarks/scale/invented.py): a million take 11 GB of disk. Each figure is
of a process of its own, which ends with it: seconds of CPU time after its imports (other programs do not count; one
thread does it all), the best of three where they are short, and the largest resident memory in MB, imports included.
Re-runs are of `mmcc ingest` on as many small files, each with captions.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.common import Figure, Figures, command_line, finish
from benchmarks.scale.invented import ENCODER, add_vectors, make_corpus, make_ingested, peak_gb

BATCH, BATCHES = 64, 20
SHORT = 2.0  # seconds, up to which a measurement is repeated


class Cost(NamedTuple):
    seconds: float
    megabytes: float


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--files", type=int, nargs="*", default=[1000, 10_000, 100_000])
    parser.add_argument("--only", nargs="*", choices=MEASURES, default=list(MEASURES), help="what is measured")
    parser.add_argument("--folder", type=Path, help="where the corpora are made, and removed from")
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "CORPUS"), help="used by the benchmark itself")
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(MEASURES[options.measure[0]](Path(options.measure[1]))))
        return []
    figures, costs = Figures(), dict[tuple[str, int], Cost]()
    with TemporaryDirectory(dir=options.folder) as name:
        for videos in options.videos:
            corpus = make_corpus(Path(name) / "corpus", videos)
            if any(what.endswith("vectors") for what in options.only):
                add_vectors(corpus)
            for what in (each for each in options.only if each != "a re-run of ingest"):
                costs[what, videos] = measured(what, corpus)
                print(f"{videos:>9,} videos: {what:<28} {costs[what, videos]}", flush=True)
            shutil.rmtree(corpus)
        for files in options.files if "a re-run of ingest" in options.only else ():
            make_ingested(Path(name) / "files", Path(name) / "corpus", files)
            cost = costs["a re-run of ingest", files] = measured("a re-run of ingest", Path(name) / "corpus")
            print(f"{files:>9,} files: a re-run of ingest {cost}", flush=True)
            shutil.rmtree(Path(name) / "files")
            shutil.rmtree(Path(name) / "corpus")
    bounds = {"opening": 1.0, "the first batch after opening": 5.0}
    for (what, videos), cost in costs.items():
        if what in bounds:
            figures.at_most(f"CPU seconds of {what}, {videos:,} videos", cost.seconds, bounds[what])
        if what == "opening":
            figures.at_most(f"GB of {what}, {videos:,} videos", cost.megabytes / 1000, 1.0)
        if what == "a re-run of ingest":
            figures.at_most(f"CPU seconds of {what} per 100,000 files, {videos:,}", cost.seconds * 1e5 / videos, 30.0)
    return figures.measured


def measured(what: str, corpus: Path) -> Cost:
    """In new processes."""
    command = [sys.executable, "-m", "benchmarks.scale.corpus", "--measure", what, str(corpus)]
    found: list[Cost] = []
    while not found or (len(found) < 3 and found[-1].seconds < SHORT):
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        found.append(Cost(*json.loads(output.splitlines()[-1])))
    return min(found)


def _cost(start: float, times: int = 1) -> Cost:
    return Cost(round((time.process_time() - start) / times, 4), round(peak_gb() * 1000))


def _open(folder: Path) -> Cost:
    """With the number of videos, and a first one."""
    from mmcc.corpus import Corpus

    start = time.process_time()
    corpus = Corpus.open(folder)
    assert len(corpus) and corpus[corpus.ids[len(corpus) // 2]].utterances
    return _cost(start)


def _split(folder: Path) -> Cost:
    from mmcc.corpus import Corpus
    from mmcc.data.splits import videos_for

    corpus = Corpus.open(folder)
    assert len(corpus)
    start = time.process_time()
    assert all(videos_for(corpus, purpose, 0.05) for purpose in ("train", "validation", "test"))
    return _cost(start)


def _count_words(folder: Path) -> Cost:
    from mmcc.corpus import Corpus
    from mmcc.data.config import DataConfig
    from mmcc.data.splits import videos_for
    from mmcc.data.vocabulary import Vocabulary

    corpus = Corpus.open(folder)
    videos = videos_for(corpus, "train", 0.05)
    start = time.process_time()
    assert len(Vocabulary.of_corpus(corpus, videos, DataConfig())) > 100
    return _cost(start)


def _first_batch(folder: Path) -> Cost:
    start, batches = _batches(folder, 1)
    assert len(next(batches)) == BATCH
    return _cost(start)


def _next_batches(folder: Path) -> Cost:
    _, batches = _batches(folder, 1 + BATCHES)
    next(batches)
    start = time.process_time()
    assert sum(1 for _ in batches) == BATCHES
    return _cost(start, BATCHES)


def _batches(folder: Path, steps: int) -> tuple[float, Iterator[Any]]:
    """As a resumed training has them: with a vocabulary, after the videos of both kinds are known."""
    from mmcc.corpus import Corpus
    from mmcc.data.config import DataConfig
    from mmcc.data.loader import training_batches
    from mmcc.data.segments import SegmentSampler, UsableVideos
    from mmcc.data.vocabulary import Vocabulary

    corpus, words = Corpus.open(folder), Vocabulary(["bader"])
    start = time.process_time()
    videos, _ = (UsableVideos(corpus, purpose, DataConfig()) for purpose in ("train", "validation"))
    return start, training_batches(SegmentSampler(videos, 0), words, start_step=0, steps=steps, batch_size=BATCH)


def _assess(folder: Path) -> Cost:
    """What a new run says before it begins; its vocabulary is another line."""
    from mmcc.corpus import Corpus
    from mmcc.data.config import DataConfig
    from mmcc.data.segments import UsableVideos
    from mmcc.training.readiness import assess

    videos = UsableVideos(Corpus.open(folder), "train", DataConfig())
    start = time.process_time()
    assert assess(videos, None, None, BATCH).frames
    return _cost(start)


def _assess_vectors(folder: Path) -> Cost:
    """The same where the vectors of an encoder take the place of frames."""
    from mmcc.corpus import Corpus
    from mmcc.corpus.vectors import Wanted, with_vectors
    from mmcc.data.config import DataConfig
    from mmcc.data.segments import UsableVideos
    from mmcc.training.readiness import assess

    corpus = with_vectors(Corpus.open(folder), frames=Wanted(ENCODER.name))
    videos = UsableVideos(corpus, "train", DataConfig())
    start = time.process_time()
    assert assess(videos, None, None, BATCH).frames
    return _cost(start)


def _inspect(folder: Path) -> Cost:
    from mmcc.corpus import Corpus
    from mmcc.corpus.summary import summarize

    start = time.process_time()
    assert summarize(Corpus.open(folder)).videos
    return _cost(start)


def _search(folder: Path) -> Cost:
    """What happens before an index of frames is opened: its state, and which of its videos have frames."""
    from mmcc.corpus import Corpus
    from mmcc.corpus.index import state_of

    start = time.process_time()
    assert state_of(folder) and Corpus.open(folder).with_frames()
    return _cost(start)


def _rerun(folder: Path) -> Cost:
    from mmcc.cli.main import main as mmcc

    start = time.process_time()
    code = mmcc(["ingest", str(folder.with_name("files")), "-o", str(folder), "--features", "1", "-q", "--json"])
    assert code == 0, code
    return _cost(start)


MEASURES: dict[str, Callable[[Path], Cost]] = {
    "opening": _open,
    "splits": _split,
    "the vocabulary": _count_words,
    "the check of a new run": _assess,
    "the check of a new run on vectors": _assess_vectors,
    "the first batch after opening": _first_batch,
    "a batch after that": _next_batches,
    "inspect": _inspect,
    "search, up to its index": _search,
    "a re-run of ingest": _rerun,
}


if __name__ == "__main__":
    finish(main())
