"""What is said to be left."""

from mmcc.reproduce import plan
from mmcc.reproduce.eta import Estimate
from mmcc.reproduce.plan import Budget, Footage, plan_job
from mmcc.training.checkpoints import TrainingProgress

BUDGET = Budget("thousand", steps=1000, arrow_videos=1, scratch_steps=1)
RUNS = (plan.CROSS_MODAL, plan.TEACHER, plan.TAP, plan.MMCC)
JOBS = {(name, 0): plan_job(name, 0, BUDGET, Footage("corpus")) for name in RUNS}


def estimate(**progress: TrainingProgress) -> Estimate:
    return Estimate({key: (job, progress.get(key[0])) for key, job in JOBS.items()})


def test_nothing_is_guessed_before_the_first_step():
    told = estimate()
    assert told.lines()[-1] == "0 of 4 runs are trained"
    assert told.lines()[0].endswith("(cross_modal, seed 0): 1000 of 1000 steps to train")


def test_time_goes_by_the_runs_of_the_same_objective():
    """A cross-modal step took 0.6 s, one of mmcc 1.2 s: 500 · 0.6 + 500 · (1080 / 1400) + 600 · 1.2 s are left."""
    told = estimate(cross_modal=TrainingProgress(step=1000, seconds=600), mmcc=TrainingProgress(step=400, seconds=480))
    lines = told.lines()
    assert lines[0].endswith("finished")
    assert lines[1].endswith("500 of 500 steps to train, about 5 min")
    assert lines[2].endswith("500 of 500 steps to train, about 6 min")  # no such objective yet: the mean of all
    assert lines[3].endswith("600 of 1000 steps to train, about 12 min")
    assert lines[4] == "1 of 4 runs are trained, about 23 min left"
    assert told.heading((plan.TAP, 0)).startswith(f"[3/4] tap, seed 0: {JOBS[plan.TAP, 0].key}; 1 of 4")


def test_what_is_done_is_counted():
    told = estimate(cross_modal=TrainingProgress(step=1000, seconds=36_000))
    assert told.summary() == "1 of 4 runs are trained, about 20 h 0 min left"
    for name in (plan.TEACHER, plan.TAP):
        told.done((name, 0), TrainingProgress(step=500, seconds=1))
    told.done((plan.MMCC, 0), TrainingProgress(step=1000, seconds=1))
    assert told.summary() == "4 of 4 runs are trained"
