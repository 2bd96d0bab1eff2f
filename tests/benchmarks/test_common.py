"""Figures and their bounds."""

import math

import pytest

from benchmarks.common import Figure, Figures, finish


@pytest.mark.parametrize(
    ("better", "met", "missed", "limit"),
    [("lower", (0.64, 0.65), (0.66, math.nan), "≤ 0.65"),
     ("higher", (0.65, 0.66), (0.64, math.nan), "≥ 0.65"),
     ("equal", (0.65,), (0.64, 0.66, math.nan), "= 0.65")],
)  # fmt: skip
def test_a_figure_knows_whether_it_meets_its_bound(better, met, missed, limit):
    assert all(Figure("time", measured, 0.65, better).ok for measured in met)
    assert not any(Figure("time", measured, 0.65, better).ok for measured in missed)
    assert Figure("time", 1, 0.65, better).limit == limit


def test_each_figure_is_printed_and_kept(capsys):
    figures = Figures()
    figures.at_most("slow", 3, 2)
    figures.at_least("fast", 3, 2)
    figures.equal("complete", 1, 1)
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["slow", "3.000", "≤", "2", "MISSED"], ["fast", "3.000", "≥", "2", "ok"], ["complete", "1.000", "=", "1", "ok"]
    ]  # fmt: skip
    assert [(figure.name, figure.ok) for figure in figures.measured] == [
        ("slow", False), ("fast", True), ("complete", True)
    ]  # fmt: skip


def test_a_script_run_alone_ends_with_an_exit_code():
    for measured, code in ((1, 0), (2, 1)):
        with pytest.raises(SystemExit) as end:
            finish([Figure("fine", 0, 1, "lower"), Figure("time", measured, 1, "lower")])
        assert end.value.code == code
