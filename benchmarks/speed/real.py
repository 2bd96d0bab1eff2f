"""How long `--config real` trains on a folder of 50 ten-minute videos, after embedding.

    python -m benchmarks.speed.real [--videos 50] [--minutes 10]

The corpus has as many frames and utterances as such a folder: kitchen narration, and vectors in place of the encoders'
(training does not depend on what they show). The bound is 180 s on 2 cores.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence, Sized
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Figure, Figures, command_line, finish
from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import Embedder, Encoder, embed_corpus
from mmcc.corpus.format import Manifest, shard_path
from mmcc.corpus.index import IndexWriter
from mmcc.corpus.shards import ShardWriter
from mmcc.training.config import load_config
from mmcc.training.loop import train

WORDS = "now we add cut stir the a onion pan butter sauce until it is golden and then pour some into bowl".split()
SECONDS = 180.0  # the bound


def make_corpus(folder: Path, videos: int, minutes: float) -> Corpus:
    """Tiny pictures, one a second, and an utterance every four seconds, with vectors of both encoders."""
    (folder / "shards").mkdir(parents=True)
    Manifest("raw", 1.0, 8).save(folder)
    index, shard = IndexWriter(folder), ShardWriter(shard_path(folder, 0))
    rng, picture = np.random.default_rng(0), bytes(8 * 8 * 3)
    times = [float(second) for second in range(round(60 * minutes))]
    for number in range(videos):
        name = f"v{number:04}"
        for second in times:
            shard.add(name, second, picture)
        said = [{"start": start, "end": start + 3, "text": " ".join(rng.choice(WORDS, 8))} for start in times[::4]]
        index.append([{"id": name, "status": "ok", "split": "train", "times": times, "utterances": said, "shard": 0,
                       "height": 8, "width": 8, "duration": times[-1] + 1, "fingerprint": name,
                       "batches": [run._asdict() for run in shard.finish(name)]}])  # fmt: skip
    shard.close()
    index.close()
    corpus = Corpus.open(folder)
    encoders = Encoder("efficientnet-lite2", "0" * 32, "frames", 1280), Encoder("minilm", "0" * 32, "text", 384)
    for encoder in encoders:
        embed_corpus(corpus, Embedder(encoder, partial(map, partial(_vectors, rng, encoder.dims))))
    return corpus


def _vectors(rng: np.random.Generator, dims: int, given: Sized) -> NDArray[np.float32]:
    return rng.normal(size=(len(given), dims)).astype(np.float32)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args(arguments)
    figures = Figures()
    with tempfile.TemporaryDirectory() as temporary:
        corpus = make_corpus(Path(temporary) / "corpus", options.videos, options.minutes)
        started = time.perf_counter()
        train(corpus.path, Path(temporary) / "run", load_config("real"), say=lambda line: None)
        seconds = time.perf_counter() - started
    name = f"--config real, {options.videos} videos of {options.minutes:g} minutes, embedded: seconds"
    figures.at_most(name, seconds, SECONDS)
    return figures.measured


if __name__ == "__main__":
    finish(main())
