"""What is trained for the tables: the same effort for everyone, and nothing twice."""

import dataclasses

import numpy as np
import pytest

from mmcc.data.segments import Cutter, NodeTimes
from mmcc.evaluation.task import known_tasks
from mmcc.objectives.spec import spec_of
from mmcc.reproduce import plan, tables_paper
from mmcc.reproduce.plan import FULL, QUICK, TABLES, Footage, jobs_of, plan_job, runs, seeds_of
from mmcc.reproduce.studies import longest_segment
from mmcc.training.config import differences, load_config
from tests.reproduce.tiny_reproduction import TINY

CORPUS = Footage("corpus")
VECTORS = Footage("corpus", vectors=True)
EMBEDDED = Footage("corpus", fps=0.5, encoder="efficientnet-lite0?size=128&grid=4")
ROWS = list(runs())
GRID = [name for name in ROWS if "/" in name]
MAIN = [name for name in ROWS if name not in {*GRID, *plan.SCALE}]


@pytest.mark.parametrize("budget", [FULL, QUICK])
@pytest.mark.parametrize("name", [name for name in MAIN if name != plan.TEACHER])
def test_every_objective_has_the_same_steps_beside_its_teachers(name, budget):
    """RA and TAP have half as many of their own, after a teacher with all of the cross-modal row's."""
    job = plan_job(name, 0, budget, CORPUS)
    before = job.init.config.train.steps if job.init else 0
    taught = name in (plan.RA, plan.TAP, plan.RA_ACROSS, plan.TAP_ACROSS)
    assert job.config.train.steps + before == (budget.steps * 3 // 2 if taught else budget.steps)
    assert not taught or before == budget.steps


@pytest.mark.parametrize("name", MAIN)
def test_every_run_is_of_one_size(name):
    """The same backbone, the same frames a step, the same rate and schedule: what differs is the objective."""
    ours = plan_job(plan.PLUS, 0, FULL, CORPUS).config
    theirs = plan_job(name, 0, FULL, CORPUS).config
    assert theirs.model == ours.model
    assert theirs.data.max_frames == ours.data.max_frames
    for setting in ("batch_size", "accumulation", "lr", "lr_schedule", "warmup_steps", "weight_decay", "grad_clip"):
        assert getattr(theirs.train, setting) == getattr(ours.train, setting), setting


@pytest.mark.parametrize("choice", plan.CHOICES)
@pytest.mark.parametrize("name", plan.TRAINED)
def test_the_grid_has_the_same_steps_and_changes_for_every_objective(name, choice):
    job = plan_job(plan.tuned(name, choice), 0, FULL, CORPUS)
    before = job.init.config.train.steps if job.init else 0
    own_steps = FULL.steps // 16 if job.init else FULL.steps // 8
    assert job.config.train.steps == own_steps and before == (FULL.steps // 8 if job.init else 0)
    assert job.init is None or job.init.run == plan.tuned(plan.CROSS_MODAL, choice)
    counts = {"train.steps", "train.validate_every", "train.checkpoint_every"}
    own = plan_job(name, 0, FULL, CORPUS).config
    changed = differences(own, job.config).keys() - counts
    segments = {"data.segment_seconds", "data.max_utterances", "data.frame_rates"}
    if name == plan.RA:
        segments = {"data.max_frames", "train.batch_size"}
    allowed = {plan.OWN: set(), plan.SLOW: {"train.lr"}, plan.FAST: {"train.lr"}, plan.OTHER_SEGMENTS: segments}
    assert changed <= allowed[choice] and bool(changed) == bool(allowed[choice])
    assert job.config.data.max_frames * job.config.train.batch_size == own.data.max_frames * own.train.batch_size


@pytest.mark.parametrize("name", plan.TRAINED)
def test_the_grids_segments_are_as_long_as_they_are_called(name):
    nodes = NodeTimes("v", np.arange(600.0), np.arange(0, 600, 2.5), ["pour"] * 240, np.arange(240))
    for choice in (plan.OWN, plan.OTHER_SEGMENTS):
        data = plan_job(plan.tuned(name, choice), 0, FULL, CORPUS).config.data
        cutter = Cutter(1.0, data)
        segment = cutter.cut(nodes, 10.0, cutter.rates[0])
        assert segment.end - segment.start == longest_segment(name, choice)
    longer = longest_segment(name, plan.OTHER_SEGMENTS) / longest_segment(name, plan.OWN)
    assert longer == (0.5 if name == plan.PLUS else 2)


def test_scale_changes_one_thing_at_a_time():
    base = plan_job(plan.QUARTER, 0, FULL, CORPUS).config
    assert base.train.steps == FULL.steps // 4
    changed = {name: differences(base, plan_job(name, 0, FULL, CORPUS).config) for name in plan.SCALE}
    assert {name: {key: value[1] for key, value in each.items()} for name, each in changed.items()} == {
        plan.VIDEOS_100: {"data.videos": 100},
        plan.VIDEOS_300: {"data.videos": 300},
        plan.QUARTER: {},
        plan.WIDTH_8: {"model.frame_encoder.width": 8},
        plan.WIDTH_32: {"model.frame_encoder.width": 32},
    }


def test_mmcc_is_the_papers_objective_at_the_kitchens_size():
    ours = plan_job(plan.MMCC, 0, FULL, CORPUS).config
    ramp = {"ramp_epochs": None, "ramp_share": ours.objective.ramp_share}  # the paper trains for epochs
    assert ours.objective == dataclasses.replace(load_config("paper").objective, **ramp)
    assert ours.data.segment_seconds == load_config("paper").data.segment_seconds
    counts = {"train.steps", "train.validate_every", "train.checkpoint_every"}
    plus = plan_job(plan.PLUS, 0, FULL, CORPUS).config
    assert differences(plus, load_config("mmcc_plus")).keys() <= counts


def test_rows_differ_by_what_they_are_named_after():
    base = plan_job(plan.MMCC, 0, FULL, CORPUS).config

    def change(name):
        return {key: value[1] for key, value in differences(base, plan_job(name, 0, FULL, CORPUS).config).items()}

    assert change(plan.NO_CONSTRAINT) == {"objective.cycle.constrain": False, "objective.cycle.similarity": False}
    assert change(plan.SIMILARITY_ONLY) == {"objective.cycle.constrain": False}
    assert change(plan.MAX_INDEX_ONLY) == {"objective.cycle.similarity": False}
    assert change(plan.UNIMODAL) == {"objective.cycle.p_unimodal": 1.0}
    assert change(plan.MULTIMODAL) == {"objective.cycle.p_unimodal": 0.0}
    assert change(plan.RANDOM_STARTS) == {"objective.cycle.starts": "random"}
    assert change(plan.FROZEN) == {"objective.fine_tune": False}
    assert change(plan.ACROSS) == {"objective.cycle.path": "across"}
    assert change(plan.NO_LAMBDA1) == {"objective.lambda1": 0.0}


def test_the_ablations_losses_differ_from_ours_by_what_they_are_named_after():
    base = plan_job(plan.PLUS, 0, FULL, CORPUS).config

    def change(name):
        return {key: value[1] for key, value in differences(base, plan_job(name, 0, FULL, CORPUS).config).items()}

    one_start = {"objective.cycle.starts_per_segment": 1}
    no_direction = {f"objective.direction.{part}": 0.0 for part in ("leads", "arrives", "contrast")}
    assert change(plan.CYCLE_1) == one_start | no_direction
    assert change(plan.CYCLE_8) == no_direction
    assert change(plan.DIRECTION_ONLY) == {"objective.cycle_ratio": 0.0}
    assert change(plan.PLUS_SIMILARITY) == {"objective.cycle.similarity": True}
    assert change(plan.PLUS_NO_LEADS) == {"objective.direction.leads": 0.0}
    assert change(plan.PLUS_NO_ARRIVES) == {"objective.direction.arrives": 0.0}
    assert change(plan.PLUS_NO_CONTRAST) == {"objective.direction.contrast": 0.0}


def test_runs_begin_with_a_teacher_of_the_same_seed():
    teachers = dict.fromkeys((plan.RA, plan.TAP, plan.RA_ACROSS, plan.TAP_ACROSS), plan.CROSS_MODAL)
    for name, teacher in (teachers | {plan.NO_LAMBDA2: plan.TEACHER}).items():
        job = plan_job(name, 2, FULL, CORPUS)
        assert job.init and job.init.run == teacher and job.init.seed == 2
        assert job.init.config.objective.name == "cross_modal"
        assert job.init.key == plan_job(teacher, 2, FULL, CORPUS).key


def test_what_is_begun_with_comes_first_and_seeds_one_after_another():
    jobs = list(jobs_of(["table2"], FULL, CORPUS, None))
    assert len(jobs) == 3 * 6 and [seed for _, seed in jobs] == sorted(seed for _, seed in jobs)
    for seed in range(3):
        assert jobs.index((plan.CROSS_MODAL, seed)) < min(jobs.index((name, seed)) for name in (plan.RA, plan.TAP))


def test_tables_share_their_runs():
    one, both = (jobs_of(tables, FULL, CORPUS, 1) for tables in (["table2"], ["table2", "table3", "table4"]))
    assert {job.key for job in one.values()} == {job.key for job in both.values()}
    everything = jobs_of(list(TABLES), FULL, CORPUS, None)
    assert len({job.key for job in everything.values()}) == len(everything) == 26 + 2 * 6 + 6 * 4 + 5


def test_a_run_is_named_by_what_decides_it():
    job = plan_job(plan.TAP, 0, FULL, CORPUS)
    assert job.key == plan_job(plan.TAP, 0, FULL, CORPUS).key
    others = [
        plan_job(plan.RA, 0, FULL, CORPUS),
        plan_job(plan.TAP, 1, FULL, CORPUS),
        plan_job(plan.TAP, 0, QUICK, CORPUS),
        plan_job(plan.TAP, 0, FULL, Footage("another corpus")),
    ]
    assert len({each.key for each in (job, *others)}) == 5
    by_hand = dataclasses.replace(FULL, overrides=("train.workers=0", "train.keep=5"))
    assert plan_job(plan.TAP, 0, by_hand, CORPUS).key == job.key


def test_seeds_are_each_tables_own_unless_told():
    assert [len(seeds_of(table, None)) for table in TABLES] == [1, 3, 3, 3, 3, 1, 1, 1]
    assert {len(seeds_of(table, 2)) for table in TABLES} == {2}


def test_every_row_and_measure_is_known():
    for table in TABLES.values():
        assert table.measures.keys() <= {*ROWS, *plan.UNTRAINED}
        assert {task for tasks in table.measures.values() for task in tasks} <= known_tasks().keys()
    assert plan.measures_of("table4")[plan.ARROW] == (plan.ARROW,) and plan.ARROW not in plan.measures_of("table2")


def test_a_tiny_budget_reaches_every_run():
    assert {plan_job(name, 0, TINY, CORPUS).config.model.dims for name in ROWS} == {16}


def test_the_papers_rows_are_rows_of_ours():
    apart = {plan.CHANCE, plan.AVERAGE, plan.SCRATCH}
    for table in (tables_paper.TABLE1, tables_paper.TABLE2, tables_paper.TABLE3, tables_paper.TABLE4):
        assert table.keys() <= {*ROWS, *plan.UNTRAINED, *apart}
    assert tables_paper.TABLE4[plan.MMCC].keys() == {*plan.SAMPLERS, plan.AVERAGE} - {plan.PLUS}


def test_the_papers_table4_adds_up():
    """Its averages are over its rows and columns: a figure copied wrongly would show."""
    rows = (plan.RANDOM, plan.IMAGENET, plan.CROSS_MODAL, plan.RA, plan.TAP, plan.MMCC)
    table = tables_paper.TABLE4
    columns = [name for name in table[plan.MMCC] if name != plan.AVERAGE]
    for name in (*rows, plan.AVERAGE, plan.SCRATCH):
        assert sum(table[name][column] for column in columns) / 5 == pytest.approx(table[name][plan.AVERAGE], abs=0.1)
    for column in columns:
        assert sum(table[row][column] for row in rows) / 6 == pytest.approx(table[plan.AVERAGE][column], abs=0.1)


def test_the_papers_best_are_where_it_says():
    for figure in tables_paper.TABLE2[plan.MMCC]:
        assert max(tables_paper.TABLE2, key=lambda row, f=figure: tables_paper.TABLE2[row][f]) == plan.MMCC
    ranks = {row: figures["cycle_rank"] for row, figures in tables_paper.TABLE1.items()}
    assert max(ranks, key=ranks.__getitem__) == plan.MULTIMODAL and ranks[plan.MMCC] == 93.6


def test_rows_are_called_as_their_objectives_call_themselves():
    for row in plan.TRAINED:
        objective = load_config(plan.runs()[row].config).objective
        assert spec_of(objective).identity(objective) == (row, plan.label_of(row))
    assert [plan.label_of(row) for row in plan.TRAINED] == "Cross-modal|Repr. Ant.|TAP|MemDPC|MMCC|MMCC+".split("|")


@pytest.mark.parametrize("name", [name for name in ROWS if name not in plan.WIDTHS])
def test_with_a_pretrained_encoder_every_run_reads_it_through_the_same_head(name):
    """And nothing else changes, except that MMCC+ has the settings chosen for such encoders, and RA the rate."""
    model = plan_job(plan.PLUS, 0, FULL, EMBEDDED).config.model
    job, from_scratch = plan_job(name, 0, FULL, EMBEDDED), plan_job(name, 0, FULL, CORPUS)
    assert job.config.model == model and model.frame_encoder.name == EMBEDDED.encoder
    changed = {key for key in differences(job.config, from_scratch.config) if not key.startswith("model.frame_encoder")}
    if job.file == "pretrained":
        assert from_scratch.file == "mmcc_plus"
        allowed = set(differences(load_config("mmcc_plus"), load_config("pretrained")))
    else:
        allowed = {"data.frame_rates", "objective.seconds"} if job.file == "ra" else set()
        assert job.file == from_scratch.file
    assert changed <= allowed


def test_mmcc_plus_on_an_encoder_is_the_shipped_configuration():
    steps = {"train.steps", "train.validate_every", "train.checkpoint_every"}
    name = "model.frame_encoder.name"
    other = Footage("corpus", encoder="efficientnet-lite2")
    shipped = load_config("pretrained")
    assert differences(shipped, plan_job(plan.PLUS, 0, FULL, EMBEDDED).config).keys() <= steps
    assert differences(shipped, plan_job(plan.PLUS, 0, FULL, other).config).keys() <= {*steps, name}


@pytest.mark.parametrize("name", [name for name in ROWS if name not in plan.WIDTHS])
def test_on_feature_vectors_only_mmcc_plus_has_other_settings_and_no_more_frames_or_dims(name):
    job, from_pixels = plan_job(name, 0, FULL, VECTORS), plan_job(name, 0, FULL, CORPUS)
    changed = {key for key in differences(job.config, from_pixels.config) if not key.startswith("model.frame_encoder")}
    if job.file != "features":
        assert job.file == from_pixels.file and not changed
        return
    assert from_pixels.file == "mmcc_plus"
    assert changed <= {"objective.lambda1", "objective.lambda1_start", "objective.cycle_ratio"} | {
        "objective.direction_ratio",
        "objective.direction.contrast",
    }
    shipped, row = load_config("features").objective, job.config.objective
    if name == plan.PLUS:
        assert dataclasses.replace(row, cross_modal=shipped.cross_modal) == shipped


def test_an_encoder_that_is_not_trained_has_no_width():
    for footage in (EMBEDDED, VECTORS):
        named = {name for name, _ in jobs_of(["scale"], FULL, footage, 1)}
        assert named == {*plan.SCALE} - plan.WIDTHS


@pytest.mark.parametrize(("fps", "ahead"), [(0.5, 2.0), (0.25, 4.0), (1.0, 1.0), (2.0, 1.0)])
def test_ra_predicts_a_frame_that_a_slow_corpus_has(fps, ahead):
    job = plan_job(plan.RA, 0, FULL, Footage("corpus", fps=fps))
    assert job.config.objective.seconds == ahead and job.config.data.frame_rates == (min(fps, 1.0),)
