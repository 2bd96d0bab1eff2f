"""Reading random segments of a remote corpus: the bytes and the requests that a segment of 64 frames takes.

    python -m benchmarks.speed.remote

The storage is a folder behind pyarrow's interface: what is asked for is counted, and no network is needed.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import fs

from benchmarks.common import Figure, Figures, command_line, finish, ingest, make_clip
from mmcc.corpus import Corpus
from mmcc.corpus.format import FRAMES_SCHEMA
from mmcc.storage import place, ranges, s3

FRAMES, SEGMENTS = 64, 200


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    command_line(__doc__).parse_args(arguments)
    figures = Figures()
    with TemporaryDirectory() as name:
        folder = Path(name)
        make_clip(folder / "clip.mp4", seconds=60, size="320x240", rate=10, repeat=10)
        for encoding, size in (("jpeg", 128), ("raw", 48)):
            ingest(folder / "clip.mp4", folder / "bucket" / encoding, "--size", size, "--encoding", encoding)
            measure(folder, encoding, figures)
    return figures.measured


def measure(folder: Path, encoding: str, figures: Figures) -> None:
    asked: list[int] = []
    connect, read = s3._connect, ranges.read_range

    def counted(path: Any, offset: int, length: int) -> Any:
        asked.append(length)
        return read(path, offset, length)

    s3._connect = lambda *_: fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())  # type: ignore[assignment]
    ranges.read_range = counted
    try:
        corpus = Corpus.open(place(f"s3://bucket/{encoding}"))
        (video_id,) = corpus.ids
        sizes = frame_sizes(Corpus.open(folder / "bucket" / encoding), video_id)
        most = requests = 0.0
        for first in np.random.default_rng(0).integers(len(sizes) - FRAMES, size=SEGMENTS).tolist():
            asked.clear()
            Corpus.open(corpus.path)[video_id].frames(first, first + FRAMES)
            most = max(most, sum(asked) / sum(sizes[first : first + FRAMES]))
            requests = max(requests, len(asked))
    finally:
        s3._connect, ranges.read_range = connect, read
    figures.at_most(f"bytes fetched / bytes of the 64 frames, {encoding}, largest of {SEGMENTS}", most, 1.5)
    figures.at_most(f"requests for a segment once its shard is open, {encoding}", requests, 1)


def frame_sizes(corpus: Corpus, video_id: str) -> list[int]:
    """The stored bytes of each frame."""
    row = corpus.columns("shard", "batches").to_pylist()[corpus.ids.index(video_id)]
    content = (corpus.path / "shards" / f"{row['shard']:05d}.arrow").read_bytes()
    return [size for run in row["batches"] for size in _sizes(content[run["offset"] : run["offset"] + run["length"]])]


def _sizes(message: bytes) -> list[int]:
    batch = pa.ipc.read_record_batch(pa.py_buffer(message), FRAMES_SCHEMA)
    return [len(frame) for frame in batch.column(2).to_pylist()]


if __name__ == "__main__":
    finish(main())
