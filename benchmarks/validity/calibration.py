"""Whether the timing of steps in the kitchen matches that of CrossTask.

    python -m benchmarks.validity.calibration [RELEASE ...]

Checks the kitchen with three seeds, or each RELEASE: a folder in CrossTask's format, such as `mmcc kitchen` writes. The
real release is measured too if it is in ../shared/data; the published column holds its rounded figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.common import Figure, Figures, command_line, finish
from mmcc.corpus.crosstask import read_crosstask
from mmcc.corpus.source import LabelledClip
from mmcc.kitchen.plan import KitchenSettings, plan
from mmcc.kitchen.write import write_text
from mmcc.metrics import kendall_tau

RELEASE = Path(__file__).parents[3] / "shared" / "data" / "crosstask" / "crosstask_release"
SEEDS = (0, 1, 2)

# Statistic, its label, CrossTask's figure, and by how much the kitchen may differ.
BOUNDS: tuple[tuple[str, str, float, float], ...] = (
    ("least_steps", "steps per task, least", 3, 0),
    ("most_steps", "steps per task, most", 11, 0),
    ("steps", "steps per task, mean", 7.4, 0.05),
    ("clips", "clips per video, mean", 7.6, 0.15 * 7.6),
    ("few_clips", "clips per video, 5 %", 2, 0.15 * 2),
    ("many_clips", "clips per video, 95 %", 16, 0.15 * 16),
    ("duration_median", "clip duration, median (s)", 5.1, 0.15 * 5.1),
    ("duration_mean", "clip duration, mean (s)", 9.6, 0.15 * 9.6),
    ("duration_long", "clip duration, 95 % (s)", 32, 0.15 * 32),
    ("gap_median", "gap between clips, median (s)", 5.2, 0.20 * 5.2),
    ("gap_mean", "gap between clips, mean (s)", 12.4, 0.20 * 12.4),
    ("missing", "steps missing from a video (%)", 30, 5),
    ("repeats", "repeats per video, mean", 2.45, 0.20 * 2.45),
    ("in_order", "adjacent steps in canonical order (%)", 75, 5),
    ("tau", "Kendall τ of a video's step order, mean", 0.61, 0.05),
    ("coverage", "coverage (%)", 45, 5),
)

Video = tuple[str, Sequence[LabelledClip]]  # its task, and its labelled clips in any order


@dataclass(frozen=True)
class Statistics:
    """Statistics of labelled videos; times in seconds. The clips of a video are sorted by start, then by end."""

    least_steps: float  # of a task
    most_steps: float
    steps: float  # of a task, mean
    clips: float  # per video, mean
    few_clips: float  # 5th percentile
    many_clips: float  # 95th
    duration_median: float  # of a clip
    duration_mean: float
    duration_long: float  # 95th percentile
    gap_median: float  # next start - this end; negative where clips overlap
    gap_mean: float
    missing: float  # % of the task's steps that a video never shows, mean over videos
    repeats: float  # clips - distinct steps, mean over videos
    in_order: float  # % of adjacent steps, by first occurrence, that are in canonical order; pooled
    tau: float  # Kendall's τ of the order of first occurrence; mean over videos with at least 2 distinct steps
    coverage: float  # % of the time from the first start to the last end that lies in a clip; pooled


def measure(tasks: Mapping[str, int], videos: Iterable[Video]) -> Statistics:
    """Statistics of videos, given the number of steps of each task."""
    counts, durations, gaps, missing, repeats, in_order, taus = [], [], [], [], [], [], []
    covered = spanned = 0.0
    for task, labelled in videos:
        clips = sorted(labelled, key=lambda clip: (clip.start, clip.end))
        first_shown = np.array(list(dict.fromkeys(clip.step for clip in clips)))
        counts.append(len(clips))
        durations += [clip.end - clip.start for clip in clips]
        gaps += [later.start - earlier.end for earlier, later in pairwise(clips)]
        missing.append(1 - len(first_shown) / tasks[task])
        repeats.append(len(clips) - len(first_shown))
        if len(first_shown) > 1:
            in_order += list(np.diff(first_shown) > 0)
            taus.append(float(kendall_tau(first_shown)))
        covered += union(clips)
        spanned += max(clip.end for clip in clips) - clips[0].start
    steps = list(tasks.values())
    return Statistics(
        least_steps=min(steps),
        most_steps=max(steps),
        steps=float(np.mean(steps)),
        clips=float(np.mean(counts)),
        few_clips=float(np.percentile(counts, 5)),
        many_clips=float(np.percentile(counts, 95)),
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


def union(clips: Sequence[LabelledClip]) -> float:
    """Seconds covered by at least one clip; the clips are sorted by start."""
    seconds, reached = 0.0, clips[0].start
    for clip in clips:
        seconds += max(0.0, clip.end - max(clip.start, reached))
        reached = max(reached, clip.end)
    return seconds


def of_release(root: Path) -> Statistics:
    """Statistics of a release on disk: its primary tasks and their labelled videos."""
    source = read_crosstask(root)
    tasks = {task.id: len(task.steps) for task in source.tasks.values() if task.primary}
    labelled = [(item.tasks[0], item.steps) for item in source.items if item.steps]
    return measure(tasks, [video for video in labelled if video[0] in tasks])


def of_kitchen(seed: int) -> Statistics:
    """Statistics of a kitchen, from its annotations as written to disk and read back."""
    settings = KitchenSettings(seed=seed)
    with TemporaryDirectory() as folder:
        write_text(Path(folder), plan(settings), settings)
        return of_release(Path(folder))


def out_of_bounds(found: Statistics) -> list[str]:
    """Names of the statistics that differ from CrossTask by more than their tolerance."""
    slack = 1e-9  # a rounding error must not fail a bound that is met exactly
    return [name for name, _, target, tolerance in BOUNDS if abs(getattr(found, name) - target) > tolerance + slack]


def main(arguments: Sequence[str] | None = None) -> list[Figure]:
    parser = command_line(__doc__)
    parser.add_argument("releases", nargs="*", type=Path, metavar="RELEASE")
    releases: list[Path] = parser.parse_args(arguments).releases
    checked = {str(path): of_release(path) for path in releases} or {
        f"kitchen {seed}": of_kitchen(seed) for seed in SEEDS
    }
    measured = {"CrossTask": of_release(RELEASE)} if RELEASE.is_dir() else {}
    if not measured:
        print("The CrossTask release is not in ../shared/data: only its published figures are shown.")
    print(f"{'':<42}{'published':>10}{'tolerance':>10}", *(f"{name[-14:]:>14}" for name in (*measured, *checked)))
    for name, label, target, tolerance in BOUNDS:
        cells = [f"{getattr(found, name):>14.2f}" for found in measured.values()]
        for found in checked.values():
            cells.append(f"{getattr(found, name):>10.2f} {'OUT' if name in out_of_bounds(found) else 'OK':<3}")
        print(f"{label:<42}{target:>10.2f}{tolerance:>10.2f}", *cells)
    figures = Figures()
    for name, found in checked.items():
        figures.equal(f"statistics out of bounds, of {len(BOUNDS)}: {name}", len(out_of_bounds(found)), 0)
    return figures.measured


if __name__ == "__main__":
    finish(main())
