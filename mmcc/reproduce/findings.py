"""What was measured for the tables, by row, evaluation task and training seed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mmcc.evaluation.results import TaskResult
from mmcc.metrics import Interval, PerVideo, bootstrap, paired_difference
from mmcc.report.tables import EMPTY, Cell

Measure = tuple[str, str, str]  # row, task, figure


@dataclass
class Findings:
    """Results as they come in, and notes to print beside them."""

    results: dict[tuple[str, str], dict[int, TaskResult]] = field(default_factory=dict)  # (row, task) → seed → result
    notes: list[str] = field(default_factory=list)
    training_videos: int | None = None  # of the corpus, if known

    def add(self, row: str, task: str, seed: int, result: TaskResult) -> None:
        self.results.setdefault((row, task), {})[seed] = result

    def note(self, line: str) -> None:
        if line not in self.notes:
            self.notes.append(line)

    def of_table(self, measures: Mapping[str, Iterable[str]], seeds: Iterable[int]) -> Findings:
        """Only what a table asks for: another may have measured further seeds of the same rows."""
        wanted = {(row, task) for row, tasks in measures.items() for task in tasks}
        kept = {key: {seed: found[seed] for seed in seeds if seed in found} for key, found in self.results.items()}
        asked = {key: found for key, found in kept.items() if key in wanted and found}
        return Findings(asked, list(self.notes), self.training_videos)

    @property
    def seeds(self) -> int:
        """The number of training seeds of the row that has most."""
        return max(map(len, self.results.values()), default=0)

    @property
    def fewest_videos(self) -> int:
        """That any figure was counted in."""
        found = [result for results in self.results.values() for result in results.values()]
        return min((int((each.counts > 0).sum()) for result in found for each in result.figures.values()), default=0)

    def samples(self, row: str, task: str, figure: str, seeds: Iterable[int] | None = None) -> list[PerVideo]:
        """A figure for every seed that has it, in order of seeds."""
        found = self.results.get((row, task), {})
        wanted = sorted(found) if seeds is None else [seed for seed in sorted(seeds) if seed in found]
        return [found[seed].figures[figure] for seed in wanted if figure in found[seed].figures]

    def cell(self, row: str, task: str, figure: str) -> Cell:
        """The mean over seeds with its interval; empty where nothing was measured."""
        samples = on_common_videos(self.samples(row, task, figure))
        return Cell(*bootstrap(samples)) if samples else EMPTY  # mean, low, high, videos

    def difference(self, one: Measure, other: Measure) -> Interval | None:
        """`one` minus `other`, on the videos and the seeds that both have; None where they have none in common.

        A model that was not trained has one sample, which is compared with each seed of the other.
        """
        seeds = [set(self.results.get((row, task), {})) for row, task, _ in (one, other)]
        common = seeds[0] & seeds[1] if min(map(len, seeds)) > 1 else None
        first, second = (self.samples(*measure, common) for measure in (one, other))
        aligned = on_common_videos([*first, *second]) if first and second else []
        return paired_difference(aligned[: len(first)], aligned[len(first) :]) if aligned else None

    def references(self, task: str, rows: Sequence[str]) -> dict[str, float]:
        """Those of the first row that has the task: chance does not depend on the model."""
        for row in rows:
            for result in self.results.get((row, task), {}).values():
                return result.references
        return {}

    def task_notes(self, task: str, rows: Iterable[str], labels: Mapping[str, str]) -> list[str]:
        """The notes of a task's results, each once, with the labels of the rows it applies to unless it is all."""
        noted: dict[str, list[str]] = {}
        for row in rows:
            for result in self.results.get((row, task), {}).values():
                for line in result.notes:
                    if row not in noted.setdefault(line, []):
                        noted[line].append(row)
        everyone = {row for row in rows if (row, task) in self.results}
        return [
            line if set(who) == everyone else f"{', '.join(labels.get(each, each) for each in who)}: {line}"
            for line, who in noted.items()
        ]


def on_common_videos(samples: Sequence[PerVideo]) -> list[PerVideo]:
    """The samples restricted to the videos that all of them have, in one order; none if there is no such video, or if
    nothing was counted in them."""
    if not samples:
        return []
    others = [set(sample.videos) for sample in samples[1:]]
    videos = [video for video in samples[0].videos if all(video in other for other in others)]
    cut = []
    for sample in samples:
        place = {video: at for at, video in enumerate(sample.videos)}
        order = np.array([place[video] for video in videos], np.int64)
        cut.append(PerVideo(tuple(videos), sample.totals[order], sample.counts[order]))
    return cut if all(sample.counts.any() for sample in cut) else []
