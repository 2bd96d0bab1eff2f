"""Peak memory of a first search: it must not grow with the number of videos.

    python -m benchmarks.speed.search_memory [--videos 1000 10000]

Videos are vectors with narration, of 60 seconds each. The figure is the resident set size as Linux reports it, sampled
50 times per second, of `mmcc search` on a corpus that has no index yet; and the difference between two numbers of
videos, per video.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.common import Figure, Figures, command_line, finish, ingest, run_mmcc
from benchmarks.speed.memory import resident_gb

DIMS, SECONDS = 32, 60
SMALL = ("--model.dims", 64, "--train.steps", 2, "--train.batch_size", 4, "--train.workers", 0)


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("--videos", type=int, nargs=2, default=[1000, 10_000])
    options = parser.parse_args(arguments)
    figures, peaks = Figures(), []
    with TemporaryDirectory() as name:
        for videos in options.videos:
            folder = Path(name) / str(videos)
            make_videos(folder / "videos", videos)
            ingest(folder / "videos", folder / "corpus", "--features", 1)
            run = Path(name) / "run"
            if not run.exists():
                run_mmcc("train", folder / "corpus", "-o", run, "--anyway", *SMALL)
            print(f"{videos:,} videos: ", end="", flush=True)
            peaks.append(peak_of("search", run, folder / "corpus", "--text", "stir", cache=folder / "cache"))
            print(f"{peaks[-1]:.3f} GB", flush=True)
    fewer, more = options.videos
    figures.at_most(f"peak memory of a first search, {more:,} / {fewer:,} videos", peaks[1] / peaks[0], 1.15)
    figures.at_most(f"the same in GB, {more:,} videos", peaks[1], 0.7)
    return figures.measured


def make_videos(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for number in range(count):
        np.save(folder / f"v{number:06d}.npy", rng.standard_normal((SECONDS, DIMS), np.float32))
        cues = [
            f"{at}\n00:00:{at:02d},000 --> 00:00:{at + 3:02d},000\nnow stir the soup again, {number} {at}\n"
            for at in range(0, SECONDS - 4, 4)
        ]
        (folder / f"v{number:06d}.srt").write_text("\n".join(cues))


def peak_of(*words: object, cache: Path) -> float:
    """Gigabytes."""
    command = [sys.executable, "-m", "mmcc", *map(str, words)]
    own = {
        **os.environ,
        "MMCC_CACHE": str(cache),
        "OMP_NUM_THREADS": "1",
    }  # threads that wait for a busy core take ages
    process = subprocess.Popen(command, env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, resident_gb(process.pid))
        time.sleep(0.02)
    if process.returncode:
        raise RuntimeError(f"mmcc {' '.join(map(str, words))} ended with {process.returncode}")
    return peak


if __name__ == "__main__":
    finish(main())
