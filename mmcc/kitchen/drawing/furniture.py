"""What hangs on a kitchen's wall and stands at the back of its counter. Nothing here is ever used by a recipe."""

from __future__ import annotations

import math
from collections.abc import Callable

from mmcc.kitchen.drawing.canvas import Canvas
from mmcc.kitchen.drawing.look import CHINA, FABRICS, Look, Rgb, mix, shade
from mmcc.kitchen.drawing.surfaces import Area, fade_down, soft_light
from mmcc.kitchen.rng import Rng

Piece = Callable[[Canvas, Look, float, float, float, Rng], None]  # canvas, look, x, foot, rise, rng

_GREENS: tuple[Rgb, ...] = ((74, 122, 66), (98, 146, 78), (56, 104, 70), (128, 160, 84))
_METAL: Rgb = (168, 172, 176)
_SPACING = 1.9


def rise(look: Look) -> float:
    """How tall a unit of height appears to a camera of this tilt."""
    return math.sqrt(1 - look.tilt * look.tilt)


def draw_on_wall(canvas: Canvas, look: Look, edge: float, rng: Rng) -> None:
    """Something every two units or so, from left to right."""
    pieces: dict[Piece, float] = {_window: 2.0, _shelf: 2.5, _hooks: 2.5, _cupboard: 2.0, _hood: 0.8, _pictures: 1.0}
    up = rise(look)
    for slot in range(-3, 4):
        piece = rng.weighted(pieces)
        x = slot * _SPACING + rng.uniform(-0.15, 0.15)
        if rng.chance(0.85):
            piece(canvas, look, x, edge - rng.uniform(0.95, 1.2) * up, up, rng.child(slot))


def draw_standing(canvas: Canvas, look: Look, edge: float, rng: Rng) -> None:
    """Things at the back of the counter, in groups with gaps between them."""
    pieces: dict[Piece, float] = {
        _jars: 2.0,
        _crock: 1.5,
        _plant: 1.5,
        _toaster: 1.0,
        _kettle: 1.0,
        _boards: 1.0,
        _knives: 0.8,
        _roll: 0.8,
        _bottles: 1.2,
        _fridge: 0.5,
    }
    x = -6.6 + rng.uniform(0, 0.8)
    while x < 6.6:
        piece = rng.weighted(pieces)
        foot = edge + (0.1 + rng.uniform(0.0, 0.12)) * look.tilt
        piece(canvas, look, x, foot, rise(look), rng.child(round(x * 8)))
        x += rng.uniform(0.8, 1.5) + (0.8 if piece is _fridge else 0.0)


def _rounded(
    canvas: Canvas, x: float, foot: float, half: float, height: float, colour: Rgb, depth: float = 0.3
) -> None:
    """An upright round thing: a cylinder with light from the left."""
    flat = half * depth
    canvas.shadow(x + 0.05, foot, half * 1.15, flat * 1.5, 0.45)
    for left, right, face in (
        (-1.0, 1.0, colour),
        (-1.0, -0.55, shade(colour, 0.12)),
        (0.35, 1.0, shade(colour, -0.14)),
        (0.7, 1.0, shade(colour, -0.24)),
    ):
        canvas.box(x + left * half, foot - height, x + right * half, foot, face)
    canvas.chord(x, foot, half, flat, 0, 180, shade(colour, -0.12))
    canvas.ellipse(x, foot - height, half, flat, shade(colour, 0.2))


def _window(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    half, height = rng.uniform(0.65, 0.8), rng.uniform(1.6, 2.0) * up
    top = foot - height
    frame = rng.pick(((244, 242, 236), shade(look.wood, 0.1)))
    canvas.box(x - half - 0.1, top - 0.1, x + half + 0.1, foot + 0.06, shade(frame, -0.12))
    canvas.box(x - half - 0.07, top - 0.07, x + half + 0.07, foot + 0.03, frame)
    canvas.box(x - half, top, x + half, foot, (186, 216, 236))
    fade_down(canvas, Area(x - half, top, x + half, foot), (250, 250, 244), 0.0, 0.6)
    for _ in range(7):
        leaf = rng.pick(_GREENS)
        radius = rng.uniform(0.15, 0.3)
        bush_x = x + rng.uniform(-1, 1) * (half - radius)
        canvas.ellipse(bush_x, foot - radius * 0.9 * up, radius, radius * up * 0.9, mix(leaf, (220, 236, 220), 0.25))
    canvas.box(x - 0.03, top, x + 0.03, foot, frame)
    canvas.box(x - half, foot - height * 0.55, x + half, foot - height * 0.55 + 0.05, frame)
    if rng.chance(0.6):
        curtain = rng.pick((look.accent, (238, 230, 214)))
        for side in (-1, 1):
            outer, inner = x + side * (half + 0.12), x + side * half * 0.55
            canvas.polygon(
                [(outer, top - 0.1), (inner, top - 0.1), (outer - side * 0.12, foot), (outer, foot)], curtain
            )
            fold = (outer + inner) / 2 + side * 0.06
            canvas.line([(fold, top - 0.05), (outer - side * 0.07, foot - 0.05)], shade(curtain, -0.15), 0.03)
    canvas.box(x - half - 0.16, foot + 0.02, x + half + 0.16, foot + 0.1, shade(frame, 0.05))


def _shelf(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    half = 0.82
    for level in range(2):
        y = foot - level * 0.75 * up
        canvas.shadow(x, y + 0.13, half, 0.1, 0.35)
        at = x - half + 0.14
        while at < x + half - 0.12:
            kind = rng.weighted({"jar": 3, "cup": 2, "book": 2, "leaf": 1})
            _on_shelf(canvas, kind, at, y, up, rng)
            at += rng.uniform(0.2, 0.32)
        canvas.box(x - half, y, x + half, y + 0.09, look.wood)
        canvas.box(x - half, y, x + half, y + 0.025, shade(look.wood, 0.25))
        canvas.box(x - half, y + 0.07, x + half, y + 0.09, shade(look.wood, -0.3))


def _on_shelf(canvas: Canvas, kind: str, x: float, foot: float, up: float, rng: Rng) -> None:
    colour = rng.pick(FABRICS)
    if kind == "book":
        height = rng.uniform(0.34, 0.5) * up
        canvas.box(x - 0.06, foot - height, x + 0.06, foot, colour)
        canvas.box(x - 0.06, foot - height * 0.8, x + 0.06, foot - height * 0.7, shade(colour, 0.4))
    elif kind == "cup":
        cup = rng.pick(CHINA)
        canvas.box(x - 0.1, foot - 0.2 * up, x + 0.1, foot, cup, radius=0.04)
        canvas.ellipse(x + 0.12, foot - 0.11 * up, 0.06, 0.06, shade(cup, -0.1), line=0.025)
        canvas.box(x - 0.1, foot - 0.2 * up, x + 0.1, foot - 0.17 * up, shade(cup, -0.12))
    elif kind == "jar":
        height = rng.uniform(0.26, 0.4) * up
        canvas.box(x - 0.1, foot - height, x + 0.1, foot, mix(colour, (222, 226, 222), 0.45), radius=0.03)
        canvas.box(x - 0.07, foot - height * 0.85, x - 0.03, foot - 0.05, (250, 250, 246, 130))
        canvas.box(x - 0.1, foot - height - 0.06, x + 0.1, foot - height + 0.02, shade(colour, -0.3), radius=0.02)
    else:
        canvas.box(x - 0.08, foot - 0.15 * up, x + 0.08, foot, (188, 108, 78))
        for angle in range(5):
            tip = x + (angle - 2) * 0.07
            canvas.line([(x, foot - 0.14 * up), (tip, foot - 0.42 * up)], _GREENS[angle % 4], 0.04)


def _hooks(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    """A rail from which tools and a towel hang; its lowest point is above `foot`."""
    rail = foot - 0.75 * up
    canvas.line([(x - 0.82, rail), (x + 0.82, rail)], shade(_METAL, -0.4), 0.05)
    canvas.line([(x - 0.82, rail - 0.012), (x + 0.82, rail - 0.012)], shade(_METAL, 0.2), 0.015)
    for at, tool in enumerate(rng.sample(("ladle", "turner", "spoon", "sieve", "towel", "mitt"), 5)):
        hook = x - 0.66 + at * 0.33
        metal = rng.pick((_METAL, look.wood, (70, 72, 76)))
        if tool == "towel":
            canvas.box(hook - 0.15, rail, hook + 0.15, rail + 0.7 * up, look.accent)
            for line in range(3):
                y = rail + (0.45 + 0.07 * line) * up
                canvas.box(hook - 0.15, y, hook + 0.15, y + 0.025, shade(look.accent, 0.5))
            canvas.box(hook + 0.06, rail, hook + 0.15, rail + 0.7 * up, shade(look.accent, -0.15))
            continue
        if tool == "mitt":
            canvas.ellipse(hook, rail + 0.42 * up, 0.14, 0.26 * up, look.accent)
            canvas.ellipse(hook + 0.13, rail + 0.4 * up, 0.06, 0.13 * up, look.accent)
            canvas.box(hook - 0.1, rail + 0.12 * up, hook + 0.1, rail + 0.2 * up, shade(look.accent, 0.5))
            continue
        end = rail + 0.5 * up
        canvas.line([(hook, rail + 0.02), (hook, end)], metal, 0.045)
        if tool == "turner":
            canvas.box(hook - 0.1, end, hook + 0.1, end + 0.24 * up, metal, radius=0.03)
        else:
            canvas.ellipse(hook, end + 0.08 * up, 0.11, 0.13 * up, metal)
            inner = shade(metal, -0.25) if tool != "sieve" else shade(metal, 0.3)
            canvas.ellipse(hook, end + 0.09 * up, 0.07, 0.08 * up, inner)


def _cupboard(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    half, top = _SPACING / 2 + 0.05, foot - 2.6 * up
    canvas.shadow(x, foot, half, 0.18, 0.5)
    canvas.box(x - half, top, x + half, foot, look.cabinet)
    canvas.box(x - half, foot - 0.06, x + half, foot, shade(look.cabinet, -0.3))
    glass = rng.chance(0.3)
    for side in (-1, 1):
        inner, outer = sorted((x + side * 0.04, x + side * (half - 0.04)))
        canvas.box(inner, top, outer, foot - 0.1, shade(look.cabinet, 0.1), radius=0.03)
        panel = (196, 212, 216) if glass else shade(look.cabinet, -0.04)
        canvas.box(inner + 0.12, top, outer - 0.12, foot - 0.24, panel, radius=0.02)
        if glass:
            for cup in range(3):
                middle = inner + 0.22 + cup * 0.2
                canvas.box(
                    middle - 0.07, foot - 0.26 - 0.2 * up, middle + 0.07, foot - 0.26, rng.pick(CHINA), radius=0.02
                )
        canvas.ellipse(x + side * 0.13, foot - 0.3 * up, 0.035, 0.035, (74, 68, 62))


def _hood(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    colour = rng.pick((_METAL, (226, 224, 218), (70, 72, 76), look.cabinet))
    canvas.box(x - 0.3, foot - 4 * up, x + 0.3, foot - 0.5 * up, shade(colour, -0.06))
    canvas.polygon([(x - 0.3, foot - 0.75 * up), (x + 0.3, foot - 0.75 * up), (x + 0.9, foot), (x - 0.9, foot)], colour)
    canvas.polygon([(x + 0.05, foot - 0.75 * up), (x + 0.3, foot - 0.75 * up), (x + 0.9, foot)], shade(colour, -0.12))
    canvas.box(x - 0.9, foot - 0.02, x + 0.9, foot + 0.1, shade(colour, -0.25))
    soft_light(canvas, x, foot + 0.4 * up, 1.0, 0.7 * up, (255, 240, 200), 0.4)


def _pictures(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    for at in range(rng.integer(1, 3)):
        middle, height = x - 0.55 + at * 0.55, rng.uniform(0.5, 0.7) * up
        y = foot - rng.uniform(0.1, 0.4) * up
        canvas.box(middle - 0.24, y - height, middle + 0.24, y, shade(look.wood, -0.2))
        canvas.box(middle - 0.2, y - height + 0.04, middle + 0.2, y - 0.04, (242, 238, 226))
        colour = rng.pick(FABRICS)
        canvas.ellipse(middle, y - height / 2, 0.11, 0.14 * up, colour)
        canvas.line([(middle, y - height * 0.6), (middle + 0.05, y - height * 0.85)], rng.pick(_GREENS), 0.03)


def _jars(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    lid = rng.pick((look.wood, _METAL, look.accent))
    china = rng.pick(CHINA)
    for at in range(rng.integer(2, 3)):
        half, height = 0.15 - 0.015 * at, (0.5 - 0.09 * at) * up
        middle = x + at * 0.33
        _rounded(canvas, middle, foot, half, height, china)
        canvas.box(middle - 0.08, foot - height * 0.65, middle + 0.08, foot - height * 0.35, shade(china, -0.25))
        canvas.box(middle - half, foot - height - 0.08, middle + half, foot - height + 0.02, lid, radius=0.03)


def _crock(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    for _ in range(5):
        lean, length = rng.uniform(-0.2, 0.2), rng.uniform(0.65, 0.9) * up
        tool = rng.pick((look.wood, shade(look.wood, 0.2), _METAL, (66, 66, 70)))
        tip = (x + lean, foot - length)
        canvas.line([(x + lean * 0.3, foot - 0.3 * up), tip], tool, 0.045)
        canvas.ellipse(*tip, 0.07, 0.1 * up, tool)
    _rounded(canvas, x, foot, 0.19, 0.42 * up, rng.pick(CHINA))


def _plant(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    pot = rng.pick(((188, 108, 78), *CHINA[:4], look.accent))
    _rounded(canvas, x, foot, 0.2, 0.3 * up, pot)
    for leaf in range(14):
        reach, height = rng.uniform(-0.34, 0.34), rng.uniform(0.35, 0.85) * up
        radius = rng.uniform(0.08, 0.13)
        canvas.ellipse(x + reach, foot - height, radius, radius * 0.8, _GREENS[leaf % 4])
        canvas.ellipse(
            x + reach - 0.03, foot - height - 0.03, radius * 0.5, radius * 0.35, shade(_GREENS[leaf % 4], 0.2)
        )


def _toaster(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    colour = rng.pick((_METAL, look.accent, (226, 222, 210), (186, 70, 60)))
    canvas.shadow(x, foot, 0.45, 0.14, 0.45)
    canvas.box(x - 0.36, foot - 0.45 * up, x + 0.36, foot, colour, radius=0.1)
    canvas.box(x - 0.36, foot - 0.12 * up, x + 0.36, foot, shade(colour, -0.2), radius=0.04)
    canvas.box(x - 0.28, foot - 0.36 * up, x - 0.2, foot - 0.16 * up, shade(colour, 0.35), radius=0.03)
    canvas.box(x - 0.26, foot - 0.46 * up, x + 0.26, foot - 0.42 * up, (50, 48, 46))
    canvas.box(x + 0.36, foot - 0.34 * up, x + 0.43, foot - 0.26 * up, (60, 58, 56))


def _kettle(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    colour = rng.pick((_METAL, look.accent, (60, 62, 66), (228, 224, 214)))
    top = foot - 0.5 * up
    canvas.shadow(x, foot, 0.36, 0.13, 0.45)
    canvas.polygon(
        [(x + 0.15, foot - 0.2 * up), (x + 0.42, top), (x + 0.33, top), (x + 0.12, foot - 0.35 * up)], colour
    )
    canvas.arc(x, top, 0.25, 0.26 * up, 180, 360, (54, 50, 48), 0.06)
    canvas.ellipse(x, foot - 0.2 * up, 0.3, 0.22 * up, shade(colour, -0.12))
    canvas.polygon([(x - 0.3, foot - 0.2 * up), (x - 0.16, top), (x + 0.16, top), (x + 0.3, foot - 0.2 * up)], colour)
    canvas.ellipse(x, top, 0.16, 0.05, shade(colour, 0.2))
    canvas.ellipse(x - 0.13, foot - 0.27 * up, 0.05, 0.1 * up, shade(colour, 0.4))
    canvas.ellipse(x, top - 0.05, 0.05, 0.04, (54, 50, 48))


def _boards(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    for at, tone in enumerate((-0.15, 0.1)):
        left, height = x - 0.35 + at * 0.22, (0.95 - 0.25 * at) * up
        face = shade(look.wood, tone)
        canvas.shadow(left + 0.3, foot, 0.34, 0.07, 0.4)
        canvas.box(left, foot - height, left + 0.55, foot, shade(face, -0.2), radius=0.08)
        canvas.box(left, foot - height, left + 0.52, foot - 0.02, face, radius=0.08)
        canvas.ellipse(left + 0.26, foot - height + 0.12, 0.045, 0.045, shade(face, -0.4))


def _knives(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    face = shade(look.wood, -0.1)
    canvas.shadow(x, foot, 0.3, 0.12, 0.45)
    for at in range(3):
        start = (x - 0.1 + at * 0.13, foot - (0.55 - 0.05 * at) * up)
        canvas.line([start, (start[0] - 0.1, start[1] - 0.22 * up)], (48, 44, 44), 0.065)
    canvas.polygon([(x - 0.2, foot), (x + 0.26, foot), (x + 0.26, foot - 0.4 * up), (x - 0.18, foot - 0.58 * up)], face)
    canvas.polygon([(x + 0.16, foot), (x + 0.26, foot), (x + 0.26, foot - 0.4 * up)], shade(face, -0.25))


def _roll(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    canvas.ellipse(x, foot, 0.24, 0.08, shade(look.wood, -0.2))
    _rounded(canvas, x, foot - 0.03, 0.17, 0.55 * up, (240, 238, 232))
    canvas.line([(x, foot - 0.56 * up), (x, foot - 0.68 * up)], look.wood, 0.05)


def _bottles(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    for at in range(rng.integer(1, 3)):
        middle, height = x + at * 0.25, rng.uniform(0.55, 0.8) * up
        glass = rng.pick(((70, 98, 62), (110, 70, 40), (188, 206, 206), (120, 40, 44), (206, 176, 84)))
        canvas.shadow(middle, foot, 0.13, 0.05, 0.4)
        canvas.box(middle - 0.035, foot - height, middle + 0.035, foot - height * 0.6, glass)
        canvas.box(middle - 0.1, foot - height * 0.7, middle + 0.1, foot, glass, radius=0.05)
        canvas.box(middle - 0.1, foot - height * 0.45, middle + 0.1, foot - height * 0.2, shade(glass, 0.7))
        canvas.box(middle - 0.07, foot - height * 0.62, middle - 0.04, foot - 0.05, shade(glass, 0.4))
        canvas.box(middle - 0.045, foot - height - 0.05, middle + 0.045, foot - height + 0.04, shade(glass, -0.4))


def _fridge(canvas: Canvas, look: Look, x: float, foot: float, up: float, rng: Rng) -> None:
    colour = rng.pick(((232, 232, 228), _METAL, (186, 208, 204), (196, 90, 78), (70, 74, 80)))
    left, right, top = x, x + 1.5, foot - 3.4 * up
    canvas.shadow(x + 0.75, foot, 0.9, 0.12, 0.5)
    canvas.box(left, top, right, foot + 0.02, colour, radius=0.08)
    canvas.box(right - 0.14, top, right, foot + 0.02, shade(colour, -0.14), radius=0.06)
    canvas.box(left, foot - 1.5 * up, right, foot - 1.46 * up, shade(colour, -0.35))
    for y in (foot - 1.35 * up, foot - 2.1 * up):
        canvas.box(left + 0.1, y, left + 0.17, y + 0.5 * up, shade(colour, -0.45), radius=0.03)
    for _ in range(3):
        note_x, note_y = rng.uniform(left + 0.4, right - 0.4), foot - rng.uniform(1.7, 2.6) * up
        canvas.box(note_x, note_y, note_x + 0.18, note_y + 0.16, rng.pick(FABRICS))
