"""Shots that show no step: the cook talking, cards, other pictures, the room from afar, a finished dish.

They depend on the look, the rng and the seconds within the shot only: neither on the recipe nor on the time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from PIL import Image

from mmcc.kitchen.drawing import broll, plating
from mmcc.kitchen.drawing.camera import draw_phases, sway
from mmcc.kitchen.drawing.canvas import Canvas, View
from mmcc.kitchen.drawing.cards import draw_card
from mmcc.kitchen.drawing.look import FABRICS, Look, shade
from mmcc.kitchen.drawing.people import Face, Figure, draw_body, draw_forearm, draw_head, draw_legs
from mmcc.kitchen.drawing.room import draw_room
from mmcc.kitchen.drawing.surfaces import Area, draw_counter
from mmcc.kitchen.rng import Rng

_SQUARE = View(0.0, 0.0, 2.0)
_EYE_LEVEL = 0.25  # the tilt of a camera that looks at people


def draw_still(canvas: Canvas, look: Look, kind: str, rng: Rng) -> None:
    """What stays during the shot. It fills the picture: whatever the canvas, its square is from -1 to 1 here."""
    canvas = Canvas(canvas.image, _SQUARE)
    if kind == "head":
        _draw_head_still(canvas, look, rng)
    elif kind == "card":
        draw_card(canvas, look, rng.child("card"))
    elif kind == "broll":
        broll.draw_still(canvas, look, rng)
    elif kind == "wide":
        _draw_wide_still(canvas, look, rng)
    elif kind == "plating":
        plating.draw_still(canvas, look, rng)
    else:
        raise ValueError(f"no such kind of shot: {kind}")


def draw_moving(canvas: Canvas, look: Look, kind: str, rng: Rng, seconds: float) -> None:
    """What moves, on a copy of what stays; `rng` has the same name as for what stays."""
    canvas = Canvas(canvas.image, _SQUARE)
    if kind == "head":
        cook = _talking(canvas, look, rng)
        _draw_person(cook.figure, rng, seconds, cook.poses)
    elif kind == "broll":
        broll.draw_moving(canvas, look, rng, seconds)
    elif kind == "wide":
        wide = _standing(canvas, look, rng)
        _draw_person(wide.figure, rng, seconds, wide.poses)
    elif kind == "plating":
        plating.draw_moving(canvas, look, rng, seconds)


@dataclass(frozen=True)
class _Cook:
    figure: Figure
    poses: tuple[str, str]  # of the left and the right hand
    apron: bool
    counter: bool  # whether there is one between the cook and the camera


def _poses(rng: Rng) -> tuple[str, str]:
    options = {"rest": 3.0, "open": 3.0, "point": 1.0, "spoon": 1.0, "fist": 0.7}
    return rng.weighted(options), rng.weighted(options)


def _talking(canvas: Canvas, look: Look, rng: Rng) -> _Cook:
    chance = rng.child("framing")
    scale = chance.pick((0.17, 0.21, 0.26, 0.34)) * chance.uniform(0.92, 1.1)
    x = chance.pick((-0.3, 0.0, 0.0, 0.3)) + chance.uniform(-0.08, 0.08)
    figure = Figure(canvas, look, x, chance.uniform(-0.32, -0.2) + 0.25 * scale, scale)
    apron = Rng(look.seed, "cook").chance(0.7)
    return _Cook(figure, _poses(chance), apron, chance.chance(0.4))


def _draw_head_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    cook = _talking(canvas, look, rng)
    chance = rng.child("behind")
    view = View(0.0, chance.uniform(-1.1, -0.7), 0.75 / cook.figure.scale * chance.uniform(1.0, 1.3))
    _draw_behind(canvas, look, view, chance, softness=chance.pick((2, 3, 5)))
    draw_body(cook.figure, apron=cook.apron)
    if cook.counter:
        _draw_island(canvas, look, 0.62, chance)


def _draw_behind(canvas: Canvas, look: Look, view: View, rng: Rng, softness: int) -> None:
    """The kitchen as seen by someone who looks at the cook; out of focus where softness is above 1."""
    side = max(16, canvas.image.width // softness)
    small = Image.new("RGB", (side, side))
    draw_room(Canvas(small, view), replace(look, tilt=_EYE_LEVEL), rng)
    canvas.image.paste(small.resize(canvas.image.size, Image.Resampling.BILINEAR))


def _draw_island(canvas: Canvas, look: Look, top: float, rng: Rng) -> None:
    low = replace(look, tilt=_EYE_LEVEL)
    plain = {"planks", "marble", "steel"}
    if look.counter_pattern not in plain:
        low = replace(low, counter_pattern="plain")
    draw_counter(canvas, low, Area(-1, top, 1, top + 0.16), rng.child("island"))
    canvas.box(-1, top, 1, top + 0.015, shade(look.counter, 0.3))
    canvas.box(-1, top + 0.16, 1, top + 0.2, shade(look.counter, -0.3))
    canvas.box(-1, top + 0.2, 1, 1.5, shade(look.cabinet, -0.12))
    for panel in range(4):
        left = -0.98 + panel * 0.5
        canvas.box(left, top + 0.26, left + 0.46, 1.5, shade(look.cabinet, -0.04), radius=0.02)
        canvas.box(left + 0.05, top + 0.31, left + 0.41, 1.5, shade(look.cabinet, -0.09), radius=0.02)


def _draw_person(figure: Figure, rng: Rng, seconds: float, poses: tuple[str, str]) -> None:
    """Someone talking: head and hands at one time."""
    chance = rng.child("person", figure.look.seed)
    turn, nod, talk, left, right = (draw_phases(chance) for _ in range(5))
    pausing = sway(seconds * 0.6, nod) > 0.2
    face = Face(
        mouth=0.0 if pausing else max(0.0, 0.3 + 0.7 * sway(seconds * 2.7, talk)),
        eyes=0.0 if rng.child("blink", figure.look.seed, math.floor(seconds * 5)).chance(0.07) else 1.0,
        gaze=sway(seconds * 0.5, turn),
        brows=sway(seconds * 0.8, left),
    )
    draw_head(figure.moved(0.13 * sway(seconds * 0.7, turn), 0.06 * sway(seconds * 0.9, nod)), face)
    for side, pose, phases in ((-1, poses[0], left), (1, poses[1], right)):
        swing, lift = sway(seconds, phases), sway(seconds * 1.1, (phases[1], phases[0]))
        if pose == "rest":
            draw_forearm(figure, side, (side * (0.9 + 0.1 * swing), 4.75 + 0.1 * lift), "fist")
        else:
            draw_forearm(figure, side, (side * (1.75 + 0.45 * swing), 2.9 + 0.5 * lift), pose)


def _standing(canvas: Canvas, look: Look, rng: Rng) -> _Cook:
    chance = rng.child("framing")
    scale = chance.uniform(0.095, 0.125)
    figure = Figure(canvas, look, chance.uniform(-0.5, 0.5), chance.uniform(-0.38, -0.22), scale)
    return _Cook(figure, _poses(chance), Rng(look.seed, "cook").chance(0.7), chance.chance(0.5))


def _draw_wide_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    cook = _standing(canvas, look, rng)
    figure, chance = cook.figure, rng.child("behind")
    width = 0.92 / figure.scale * chance.uniform(0.95, 1.1)
    _draw_behind(canvas, look, View(0.0, 0.55, width), chance, softness=1)
    feet = 9.6
    canvas.shadow(*figure.at(0, feet + 0.2), 2.2 * figure.scale, 0.5 * figure.scale, 0.5)
    draw_legs(figure, 5.5, feet, Rng(look.seed, "trousers").pick(FABRICS))
    draw_body(figure, bottom=6.6, apron=cook.apron)
    if cook.counter:
        _draw_island(canvas, look, figure.at(0, 5.2)[1], chance)
