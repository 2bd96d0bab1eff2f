"""The cook's hands: an arm that comes in from one side, and what the fingers do."""

from __future__ import annotations

from functools import lru_cache
from math import cos, radians, sin

from mmcc.kitchen.drawing.canvas import Canvas, Point
from mmcc.kitchen.drawing.look import Look, Rgb
from mmcc.kitchen.drawing.pen import Pen, lit, shaded
from mmcc.kitchen.rng import Rng

FINGERS: dict[str, tuple[tuple[Point, Point], ...]] = {
    # from knuckle to tip, in a right hand whose wrist is to the right; the thumb last
    "grip": (
        ((-0.1, -0.32), (-0.38, -0.26)), ((-0.14, -0.1), (-0.44, -0.06)), ((-0.12, 0.12), (-0.42, 0.14)),
        ((-0.06, 0.32), (-0.34, 0.32)), ((0.1, -0.3), (-0.2, -0.42)),
    ),
    "drop": (
        ((-0.3, 0.0), (-0.46, 0.48)), ((-0.12, 0.12), (-0.22, 0.6)), ((0.08, 0.16), (0.02, 0.58)),
        ((0.26, 0.1), (0.26, 0.46)), ((-0.3, -0.1), (-0.58, 0.22)),
    ),
    "pinch": (
        ((-0.28, 0.0), (-0.5, 0.4)), ((-0.14, 0.1), (-0.42, 0.48)), ((0.06, 0.14), (-0.1, 0.42)),
        ((0.2, 0.12), (0.1, 0.36)), ((-0.3, -0.12), (-0.6, 0.34)),
    ),
    "flat": (
        ((-0.2, -0.28), (-0.68, -0.3)), ((-0.24, -0.1), (-0.8, -0.1)), ((-0.24, 0.08), (-0.78, 0.1)),
        ((-0.2, 0.26), (-0.62, 0.28)), ((0.06, -0.3), (-0.24, -0.56)),
    ),
}  # fmt: skip
HAND = 0.27  # of the size of the vessel
MITT: Rgb = (196, 62, 54)


@lru_cache(maxsize=64)
def arm_slope(seed: str) -> float:
    """Degrees below the horizontal at which the arms of a video come in."""
    return Rng(seed, "arms").uniform(-48, 30)


def on_its_way(look: Look, x: float, y: float, size: float, side: int, away: float) -> Point:
    """Where a hand is that is `away` sizes from (x, y)."""
    slope = radians(arm_slope(look.seed))
    return x + side * away * cos(slope) * size, y + away * sin(slope) * size


def draw_hand(
    canvas: Canvas, look: Look, pose: str, x: float, y: float, size: float, side: int, away: float = 0.0
) -> None:
    """A hand whose palm is at (x, y), or on its way there while `away` is not 0; `side` 1 comes from the right."""
    x, y = on_its_way(look, x, y, size, side, away)
    _draw_arm(canvas, look, x, y, size, side)
    pen = Pen(canvas, x, y, HAND * size, mirror=side < 0)
    edge = shaded(look.skin, 0.34)
    fingers = FINGERS[pose]
    for knuckle, tip in fingers:
        pen.line([knuckle, tip], edge, 0.29)
    pen.oval(0.02, 0.02, 0.46, 0.43, edge)
    for knuckle, tip in fingers:
        pen.line([knuckle, tip], look.skin, 0.21)
    pen.oval(0.0, 0.0, 0.42, 0.39, look.skin)
    pen.oval(-0.06, -0.12, 0.22, 0.14, lit(look.skin, 0.16))


def _draw_arm(canvas: Canvas, look: Look, x: float, y: float, size: float, side: int) -> None:
    def along(reach: float) -> Point:
        return on_its_way(look, x, y, size, side, reach)

    canvas.line([along(0.04), along(0.5)], shaded(look.skin, 0.34), 0.2 * size)
    canvas.line([along(0.04), along(0.5)], shaded(look.skin, 0.06), 0.17 * size)
    canvas.line([along(0.36), along(2.2)], shaded(look.sleeve, 0.3), 0.29 * size)
    canvas.line([along(0.37), along(2.2)], look.sleeve, 0.25 * size)
    canvas.line([along(0.34), along(0.4)], lit(look.sleeve, 0.2), 0.25 * size)


def draw_mitt(canvas: Canvas, look: Look, x: float, y: float, size: float, side: int, away: float = 0.0) -> None:
    """A hand in an oven mitt."""
    x, y = on_its_way(look, x, y, size, side, away)
    _draw_arm(canvas, look, x, y, size, side)
    pen = Pen(canvas, x, y, 1.3 * HAND * size, mirror=side < 0)
    for colour, grow in ((shaded(MITT, 0.35), 0.06), (MITT, 0.0)):
        pen.oval(0.0, 0.0, 0.5 + grow, 0.42 + grow, colour)
        pen.line([(0.0, -0.2), (-0.26, -0.46)], colour, 0.26 + 2 * grow)
    pen.line([(0.42, -0.3), (0.42, 0.3)], (244, 236, 220), 0.14)
