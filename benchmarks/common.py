"""Shared by the benchmarks: clips made with ffmpeg, commands run and timed, figures and their bounds."""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

import imageio_ffmpeg

FFMPEG = os.environ.get("FFMPEG") or imageio_ffmpeg.get_ffmpeg_exe()

# Moving shapes with a little sensor noise: 3 Mbit/s at 720p, like a downloaded video.
MOVING_PICTURE = "testsrc2=size={size}:rate={rate},noise=alls=3:allf=t"


def make_clip(path: Path, seconds: float, size: str = "1280x720", rate: int = 30, repeat: int = 1) -> Path:
    """Make an H.264 clip of `seconds`, its packets repeated so that it lasts `repeat` times as long."""
    picture = MOVING_PICTURE.format(size=size, rate=rate)
    once = path.with_name(f"once-{path.name}") if repeat > 1 else path
    run(
        [
            *(FFMPEG, "-v", "error", "-y", "-f", "lavfi", "-i", picture, "-t", seconds),
            *("-pix_fmt", "yuv420p", "-crf", 23, once),
        ]
    )
    if repeat > 1:
        run([FFMPEG, "-v", "error", "-y", "-stream_loop", repeat - 1, "-i", once, "-c", "copy", path])
        once.unlink()
    return path


def run(command: Sequence[object]) -> tuple[float, float]:
    """Run a command; return its wall-clock and CPU seconds, child processes included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_mmcc(*arguments: object) -> tuple[float, float]:
    """Run an `mmcc` command as a user does; return its wall-clock and CPU seconds."""
    return run([sys.executable, "-m", "mmcc", *arguments])


def ingest(source: Path, corpus: Path, *options: object) -> tuple[float, float]:
    """Run `mmcc ingest` into a new corpus; return its wall-clock and CPU seconds."""
    shutil.rmtree(corpus, ignore_errors=True)
    return run_mmcc("ingest", source, "-o", corpus, *options)


Better = Literal["lower", "higher", "equal"]
_SIGNS: dict[Better, str] = {"lower": "≤", "higher": "≥", "equal": "="}


class Figure(NamedTuple):
    """A measured figure, and the bound that it must meet."""

    name: str
    measured: float
    bound: float
    better: Better  # the side of the bound on which it must be

    @property
    def ok(self) -> bool:
        if self.better == "equal":
            return self.measured == self.bound
        return self.measured <= self.bound if self.better == "lower" else self.measured >= self.bound

    @property
    def limit(self) -> str:
        """The bound as it is printed: "≤ 0.65"."""
        return f"{_SIGNS[self.better]} {self.bound:.4g}"


class Figures:
    """Collects the figures of a benchmark and prints each beside its bound as soon as it is measured."""

    def __init__(self) -> None:
        self.measured: list[Figure] = []

    def at_most(self, name: str, measured: float, bound: float) -> None:
        self._show(Figure(name, measured, bound, "lower"))

    def at_least(self, name: str, measured: float, bound: float) -> None:
        self._show(Figure(name, measured, bound, "higher"))

    def equal(self, name: str, measured: float, bound: float) -> None:
        self._show(Figure(name, measured, bound, "equal"))

    def _show(self, figure: Figure) -> None:
        status = "ok" if figure.ok else "MISSED"
        print(f"{figure.name:<68} {figure.measured:10.3f}   {figure.limit:<8} {status}", flush=True)
        self.measured.append(figure)


def command_line(description: str | None) -> argparse.ArgumentParser:
    """A parser whose help is the docstring of its script, line by line."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def finish(figures: Iterable[Figure]) -> NoReturn:
    """End a script that was run alone: exit code 1 if a figure missed its bound."""
    sys.exit(0 if all(figure.ok for figure in figures) else 1)
