"""The clock of the kitchen against that of CrossTask: the same statistics of both, side by side.

    python -m benchmarks.validity.calibration [RELEASE ...]

Judges the kitchen of three seeds, or each RELEASE in the format of CrossTask, such as `mmcc kitchen` writes. The real
release is measured too where it lies in ../shared/data; the published figures are those it gave.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mmcc.corpus.crosstask import read_crosstask
from mmcc.corpus.source import LabelledClip
from mmcc.kitchen.plan import KitchenSettings, plan
from mmcc.kitchen.write import write_text
from mmcc.metrics import kendall_tau

RELEASE = Path(__file__).parents[3] / "shared" / "data" / "crosstask" / "crosstask_release"
SEEDS = (0, 1, 2)

# Statistic, its words, CrossTask as published in the issue of the kitchen, and by how much the kitchen may differ.
BOUNDS: tuple[tuple[str, str, float, float], ...] = (
    ("least_steps", "steps per task, least", 3, 0),
    ("most_steps", "steps per task, most", 11, 0),
    ("steps", "steps per task, mean", 7.4, 0.05),
    ("segments", "segments per video, mean", 7.6, 0.15 * 7.6),
    ("few_segments", "segments per video, 5 %", 2, 0.15 * 2),
    ("many_segments", "segments per video, 95 %", 16, 0.15 * 16),
    ("duration_median", "segment duration, median (s)", 5.1, 0.15 * 5.1),
    ("duration_mean", "segment duration, mean (s)", 9.6, 0.15 * 9.6),
    ("duration_long", "segment duration, 95 % (s)", 32, 0.15 * 32),
    ("gap_median", "gap between segments, median (s)", 5.2, 0.20 * 5.2),
    ("gap_mean", "gap between segments, mean (s)", 12.4, 0.20 * 12.4),
    ("missing", "steps missing from a video (%)", 30, 5),
    ("repeats", "repeats per video, mean", 2.45, 0.20 * 2.45),
    ("in_order", "adjacent steps in canonical order (%)", 75, 5),
    ("tau", "Kendall τ of a video's step order, mean", 0.61, 0.05),
    ("coverage", "coverage (%)", 45, 5),
)

Video = tuple[str, Sequence[LabelledClip]]  # its task, and its labelled segments in any order


@dataclass(frozen=True)
class Statistics:
    """Of a set of labelled videos; times in seconds. The segments of a video are taken by start, then by end."""

    least_steps: float  # of a task
    most_steps: float
    steps: float  # of a task, in the mean
    segments: float  # per video, in the mean
    few_segments: float  # 5th percentile
    many_segments: float  # 95th
    duration_median: float  # of a segment
    duration_mean: float
    duration_long: float  # 95th percentile
    gap_median: float  # next start - this end; below 0 where segments overlap
    gap_mean: float
    missing: float  # % of the task's steps that a video never shows, in the mean of videos
    repeats: float  # segments - distinct steps, in the mean of videos
    in_order: float  # % of neighbours in order of first occurrence whose later one is the later step; pooled
    tau: float  # Kendall's, of the order of first occurrence; mean of videos with 2 distinct steps or more
    coverage: float  # % of the time from the first start to the last end that lies in a segment; pooled


def measure(tasks: Mapping[str, int], videos: Iterable[Video]) -> Statistics:
    """The statistics of videos, given the number of steps of each task."""
    counts, durations, gaps, missing, repeats, in_order, taus = [], [], [], [], [], [], []
    covered = spanned = 0.0
    for task, labelled in videos:
        segments = sorted(labelled, key=lambda segment: (segment.start, segment.end))
        first_shown = np.array(list(dict.fromkeys(segment.step for segment in segments)))
        counts.append(len(segments))
        durations += [segment.end - segment.start for segment in segments]
        gaps += [later.start - earlier.end for earlier, later in pairwise(segments)]
        missing.append(1 - len(first_shown) / tasks[task])
        repeats.append(len(segments) - len(first_shown))
        if len(first_shown) > 1:
            in_order += list(np.diff(first_shown) > 0)
            taus.append(float(kendall_tau(first_shown)))
        covered += union(segments)
        spanned += max(segment.end for segment in segments) - segments[0].start
    steps = list(tasks.values())
    return Statistics(
        least_steps=min(steps),
        most_steps=max(steps),
        steps=float(np.mean(steps)),
        segments=float(np.mean(counts)),
        few_segments=float(np.percentile(counts, 5)),
        many_segments=float(np.percentile(counts, 95)),
        duration_median=float(np.median(durations)),
        duration_mean=float(np.mean(durations)),
        duration_long=float(np.percentile(durations, 95)),
        gap_median=float(np.median(gaps)),
        gap_mean=float(np.mean(gaps)),
        missing=100 * float(np.mean(missing)),
        repeats=float(np.mean(repeats)),
        in_order=100 * float(np.mean(in_order)),
        tau=float(np.mean(taus)),
        coverage=100 * covered / spanned,
    )


def union(segments: Sequence[LabelledClip]) -> float:
    """Seconds that lie in one segment or more, of segments sorted by start."""
    seconds, reached = 0.0, segments[0].start
    for segment in segments:
        seconds += max(0.0, segment.end - max(segment.start, reached))
        reached = max(reached, segment.end)
    return seconds


def of_release(root: Path) -> Statistics:
    """Of a release on disk: its primary tasks, and its videos that are labelled."""
    source = read_crosstask(root)
    tasks = {task.id: len(task.steps) for task in source.tasks.values() if task.primary}
    labelled = [(item.tasks[0], item.steps) for item in source.items if item.steps]
    return measure(tasks, [video for video in labelled if video[0] in tasks])


def of_kitchen(seed: int) -> Statistics:
    """Of a kitchen, as its annotations are written to disk and read back."""
    settings = KitchenSettings(seed=seed)
    with TemporaryDirectory() as folder:
        write_text(Path(folder), plan(settings), settings)
        return of_release(Path(folder))


def out_of_bounds(found: Statistics) -> list[str]:
    """The statistics that differ from CrossTask by more than they may."""
    slack = 1e-9  # a bound that is met exactly must not fail by a rounding error
    return [name for name, _, target, tolerance in BOUNDS if abs(getattr(found, name) - target) > tolerance + slack]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("releases", nargs="*", type=Path, metavar="RELEASE")
    releases: list[Path] = parser.parse_args().releases
    judged = {str(path): of_release(path) for path in releases} or {
        f"kitchen {seed}": of_kitchen(seed) for seed in SEEDS
    }
    measured = {"CrossTask": of_release(RELEASE)} if RELEASE.is_dir() else {}
    if not measured:
        print("The release is not in ../shared/data: CrossTask is shown as published only.")
    print(f"{'':<42}{'published':>10}{'± most':>8}", *(f"{name[-14:]:>14}" for name in (*measured, *judged)))
    for name, words, target, tolerance in BOUNDS:
        cells = [f"{getattr(found, name):>14.2f}" for found in measured.values()]
        for found in judged.values():
            cells.append(f"{getattr(found, name):>10.2f} {'OUT' if name in out_of_bounds(found) else 'OK':<3}")
        print(f"{words:<42}{target:>10.2f}{tolerance:>8.2f}", *cells)
    sys.exit(1 if any(map(out_of_bounds, judged.values())) else 0)


if __name__ == "__main__":
    main()
