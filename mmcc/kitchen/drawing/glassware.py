"""Glass, jar and blender, with visible contents and level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

from mmcc.kitchen.drawing.canvas import Canvas, Point
from mmcc.kitchen.drawing.contents import Ground, colour_of, draw_stain, fullness, is_piece
from mmcc.kitchen.drawing.ingredients import draw_powder
from mmcc.kitchen.drawing.look import Look, Rgb
from mmcc.kitchen.drawing.pen import Pen, blend, glaze, lit, shaded
from mmcc.kitchen.drawing.pieces import PIECES
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Portion, Vessel


@dataclass(frozen=True)
class Tube:
    """A transparent, round vessel, in shares of its size."""

    base: float
    rim: float
    height: float
    stand: float = 0.0  # of what it stands on


TUBES = {
    "glass": Tube(0.23, 0.29, 0.74),
    "jar": Tube(0.31, 0.31, 0.76),
    "blender": Tube(0.22, 0.31, 0.74, stand=0.26),
}
TRANSPARENT = tuple(TUBES)
FLOATING = ("ice", "chocolate")
PANE: Rgb = (214, 228, 232)
STEEL: Rgb = (70, 72, 78)


def _up(look: Look, height: float) -> float:
    """Glasses look taller than perspective demands: their level must be visible."""
    return height * (0.35 + 0.65 * sqrt(1 - look.tilt**2))


def mouth_of_glass(look: Look, kind: str, x: float, y: float, size: float) -> Ground:
    tube = TUBES[kind]
    return Ground(x, y - _up(look, (tube.stand + tube.height) * size), tube.rim * size)


def draw_glassware(
    canvas: Canvas, look: Look, kind: str, vessel: Vessel, x: float, y: float, size: float, rng: Rng
) -> None:
    tube = TUBES[kind]
    # seen from high above a glass would be all rim; its ellipses stay flat enough to show the level
    flat = replace(look, tilt=min(look.tilt, 0.5))
    canvas.shadow(x + 0.06 * size, y + 0.03 * size, 1.3 * tube.base * size, 1.2 * tube.base * flat.tilt * size, 0.5)
    foot = y - _up(look, tube.stand * size)
    opening = mouth_of_glass(look, kind, x, y, size)
    if kind == "blender":
        _draw_motor(canvas, look, flat.tilt, x, y, foot, tube, size)
    base, rim = tube.base * size, opening.radius
    outline = [(x - rim, opening.y), (x - base, foot), (x + base, foot), (x + rim, opening.y)]
    canvas.ellipse(x, foot, base, base * flat.tilt, glaze(shaded(PANE, 0.2), 0.8))
    canvas.polygon(outline, glaze(PANE, 0.45))
    canvas.ellipse(x, opening.y, rim, rim * flat.tilt, glaze(shaded(PANE, 0.3), 0.5))
    if vessel.portions:
        _draw_filling(canvas, flat, vessel, LiquidColumn(x, foot, foot - opening.y, base, rim), rng)
    elif vessel.stain:
        draw_stain(canvas, flat, vessel.stain, Ground(x, foot, base * 0.9), rng)
        high = opening.y + 0.3 * (foot - opening.y)
        film = [(x - 0.9 * rim, high), (x - 0.9 * base, foot), (x + 0.9 * base, foot), (x + 0.9 * rim, high)]
        canvas.polygon(film, glaze(colour_of(vessel.stain), 0.3))
    canvas.line(
        [(x - 0.78 * rim, opening.y + 0.16 * size), (x - 0.78 * base, foot - 0.04 * size)], glaze((255, 255, 255),
        0.6), 0.035 * size
    )  # fmt: skip
    canvas.line([outline[0], outline[1]], glaze(shaded(PANE, 0.35), 0.7), 0.014 * size)
    canvas.line([outline[3], outline[2]], glaze(shaded(PANE, 0.35), 0.7), 0.014 * size)
    canvas.ellipse(x, opening.y, rim, rim * flat.tilt, lit(PANE, 0.4), line=0.025 * size)
    if kind == "jar":
        canvas.ellipse(
            x, opening.y + 0.07 * size, rim, rim * flat.tilt, glaze(shaded(PANE, 0.3), 0.6), line=0.014 * size
        )
    if vessel.covered or (kind == "blender" and vessel.mixed and not vessel.top):
        draw_cap(canvas, look, kind, opening, flat.tilt)


def _draw_motor(
    canvas: Canvas, look: Look, tilt: float, x: float, y: float, foot: float, tube: Tube, size: float
) -> None:
    colour = look.colour("blender")
    wide, narrow = 0.31 * size, (tube.base + 0.02) * size
    canvas.ellipse(x, y, wide, wide * tilt, shaded(colour, 0.4))
    canvas.polygon([(x - narrow, foot), (x - wide, y), (x + wide, y), (x + narrow, foot)], colour)
    canvas.chord(x, y, wide, wide * tilt, 0, 180, colour)
    canvas.polygon(
        [(x + 0.5 * narrow, foot), (x + 0.5 * wide, y + 0.8 * wide * tilt), (x + wide, y), (x + narrow, foot)],
        shaded(colour, 0.25)
    )  # fmt: skip
    canvas.ellipse(x, foot, narrow, narrow * tilt, STEEL)
    knob = (foot + y) / 2 + 0.25 * wide * tilt + 0.04 * size
    canvas.ellipse(x, knob, 0.07 * size, 0.07 * size, shaded(colour, 0.6))
    canvas.ellipse(x - 0.01 * size, knob - 0.012 * size, 0.045 * size, 0.045 * size, lit(colour, 0.5))


@dataclass(frozen=True)
class LiquidColumn:
    """The room inside; heights are shares of it."""

    x: float
    foot: float
    tall: float
    base: float
    rim: float

    def y(self, height: float) -> float:
        return self.foot - height * self.tall

    def radius(self, height: float) -> float:
        return 0.94 * (self.base + (self.rim - self.base) * height)


def _draw_filling(canvas: Canvas, look: Look, vessel: Vessel, column: LiquidColumn, rng: Rng) -> None:
    """Liquid as high as there are portions, the pieces in it, and what lies on it."""
    pieces = [p for p in vessel.portions if is_piece(p)]
    layers = [tuple(p for p in vessel.mixed if not is_piece(p)), *((p,) for p in vessel.top if not is_piece(p))]
    layers = [layer for layer in layers if any(p.form != "powder" for p in layer)]
    sunk = [p for p in pieces if p.item not in FLOATING or not layers]
    level = 0.14
    if layers:
        level = 0.16 + 0.76 * fullness(vessel)
        _draw_liquid(canvas, look, layers, pieces, column, level)
    _draw_pile(canvas, sunk, column, rng)
    if layers and sunk:
        wet = glaze(colour_of(layers[-1]), 0.3)
        canvas.polygon(_trunk(column, 0.0, level), wet)
    for at, piece in enumerate(pieces):
        if piece not in sunk:
            _draw_floating(canvas, piece, column, level, rng.child(piece.item, "floating", at))
    for powder in vessel.top:
        if powder.form == "powder":
            wide = 1.15 * column.radius(level)
            named = rng.child(powder.item, "powder")
            draw_powder(canvas, look, powder.item, column.x, column.y(level), wide, named, powder.cooked)


def _trunk(column: LiquidColumn, low: float, high: float, left: float = -1.0) -> list[Point]:
    """The column between two heights, from `left` (-1 to 1) to its right edge."""
    return [
        (column.x + left * column.radius(high), column.y(high)),
        (column.x + left * column.radius(low), column.y(low)),
        (column.x + column.radius(low), column.y(low)),
        (column.x + column.radius(high), column.y(high)),
    ]


def _draw_liquid(
    canvas: Canvas,
    look: Look,
    layers: Sequence[Sequence[Portion]],
    pieces: Sequence[Portion],
    column: LiquidColumn,
    level: float,
) -> None:
    """Layer upon layer, each as thick as it has portions."""
    x, tilt = column.x, look.tilt
    dissolving = [p for p in pieces if p.item == "chocolate"]
    total = sum(map(len, layers))
    low = 0.0
    for layer in layers:
        colour = colour_of(layer)
        if dissolving:
            colour = blend(colour, colour_of(dissolving), 0.4)
        high = low + level * len(layer) / total
        canvas.ellipse(x, column.y(low), column.radius(low), column.radius(low) * tilt, shaded(colour, 0.12))
        canvas.polygon(_trunk(column, low, high), colour)
        canvas.polygon(_trunk(column, low, high, left=0.6), shaded(colour, 0.14))
        low = high
    radius = column.radius(level)
    canvas.ellipse(x, column.y(level), radius, radius * tilt, shaded(colour, 0.14))
    canvas.ellipse(x, column.y(level), 0.94 * radius, 0.94 * radius * tilt, lit(colour, 0.22))


def _draw_floating(canvas: Canvas, piece: Portion, column: LiquidColumn, level: float, rng: Rng) -> None:
    radius = column.radius(level)
    for at in range(3):
        x = column.x + (0.5 * at - 0.5 + rng.uniform(-0.08, 0.08)) * radius
        y = column.y(level) + (0.16 if at == 1 else 0.0) * radius
        PIECES[piece.item](Pen(canvas, x, y, 0.48 * column.base, rng.uniform(-40, 40), 0.7), piece.cooked, rng)


def _draw_pile(canvas: Canvas, pieces: Sequence[Portion], column: LiquidColumn, rng: Rng) -> None:
    """Pieces that lie one upon another."""
    each = 6
    named = rng.child("pile")
    for at in range(each * len(pieces)):
        portion = pieces[at // each]
        row, place = divmod(at, 3)
        height = min(0.8, 0.1 + 0.17 * row)
        aside = 0.56 * (place - 1) + (0.16 if row % 2 else -0.1) + named.uniform(-0.1, 0.1)
        x = column.x + aside * column.radius(height)
        y = column.y(height + named.uniform(-0.03, 0.03))
        pen = Pen(canvas, x, y, 0.62 * column.base, named.uniform(-40, 40), 0.75)
        PIECES[portion.item](pen, portion.cooked, named)


def draw_cap(canvas: Canvas, look: Look, kind: str, opening: Ground, tilt: float) -> None:
    """A jar's screw lid, a blender's cover."""
    colour = blend(look.colour(kind), STEEL, 0.5 if kind == "blender" else 0.1)
    radius, deep = opening.radius * 1.05, 0.3 * opening.radius
    canvas.ellipse(opening.x, opening.y + 0.4 * deep, radius, radius * tilt, shaded(colour, 0.35))
    canvas.box(
        opening.x - radius, opening.y - 0.6 * deep, opening.x + radius, opening.y + 0.4 * deep, shaded(colour, 0.22)
    )
    canvas.ellipse(opening.x, opening.y - 0.6 * deep, radius, radius * tilt, colour)
    canvas.ellipse(opening.x, opening.y - 0.6 * deep, 0.75 * radius, 0.75 * radius * tilt, lit(colour, 0.22))
