"""The kitchen behind a working shot: a long wall with its furniture, and the counter before it.

A kitchen is painted once per video, as one long picture; a shot is a piece of it.
"""

from __future__ import annotations

import math
from functools import lru_cache

from PIL import Image

from mmcc.kitchen.drawing import furniture
from mmcc.kitchen.drawing.canvas import Canvas, View
from mmcc.kitchen.drawing.look import Look, shade
from mmcc.kitchen.drawing.surfaces import Area, draw_counter, draw_wall, fade_down, soft_light
from mmcc.kitchen.rng import Rng

_PIXELS = 110  # per world unit: enough for the closest view of a 192-pixel frame, as the background is out of focus
_ROOM = Area(-7.0, -5.5, 7.0, 5.5)


def edge(look: Look) -> float:
    """The height at which the counter meets the wall."""
    return -1.8 * look.tilt


def front(look: Look) -> float:
    """The height of the counter's edge on the cook's side."""
    return 0.55 + 2 * look.tilt


def draw_room(canvas: Canvas, look: Look, rng: Rng) -> None:
    """The background of a working shot. `rng` chooses the part of the wall behind the world's origin."""
    view = canvas.view
    reach = max(0.0, _ROOM.right - view.width / 2)
    x = min(reach, max(-reach, view.x + rng.child("stretch of wall").uniform(-1.5, 1.5)))
    picture = _painted(look)
    left, top = (x - view.width / 2 - _ROOM.left) * _PIXELS, (view.y - view.width / 2 - _ROOM.top) * _PIXELS
    top = min(max(0.0, top), max(0.0, picture.height - view.width * _PIXELS))
    side = min(view.width * _PIXELS, picture.width, picture.height)
    box = tuple(math.floor(value * 16 + 0.5) / 16 for value in (left, top, left + side, top + side))
    size = canvas.image.size
    canvas.image.paste(picture.resize(size, Image.Resampling.BILINEAR, box=(box[0], box[1], box[2], box[3])))


@lru_cache(maxsize=4)
def _painted(look: Look) -> Image.Image:
    """The whole kitchen."""
    width, height = _ROOM.right - _ROOM.left, _ROOM.bottom - _ROOM.top
    image = Image.new("RGB", (round(width * _PIXELS), round(height * _PIXELS)), look.cabinet)
    canvas = Canvas(image, View(0.0, _ROOM.top + width / 2, width))
    rng = Rng(look.seed, "room")
    rise = furniture.rise(look)
    wall = Area(_ROOM.left, _ROOM.top, _ROOM.right, edge(look))
    counter = Area(_ROOM.left, edge(look), _ROOM.right, front(look))
    draw_wall(canvas, look, wall, rise, rng.child("wall"))
    lamp = rng.uniform(-4, 4)
    soft_light(canvas, lamp, edge(look) - 1.2 * rise, 4.5, 3.0, (255, 248, 226), 0.3)
    fade_down(canvas, Area(_ROOM.left, edge(look) - 3.2 * rise, _ROOM.right, edge(look)), (30, 24, 24), 0.16, 0.02)
    furniture.draw_on_wall(canvas, look, edge(look), rng.child("on the wall"))
    draw_counter(canvas, look, counter, rng.child("counter"))
    soft_light(canvas, lamp, (counter.top + counter.bottom) / 2, 5.0, 2.2, (255, 250, 236), 0.22)
    fade_down(canvas, Area(_ROOM.left, edge(look), _ROOM.right, edge(look) + 0.5 * look.tilt), (24, 16, 12), 0.34, 0.0)
    furniture.draw_standing(canvas, look, edge(look), rng.child("standing"))
    _draw_cabinets(canvas, look, front(look))
    return image


def _draw_cabinets(canvas: Canvas, look: Look, top: float) -> None:
    """The counter's thickness and what is below it."""
    canvas.box(_ROOM.left, top, _ROOM.right, top + 0.12, shade(look.counter, -0.2))
    canvas.box(_ROOM.left, top - 0.025, _ROOM.right, top, shade(look.counter, 0.3))
    canvas.box(_ROOM.left, top + 0.12, _ROOM.right, _ROOM.bottom, shade(look.cabinet, -0.1))
    door = 1.75
    for at in range(8):
        left = _ROOM.left + at * door
        canvas.box(left + 0.06, top + 0.3, left + door - 0.06, top + 2.6, shade(look.cabinet, 0.04), radius=0.04)
        canvas.box(left + 0.2, top + 0.44, left + door - 0.2, top + 2.46, shade(look.cabinet, -0.05), radius=0.03)
        canvas.box(left + door / 2 - 0.2, top + 0.36, left + door / 2 + 0.2, top + 0.4, (70, 66, 62), radius=0.02)
    canvas.box(_ROOM.left, top + 2.7, _ROOM.right, _ROOM.bottom, shade(look.wood, -0.35))
    fade_down(canvas, Area(_ROOM.left, top + 0.12, _ROOM.right, top + 0.6), (20, 14, 10), 0.45, 0.0)
