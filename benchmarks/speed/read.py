"""Reading random segments from a corpus, compared with decoding or copying the same frames in memory.

    python -m benchmarks.speed.read

JPEG shards are compared with decoding the same frames from memory, raw shards with copying them from a memory map.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.common import Figure, Figures, command_line, finish, ingest, make_clip
from mmcc.corpus import Corpus
from mmcc.media.jpeg import decode_jpeg, encode_jpeg

FRAMES, VIDEOS, ROUNDS = 64, 24, 15
Read = Callable[[int, int], Any]  # video number, first frame


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    command_line(__doc__).parse_args(arguments)
    figures = Figures()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "clips").mkdir()
        clip = make_clip(folder / "clip.mp4", seconds=60, size="320x240", rate=10, repeat=5)
        for number in range(VIDEOS):
            (folder / "clips" / f"{number:02d}.mp4").symlink_to(clip)
        ingest(folder / "clips", folder / "jpeg", "--size", 128)
        ingest(folder / "clips", folder / "raw", "--size", 64)
        compare_with_decoding(Corpus.open(folder / "jpeg"), figures)
        compare_with_memmap(Corpus.open(folder / "raw"), folder / "frames.raw", figures)
    return figures.measured


def compare_with_decoding(corpus: Corpus, figures: Figures) -> None:
    ids = corpus.ids
    in_memory = [[encode_jpeg(frame, 90) for frame in corpus[video_id].frames()] for video_id in ids]

    def limit(video: int, first: int) -> Any:
        out = np.empty((FRAMES, 128, 128, 3), np.uint8)
        for place, data in zip(out, in_memory[video][first : first + FRAMES], strict=True):
            decode_jpeg(memoryview(data), place)
        return out

    compare("segments/s from JPEG shards / decoding from memory", corpus, limit, 20, figures, least=0.9)


def compare_with_memmap(corpus: Corpus, path: Path, figures: Figures) -> None:
    frames = np.stack([corpus[video_id].frames() for video_id in corpus.ids])
    frames.tofile(path)
    mapped = np.memmap(path, np.uint8, "r", shape=frames.shape)

    def limit(video: int, first: int) -> Any:
        return np.array(mapped[video, first : first + FRAMES])

    compare("segments/s from raw shards / copying from a memmap", corpus, limit, 400, figures, least=0.7)


def compare(what: str, corpus: Corpus, limit: Read, count: int, figures: Figures, least: float) -> None:
    ids, length = corpus.ids, len(corpus[corpus.ids[0]].times)

    def ours(video: int, first: int) -> Any:
        stored = corpus[ids[video]]
        start, last = stored.times[first], stored.times[first + FRAMES - 1]
        excerpt = stored.excerpt(start, last - start + 1e-6)
        assert len(excerpt.frames) == FRAMES
        return excerpt

    rng = np.random.default_rng(0)
    ratios, speeds = [], []
    for _ in range(ROUNDS):
        places = list(zip(rng.integers(len(ids), size=count), rng.integers(length - FRAMES, size=count), strict=True))
        best, mine = timed(limit, places), timed(ours, places)
        ratios.append(best / mine)
        speeds.append(count / mine)
    figures.at_least(f"{what} ({median(speeds):,.0f}/s)", median(ratios), least)


def timed(read: Read, places: list[tuple[int, int]]) -> float:
    start = time.perf_counter()
    for video, first in places:
        read(video, first)
    return time.perf_counter() - start


if __name__ == "__main__":
    finish(main())
