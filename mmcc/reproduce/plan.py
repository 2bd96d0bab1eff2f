"""Which runs the tables need, and what is measured of each: data only, nothing here runs.

Every objective has the same number of training steps. RA and TAP start from the cross-modal row's run, with all of its
steps, and have half as many of their own: they predict its features, which must be as good as those they are compared
with. "λ2 = 0 after pre-training" starts from a cross-modal model that takes half of its steps. MMCC is the paper's
objective at the kitchen's size (`mmcc.yaml`), MMCC+ is `mmcc_plus.yaml`; the baselines' files have the same size. With
a pretrained encoder all of them read its vectors through the same kind of head, and MMCC+ is `pretrained.yaml`; on a
corpus of feature vectors MMCC+ has the weights of losses of `features.yaml`, with as many frames and dims as all
others. Two rows with the same settings are one run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from mmcc.errors import InputError
from mmcc.evaluation import anticipation, arrow_of_time, controls, cycle_back, transitions, unshuffling
from mmcc.objectives.direction import ARRIVES, CONTRAST, LEADS
from mmcc.objectives.spec import spec_of
from mmcc.settings import flatten, to_mapping
from mmcc.training.config import Config, load_config

# Rows: runs that are trained ...
CROSS_MODAL, TEACHER, RA, TAP, MEMDPC, MMCC, PLUS = "cross_modal", "teacher", "ra", "tap", "memdpc", "mmcc", "mmcc+"
NO_CONSTRAINT, SIMILARITY_ONLY, MAX_INDEX_ONLY = "no_constraint", "similarity_only", "max_index_only"
UNIMODAL, MULTIMODAL, RANDOM_STARTS, FROZEN, ACROSS = "unimodal", "multimodal", "random_starts", "frozen", "across"
NO_LAMBDA1, NO_LAMBDA2 = "no_lambda1", "no_lambda2"
CYCLE_1, CYCLE_8, DIRECTION_ONLY = "cycle_1", "cycle_8", "direction_only"
PLUS_SIMILARITY, RA_ACROSS, TAP_ACROSS = "plus_similarity", "ra_across", "tap_across"
PLUS_NO_LEADS, PLUS_NO_ARRIVES, PLUS_NO_CONTRAST = "plus_no_leads", "plus_no_arrives", "plus_no_contrast"
# ... models that are not, and labels of rows that belong to no model.
RANDOM, IMAGENET, SCRATCH, AVERAGE, CHANCE = "random", "imagenet", "from_scratch", "average", "chance"

TRAINED = (CROSS_MODAL, RA, TAP, MEMDPC, MMCC, PLUS)
UNTRAINED = (RANDOM, IMAGENET)
SAMPLERS = (RANDOM, CROSS_MODAL, TAP, RA, MMCC, PLUS)  # columns of Table 4; the first: random pairs

# The tuning grid: every objective with every choice, at an eighth of the steps. Rows are named objective/choice.
OWN, SLOW, FAST, OTHER_SEGMENTS = "own", "lr_3e-4", "lr_3e-3", "other_segments"
CHOICES = (OWN, SLOW, FAST, OTHER_SEGMENTS)
# How MMCC+ scales with the number of training videos and with its width, at a quarter of the steps.
QUARTER, VIDEOS_100, VIDEOS_300, WIDTH_8, WIDTH_32 = "plus_quarter", "videos_100", "videos_300", "width_8", "width_32"
SCALE = (VIDEOS_100, VIDEOS_300, QUARTER, WIDTH_8, WIDTH_32)
WIDTHS = frozenset({WIDTH_8, WIDTH_32})  # of an encoder that is trained

# What is measured of a run: evaluation tasks, by name. ARROW is measured for all rows of a seed at once.
CYCLE, TRANSITIONS, ARROW = cycle_back.CYCLE.name, transitions.TRANSITIONS.name, arrow_of_time.ARROW.name
ANTICIPATION, UNSHUFFLING = anticipation.ANTICIPATION.name, unshuffling.UNSHUFFLING.name
TRANSFER_ANTICIPATION = anticipation.TRANSFER_ANTICIPATION.name
TRANSFER_UNSHUFFLING = unshuffling.TRANSFER_UNSHUFFLING.name
CHOOSING_ANTICIPATION = anticipation.CHOOSING_ANTICIPATION.name
CHOOSING_UNSHUFFLING = unshuffling.CHOOSING_UNSHUFFLING.name
CONSTANT_ANTICIPATION, TASK_ANTICIPATION = controls.CONSTANT_ANTICIPATION.name, controls.TASK_ANTICIPATION.name
PAST_ANTICIPATION, PAST_UNSHUFFLING = controls.PAST_ANTICIPATION.name, controls.PAST_UNSHUFFLING.name
POSITION_UNSHUFFLING = controls.POSITION_UNSHUFFLING.name


@dataclass(frozen=True)
class Budget:
    """What a run may cost."""

    name: str
    steps: int  # training steps of each objective; RA and TAP have half as many more
    arrow_videos: int  # training videos for Table 4's classifiers
    scratch_steps: int  # of Table 4's networks trained from scratch
    overrides: tuple[str, ...] = ()  # of every run


FULL = Budget("full", steps=4000, arrow_videos=300, scratch_steps=600)  # 10 minutes a run on 2 cores
HALF = Budget("half", steps=2000, arrow_videos=300, scratch_steps=600)  # enough on feature vectors
QUICK = Budget("quick", steps=60, arrow_videos=60, scratch_steps=40)  # a smoke test; its figures mean nothing
BUDGETS = {budget.name: budget for budget in (FULL, HALF, QUICK)}


@dataclass(frozen=True)
class Footage:
    """The corpus that all runs learn from, and how they see it."""

    corpus: str  # its fingerprint
    fps: float = 1.0
    encoder: str | None = None  # a pretrained one, whose vectors the corpus holds; None: all learn to see from scratch
    vectors: bool = False  # whether its frames are feature vectors, not pictures


@dataclass(frozen=True)
class PlannedRun:
    """A shipped configuration with changes, and the run it starts from."""

    config: str
    overrides: tuple[str, ...] = ()
    init: str | None = None
    share: float = 1.0  # of the budget's steps


@cache
def runs() -> Mapping[str, PlannedRun]:
    """All planned runs, by name."""

    def mmcc(*changes: str, init: str | None = None, share: float = 1.0) -> PlannedRun:
        return PlannedRun("mmcc", changes, init, share)

    def plus(*changes: str) -> PlannedRun:
        return PlannedRun("mmcc_plus", changes)

    def baseline(config: str, *changes: str) -> PlannedRun:
        return PlannedRun(config, changes, init=CROSS_MODAL, share=0.5)

    one_start = "objective.cycle.starts_per_segment=1"
    no_leads, no_arrives, no_contrast = (f"objective.direction.{part}=0" for part in (LEADS, ARRIVES, CONTRAST))
    no_direction = no_leads, no_arrives, no_contrast
    across = "objective.across=true"
    named = {
        CROSS_MODAL: PlannedRun("cross_modal"),
        TEACHER: PlannedRun("cross_modal", share=0.5),
        RA: baseline("ra"),
        TAP: baseline("tap"),
        MEMDPC: PlannedRun("memdpc"),
        MMCC: mmcc(),
        PLUS: plus(),
        NO_CONSTRAINT: mmcc("objective.cycle.constrain=false", "objective.cycle.similarity=false"),
        SIMILARITY_ONLY: mmcc("objective.cycle.constrain=false"),
        MAX_INDEX_ONLY: mmcc("objective.cycle.similarity=false"),  # λ3 = 0, too
        UNIMODAL: mmcc("objective.cycle.p_unimodal=1"),
        MULTIMODAL: mmcc("objective.cycle.p_unimodal=0"),
        RANDOM_STARTS: mmcc("objective.cycle.starts=random"),
        FROZEN: mmcc("objective.fine_tune=false"),
        ACROSS: mmcc("objective.cycle.path=across"),
        NO_LAMBDA1: mmcc("objective.lambda1=0"),
        NO_LAMBDA2: mmcc("objective.lambda2=0", init=TEACHER, share=0.5),
        CYCLE_1: plus(*no_direction, one_start),  # MMCC+ except for what is named, so that nothing else is compared
        CYCLE_8: plus(*no_direction),
        DIRECTION_ONLY: plus("objective.cycle_ratio=0"),
        PLUS_SIMILARITY: plus("objective.cycle.similarity=true"),
        PLUS_NO_LEADS: plus(no_leads),
        PLUS_NO_ARRIVES: plus(no_arrives),
        PLUS_NO_CONTRAST: plus(no_contrast),
        RA_ACROSS: baseline("ra", across),
        TAP_ACROSS: baseline("tap", across),
        VIDEOS_100: replace(plus("data.videos=100"), share=0.25),
        VIDEOS_300: replace(plus("data.videos=300"), share=0.25),
        QUARTER: replace(plus(), share=0.25),
        WIDTH_8: replace(plus("model.frame_encoder.width=8"), share=0.25),
        WIDTH_32: replace(plus("model.frame_encoder.width=32"), share=0.25),
    }
    grid = {tuned(name, choice): _tuned(named[name], choice) for name in TRAINED for choice in CHOICES}
    return named | grid


def label_of(row: str) -> str:
    """What tables call the objective of a row."""
    objective = load_config(runs()[row].config).objective
    return spec_of(objective).identity(objective).label


def tuned(name: str, choice: str) -> str:
    """The row of an objective with a choice of the grid."""
    return f"{name}/{choice}"


def _tuned(run: PlannedRun, choice: str) -> PlannedRun:
    init = tuned(run.init, choice) if run.init else None
    return PlannedRun(run.config, (*run.overrides, *_changes(run.config, choice)), init, share=0.125 * run.share)


def _changes(config: str, choice: str) -> tuple[str, ...]:
    if choice != OTHER_SEGMENTS:
        return {OWN: (), SLOW: ("train.lr=3e-4",), FAST: ("train.lr=3e-3",)}[choice]
    if config == "mmcc_plus":
        return "data.segment_seconds=64", "data.frame_rates=[0.25]"
    if config == "ra":  # needs frames one second apart, so 16 frames are 16 s: as many frames in fewer, longer segments
        return "data.max_frames=32", "train.batch_size=8"
    return "data.segment_seconds=128", "data.max_utterances=64", "data.frame_rates=[0.125]"


@dataclass(frozen=True)
class TablePlan:
    """What a table measures of which rows, and its default number of training seeds."""

    measures: Mapping[str, tuple[str, ...]]
    seeds: int = 3


_CYCLES = (
    *(NO_CONSTRAINT, SIMILARITY_ONLY, MAX_INDEX_ONLY, MMCC, UNIMODAL, MULTIMODAL, RANDOM_STARTS, FROZEN, ACROSS),
    *(NO_LAMBDA2, NO_LAMBDA1, PLUS),
)
_ROWS = (*TRAINED, *UNTRAINED)
_BOTH = (ANTICIPATION, UNSHUFFLING)
_DYNAMICS = (*_BOTH, CYCLE)
TABLES: dict[str, TablePlan] = {
    "table1": TablePlan(dict.fromkeys(_CYCLES, (CYCLE,)), seeds=1),
    "table2": TablePlan(dict.fromkeys(_ROWS, (ANTICIPATION, CONSTANT_ANTICIPATION, TASK_ANTICIPATION))),
    "table3": TablePlan(dict.fromkeys(_ROWS, (UNSHUFFLING, TRANSITIONS))),
    "table4": TablePlan(dict.fromkeys(_ROWS, (ARROW,))),
    "transfer": TablePlan(dict.fromkeys(_ROWS, (TRANSFER_ANTICIPATION, TRANSFER_UNSHUFFLING))),
    "ablation": TablePlan(
        {
            **dict.fromkeys((MMCC, CYCLE_1, CYCLE_8, DIRECTION_ONLY), _DYNAMICS),
            **dict.fromkeys((PLUS_SIMILARITY, PLUS_NO_LEADS, PLUS_NO_ARRIVES, PLUS_NO_CONTRAST), _DYNAMICS),
            PLUS: (*_DYNAMICS, PAST_ANTICIPATION, PAST_UNSHUFFLING, POSITION_UNSHUFFLING),
            **dict.fromkeys((RA, RA_ACROSS, TAP, TAP_ACROSS), _BOTH),
        },
        seeds=1,
    ),
    "tuning": TablePlan(
        {tuned(name, choice): (CHOOSING_ANTICIPATION, CHOOSING_UNSHUFFLING) for name in TRAINED for choice in CHOICES},
        seeds=1,
    ),
    "scale": TablePlan(dict.fromkeys(SCALE, _BOTH), seeds=1),
}


@dataclass(frozen=True)
class Job:
    """One run to train: settings, a seed, and the run it starts from."""

    run: str
    seed: int
    file: str  # the shipped configuration that it changes
    config: Config  # without the path of `init`, which the runner adds
    init: Job | None
    key: str  # the name of its folder, which depends on everything that affects its result


def plan_job(name: str, seed: int, budget: Budget, footage: Footage) -> Job:
    """The job of a planned run."""
    run = runs()[name]
    init = plan_job(run.init, seed, budget, footage) if run.init else None
    steps = max(1, round(run.share * budget.steps))
    often = max(1, steps // 4)  # so that each has four checkpoints to choose from
    counts = (f"train.steps={steps}", f"train.validate_every={often}", f"train.checkpoint_every={often}")
    try:
        file, seen = _seen(run.config, footage)
        config = load_config(file, [*seen, *run.overrides, *counts, *budget.overrides, f"train.seed={seed}"])
    except InputError as error:
        raise InputError(f"the run {name}", error.cause, error.remedy) from None
    decisive = {key: value for key, value in flatten(to_mapping(config)).items() if key not in _INDIFFERENT}
    content = json.dumps([decisive, init.key if init else None, footage.corpus], sort_keys=True)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return Job(name, seed, file, config, init, f"{config.objective.name}-seed{seed}-{digest[:10]}")


def _seen(config: str, footage: Footage) -> tuple[str, list[str]]:
    """A shipped configuration for this footage: the file, and changes to it."""
    changes = []
    if config == "ra" and footage.fps < 1:  # no frame has another a second later: it predicts the next
        changes += [f"data.frame_rates=[{footage.fps:g}]", f"objective.seconds={1 / footage.fps:g}"]
    if footage.vectors and config == "mmcc_plus":
        return "features", [*changes, *_SAME_EFFORT]
    if footage.encoder is None:
        return config, changes
    head = to_mapping(load_config("pretrained").model)["frame_encoder"] | {"name": footage.encoder}
    changes += [f"model.frame_encoder.{name}={json.dumps(value)}" for name, value in head.items()]
    return "pretrained" if config == "mmcc_plus" else config, changes


# Frames of a training step and dims as those of the other objectives.
_SAME_EFFORT = ("data.frame_rates=[0.125]", "data.max_frames=16", "objective.cross_modal.sigma=3", "model.dims=128")
# Settings that do not affect a run's final checkpoint.
_INDIFFERENT = {"imports", *(f"train.{name}" for name in ("device", "workers", "keep", "log_every", "compile"))}


def jobs_of(tables: Iterable[str], budget: Budget, footage: Footage, seeds: int | None) -> dict[tuple[str, int], Job]:
    """Every job that the tables need, by run and seed: first those that others start from, and the first seed of every
    run before any second, so that tables fill as early as possible."""
    wanted = {(seed, name) for table in tables for name in TABLES[table].measures for seed in seeds_of(table, seeds)}
    if footage.encoder is not None or footage.vectors:
        wanted = {(seed, name) for seed, name in wanted if name not in WIDTHS}
    order = list(runs())
    jobs: dict[tuple[str, int], Job] = {}
    for seed, name in sorted(
        ((seed, name) for seed, name in wanted if name in runs()), key=lambda each: (each[0], order.index(each[1]))
    ):
        job = plan_job(name, seed, budget, footage)
        if job.init:
            jobs.setdefault((job.init.run, seed), job.init)
        jobs[name, seed] = job
    return jobs


def measures_of(table: str) -> dict[str, tuple[str, ...]]:
    """Row → tasks of a table's results; what is measured of all rows at once has a row of its own."""
    measures = TABLES[table].measures
    alone = {row: tuple(task for task in tasks if task != ARROW) for row, tasks in measures.items()}
    together = any(ARROW in tasks for tasks in measures.values())
    return alone | ({ARROW: (ARROW,)} if together else {})


def seeds_of(table: str, seeds: int | None) -> range:
    return range(TABLES[table].seeds if seeds is None else seeds)
