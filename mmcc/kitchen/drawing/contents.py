"""The contents of a vessel, seen from above: one mass, a jumble of pieces, and what lies on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, floor, radians, sin

from mmcc.kitchen.drawing.canvas import Canvas
from mmcc.kitchen.drawing.ingredients import (
    GOLDEN_ANGLE,
    GRAINS,
    PIECE_SIZES,
    draw_cracked_egg,
    draw_ingredient,
    draw_pieces,
    draw_pool,
    draw_powder,
    places,
)
from mmcc.kitchen.drawing.look import Look, Rgb
from mmcc.kitchen.drawing.palette import TONES, inside
from mmcc.kitchen.drawing.pen import Pen, blend, glaze, lit, shaded
from mmcc.kitchen.drawing.pieces import PIECES
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Portion, Vessel

EMPTY: Rgb = (236, 232, 224)
WIDTHS = {"bread": 1.15, "rice": 1.35, "pasta": 1.4, "steak": 1.25, "ice": 0.8, "butter": 0.6}  # whole
DOUGH: Rgb = (234, 202, 146)


def colour_of(portions: Sequence[Portion]) -> Rgb:
    """The colour of a mix: the mean of its colours, each as strong as its ingredient and as brown as it is cooked."""
    weights = [_tone_strength(portion.item) for portion in portions]
    total = sum(weights)
    if not total:
        return EMPTY
    colours = [inside(portion.item, portion.cooked) for portion in portions]
    red, green, blue = (
        floor(sum(weight * colour[band] for weight, colour in zip(weights, colours, strict=True)) / total + 0.5)
        for band in range(3)
    )
    return red, green, blue


def _tone_strength(item: str) -> float:
    if item not in TONES:
        raise KeyError(f"no such ingredient: {item}")
    return TONES[item].strength


def is_piece(portion: Portion) -> bool:
    """Whether it keeps its shape when it is stirred."""
    return portion.form in ("cut", "whole", "peeled") and portion.item in PIECES


def is_dough(portions: Sequence[Portion]) -> bool:
    """Kneaded flour, with nothing that makes it run."""
    items = {portion.item for portion in portions}
    return "flour" in items and not items & {"milk", "water", "cream", "egg"}


def is_mash(portions: Sequence[Portion]) -> bool:
    return any(portion.item == "potato" and portion.form == "smooth" for portion in portions)


def cooked_of(portions: Sequence[Portion]) -> float:
    return max((portion.cooked for portion in portions), default=0.0)


def fullness(vessel: Vessel) -> float:
    """0 when empty, towards 1 with every portion."""
    return 1.0 - 0.76 ** len(vessel.portions)


@dataclass(frozen=True)
class Ground:
    """The disc, as the camera sees it, on which contents lie."""

    x: float
    y: float
    radius: float


def mass_colour(portions: Sequence[Portion]) -> Rgb:
    """Of something mixed smooth: kneaded flour is no longer white."""
    colour = colour_of(portions)
    return blend(colour, DOUGH, 0.6 * (1 - cooked_of(portions))) if is_dough(portions) else colour


def draw_mass(canvas: Canvas, look: Look, portions: Sequence[Portion], ground: Ground, rng: Rng) -> None:
    """A liquid or batter that fills the ground from edge to edge; dough and mash stand up in it."""
    colour = mass_colour(portions)
    x, y, radius, tilt = ground.x, ground.y, ground.radius, look.tilt
    if is_dough(portions) or is_mash(portions):
        _draw_mound(canvas, look, colour, ground, rng, rough=is_mash(portions))
        return
    canvas.ellipse(x, y, radius, radius * tilt, shaded(colour, 0.24))
    canvas.ellipse(x, y + 0.02 * radius, radius * 0.95, radius * 0.95 * tilt, colour)
    turn = rng.uniform(0, 360)
    for share, tone in ((0.68, lit(colour, 0.28)), (0.4, shaded(colour, 0.1))):  # the swirl of the spoon
        canvas.arc(x, y, radius * share, radius * share * tilt, turn, turn + 200, tone, 0.035 * radius)
        turn += 140
    canvas.ellipse(x - 0.5 * radius, y - 0.46 * radius * tilt, 0.16 * radius, 0.06 * radius, lit(colour, 0.65))


def _draw_mound(canvas: Canvas, look: Look, colour: Rgb, ground: Ground, rng: Rng, *, rough: bool) -> None:
    x, y, radius, tilt = ground.x, ground.y, ground.radius * 0.92, look.tilt
    rise = 0.2 * radius
    canvas.ellipse(x, y + 0.05 * radius, radius, radius * tilt, shaded(colour, 0.36))
    canvas.ellipse(x, y - 0.3 * rise, radius * 0.96, radius * 0.96 * tilt, shaded(colour, 0.08))
    canvas.ellipse(x - 0.06 * radius, y - rise, radius * 0.76, radius * 0.74 * tilt, lit(colour, 0.14))
    if rough:
        for dx, dy in places(9, 0.74 * radius, rng):
            size = radius * rng.uniform(0.16, 0.24)
            canvas.ellipse(x + dx, y + dy * tilt - 0.4 * rise, size, size * 0.7, shaded(colour, 0.14))
            canvas.ellipse(x + dx - 0.02, y + dy * tilt - 0.7 * rise, size * 0.85, size * 0.55, lit(colour, 0.3))
    else:
        canvas.arc(x, y - 0.6 * rise, radius * 0.5, radius * 0.4 * tilt, 20, 150, shaded(colour, 0.2), 0.04 * radius)
        canvas.ellipse(x - 0.3 * radius, y - 1.4 * rise, 0.2 * radius, 0.1 * radius, lit(colour, 0.5))


def draw_jumble(canvas: Canvas, look: Look, portions: Sequence[Portion], ground: Ground, rng: Rng) -> None:
    """Pieces of everything stirred together, over the liquid between them."""
    runny = [portion for portion in portions if not is_piece(portion)]
    pieces = [portion for portion in portions if is_piece(portion)]
    x, y, radius, tilt = ground.x, ground.y, ground.radius, look.tilt
    bed = colour_of(portions if any(p.item == "rice" for p in pieces) else runny or portions)
    canvas.ellipse(x, y, radius, radius * tilt, shaded(bed, 0.3))
    canvas.ellipse(x, y - 0.03 * radius, radius * 0.92, radius * 0.9 * tilt, shaded(bed, 0.06))
    count = 20 + 2 * len(pieces)
    shown = pieces + [p for p in runny if p.form == "cracked"]
    order = rng.shuffled([shown[at % len(shown)] for at in range(count)])
    for portion, (dx, dy) in zip(order, places(count, 0.84 * radius, rng), strict=True):
        spot_x, spot_y = x + dx, y + dy * tilt - 0.06 * radius
        if portion.form == "cracked":
            yellow = inside("egg", portion.cooked)
            canvas.ellipse(spot_x, spot_y + 0.03 * radius, 0.17 * radius, 0.12 * radius, shaded(yellow, 0.3))
            canvas.ellipse(spot_x, spot_y, 0.16 * radius, 0.1 * radius, lit(yellow, 0.25))
            continue
        size = (0.5 + 0.6 * PIECE_SIZES[portion.item]) * 0.44 * radius
        pen = Pen(canvas, spot_x, spot_y, size * rng.uniform(0.85, 1.15), rng.uniform(0, 360), tilt)
        PIECES[portion.item](pen, portion.cooked, rng)


def draw_layers(canvas: Canvas, look: Look, vessel: Vessel, ground: Ground, rng: Rng, *, dry: bool = False) -> None:
    """What lies on top, in order of arrival; on a `dry` ground what was poured only makes a stain."""
    seen: dict[tuple[str, str], int] = {}
    for at, portion in enumerate(vessel.top):
        key = (portion.item, portion.form)
        seen[key] = seen.get(key, 0) + 1
        named = rng.child(portion.item, portion.form, seen[key])  # later portions do not move earlier ones
        distance = (0.4 if at else 0.14) * ground.radius * named.uniform(0.7, 1.2)
        angle = radians(GOLDEN_ANGLE * at + 40 * named.uniform())
        spot = Ground(ground.x + distance * cos(angle), ground.y + distance * sin(angle) * look.tilt, ground.radius)
        below = vessel.mixed + vessel.top[:at]
        _draw_portion(canvas, look, portion, below, ground, spot, named, dry=dry)


def _draw_portion(
    canvas: Canvas,
    look: Look,
    portion: Portion,
    below: Sequence[Portion],
    ground: Ground,
    spot: Ground,
    rng: Rng,
    *,
    dry: bool,
) -> None:
    item, form, cooked, radius = portion.item, portion.form, portion.cooked, ground.radius
    slices = sum(p.item in ("bread", "cheese") for p in below)
    on_bread = any(p.item == "bread" for p in below)
    raised = Ground(ground.x, ground.y - 0.1 * slices * radius, radius) if on_bread else spot
    if form in ("poured", "juice"):
        _draw_liquid(canvas, look, portion, below, ground, spot, rng, dry=dry)
    elif form == "smooth":
        draw_mass(canvas, look, [portion], Ground(spot.x, spot.y, 0.6 * radius), rng)
    elif form == "powder":
        strewn = item in GRAINS
        on_steak = any(p.item == "steak" for p in below)
        centre = ground if strewn else spot
        width = radius * ((1.0 if on_steak else 1.5) if strewn else 1.1)
        draw_powder(canvas, look, item, centre.x, centre.y, width, rng, cooked)
    elif form == "cracked":
        draw_cracked_egg(canvas, look, spot.x, spot.y, 1.1 * radius, rng, cooked)
    elif form == "spread":
        reach = 0.44 if on_bread else 0.7
        draw_pool(canvas, look, inside(item, cooked), raised.x, raised.y, reach * radius, rng, thick=0.05)
    elif form == "cut" and item in PIECES:
        if item == "tomato" and cooked > 0.3:
            draw_pool(canvas, look, inside(item, cooked), spot.x, spot.y, 0.62 * radius, rng)
        piece = PIECE_SIZES[item] * radius * (1.4 if item in ("bread", "cheese") else 1.08)
        reach = 0.2 if item == "cheese" and on_bread else 0.56
        draw_pieces(canvas, look, item, raised.x, raised.y - 0.03 * radius, reach * radius, piece, rng, cooked)
    else:
        if item == "pasta":  # it softens in boiling water
            cooked = 1.0 if dry else max(cooked, cooked_of(below))
        centre = raised if item == "bread" else ground if item in ("rice", "steak") else spot
        width = radius * WIDTHS.get(item, 1.2)
        draw_ingredient(canvas, look, item, form, centre.x, centre.y - 0.04 * radius, width, rng, cooked)


def _draw_liquid(
    canvas: Canvas,
    look: Look,
    portion: Portion,
    below: Sequence[Portion],
    ground: Ground,
    spot: Ground,
    rng: Rng,
    *,
    dry: bool,
) -> None:
    colour, radius, tilt = inside(portion.item, portion.cooked), ground.radius, look.tilt
    if dry:
        canvas.ellipse(ground.x, ground.y, 0.94 * radius, 0.94 * radius * tilt, glaze(colour, 0.18))
    elif portion.item == "oil":
        for dx, dy in places(5, 0.6 * radius, rng):
            size = radius * rng.uniform(0.16, 0.34)
            x, y = ground.x + dx, ground.y + dy * tilt
            canvas.ellipse(x, y, size, size * tilt, glaze(colour, 0.62))
            canvas.ellipse(x - 0.3 * size, y - 0.3 * size * tilt, 0.24 * size, 0.14 * size, lit(colour, 0.7))
    elif portion.item == "water":
        _draw_water(canvas, look, portion, below, ground, rng)
    elif not any(is_piece(p) or p.form in ("powder", "smooth", "cracked") for p in below) and portion.item == "milk":
        canvas.ellipse(ground.x, ground.y, radius, radius * tilt, shaded(colour, 0.16))
        canvas.ellipse(ground.x, ground.y + 0.02 * radius, 0.94 * radius, 0.94 * radius * tilt, colour)
        glint_x, glint_y = ground.x - 0.4 * radius, ground.y - 0.4 * radius * tilt
        canvas.ellipse(glint_x, glint_y, 0.2 * radius, 0.07 * radius, (255, 255, 255))
    else:
        draw_pool(canvas, look, colour, spot.x, spot.y, (0.45 if portion.item == "butter" else 0.66) * radius, rng)


def _draw_water(
    canvas: Canvas, look: Look, portion: Portion, below: Sequence[Portion], ground: Ground, rng: Rng
) -> None:
    """Transparent; coloured by what boils in it, with bubbles."""
    x, y, radius, tilt = ground.x, ground.y, ground.radius, look.tilt
    colour = inside("water")
    if below:
        colour = blend(colour, colour_of(below), 0.5 * portion.cooked)
    canvas.ellipse(x, y, radius, radius * tilt, glaze(shaded(colour, 0.16), 0.5))
    canvas.ellipse(x, y + 0.02 * radius, 0.93 * radius, 0.92 * radius * tilt, glaze(colour, 0.45))
    light = lit(colour, 0.7)
    if portion.cooked > 0.4:
        for dx, dy in places(9, 0.78 * radius, rng):
            size = radius * rng.uniform(0.05, 0.11)
            canvas.ellipse(x + dx, y + dy * tilt, size, 0.8 * size, light, line=0.025 * radius)
        return
    for share, start in ((0.7, 200), (0.5, 30)):
        canvas.arc(x, y, share * radius, share * radius * tilt, start, start + 70, light, 0.03 * radius)


def draw_stain(canvas: Canvas, look: Look, stain: Sequence[Portion], ground: Ground, rng: Rng) -> None:
    """What stuck when the vessel was emptied."""
    colour = colour_of(stain)
    for dx, dy in places(7, 0.8 * ground.radius, rng):
        size = ground.radius * rng.uniform(0.06, 0.24)
        canvas.ellipse(
            ground.x + dx, ground.y + dy * look.tilt, size, size * look.tilt, glaze(shaded(colour, 0.12), 0.7)
        )
    reach = 0.86 * ground.radius
    smear = glaze(shaded(colour, 0.12), 0.75)
    start = rng.uniform(0, 360)
    canvas.arc(ground.x, ground.y, reach, reach * look.tilt, start, start + 80, smear, 0.08 * ground.radius)
