"""What `mmcc evaluate` can measure: one object for each evaluation task, and the registry they are found in.

    def brighter(evaluator: Evaluator) -> TaskResult:
        ...  # evaluator.primary holds the embedded test videos, evaluator.adapter the model

    figures = {"share": "later frames that are brighter, %"}
    register_task(EvaluationTask("brightness", "Brightness", "Do frames get brighter?", brighter, headline=figures))

The tasks that come with mmcc are listed in `mmcc.evaluation.tasks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from mmcc.registry import Registry

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator
    from mmcc.evaluation.results import TaskResult

WhichVideos = Literal["primary", "related", "validation"]
PRIMARY: WhichVideos = "primary"  # test videos of the tasks that models are trained on, or of no task
RELATED: WhichVideos = "related"  # test videos of related tasks, which no training video shows
VALIDATION: WhichVideos = "validation"  # videos held out of training to choose checkpoints and settings on


class NotMeasured(Exception):
    """Why a task cannot be measured for this model or on this corpus; `run` may raise it."""


@dataclass(frozen=True)
class Needs:
    """What a task requires of a corpus and of a model; it is skipped, with the reason, where something is missing."""

    videos: WhichVideos = PRIMARY  # the videos it is measured on
    steps: bool = False  # labelled steps in some of these videos
    training_videos: bool = False  # videos to train a classifier on
    text: bool = False  # a model that embeds text
    past: bool = False  # a model that predicts the past


@dataclass(frozen=True, eq=False)
class EvaluationTask:
    """One thing to measure: what it asks, what it needs, how it is run, and which of its figures people see first."""

    name: str  # "anticipation"; the key of its results in JSON
    title: str  # a heading
    question: str  # one line, for people
    run: Callable[[Evaluator], TaskResult]
    needs: Needs = field(default_factory=Needs)
    headline: Mapping[str, str] = field(default_factory=dict)  # figure → in words, in order of display
    describe: Callable[[str], str] | None = None  # the same where names vary: figure → in words, "" to leave it out
    scale: tuple[float, float] = (0.0, 100.0)  # the ends of the axis that headline figures are drawn on
    digits: int = 1  # decimals in tables
    group: str = ""  # what `--tasks` calls it together with others; its own name where empty
    offered: bool = True  # by `mmcc evaluate`; False: measured for the paper's tables only
    by_default: bool = True  # measured by `mmcc evaluate` without --tasks; False: for one kind of corpus only

    def headlines(self, figures: Mapping[str, object]) -> dict[str, str]:
        """The headline figures of a result, in words."""
        described = {name: words for name in figures if (words := self.describe(name))} if self.describe else {}
        return {**self.headline, **described}


_TASKS: Registry[EvaluationTask] = Registry("evaluation task")


def register_task(task: EvaluationTask) -> EvaluationTask:
    """Make a task known to `mmcc evaluate`; a name, and the name of a group, belongs to one task or group only."""
    known_tasks()  # so that those that come with mmcc are first, and keep their names
    if not task.name or "," in task.name:
        raise ValueError(f"an evaluation task cannot be named {task.name!r}: --tasks separates names by commas")
    if task.name in {_TASKS.find(name).group for name in _TASKS}:
        raise ValueError(f"an evaluation task named {task.name!r} is registered already")
    if task.group in _TASKS:
        raise ValueError(f"{task.group!r} cannot be the group of {task.name!r}: it is the name of an evaluation task")
    _TASKS.add(task.name, task)
    return task


def known_tasks() -> dict[str, EvaluationTask]:
    """Every task by name, in the order of registration: those that come with mmcc first."""
    import mmcc.evaluation.tasks  # noqa: F401  (registers them; each is built from the class above)

    return {name: _TASKS.find(name) for name in _TASKS}


def find_task(name: str) -> EvaluationTask:
    """The task of a name; UnknownName lists the names there are."""
    known_tasks()
    return _TASKS.find(name)


def task_choices() -> dict[str, tuple[EvaluationTask, ...]]:
    """What `mmcc evaluate --tasks` offers: tasks and groups by name."""
    choices: dict[str, tuple[EvaluationTask, ...]] = {}
    for task in known_tasks().values():
        if task.offered:
            name = task.group or task.name
            choices[name] = (*choices.get(name, ()), task)
    return choices
