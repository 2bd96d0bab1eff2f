"""What the benchmarks share: an ffmpeg command, clips made with it, and one way to print a figure."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import imageio_ffmpeg

FFMPEG = os.environ.get("FFMPEG") or imageio_ffmpeg.get_ffmpeg_exe()

# Things that move, under a little sensor noise: 3 Mbit/s at 720p, as of a download.
MOVING_PICTURE = "testsrc2=size={size}:rate={rate},noise=alls=3:allf=t"


def make_clip(path: Path, seconds: float, size: str = "1280x720", rate: int = 30, repeat: int = 1) -> Path:
    """An H.264 clip of `seconds`, its packets repeated so that it lasts `repeat` times as long."""
    picture = MOVING_PICTURE.format(size=size, rate=rate)
    once = path.with_name(f"once-{path.name}") if repeat > 1 else path
    run(
        [
            FFMPEG,
            "-v",
            "error",
            "-y",
            "-f",
            "lavfi",
            "-i",
            picture,
            "-t",
            seconds,
            "-pix_fmt",
            "yuv420p",
            "-crf",
            23,
            once,
        ]
    )
    if repeat > 1:
        run([FFMPEG, "-v", "error", "-y", "-stream_loop", repeat - 1, "-i", once, "-c", "copy", path])
        once.unlink()
    return path


def run(command: Sequence[object]) -> tuple[float, float]:
    """Run a command to its end; its wall-clock and CPU seconds, children's included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_mmcc(*arguments: object) -> tuple[float, float]:
    """A command, as a user runs it."""
    return run([sys.executable, "-m", "mmcc", *arguments])


def ingest(source: Path, corpus: Path, *options: object) -> tuple[float, float]:
    """`mmcc ingest` into a new corpus, as a user runs it."""
    shutil.rmtree(corpus, ignore_errors=True)
    return run_mmcc("ingest", source, "-o", corpus, *options)


class Figures:
    """Prints each figure beside its bound; `failed` is true when one missed it."""

    def __init__(self) -> None:
        self.failed = False

    def show(self, what: str, value: float, *, most: float | None = None, least: float | None = None) -> None:
        met = (most is None or value <= most) and (least is None or value >= least)
        bound = f"= {most:g}" if most == least else f"≤ {most:g}" if most is not None else f"≥ {least:g}"
        print(f"{what:<68} {value:10.3f}   {bound:<8} {'ok' if met else 'MISSED'}", flush=True)
        self.failed |= not met

    def exit(self) -> None:
        sys.exit(1 if self.failed else 0)
