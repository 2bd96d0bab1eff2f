"""How a video is filmed: a sequence of shots over its timeline.

Over half of the time shows no step. Distractors depend neither on the scene nor on the time, and come at any time, even
inside steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from mmcc.kitchen.recipes import Recipe
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.timeline import Timeline

WORK = "work"  # the counter, with everything on it
DISTRACTORS = {"head": 0.4, "broll": 0.2, "wide": 0.15, "plating": 0.15, "card": 0.1}

_SHOT_SECONDS = 4.0  # the median; cuts of instructional video come every 3 to 6 s
_SHOT_SPREAD = 0.5
_SHORTEST = 1.0
_CUTAWAY = 0.25  # share of the pieces of a step, except one that shows it: 15 % of its time in total
_IDLE_WORK = 0.2  # share of the time between steps that shows the counter without anybody at it
_SAME_CAMERA = 0.4  # share of the cases where work follows work


@dataclass(frozen=True)
class Shot:
    """One run of the camera."""

    start: float
    end: float
    kind: str  # "work", or one of the distractors
    seed: str  # names the stream from which its framing and motion are drawn
    focus: str = ""  # the vessel that a work shot shows


@dataclass(frozen=True)
class _Piece:
    start: float
    end: float
    kind: str
    focus: str


def draw_shots(recipe: Recipe, timeline: Timeline, rng: Rng) -> tuple[Shot, ...]:
    """Shots from 0 to the end of the timeline, without gaps."""
    pieces: list[_Piece] = []
    clock = 0.0
    for shown in timeline.shown:
        pieces += _between_steps(clock, shown.start, recipe, rng)
        clock = max(clock, shown.start)  # real steps overlap
        pieces += _within_step(clock, shown.end, recipe.steps[shown.step].vessel, rng)
        clock = max(clock, shown.end)
    pieces += _between_steps(clock, timeline.duration, recipe, rng)
    return _joined(pieces, rng)


def _between_steps(start: float, end: float, recipe: Recipe, rng: Rng) -> list[_Piece]:
    return [
        _Piece(*span, WORK if rng.chance(_IDLE_WORK) else rng.weighted(DISTRACTORS), rng.pick(recipe.vessels))
        for span in _cut_up(start, end, rng)
    ]


def _within_step(start: float, end: float, vessel: str, rng: Rng) -> list[_Piece]:
    spans = _cut_up(start, end, rng)
    if not spans:
        return []
    seen = rng.integer(0, len(spans) - 1)  # every step is visible at some time
    return [
        _Piece(*span, rng.weighted(DISTRACTORS) if at != seen and rng.chance(_CUTAWAY) else WORK, vessel)
        for at, span in enumerate(spans)
    ]


def _cut_up(start: float, end: float, rng: Rng) -> list[tuple[float, float]]:
    """Spans of one shot each; none if there is no time."""
    cuts = [start]
    while end - cuts[-1] > 0:
        length = max(_SHORTEST, rng.lognormal(_SHOT_SECONDS, _SHOT_SPREAD))
        cuts.append(end if end - cuts[-1] < length + _SHORTEST else round(cuts[-1] + length, 2))
    if rng.chance(0.5):  # the last span, the remainder, differs in length: let it come first as often
        cuts = [start, *(round(start + end - cut, 2) for cut in cuts[-2:0:-1]), end] if len(cuts) > 1 else cuts
    return list(pairwise(cuts))


def _joined(pieces: list[_Piece], rng: Rng) -> tuple[Shot, ...]:
    """Neighbouring pieces at one vessel may be one run of the camera."""
    shots: list[Shot] = []
    for number, piece in enumerate(pieces):
        last = shots[-1] if shots else None
        joins = last and last.kind == piece.kind == WORK and last.focus == piece.focus and rng.chance(_SAME_CAMERA)
        if last and joins:
            shots[-1] = Shot(last.start, piece.end, last.kind, last.seed, last.focus)
        else:
            seed = rng.child("shot", number).name
            shots.append(Shot(piece.start, piece.end, piece.kind, seed, piece.focus if piece.kind == WORK else ""))
    return tuple(shots)
