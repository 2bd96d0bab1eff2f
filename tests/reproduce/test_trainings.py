"""Runs trained side by side: the same numbers as one by one, whatever is killed on the way."""

import multiprocessing
import os
import signal
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest

from mmcc.errors import InputError
from mmcc.locks import only_writer
from mmcc.reproduce import plan, trainings
from mmcc.reproduce.plan import TablePlan
from mmcc.reproduce.reproduce import reproduce
from mmcc.training.checkpoints import Checkpoints
from mmcc.training.config import Config
from mmcc.training.step import Stepper
from tests.forked import Forked
from tests.reproduce.tiny_reproduction import SMALLEST, TINY

pytestmark = pytest.mark.slow  # trainings in processes of their own

IN_PROC = Path("/proc/self/status").is_file()


def use_two_cores(patch: pytest.MonkeyPatch) -> None:
    """A thread for each of two runs, as the runs that they are compared with have."""
    patch.setattr(trainings, "_cores", lambda: 2)
    patch.setitem(plan.TABLES, "table2", SMALLEST)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    """And processes that are forked, which need not load torch: `together` spawns them, as users do."""
    use_two_cores(monkeypatch)
    monkeypatch.setattr(trainings, "_START", "fork")


@pytest.fixture
def slow_steps(monkeypatch):
    """A run takes four seconds, so that it is cut in the middle, even if another process began two seconds late."""
    step = Stepper.step

    def slowly(*arguments):
        time.sleep(1)
        return step(*arguments)

    monkeypatch.setattr(Stepper, "step", slowly)
    monkeypatch.setattr(trainings, "_LOOK", 0.05)


def side_by_side(corpus, out, say=lambda line: None):
    return reproduce(["table2"], corpus, out, budget=TINY, say=say, at_once=2)


def same(out, uncut):
    return (out / "results.json").read_bytes() == (uncut / "results.json").read_bytes()


class Together(NamedTuple):
    """A reproduction, two runs at a time."""

    out: Path
    lines: list[str]
    deaf: list[bool]  # whether each process hears no Ctrl-C, seen whenever another one begins


@pytest.fixture(scope="module")
def together(steps_corpus, tmp_path_factory) -> Together:
    made = Together(tmp_path_factory.mktemp("together") / "out", [], [])

    def looking(line: str) -> None:
        made.lines.append(line)
        for child in multiprocessing.active_children() if line.startswith("[") and IN_PROC else []:
            status = Path(f"/proc/{child.pid}/status").read_text()
            masks = dict(each.split(":") for each in status.splitlines() if each.startswith(("SigBlk", "SigIgn")))
            made.deaf.append(any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in masks.values()))

    with pytest.MonkeyPatch.context() as patch:
        use_two_cores(patch)
        side_by_side(steps_corpus, made.out, looking)
    return made


def test_two_at_a_time_come_to_the_same_as_one_by_one(together, smallest_uncut):
    assert same(together.out, smallest_uncut)
    headings = [line for line in together.lines if line.startswith("[")]
    assert len(headings) == 3 and "0 of 3 runs are trained" in headings[0]  # a teacher and two rows; none begun twice
    assert not any(line.startswith("step ") for line in together.lines)  # nothing was left for one by one


@pytest.mark.skipif(not IN_PROC, reason="a process's signals are seen in /proc only")
def test_ctrl_c_never_reaches_one_that_trains(together):
    """From its first instant: while it still imports what it needs, it would die of it with a traceback."""
    assert together.deaf and all(together.deaf)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])  # and the parent hears it


class Cut(BaseException):
    """Ctrl-C, or SIGTERM."""


def test_stopped_it_saves_and_goes_on_to_the_same(slow_steps, steps_corpus, smallest_uncut, tmp_path):
    headings = []

    def cutting(line: str) -> None:
        headings.extend([line] if line.startswith("[") else [])
        if len(headings) == 3:
            raise Cut

    with pytest.raises(Cut):
        side_by_side(steps_corpus, tmp_path / "out", cutting)
    assert not multiprocessing.active_children() and cut_short(tmp_path / "out")
    side_by_side(steps_corpus, tmp_path / "out")
    assert same(tmp_path / "out", smallest_uncut)


def test_a_run_whose_process_is_killed_is_trained_again(steps_corpus, smallest_uncut, tmp_path):
    killed = []

    def killing(line: str) -> None:
        if line.startswith("[") and not killed and (children := multiprocessing.active_children()):
            killed.append(children[0].pid)
            os.kill(children[0].pid, signal.SIGKILL)

    side_by_side(steps_corpus, tmp_path / "out", killing)
    assert killed and same(tmp_path / "out", smallest_uncut)


def test_none_outlives_a_parent_that_is_killed(slow_steps, steps_corpus, smallest_uncut, tmp_path):
    out = tmp_path / "out"
    with Forked(side_by_side, steps_corpus, out, lambda line: print(line, flush=True)) as parent:
        headings = (line for line in parent.lines() if line.startswith("["))
        assert len(list(islice(headings, 3))) == 3  # the first of two has been trained, the other is being trained
        parent.kill()
    deadline = time.monotonic() + 60
    while any(is_held(folder) for folder in (out, *(out / "runs").iterdir())):
        assert time.monotonic() < deadline, "a process goes on without its parent"
        time.sleep(0.1)
    assert cut_short(out)
    side_by_side(steps_corpus, out)
    assert same(out, smallest_uncut)


def cut_short(out: Path) -> bool:
    """Whether a run was saved before its last step."""
    runs = [run for run in (out / "runs").iterdir() if Checkpoints(run).steps()]
    return any(Checkpoints(run).steps()[-1] < Config.from_yaml(run / "config.yaml").train.steps for run in runs)


def is_held(run: Path) -> bool:
    try:
        with only_writer(run):
            return False
    except InputError:
        return True


def test_what_cannot_be_trained_is_noted_and_the_others_go_on(steps_corpus, tmp_path, monkeypatch):
    measures = dict.fromkeys((plan.RA, plan.MMCC), (plan.ANTICIPATION,))
    monkeypatch.setitem(plan.TABLES, "table2", TablePlan(measures, seeds=1))
    budget = plan.Budget("slow", 4, 10, 2, (*TINY.overrides, "data.frame_rates=[0.5]"))
    found = reproduce(["table2"], steps_corpus, tmp_path / "out", budget=budget, say=lambda line: None, at_once=2)
    (note,) = found.notes
    assert note.startswith("ra, seed 0: not trained: data.frame_rates: at 0.5 frames per second")
    assert found.content["tables"]["table2"]["figures"].keys() == {plan.MMCC}


def test_a_run_a_core_is_sensible(monkeypatch):
    for cores, runs in ((1, 1), (2, 2), (64, 4)):
        monkeypatch.setattr(trainings, "_cores", lambda cores=cores: cores)
        assert trainings.sensible_at_once() == runs
