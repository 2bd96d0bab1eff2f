"""Which videos a kitchen consists of: a function of its settings alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mmcc.kitchen import KITCHEN_VERSION
from mmcc.kitchen.recipes import PRIMARY, RELATED, Recipe
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.script import Script, write_script
from mmcc.kitchen.timeline import Timeline, draw_timeline

VALIDATION_SHARE = 0.15  # of the videos of primary tasks, dealt evenly over the tasks
RELATED_SHARE = 0.05  # of all videos: a small test of transfer


@dataclass(frozen=True)
class KitchenSettings:
    """What to write. Kitchens with equal settings are equal."""

    videos: int = 1200
    tasks: int = len(PRIMARY)
    seed: int = 0
    size: int = 96  # pixels per side
    fps: float = 2.0
    bookends: bool = False  # greetings and farewells, which reveal the time without any understanding
    timelines: str = ""  # the name of the real release whose timelines are used


@dataclass(frozen=True)
class Planned:
    """A planned video."""

    id: str
    recipe: Recipe
    split: str  # "train" or "validation"; videos of related tasks are never trained on
    seed: int
    timeline: Timeline | None = None  # of a real video; None: drawn at random


def recipes_of(settings: KitchenSettings) -> tuple[Recipe, ...]:
    """The first `settings.tasks` primary recipes, and the related recipes whose steps all occur in them."""
    primary = PRIMARY[: settings.tasks]
    seen = {step.text for recipe in primary for step in recipe.steps}
    return primary + tuple(recipe for recipe in RELATED if seen.issuperset(step.text for step in recipe.steps))


def plan(settings: KitchenSettings) -> list[Planned]:
    """All videos, tasks in turn, split by video."""
    recipes = recipes_of(settings)
    primary = [recipe for recipe in recipes if recipe.primary]
    related = recipes[len(primary) :]
    of_related = int(settings.videos * RELATED_SHARE) if related else 0
    of_primary = settings.videos - of_related
    validation = _validation(of_primary, len(primary), settings.seed)
    seed = settings.seed
    planned = [
        Planned(video_id(seed, at), primary[at % len(primary)], "validation" if at in validation else "train", seed)
        for at in range(of_primary)
    ]
    return planned + [
        Planned(video_id(seed, of_primary + at), related[at % len(related)], "validation", seed)
        for at in range(of_related)
    ]


def video_id(seed: int, number: int) -> str:
    return f"kitchen{seed}-{number:05d}"


def _validation(videos: int, tasks: int, seed: int) -> set[int]:
    """A share of all videos, spread over the tasks as evenly as possible."""
    turns = Rng("split", seed).shuffled(range(tasks))
    of_task = {task: Rng("split", seed, task).shuffled(range(task, videos, tasks)) for task in turns}
    longest = max(map(len, of_task.values()))
    dealt = [of_task[task][at] for at in range(longest) for task in turns if at < len(of_task[task])]
    return set(dealt[: round(videos * VALIDATION_SHARE)])


def timeline_of(planned: Planned) -> Timeline:
    return planned.timeline or draw_timeline(planned.recipe, _rng(planned).child("timeline"))


def script_of(planned: Planned, settings: KitchenSettings) -> Script:
    """A video's script, fully decided by its name, its seed and the version of the kitchen."""
    return write_script(planned.recipe, timeline_of(planned), _rng(planned), bookends=settings.bookends)


def _rng(planned: Planned) -> Rng:
    return Rng("kitchen", KITCHEN_VERSION, planned.seed, planned.id)


def scripts(settings: KitchenSettings) -> Sequence[tuple[Planned, Script]]:
    """Every video's script, without pixels: the basis of reference models and calibration."""
    return [(planned, script_of(planned, settings)) for planned in plan(settings)]
