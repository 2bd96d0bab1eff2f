"""Figures of several seeds, cut to the videos they share, and compared."""

import json
import math

import numpy as np
import pytest

from mmcc.evaluation.results import TaskResult
from mmcc.metrics import PerVideo, bootstrap, paired_difference
from mmcc.report.tables import EMPTY
from mmcc.reproduce.findings import Findings, on_common_videos
from mmcc.reproduce.store import Store, fingerprint


def of(videos: str, totals: list[float], counts: list[float] | None = None) -> PerVideo:
    return PerVideo(tuple(videos), np.array(totals, float), np.array(counts or [1.0] * len(totals)))


def result(figure: PerVideo, notes: list[str] | None = None) -> TaskResult:
    return TaskResult("task", {"x": figure}, {"chance/x": 5.0}, notes or [])


def findings(**rows: list[PerVideo]) -> Findings:
    found = Findings()
    for row, samples in rows.items():
        for seed, sample in enumerate(samples):
            found.add(row, "task", seed, result(sample))
    return found


def test_videos_that_one_sample_lacks_do_not_count():
    first, second = on_common_videos([of("abc", [1, 2, 3]), of("ca", [30, 10])])
    assert first.videos == second.videos == ("a", "c")
    assert first.totals.tolist() == [1, 3] and second.totals.tolist() == [10, 30]
    assert on_common_videos([of("a", [1]), of("b", [1])]) == []
    assert on_common_videos([of("ab", [1, 0], [1, 0]), of("b", [1])]) == []
    assert on_common_videos([]) == []


def test_a_cell_is_the_mean_over_seeds_with_its_interval():
    many = "abcdefghijklmnopqrst"
    samples = [of(many, [1, 3] * 10), of(many, [5, 7] * 10)]
    cell = findings(ours=samples).cell("ours", "task", "x")
    assert cell.mean == 4 and (cell.mean, cell.low, cell.high, cell.videos) == bootstrap(samples)
    few = findings(ours=[of("ab", [1, 3])]).cell("ours", "task", "x")
    assert (few.mean, few.low, few.high, few.videos) == (2, None, None, 2)
    assert findings(ours=samples).cell("ours", "task", "y") == EMPTY
    assert findings(ours=samples).cell("theirs", "task", "x") == EMPTY


def test_a_difference_pairs_the_seeds_that_both_have():
    ours, theirs = [of("ab", [1, 3]), of("ab", [5, 7]), of("ab", [100, 100])], [of("ab", [0, 2]), of("ab", [4, 5])]
    found = findings(ours=ours, theirs=theirs).difference(("ours", "task", "x"), ("theirs", "task", "x"))
    assert found == paired_difference(ours[:2], theirs) and found.mean == pytest.approx(1.25)


def test_what_was_not_trained_stands_against_each_seed():
    ours, fixed = [of("ab", [1, 3]), of("ab", [5, 7])], [of("ab", [1, 1])]
    found = findings(ours=ours, fixed=fixed).difference(("ours", "task", "x"), ("fixed", "task", "x"))
    assert found == paired_difference(ours, fixed) and found.mean == 3
    assert findings(ours=ours).difference(("ours", "task", "x"), ("gone", "task", "x")) is None


def test_a_table_sees_its_own_seeds_and_tasks():
    found = findings(ours=[of("a", [1]), of("a", [3])], theirs=[of("a", [9])])
    table = found.of_table({"ours": ("task",)}, range(1))
    assert table.cell("ours", "task", "x").mean == 1 and table.cell("theirs", "task", "x") == EMPTY
    assert found.cell("ours", "task", "x").mean == 2


def test_notes_name_whom_they_are_about_unless_all():
    found = Findings()
    found.add("ours", "task", 0, result(of("a", [1]), ["3 videos are short", "no text"]))
    found.add("ours", "task", 1, result(of("a", [1]), ["3 videos are short"]))
    found.add("theirs", "task", 0, result(of("a", [1]), ["3 videos are short"]))
    notes = found.task_notes("task", ["ours", "theirs", "absent"], {"ours": "MMCC+"})
    assert notes == ["3 videos are short", "MMCC+: no text"]
    assert found.references("task", ["absent", "theirs"]) == {"chance/x": 5.0}


def test_results_come_back_as_they_were(tmp_path):
    store, mark = Store(tmp_path), fingerprint("corpus", ["a"], 3)
    given = TaskResult("task", {"x": of("ab", [1 / 3, 2])}, {"chance/x": 50.0, "odd/x": math.nan}, ["a note"])
    store.save("run", "task", mark, given, 7)
    found = store.load("run", "task", mark)
    assert found.figures["x"].totals.tolist() == [1 / 3, 2] and found.notes == ["a note"]
    assert found.references == {"chance/x": 50.0}  # what is no number is not kept
    assert json.loads(store.path("run", "task").read_text())["step"] == 7
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["task.json"]


def test_results_of_something_else_do_not_count(tmp_path):
    store = Store(tmp_path)
    store.save("run", "task", fingerprint("corpus"), result(of("a", [1])), None)
    assert store.load("run", "task", fingerprint("another corpus")) is None
    assert store.load("run", "other", fingerprint("corpus")) is None
    store.path("run", "task").write_text(store.path("run", "task").read_text()[:-20])
    assert store.load("run", "task", fingerprint("corpus")) is None
