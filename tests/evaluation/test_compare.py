"""Two models on the same videos: differences, their intervals, and what cannot be compared."""

import json

import numpy as np
import pytest

from mmcc.cli.main import main
from mmcc.errors import InputError
from mmcc.evaluation.compare import compared
from mmcc.evaluation.evaluate import Evaluation
from mmcc.evaluation.results import TaskResult
from mmcc.metrics import PerVideo
from tests.schemas import check


def evaluation(model, task="anticipation", **figures):
    found = {}
    for name, values in figures.items():
        totals = np.array(list(values.values()), float)
        found[name] = PerVideo(tuple(values), totals, np.ones(len(totals)))
    return Evaluation(model, None, "corpus", {task: TaskResult(task, found)})


def test_the_difference_is_over_the_videos_that_both_have():
    one = evaluation("a", recall={"x": 10, "y": 20, "z": 90})
    other = evaluation("b", recall={"y": 5, "x": 1, "w": 50})
    (found,) = compared(one, other).tasks["anticipation"].values()
    assert (found.one, found.other, found.difference.mean) == (15, 3, 12)
    assert found.difference.over == 2 and found.difference.low is None


def test_what_shifts_both_alike_does_not_widen_the_interval():
    hard = np.random.default_rng(0).normal(0, 50, 40)
    one = evaluation("a", recall={str(at): 60 + value for at, value in enumerate(hard)})
    other = evaluation("b", recall={str(at): 59 + value for at, value in enumerate(hard)})
    difference = compared(one, other).tasks["anticipation"]["recall"].difference
    assert difference.excludes_zero and difference.low == pytest.approx(1) == pytest.approx(difference.high)


def test_a_model_does_not_differ_from_itself():
    one = evaluation("a", recall={str(at): at for at in range(30)})
    difference = compared(one, one).tasks["anticipation"]["recall"].difference
    assert difference.mean == difference.low == difference.high == 0 and not difference.excludes_zero


def test_what_only_one_model_has_is_left_out():
    one = evaluation("a", recall={"x": 1}, rank={"x": 1})
    one.skipped["cycle"] = "b has no past"
    found = compared(one, evaluation("b", recall={"x": 2}, rank={"y": 1}))
    assert list(found.tasks["anticipation"]) == ["recall"] and found.skipped == {"cycle": "b has no past"}
    with pytest.raises(InputError, match="nothing can be compared"):
        compared(one, evaluation("b", recall={"y": 2}))
    with pytest.raises(InputError, match="nothing can be compared"):
        compared(one, evaluation("b", task="cycle", recall={"x": 2}))


@pytest.mark.slow
def test_on_the_command_line(kitchen_footage, capsys):
    words = ["compare", str(kitchen_footage.run), "random", "--corpus", str(kitchen_footage.corpus), "--on", "all"]
    words += ["--tasks", "anticipation"]
    assert main(words) == 0
    table = capsys.readouterr().out
    assert "A: mmcc+" in table and "B: random" in table and "recall@5" in table and "A - B" in table
    assert main([*words, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    check("compare", content)
    figure = content["tasks"]["anticipation"]["recall@5"]
    assert figure["difference"]["mean"] == pytest.approx(figure["one"] - figure["other"])
    assert main([*words[:-1], "nothing"]) == 2


def test_a_second_model_that_is_not_there_is_told_before_the_first_is_measured(kitchen_footage, monkeypatch, capsys):
    monkeypatch.setattr("mmcc.evaluation.compare.evaluate", lambda *_, **__: pytest.fail("measured"))
    assert main(["compare", str(kitchen_footage.run), "nowhere", "--corpus", str(kitchen_footage.corpus)]) == 3
    assert "nowhere: there is no such folder" in capsys.readouterr().err
