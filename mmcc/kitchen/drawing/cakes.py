"""Batter that takes a shape: pancake and omelette in the pan, cake and pie in the tin, and all of them on a plate."""

from __future__ import annotations

from collections.abc import Sequence

from mmcc.kitchen.drawing.canvas import Canvas
from mmcc.kitchen.drawing.contents import Ground, cooked_of, is_dough, is_piece, mass_colour
from mmcc.kitchen.drawing.ingredients import places
from mmcc.kitchen.drawing.look import Look, Rgb
from mmcc.kitchen.drawing.palette import inside
from mmcc.kitchen.drawing.pen import blend, lit, shaded
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Portion, Vessel

BAKED = 0.85  # food that was only flipped in a pan stays below
BROWN = (150, 86, 36)


def is_batter(portions: Sequence[Portion]) -> bool:
    """Whether it sets in the heat."""
    return any(p.item in ("egg", "flour") and p.form == "smooth" for p in portions)


def is_disc(kind: str, vessel: Vessel) -> bool:
    """Whether the mix is a pancake or an omelette."""
    mixed = vessel.mixed
    return is_batter(mixed) and (kind == "pan" or (kind == "plate" and cooked_of(mixed) < BAKED))


def draw_disc(canvas: Canvas, look: Look, kind: str, vessel: Vessel, ground: Ground, rng: Rng) -> Ground:
    """A pancake, or an omelette that is folded once it is done; returns its top as ground."""
    cooked = cooked_of(vessel.mixed)
    colour = mass_colour([p for p in vessel.mixed if not is_piece(p)])
    x, y, tilt = ground.x, ground.y, look.tilt
    radius = ground.radius * (0.86 if kind == "pan" else 0.8)
    thick = 0.09 * radius
    if cooked > 0.6 and not any(p.item == "flour" for p in vessel.mixed):
        return _draw_folded(canvas, look, colour, ground, rng)
    edge = blend(shaded(colour, 0.25), BROWN, 0.5 * cooked)
    canvas.ellipse(x, y + 0.5 * thick, radius * 1.02, radius * 1.02 * tilt, shaded(edge, 0.3))
    canvas.ellipse(x, y - 0.5 * thick, radius, radius * tilt, edge)
    canvas.ellipse(x, y - 0.6 * thick, radius * 0.93, radius * 0.93 * tilt, colour)
    for dx, dy in places(8, 0.7 * radius, rng):
        size = radius * rng.uniform(0.05, 0.1 + 0.1 * cooked)
        tone = blend(shaded(colour, 0.12), BROWN, 0.55 * cooked)
        canvas.ellipse(x + dx, y + dy * tilt - 0.6 * thick, size, size * tilt, tone)
    canvas.ellipse(x - 0.4 * radius, y - 0.44 * radius * tilt, 0.18 * radius, 0.07 * radius, lit(colour, 0.5))
    return Ground(x, y - 0.6 * thick, radius * 0.9)


def _draw_folded(canvas: Canvas, look: Look, colour: Rgb, ground: Ground, rng: Rng) -> Ground:
    tilt = look.tilt
    x, y, radius = ground.x, ground.y, ground.radius * 0.9
    top = y - 0.22 * radius * tilt
    canvas.chord(x, top + 0.1 * radius, radius, radius * tilt, 0, 180, shaded(colour, 0.4))
    canvas.chord(x, top, radius, radius * tilt, 0, 180, colour)
    canvas.ellipse(x, top, radius, 0.26 * radius * tilt, lit(colour, 0.12))
    for _ in range(5):
        dx = rng.uniform(-0.6, 0.6) * radius
        dy = rng.uniform(0.2, 0.6) * radius * tilt
        canvas.ellipse(x + dx, top + dy, 0.12 * radius, 0.07 * radius * tilt, blend(colour, BROWN, 0.45))
    return Ground(x, top + 0.3 * radius * tilt, radius * 0.55)


def draw_baked(canvas: Canvas, look: Look, kind: str, vessel: Vessel, ground: Ground, rng: Rng) -> Ground:
    """Batter or dough in a tin, risen as it bakes; on a plate without the tin. Returns its top as ground."""
    batter = [p for p in vessel.mixed if not is_piece(p)]
    cooked, colour = cooked_of(batter), mass_colour(batter)
    pie = is_dough(batter)
    x, y, tilt = ground.x, ground.y, look.tilt
    up = (1 - tilt**2) ** 0.5
    radius = ground.radius * (0.82 if kind == "plate" else 1.0)
    height = radius * up * ((0.34 if pie else 0.5) if kind == "plate" else 0.3 * max(0.0, cooked - 0.2))
    side = shaded(colour, 0.2) if kind == "tin" else blend(lit(colour, 0.2), (252, 226, 160), 0.4)
    canvas.ellipse(x, y, radius, radius * tilt, shaded(side, 0.2))
    if height:
        canvas.box(x - radius, y - height, x + radius, y, shaded(side, 0.2))
        canvas.chord(x, y, radius, radius * tilt, 0, 120, shaded(side, 0.3))
        canvas.box(x - radius, y - height, x + 0.3 * radius, y, side)
        canvas.chord(x, y, radius, radius * tilt, 70, 180, side)
    crust = blend(shaded(colour, 0.16), BROWN, 0.4 * cooked)
    canvas.ellipse(x, y - height, radius, radius * tilt, crust)
    canvas.ellipse(x, y - height - 0.02 * radius, radius * 0.9, radius * 0.9 * tilt, colour)
    if pie:
        _draw_pie_edge(canvas, look, colour, cooked, x, y - height, radius)
    elif cooked < 0.3:
        canvas.ellipse(
            x - 0.4 * radius, y - height - 0.4 * radius * tilt, 0.2 * radius, 0.08 * radius, lit(colour, 0.6)
        )
    else:
        canvas.ellipse(
            x - 0.15 * radius, y - height - 0.16 * radius * tilt, 0.55 * radius, 0.5 * radius * tilt, lit(colour,
            0.14)
        )  # fmt: skip
    top = Ground(x, y - height, radius * 0.84)
    spread = next((p for p in vessel.top if p.form == "spread"), None)
    if spread and kind == "plate":
        _draw_icing(canvas, look, spread, top, radius, rng)
    return top


def _draw_pie_edge(canvas: Canvas, look: Look, colour: Rgb, cooked: float, x: float, y: float, radius: float) -> None:
    tilt = look.tilt
    canvas.ellipse(x, y, radius * 0.76, radius * 0.76 * tilt, shaded(colour, 0.2 + 0.1 * cooked))
    for dx, dy in _CRIMPS:
        canvas.ellipse(x + dx * radius, y + dy * radius * tilt, 0.11 * radius, 0.1 * radius, lit(colour, 0.16))


_CRIMPS = tuple(
    (0.88 * u, 0.88 * v)
    for u, v in (
        (1.0, 0.0), (0.924, 0.383), (0.707, 0.707), (0.383, 0.924), (0.0, 1.0), (-0.383, 0.924), (-0.707, 0.707),
        (-0.924, 0.383), (-1.0, 0.0), (-0.924, -0.383), (-0.707, -0.707), (-0.383, -0.924), (0.0, -1.0),
        (0.383, -0.924), (0.707, -0.707), (0.924, -0.383),
    )
)  # fmt: skip


def _draw_icing(canvas: Canvas, look: Look, spread: Portion, top: Ground, radius: float, rng: Rng) -> None:
    """Cream over the top, running down the side here and there."""
    colour = inside(spread.item, spread.cooked)
    canvas.ellipse(top.x, top.y + 0.03 * radius, radius * 1.01, radius * 1.01 * look.tilt, shaded(colour, 0.16))
    for share in (-0.7, -0.3, 0.15, 0.6):
        drop = top.y + radius * look.tilt * (1 - share**2) ** 0.5
        canvas.line(
            [(top.x + share * radius, drop - 0.06 * radius),
            (top.x + share * radius, drop + rng.uniform(0.04, 0.2) * radius)], shaded(colour, 0.06), 0.15 * radius
        )  # fmt: skip
    canvas.ellipse(top.x, top.y - 0.01 * radius, radius, radius * look.tilt, colour)
