"""Any vessel with its contents, on the counter or in the oven."""

from __future__ import annotations

from dataclasses import replace

from mmcc.kitchen.drawing.canvas import Canvas
from mmcc.kitchen.drawing.contents import Ground
from mmcc.kitchen.drawing.crockery import SHAPES, draw_board, draw_round, draw_trivet, opening_of
from mmcc.kitchen.drawing.glassware import TRANSPARENT, draw_glassware, mouth_of_glass
from mmcc.kitchen.drawing.look import Look, Rgb
from mmcc.kitchen.drawing.pen import blend, glaze, lit, shaded
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Vessel

GLOW: Rgb = (255, 150, 40)
CAVITY: Rgb = (92, 44, 22)
KNOBS = (-0.5, -0.25, 0.25, 0.5)


def mouth(look: Look, kind: str, x: float, y: float, size: float) -> Ground:
    """Where things go in: the opening of a vessel whose base is centred at (x, y)."""
    if kind == "board":
        return Ground(x, y, 0.4 * size)
    if kind in TRANSPARENT:
        return mouth_of_glass(look, kind, x, y, size)
    return opening_of(look, kind, x, y, size)


def draw_vessel(
    canvas: Canvas, look: Look, kind: str, vessel: Vessel, x: float, y: float, size: float, rng: Rng
) -> None:
    """A vessel in its state, with the centre of its base at (x, y)."""
    if vessel.in_oven:
        draw_trivet(canvas, look, x, y, size)
    elif kind == "board":
        draw_board(canvas, look, vessel, x, y, size, rng)
    elif kind in TRANSPARENT:
        draw_glassware(canvas, look, kind, vessel, x, y, size, rng)
    elif kind in SHAPES:
        draw_round(canvas, look, kind, vessel, x, y, size, rng)
    else:
        raise KeyError(f"no such vessel: {kind}")


def draw_oven(canvas: Canvas, look: Look, vessel: Vessel, x: float, y: float, size: float, rng: Rng) -> None:
    """An oven about 1.7 sizes wide around (x, y)."""
    front = blend(look.colour("pot"), (226, 226, 228), 0.55)
    half, top, bottom = 0.86 * size, y - 0.78 * size, y + 0.66 * size
    canvas.box(
        x - half - 0.03 * size, top - 0.03 * size, x + half + 0.03 * size, bottom + 0.04 * size, shaded(front, 0.5),
        radius=0.08 * size
    )  # fmt: skip
    canvas.box(x - half, top, x + half, bottom, front, radius=0.06 * size)
    canvas.box(x - half, top, x + half, top + 0.24 * size, shaded(front, 0.14), radius=0.06 * size)
    for share in KNOBS:
        canvas.ellipse(x + share * size, top + 0.12 * size, 0.065 * size, 0.065 * size, shaded(front, 0.6))
        canvas.ellipse(x + share * size, top + 0.11 * size, 0.05 * size, 0.05 * size, lit(front, 0.2))
        canvas.line(
            [(x + share * size, top + 0.11 * size), (x + (share + 0.02) * size, top + 0.075 * size)], (60, 50, 50),
            0.015 * size
        )  # fmt: skip
    canvas.line(
        [(x - 0.66 * size, top + 0.34 * size), (x + 0.66 * size, top + 0.34 * size)], shaded(front, 0.5), 0.07 * size
    )  # fmt: skip
    canvas.line(
        [(x - 0.66 * size, top + 0.33 * size), (x + 0.66 * size, top + 0.33 * size)], lit(front, 0.5), 0.035 * size
    )  # fmt: skip
    left, right, upper, lower = x - 0.7 * size, x + 0.7 * size, top + 0.46 * size, bottom - 0.1 * size
    canvas.box(
        left - 0.03 * size, upper - 0.03 * size, right + 0.03 * size, lower + 0.03 * size, (40, 34, 34),
        radius=0.06 * size
    )  # fmt: skip
    canvas.box(left, upper, right, lower, CAVITY, radius=0.04 * size)
    canvas.ellipse(x, (upper + lower) / 2, 0.62 * size, 0.36 * size, blend(CAVITY, GLOW, 0.4))
    canvas.line([(left, lower - 0.1 * size), (right, lower - 0.1 * size)], (60, 40, 34), 0.03 * size)
    for bar in (-0.5, -0.25, 0.0, 0.25, 0.5):
        canvas.line(
            [(x + bar * size, lower - 0.14 * size), (x + 1.1 * bar * size, lower - 0.05 * size)], (60, 40, 34),
            0.02 * size
        )  # fmt: skip
    low = replace(look, tilt=min(look.tilt, 0.5))
    draw_vessel(canvas, low, "tin", replace(vessel, in_oven=False), x, lower - 0.14 * size, 0.86 * size, rng)
    canvas.box(left, upper, right, lower, glaze(GLOW, 0.2))
    canvas.line(
        [(left + 0.04 * size, upper + 0.03 * size), (right - 0.04 * size, upper + 0.03 * size)], GLOW, 0.03 * size
    )
    canvas.polygon(
        [(left + 0.1 * size, lower), (left + 0.42 * size, upper), (left + 0.56 * size, upper),
        (left + 0.24 * size, lower)], glaze((255, 255, 255), 0.14)
    )  # fmt: skip
