"""The table of evaluation tasks, and one that a user adds."""

import json

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.errors import UsageError
from mmcc.evaluation import task as registry
from mmcc.evaluation.evaluate import evaluate, find_tasks
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import EvaluationTask, Needs, find_task, known_tasks, register_task, task_choices
from mmcc.evaluation.tasks import TASKS
from mmcc.metrics import PerVideo
from mmcc.report.measured import measured


def frames_counted(evaluator):
    videos = evaluator.primary
    frames = PerVideo.of([len(video.times) for video in videos], range(len(videos)), [video.id for video in videos])
    return TaskResult("length", {"frames": frames}, {"chance/frames": 0.0}, ["counted one by one"])


LENGTH = EvaluationTask(
    "length",
    "Length & <width>",
    "How many frames does a video have?",
    frames_counted,
    Needs(steps=True),
    headline={"frames": "frames of a video"},
    scale=(0.0, 500.0),
)


@pytest.fixture
def length(monkeypatch):
    known_tasks()
    monkeypatch.setattr(registry._TASKS, "_entries", dict(registry._TASKS._entries))
    return register_task(LENGTH)


def test_every_task_is_listed_once_and_says_what_it_asks():
    assert len({task.name for task in TASKS}) == len(TASKS) and list(known_tasks()) == [task.name for task in TASKS]
    for task in TASKS:
        assert task.title and task.question.endswith((".", "?")) and (task.headline or task.describe)
        assert task.scale[0] < task.scale[1] and find_task(task.name) is task


def test_a_group_is_asked_for_by_one_name():
    assert list(task_choices()) == [
        *("cycle", "anticipation", "unshuffling", "arrow", "transitions", "neurons", "transfer", "stills")
    ]
    assert [task.name for task in find_tasks(["transfer"])] == ["transfer-anticipation", "transfer-unshuffling"]
    assert find_tasks(["arrow", "cycle", "arrow"]) == [find_task("arrow"), find_task("cycle")]
    assert len(find_tasks()) == 8
    for name in ("transfer-anticipation", "past-anticipation", "cooking"):
        with pytest.raises(UsageError, match=rf"no evaluation task is named '{name}' \(known: cycle, .*, stills\)"):
            find_tasks([name])
    with pytest.raises(ValueError, match=r"no evaluation task is named 'cooking' \(known: anticipation, "):
        find_task("cooking")


def test_figures_whose_names_vary_are_described():
    figures = ("accuracy/mmcc+/own_choice", "forward/at_random", "seconds_apart/at_random")
    assert find_task("arrow").headlines(dict.fromkeys(figures)) == {
        "accuracy/mmcc+/own_choice": "right on pairs that the model chooses, %",
        "forward/at_random": "pairs at random go forward, %",
    }
    assert find_task("neurons").headlines({"spearman_rho/nouns/milk": 0}) == {"spearman_rho/nouns/milk": "“milk”"}


def test_a_registered_task_is_run_by_the_command_line(length, capsys, run_of, steps_corpus, tmp_path):
    command = ["evaluate", run_of("tap"), "--corpus", str(steps_corpus), "--tasks"]
    assert main([*command, "length,anticipation", "-o", str(tmp_path / "r.json")]) == 0
    out = capsys.readouterr().out
    assert "| frames " in out and "- counted one by one" in out
    content = json.loads((tmp_path / "r.json").read_text())
    assert list(content["tasks"]) == ["length", "anticipation"]
    frames = content["tasks"]["length"]["figures"]["frames"]
    assert frames["mean"] == pytest.approx(np.mean(frames["totals"])) and frames["mean"] > 10
    blocks = "".join(measured([content]).blocks)
    assert blocks.index("Anticipation") < blocks.index("Length &amp; &lt;width&gt;")
    assert "How many frames does a video have?" in blocks and "frames of a video" in blocks
    assert main([*command, "cooking"]) == 2
    said = capsys.readouterr().err
    assert "(known: cycle, anticipation, unshuffling, arrow, transitions, neurons, transfer, stills, length)" in said
    assert "--import" in said


def test_a_registered_task_is_one_of_all(length, run_of, steps_corpus, unlabelled):
    assert list(evaluate(run_of("tap"), steps_corpus).results)[-1] == "length"
    assert evaluate(run_of("tap"), unlabelled).skipped["length"] == "none of the videos has labelled steps"


def test_results_of_a_task_that_is_not_registered_are_shown_by_their_name():
    figure = {"mean": 1.0, "low": 0.5, "high": 2.0}
    result = {"figures": {"x": figure}, "references": {}, "notes": []}
    blocks = "".join(measured([{"model": "m", "tasks": {"theirs": result}}]).blocks)
    assert "<h3>theirs</h3>" in blocks and "1.00 ±\N{NO-BREAK SPACE}0.75" in blocks


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "length"}, "'length' is registered already"),
        ({"name": "cycle"}, "'cycle' is registered already"),
        ({"name": "transfer"}, "'transfer' is registered already"),
        ({"name": "two", "group": "cycle"}, "'cycle' cannot be the group of 'two'"),
        ({"name": "one,two"}, "cannot be named 'one,two'"),
        ({"name": ""}, "cannot be named ''"),
    ],
)
def test_a_name_belongs_to_one_task(length, changes, message):
    register_task(LENGTH)  # again: its module was imported twice
    with pytest.raises(ValueError, match=message):
        register_task(EvaluationTask(**{"title": "T", "question": "?", "run": frames_counted, **changes}))
    assert [*known_tasks()][len(TASKS) :] == ["length"]
