"""When each step of a recipe is shown: the clock of a video, calibrated to CrossTask.

The story: an editor leaves some steps out; a cook takes the rest more or less in order, and now and then goes round
again over the last few. How much so differs from video to video, as does the pace. Nothing else is known to the clock:
how long a step or a gap lasts depends neither on the step nor on the place in the video, so that time alone tells
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mmcc.kitchen.recipes import Recipe, needs
from mmcc.kitchen.rng import Rng

# Each constant sets the statistic in its comment; `benchmarks/validity/calibration.py` compares them with CrossTask.
MOST_LEFT_OUT = 0.6  # a video leaves out 0 to 60 % of the steps: steps missing, 30 % in the mean
UNTIDIEST = 7.0  # places by which the untidiest cook moves a step (standard deviation): Kendall τ
HEEDLESS = 0.4  # of the steps come without regard to what they need, as in a second batch: adjacent steps in order
MOST_REPEATING = 0.46  # chance to go round again after a step, in the most repetitive video: repeats
ROUNDS = {1: 0.55, 2: 0.3, 3: 0.1, 4: 0.05}  # steps in a round: in CrossTask 37, 31, 14, 6 % of repeats return so soon

SHORTEST = 1.0  # seconds; less would fall between the frames
STEP_MEDIAN, STEP_SPREAD = 4.2, 1.17  # seconds beyond the shortest, and spread (of the logarithm) within a video
GAP_MEDIAN, GAP_SPREAD = 6.4, 1.3
PACE_SPREAD = 0.4  # between videos, of steps and gaps alike
STRAIGHT_ON = 0.08  # of the gaps are none; in CrossTask as many steps touch or overlap
END = (5.0, 15.0)  # seconds before the first step and after the last, alike: the ends must not be told apart
LONGEST = 600.0  # seconds; CrossTask has nothing longer between the first step and the last


class Shown(NamedTuple):
    """A step on screen."""

    step: int  # 0-based, of the recipe
    start: float
    end: float


@dataclass(frozen=True)
class Timeline:
    """The steps that a video shows, by start; they do not overlap. All times are whole hundredths of a second."""

    shown: tuple[Shown, ...]
    duration: float


def draw_timeline(recipe: Recipe, rng: Rng) -> Timeline:
    """A video of a recipe by chance."""
    while (timeline := _of_any_length(recipe, rng)).duration > LONGEST:
        pass
    return timeline


def _of_any_length(recipe: Recipe, rng: Rng) -> Timeline:
    order = _with_rounds(_order(recipe, _chosen(recipe, rng), rng), rng)
    pace = rng.lognormal(1.0, PACE_SPREAD)
    now = _hundredths(rng.uniform(*END))
    shown = []
    for at, step in enumerate(order):
        if at and not rng.chance(STRAIGHT_ON):
            now += _hundredths(rng.lognormal(GAP_MEDIAN * pace, GAP_SPREAD))
        start = now
        now += _hundredths(SHORTEST + rng.lognormal(STEP_MEDIAN * pace, STEP_SPREAD))
        shown.append(Shown(step, start / 100, now / 100))
    return Timeline(tuple(shown), (now + _hundredths(rng.uniform(*END))) / 100)


def _hundredths(seconds: float) -> int:
    """Sums of whole numbers are exact, so no rounding error of one step moves the next."""
    return round(seconds * 100)


def _chosen(recipe: Recipe, rng: Rng) -> list[int]:
    """The steps that are not left out, at least one."""
    left_out = rng.uniform(0, MOST_LEFT_OUT)
    steps = range(len(recipe.steps))
    return [step for step in steps if not rng.chance(left_out)] or [rng.pick(steps)]


def _order(recipe: Recipe, chosen: list[int], rng: Rng) -> list[int]:
    """Every step strays from its place; most then wait for those that they need, and so only free ones swap."""
    straying = rng.uniform(0, UNTIDIEST)
    place: dict[int, float] = {}
    for at, step in enumerate(chosen):
        place[step] = at + straying * rng.normal()
        if not rng.chance(HEEDLESS):
            place[step] = max([place[step], *(place[needed] for needed in needs(recipe)[step] if needed in place)])
    return sorted(chosen, key=lambda step: (place[step], step))


def _with_rounds(order: list[int], rng: Rng) -> list[int]:
    """After any step the last few may be shown once more, and again: pour, flip, take, pour, flip, take."""
    again = rng.uniform(0, MOST_REPEATING)
    steps: list[int] = []
    for step in order:
        steps.append(step)
        length = rng.weighted(ROUNDS)
        while rng.chance(again):
            steps += steps[-length:]
    return steps
