"""Bowls, pans, pots, plates, tins and boards on the counter, with their contents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import radians, sin, sqrt

from mmcc.kitchen.drawing.cakes import draw_baked, draw_disc, is_batter, is_disc
from mmcc.kitchen.drawing.canvas import Canvas
from mmcc.kitchen.drawing.contents import (
    Ground,
    cooked_of,
    draw_jumble,
    draw_layers,
    draw_mass,
    draw_stain,
    fullness,
    is_dough,
    is_piece,
)
from mmcc.kitchen.drawing.look import Look, Rgb
from mmcc.kitchen.drawing.pen import DARK, blend, glaze, lit, shaded
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Vessel


@dataclass(frozen=True)
class Shape:
    """A round, open vessel, in shares of its size."""

    base: float  # radius where it stands
    rim: float  # radius of its opening
    height: float
    edge: float  # how thick its wall is
    floor: float  # share of the opening that the contents of an all but empty vessel take


SHAPES = {
    "bowl": Shape(0.27, 0.5, 0.36, 0.03, 0.7),
    "pan": Shape(0.43, 0.5, 0.1, 0.025, 0.86),
    "pot": Shape(0.45, 0.47, 0.36, 0.025, 0.76),
    "plate": Shape(0.32, 0.54, 0.06, 0.02, 0.7),
    "tin": Shape(0.42, 0.48, 0.19, 0.022, 0.84),
}
ON_BURNER = ("pan", "pot")
IRON: Rgb = (50, 50, 54)


def rise(look: Look, height: float) -> float:
    """How far up in the picture a height goes."""
    return height * sqrt(1 - look.tilt**2)


def opening_of(look: Look, kind: str, x: float, y: float, size: float) -> Ground:
    shape = SHAPES[kind]
    return Ground(x, y - rise(look, shape.height * size), shape.rim * size)


def draw_round(
    canvas: Canvas, look: Look, kind: str, vessel: Vessel, x: float, y: float, size: float, rng: Rng
) -> None:
    shape, colour = SHAPES[kind], look.colour(kind)
    if kind in ON_BURNER:
        _draw_burner(canvas, look, x, y, size, cooked_of(vessel.portions))
    else:
        canvas.shadow(x + 0.04 * size, y + 0.03 * size, shape.rim * 1.04 * size, shape.rim * look.tilt * size, 0.5)
    opening = opening_of(look, kind, x, y, size)
    _draw_body(canvas, look, kind, shape, colour, x, y, opening.y, size)
    within = replace(opening, radius=opening.radius - shape.edge * size)
    _draw_held(canvas, look, kind, shape, vessel, within, rng)
    if vessel.covered:
        draw_lid(canvas, look, opening, colour)
    elif kind in ON_BURNER and cooked_of(vessel.portions) > 0.3:
        draw_steam(canvas, opening, rng.child("steam"))


def _draw_body(
    canvas: Canvas, look: Look, kind: str, shape: Shape, colour: Rgb, x: float, y: float, top: float, size: float
) -> None:
    """Outside, rim and inner wall; light comes from the left."""
    tilt, base, rim = look.tilt, shape.base * size, shape.rim * size
    if kind in ("pan", "pot"):
        _draw_handles(canvas, look, kind, x, (y + top) / 2, rim, size)
    dark, inner = shaded(colour, 0.42), shaded(colour, 0.26)
    side = shaded(colour, 0.14)
    canvas.ellipse(x, y, base, base * tilt, dark)
    if kind == "bowl":  # bulging
        middle, bulge = y + (top - y) * 0.45, base + (rim - base) * 0.72
        canvas.ellipse(x, middle, bulge, bulge * tilt, side)
        outline = [
            (x - rim, top),
            (x - bulge, middle),
            (x - base, y),
            (x + base, y),
            (x + bulge, middle),
            (x + rim, top),
        ]
    else:
        outline = [(x - rim, top), (x - base, y), (x + base, y), (x + rim, top)]
    canvas.polygon(outline, side)
    canvas.ellipse(x, y - 0.02 * size, base, base * tilt, side)
    canvas.polygon(
        [(x + rim, top), (x + base, y), (x + 0.5 * base, y + 0.8 * base * tilt),
        (x + 0.62 * rim, top + 0.6 * rim * tilt)], dark
    )  # fmt: skip
    if shape.height > 0.15:
        canvas.line(
            [(x - 0.66 * rim, top + 0.82 * rim * tilt), (x - 0.72 * base, y + 0.5 * base * tilt)], lit(colour, 0.35),
            0.05 * size
        )  # fmt: skip
    canvas.ellipse(x, top, rim, rim * tilt, lit(colour, 0.3))
    edge = shape.edge * size
    canvas.ellipse(x, top, rim - edge, (rim - edge) * tilt, shaded(inner, 0.12))
    canvas.ellipse(x, top + 0.05 * rim * tilt, (rim - edge) * 0.93, (rim - edge) * 0.93 * tilt, inner)
    if kind == "plate":
        canvas.ellipse(x, top, rim - edge, (rim - edge) * tilt, colour)
        canvas.ellipse(x, top + 0.01 * size, 0.68 * rim, 0.68 * rim * tilt, shaded(colour, 0.16))
        canvas.ellipse(x, top + 0.02 * size, 0.65 * rim, 0.65 * rim * tilt, lit(colour, 0.15))


def _draw_handles(canvas: Canvas, look: Look, kind: str, x: float, y: float, rim: float, size: float) -> None:
    side = -1 if look.left_handed else 1
    if kind == "pan":
        tip = (x + side * (rim + 0.5 * size), y + 0.12 * size * look.tilt)
        canvas.line([(x + side * rim * 0.9, y), tip], shaded(IRON, 0.4), 0.1 * size)
        canvas.line([(x + side * (rim + 0.12 * size), y), tip], shaded(look.wood, 0.25), 0.075 * size)
        return
    for hand in (-1, 1):
        canvas.line(
            [(x + hand * rim * 0.92, y - 0.06 * size), (x + hand * (rim + 0.1 * size), y - 0.05 * size),
            (x + hand * (rim + 0.1 * size), y + 0.04 * size), (x + hand * rim * 0.92, y + 0.05 * size)], IRON,
            0.05 * size
        )  # fmt: skip


def _draw_held(canvas: Canvas, look: Look, kind: str, shape: Shape, vessel: Vessel, within: Ground, rng: Rng) -> None:
    if not vessel.portions:
        if vessel.stain:
            draw_stain(canvas, look, vessel.stain, replace(within, radius=within.radius * shape.floor), rng)
        return
    share = shape.floor + (0.95 - shape.floor) * fullness(vessel)
    radius = within.radius * share
    # contents touch the front wall: the camera sees the far one above them
    surface = Ground(within.x, within.y + (within.radius - radius) * look.tilt * 0.9, radius)
    mixed = vessel.mixed
    if is_batter(mixed):  # pieces lie on what sets, even if they were carried over with it
        vessel = replace(vessel, top=(*filter(is_piece, mixed), *vessel.top))
    elif any(p.item in ("bread", "steak") and is_piece(p) for p in mixed):  # too large to be stirred
        vessel, mixed = replace(vessel, mixed=(), top=vessel.portions), ()
    if mixed and is_disc(kind, vessel):
        grease = tuple(p for p in vessel.top if p.form == "poured" and p.item in ("oil", "butter"))
        draw_layers(canvas, look, Vessel(top=grease), surface, rng)
        vessel = replace(vessel, top=tuple(p for p in vessel.top if p not in grease))
        surface = draw_disc(canvas, look, kind, vessel, surface, rng.child("disc"))
    elif kind in ("tin", "plate") and is_batter(mixed):
        surface = draw_baked(canvas, look, kind, vessel, surface, rng.child("baked"))
        if kind == "plate":  # the icing is part of the cake
            vessel = replace(vessel, top=tuple(p for p in vessel.top if p.form != "spread"))
    elif mixed:
        draw = draw_jumble if any(map(is_piece, mixed)) else draw_mass
        draw(canvas, look, mixed, surface, rng.child("mixed"))
    draw_layers(canvas, look, vessel, surface, rng, dry=kind == "plate")


def _draw_burner(canvas: Canvas, look: Look, x: float, y: float, size: float, heat: float) -> None:
    for reach, alpha in ((0.65, 0.14), (0.62, 0.3)):  # the visible part of a shadow
        canvas.ellipse(x, y + 0.02 * size, reach * size, reach * size * look.tilt, glaze(DARK, alpha), line=0.06 * size)
    canvas.ellipse(x, y, 0.6 * size, 0.6 * size * look.tilt, IRON)
    canvas.ellipse(x, y, 0.56 * size, 0.56 * size * look.tilt, shaded(IRON, 0.4))
    glow = blend((120, 70, 50), (255, 120, 30), heat)
    canvas.ellipse(x, y, 0.53 * size, 0.53 * size * look.tilt, glow, line=0.03 * size)


def draw_lid(canvas: Canvas, look: Look, opening: Ground, colour: Rgb) -> None:
    x, y, radius, tilt = opening.x, opening.y, opening.radius * 1.02, look.tilt
    canvas.ellipse(x, y, radius, radius * tilt, shaded(colour, 0.3))
    canvas.ellipse(x, y - 0.06 * radius, radius * 0.94, radius * 0.94 * tilt, colour)
    canvas.ellipse(x - 0.2 * radius, y - 0.14 * radius, radius * 0.5, radius * 0.46 * tilt, lit(colour, 0.3))
    canvas.ellipse(x, y - 0.14 * radius, 0.16 * radius, 0.13 * radius, IRON)
    canvas.ellipse(x - 0.03 * radius, y - 0.19 * radius, 0.1 * radius, 0.06 * radius, lit(IRON, 0.4))


def draw_steam(canvas: Canvas, opening: Ground, rng: Rng, seconds: float = 0.0) -> None:
    """Wisps that wave as they rise, and thin out."""
    for start in (-0.45, 0.02, 0.42):
        phase, tall = rng.uniform(), rng.uniform(0.7, 1.0)
        left, right = [], []
        for at in range(7):
            height = at / 6
            sway = 0.12 * sin(radians(360 * (phase + 0.9 * height - 0.4 * seconds)))
            half = 0.085 * (1 - height) * (0.3 + min(1.0, 4 * height))
            x, y = opening.x + (start + sway) * opening.radius, opening.y - height * tall * opening.radius
            left.append((x - half * opening.radius, y))
            right.append((x + half * opening.radius, y))
        canvas.polygon([*left, *reversed(right)], glaze((255, 255, 255), 0.5))


def draw_trivet(canvas: Canvas, look: Look, x: float, y: float, size: float) -> None:
    """The place of the tin while it is in the oven."""
    wood = look.wood
    canvas.ellipse(x, y + 0.03 * size, 0.42 * size, 0.42 * size * look.tilt, shaded(wood, 0.5))
    canvas.ellipse(x, y, 0.42 * size, 0.42 * size * look.tilt, wood)
    for share in (0.32, 0.2, 0.08):
        canvas.ellipse(x, y, share * size, share * size * look.tilt, shaded(wood, 0.25), line=0.025 * size)


def draw_board(canvas: Canvas, look: Look, vessel: Vessel, x: float, y: float, size: float, rng: Rng) -> None:
    wood = look.wood
    half, depth, thick = 0.68 * size, 0.47 * size * look.tilt, rise(look, 0.06 * size)
    canvas.shadow(x + 0.03 * size, y + 0.05 * size, 0.8 * half * 1.1, depth * 1.1, 0.45)
    canvas.box(x - half, y - depth + thick, x + half, y + depth + thick, shaded(wood, 0.45), radius=0.07 * size)
    canvas.box(x - half, y - depth, x + half, y + depth, wood, radius=0.07 * size)
    grain = rng.child("grain")
    for at in range(4):
        level = y + depth * (-0.7 + 0.45 * at + grain.uniform(-0.1, 0.1))
        left = x - half * grain.uniform(0.5, 0.92)
        canvas.line([(left, level), (left + half * grain.uniform(0.6, 1.2), level)], shaded(wood, 0.12), 0.014 * size)
    side = -1 if look.left_handed else 1
    canvas.ellipse(x + side * 0.9 * half, y - 0.72 * depth, 0.04 * size, 0.04 * size * look.tilt, shaded(wood, 0.6))
    ground = Ground(x, y, 0.42 * size)
    if vessel.mixed:
        dough = is_dough(vessel.mixed)
        body = replace(ground, radius=(0.34 if dough else 0.38) * size)
        draw = draw_jumble if any(map(is_piece, vessel.mixed)) else draw_mass
        draw(canvas, look, vessel.mixed, body, rng.child("mixed"))
    elif vessel.stain and not vessel.top:
        draw_stain(canvas, look, vessel.stain, ground, rng)
    draw_layers(canvas, look, vessel, ground, rng)
