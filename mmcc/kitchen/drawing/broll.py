"""Pictures from elsewhere that a video cuts to. No clock, no sunset: none of them reveals the time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from mmcc.kitchen.drawing.camera import draw_phases, sway
from mmcc.kitchen.drawing.canvas import Canvas, Point
from mmcc.kitchen.drawing.ingredients import draw_ingredient
from mmcc.kitchen.drawing.look import CHINA, FABRICS, Look, Rgb, draw_look, mix, shade
from mmcc.kitchen.drawing.people import Face, Figure, draw_body, draw_head
from mmcc.kitchen.drawing.surfaces import Area, draw_counter, fade_down, soft_light
from mmcc.kitchen.recipes import PIECES
from mmcc.kitchen.rng import Rng

_SKIES: tuple[Rgb, ...] = ((150, 198, 232), (186, 214, 232), (206, 216, 224), (120, 176, 220))
_GREENS: tuple[Rgb, ...] = ((74, 122, 66), (98, 146, 78), (56, 104, 70), (128, 160, 84))
_BRIGHT: tuple[Rgb, ...] = (
    (214, 60, 50),
    (240, 150, 50),
    (244, 206, 70),
    (120, 170, 70),
    (120, 60, 110),
    (226, 110, 120),
)


def draw_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    _scene(rng)[0](canvas, look, rng.child("details"))


def draw_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    _scene(rng)[1](canvas, look, rng.child("details"), seconds)


def _sky(canvas: Canvas, bottom: float, rng: Rng) -> None:
    canvas.box(-1, -1, 1, bottom, rng.pick(_SKIES))
    fade_down(canvas, Area(-1, -1, 1, bottom), (255, 252, 240), 0.0, 0.6)
    for _ in range(rng.integer(0, 4)):
        x, y, size = rng.uniform(-0.9, 0.9), rng.uniform(-0.9, -0.45), rng.uniform(0.08, 0.16)
        for offset in (-1.0, 0.0, 1.1):
            canvas.ellipse(x + offset * size, y, size * 1.1, size * (0.6 - 0.15 * abs(offset)), (252, 252, 250))


@lru_cache(maxsize=64)
def _stranger(name: str) -> Look:
    return draw_look(Rng(name))


def _people(canvas: Canvas, rng: Rng, places: list[Point], scale: float) -> list[Figure]:
    return [Figure(canvas, _stranger(rng.child("face", at).name), *place, scale) for at, place in enumerate(places)]


def _draw_faces(figures: list[Figure], rng: Rng, seconds: float) -> None:
    for figure in figures:
        chance = rng.child("talk", figure.look.seed)
        turn, talk = draw_phases(chance), draw_phases(chance)
        moved = figure.moved(0.15 * sway(seconds * 0.7, turn), 0.07 * sway(seconds, talk))
        draw_head(moved, Face(mouth=0.5 + 0.6 * sway(seconds * 2, talk), gaze=sway(seconds * 0.6, turn)))


def _market_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    canvas.box(-1, -1, 1, 1, mix(rng.pick(FABRICS), (236, 226, 206), 0.6))
    fade_down(canvas, Area(-1, -0.5, 1, 0.2), (40, 30, 26), 0.45, 0.05)
    for figure in _market_people(canvas, rng):
        draw_body(figure)
    cloth = rng.pick(FABRICS)
    for stripe in range(10):
        left = -1 + stripe * 0.2
        colour = cloth if stripe % 2 else (244, 240, 230)
        canvas.box(left, -1, left + 0.2, -0.55, colour)
        canvas.ellipse(left + 0.1, -0.55, 0.1, 0.08, colour)
    for row, y in enumerate((0.12, 0.48, 0.84)):
        for column in range(4):
            left = -1.05 + column * 0.52 + (row % 2) * 0.1
            _crate(canvas, left, y, rng)


def _market_people(canvas: Canvas, rng: Rng) -> list[Figure]:
    return _people(canvas, rng, [(-0.35, -0.3), (0.4, -0.28)], 0.13)


def _crate(canvas: Canvas, left: float, y: float, rng: Rng) -> None:
    wood: Rgb = (176, 132, 84)
    fruit = rng.pick(_BRIGHT)
    canvas.box(left, y - 0.1, left + 0.5, y, shade(wood, -0.4))
    for line in range(2):
        for at in range(6 - line):
            x = left + 0.06 + line * 0.04 + at * 0.08
            canvas.ellipse(x, y - 0.04 - line * 0.06, 0.05, 0.05, shade(fruit, -0.12))
            canvas.ellipse(x - 0.01, y - 0.05 - line * 0.06, 0.04, 0.04, fruit)
            canvas.ellipse(x - 0.02, y - 0.065 - line * 0.06, 0.012, 0.012, shade(fruit, 0.5))
    canvas.box(left, y, left + 0.5, y + 0.22, wood)
    canvas.box(left, y + 0.1, left + 0.5, y + 0.12, shade(wood, -0.35))
    canvas.box(left, y, left + 0.5, y + 0.02, shade(wood, 0.25))


def _market_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    _draw_faces(_market_people(canvas, rng), rng, seconds)


def _garden_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    canvas.box(-1, -1, 1, 1, look.wall)
    canvas.box(-0.74, -0.8, 0.74, 0.55, (246, 244, 238))
    _sky(canvas, 0.2, rng)
    canvas.box(-0.74, 0.2, 0.74, 0.55, (112, 150, 84))
    for _ in range(26):
        radius = rng.uniform(0.1, 0.22)
        x, y = rng.uniform(-0.7, 0.7), rng.uniform(-0.1, 0.45)
        leaf = mix(rng.pick(_GREENS), (230, 240, 220), max(0.0, 0.3 - y))
        canvas.ellipse(x, y, radius, radius * 0.8, leaf)
        canvas.ellipse(x - 0.03, y - 0.04, radius * 0.5, radius * 0.35, shade(leaf, 0.14))
    for _ in range(9):
        x, y = rng.uniform(-0.65, 0.65), rng.uniform(0.15, 0.5)
        canvas.ellipse(x, y, 0.035, 0.035, rng.pick(_BRIGHT))
    for left, top, right, bottom in ((-1, -1, 1, -0.8), (-1, -1, -0.74, 1), (0.74, -1, 1, 1), (-1, 0.55, 1, 1)):
        canvas.box(left, top, right, bottom, look.wall)
    frame = shade(look.cabinet, 0.3)
    for left, top, right, bottom in ((-0.8, -0.86, 0.8, -0.78), (-0.8, -0.86, -0.72, 0.55), (0.72, -0.86, 0.8, 0.55)):
        canvas.box(left, top, right, bottom, frame)
    canvas.box(-0.03, -0.8, 0.03, 0.55, frame)
    canvas.box(-0.74, -0.25, 0.74, -0.2, frame)
    canvas.box(-0.88, 0.52, 0.88, 0.6, shade(frame, 0.2))
    fade_down(canvas, Area(-0.88, 0.6, 0.88, 0.72), (30, 24, 20), 0.35, 0.0)


def _garden_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    """A butterfly."""
    chance = rng.child("butterfly")
    across, upwards, wings = draw_phases(chance), draw_phases(chance), chance.pick(_BRIGHT)
    x, y = 0.4 * sway(seconds * 0.5, across), 0.1 + 0.25 * sway(seconds * 0.4, upwards)
    spread = 0.05 + 0.035 * sway(seconds * 3, upwards)
    for side in (-1, 1):
        canvas.ellipse(x + side * spread, y - 0.02, spread, 0.07, wings)
    canvas.line([(x, y - 0.06), (x, y + 0.05)], (50, 40, 36), 0.02)


def _cat_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    canvas.box(-1, -1, 1, 0.45, look.wall)
    soft_light(canvas, -0.4, -0.5, 1.2, 1.0, (255, 246, 222), 0.4)
    draw_counter(canvas, look, Area(-1, 0.45, 1, 1), rng)
    cushion = look.accent
    canvas.shadow(0, 0.72, 0.7, 0.16, 0.5)
    canvas.ellipse(0, 0.62, 0.7, 0.2, shade(cushion, -0.15))
    canvas.ellipse(0, 0.57, 0.66, 0.17, cushion)
    fur, stripe = _fur(rng)
    canvas.ellipse(0.05, 0.25, 0.42, 0.4, shade(fur, -0.1))
    canvas.ellipse(0.0, 0.25, 0.4, 0.39, fur)
    canvas.ellipse(-0.02, 0.38, 0.22, 0.25, shade(fur, 0.35))
    for side in (-1, 1):
        canvas.ellipse(side * 0.14 - 0.02, 0.58, 0.11, 0.08, shade(fur, 0.2))
    for line in range(3):
        canvas.arc(0.12, 0.12 + line * 0.12, 0.28, 0.1, 300, 20, stripe, 0.035)


def _fur(rng: Rng) -> tuple[Rgb, Rgb]:
    fur = rng.child("fur").pick(((206, 140, 76), (96, 92, 90), (226, 216, 200), (52, 48, 48), (140, 110, 84)))
    return fur, shade(fur, -0.3)


def _cat_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    fur, stripe = _fur(rng)
    chance = rng.child("cat")
    tail, head = draw_phases(chance), draw_phases(chance)
    swing = sway(seconds * 0.8, tail)
    canvas.line(
        [(0.35, 0.5), (0.58, 0.45), (0.66, 0.2 + 0.04 * swing), (0.62 + 0.14 * swing, -0.05)], shade(fur, -0.06), 0.1
    )
    x, y = -0.04 + 0.05 * sway(seconds * 0.5, head), -0.22 + 0.02 * sway(seconds * 0.7, tail)
    for side in (-1, 1):
        canvas.polygon([(x + side * 0.09, y - 0.18), (x + side * 0.31, y - 0.1), (x + side * 0.27, y - 0.44)], fur)
        canvas.polygon(
            [(x + side * 0.15, y - 0.2), (x + side * 0.27, y - 0.15), (x + side * 0.25, y - 0.36)], (222, 160, 150)
        )
    canvas.ellipse(x, y, 0.33, 0.27, fur)
    canvas.ellipse(x, y + 0.11, 0.17, 0.12, shade(fur, 0.4))
    shut = rng.child("blink", math.floor(seconds * 4)).chance(0.12)
    for side in (-1, 1):
        if shut:
            canvas.arc(x + side * 0.14, y - 0.04, 0.06, 0.05, 20, 160, (40, 34, 30), 0.02)
        else:
            canvas.ellipse(x + side * 0.14, y - 0.03, 0.065, 0.075, (186, 200, 90))
            canvas.ellipse(x + side * 0.14, y - 0.03, 0.03, 0.065, (24, 22, 20))
        for whisker in (-0.02, 0.05):
            canvas.line([(x + side * 0.14, y + 0.1), (x + side * 0.42, y + 0.08 + whisker * 2)], (240, 238, 234), 0.012)
        canvas.line([(x + side * 0.05, y - 0.25), (x + side * 0.05, y - 0.15)], stripe, 0.03)
    canvas.polygon([(x - 0.04, y + 0.05), (x + 0.04, y + 0.05), (x, y + 0.1)], (206, 120, 116))
    for side in (-1, 1):
        canvas.arc(x + side * 0.04, y + 0.1, 0.04, 0.04, 0, 180, (70, 50, 46), 0.018)


def _guests(canvas: Canvas, rng: Rng) -> list[Figure]:
    return _people(canvas, rng, [(-0.56, -0.28), (0.02, -0.36), (0.58, -0.26)], 0.16)


def _guests_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    canvas.box(-1, -1, 1, 1, mix(look.wall, (120, 90, 70), 0.25))
    soft_light(canvas, 0, -0.9, 1.1, 1.0, (255, 226, 160), 0.6)
    canvas.line([(0, -1), (0, -0.85)], (50, 44, 40), 0.02)
    canvas.chord(0, -0.72, 0.24, 0.16, 180, 360, look.accent)
    for figure in _guests(canvas, rng):
        draw_body(figure, apron=False)
    canvas.box(-1, 0.32, 1, 1, (240, 234, 222))
    fade_down(canvas, Area(-1, 0.32, 1, 0.6), (60, 44, 36), 0.3, 0.0)
    for x in (-0.6, 0.0, 0.6):
        y = 0.62 + rng.uniform(-0.05, 0.05)
        canvas.shadow(x, y + 0.03, 0.24, 0.1, 0.3)
        canvas.ellipse(x, y, 0.23, 0.1, shade(rng.pick(CHINA), 0.2))
        canvas.ellipse(x, y, 0.16, 0.065, (250, 248, 244))
        for _ in range(6):
            canvas.ellipse(x + rng.uniform(-0.09, 0.09), y - rng.uniform(0, 0.05), 0.05, 0.035, rng.pick(_BRIGHT))
        glass = x + 0.28
        canvas.box(glass - 0.045, 0.4, glass + 0.045, 0.58, (220, 228, 230, 170), radius=0.02)
        canvas.box(glass - 0.04, 0.47, glass + 0.04, 0.57, (*rng.pick(_BRIGHT), 170), radius=0.02)


def _guests_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    _draw_faces(_guests(canvas, rng), rng, seconds)


def _street_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    _sky(canvas, 0.4, rng)
    x = -1.05
    while x < 1:
        width, top = rng.uniform(0.35, 0.55), rng.uniform(-0.6, -0.2)
        face = mix(rng.pick(FABRICS), (232, 212, 188), 0.55)
        canvas.box(x, top, x + width, 0.45, face)
        canvas.polygon([(x - 0.03, top), (x + width / 2, top - 0.2), (x + width + 0.03, top)], (150, 84, 66))
        canvas.box(x + width - 0.05, top, x + width, 0.45, shade(face, -0.12))
        for row in range(2):
            for column in range(2):
                left, upper = x + 0.07 + column * (width - 0.1) / 2, top + 0.08 + row * 0.24
                canvas.box(left, upper, left + 0.1, upper + 0.15, (246, 242, 232))
                canvas.box(left + 0.015, upper + 0.015, left + 0.085, upper + 0.135, (104, 130, 146))
        awning = rng.pick(FABRICS)
        canvas.polygon([(x + 0.05, 0.2), (x + width - 0.07, 0.2), (x + width - 0.02, 0.29), (x, 0.29)], awning)
        canvas.box(x + width / 2 - 0.06, 0.3, x + width / 2 + 0.06, 0.45, shade(face, -0.45))
        x += width
    canvas.box(-1, 0.45, 1, 0.56, (196, 190, 180))
    canvas.box(-1, 0.56, 1, 1, (110, 110, 114))
    for dash in range(6):
        canvas.box(-0.95 + dash * 0.4, 0.78, -0.75 + dash * 0.4, 0.81, (226, 222, 210))


def _street_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    """A car, to the left or to the right."""
    chance = rng.child("car")
    start, speed, paint = chance.uniform(0, 4), chance.pick((-1, 1)) * chance.uniform(0.3, 0.9), chance.pick(FABRICS)
    x = (start + speed * seconds) % 4 - 2
    canvas.shadow(x, 0.78, 0.3, 0.05, 0.6)
    canvas.chord(x, 0.6, 0.2, 0.2, 180, 360, shade(paint, -0.1))
    canvas.chord(x, 0.6, 0.15, 0.14, 180, 360, (186, 208, 218))
    canvas.box(x - 0.32, 0.57, x + 0.32, 0.73, paint, radius=0.06)
    for wheel in (-0.18, 0.18):
        canvas.ellipse(x + wheel, 0.74, 0.07, 0.07, (40, 40, 42))
        canvas.ellipse(x + wheel, 0.74, 0.03, 0.03, (190, 190, 190))


def _phone_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    draw_counter(canvas, look, Area(-1, -1, 1, 1), rng)
    canvas.shadow(0.04, 0.08, 0.5, 0.85, 0.5)
    canvas.box(-0.42, -0.74, 0.42, 0.74, (34, 34, 38), radius=0.1)
    canvas.box(-0.37, -0.66, 0.37, 0.66, (246, 246, 244), radius=0.04)
    canvas.box(-0.37, -0.66, 0.37, -0.5, rng.pick(FABRICS), radius=0.04)
    canvas.ellipse(0, 0.7, 0.025, 0.025, (90, 90, 94))


def _phone_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    """A list of pictures that a thumb pushes up and down."""
    chance = rng.child("pictures")
    phases = draw_phases(chance)
    offset = 0.12 * sway(seconds * 0.7, phases)
    for row in range(3):
        for column in range(2):
            left, top = -0.33 + column * 0.35, -0.3 + row * 0.33 + offset
            colour = chance.pick(_BRIGHT + FABRICS)
            canvas.box(left, top - 0.13, left + 0.31, top + 0.07, mix(colour, (255, 255, 255), 0.5), radius=0.02)
            canvas.ellipse(left + 0.155, top - 0.03, 0.08, 0.06, colour)
            canvas.box(left, top + 0.1, left + 0.22, top + 0.12, (170, 170, 172))
    x, y = 0.2, 0.25 + offset
    canvas.line([(0.75, 1.0), (0.45, 0.62), (x, y)], shade(look.skin, -0.1), 0.26)
    canvas.line([(0.75, 0.98), (0.44, 0.6), (x, y)], look.skin, 0.22)
    canvas.ellipse(x - 0.02, y - 0.03, 0.06, 0.06, shade(look.skin, 0.25))


def _cloth_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    stranger = _stranger(rng.child("cloth").name)
    draw_counter(canvas, stranger, Area(-1, -1, 1, 1), rng)
    for at, item in enumerate(rng.sample(PIECES, 6)):
        x, y = (at % 3 - 1) * 0.56 + rng.uniform(-0.08, 0.08), (at // 3) * 0.8 - 0.35 + rng.uniform(-0.15, 0.15)
        draw_ingredient(
            canvas, look, item, rng.pick(("whole", "whole", "cut")), x, y, rng.uniform(0.4, 0.52), rng.child(at)
        )


def _nothing_moves(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    pass


def _sea_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    _sky(canvas, -0.1, rng)
    sea = rng.pick(((60, 130, 160), (70, 150, 160), (56, 108, 150)))
    canvas.box(-1, -0.1, 1, 0.6, sea)
    fade_down(canvas, Area(-1, -0.1, 1, 0.6), (190, 230, 226), 0.1, 0.5)
    for _ in range(rng.integer(0, 2)):
        x, height = rng.uniform(-1, 1), rng.uniform(0.08, 0.25)
        island = [(x - 0.5, -0.1), (x - 0.25, -0.1 - height), (x + 0.1, -0.1 - height * 0.6), (x + 0.4, -0.1)]
        canvas.polygon(island, mix((90, 120, 110), (190, 210, 214), rng.uniform(0.0, 0.6)))
    canvas.box(-1, 0.6, 1, 1, (232, 212, 168))
    for _ in range(40):
        canvas.ellipse(rng.uniform(-1, 1), rng.uniform(0.68, 1), 0.012, 0.008, (206, 182, 136))


def _sea_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    """Waves and a boat."""
    chance = rng.child("waves")
    for wave in range(7):
        phases = draw_phases(chance)
        y = -0.02 + wave * 0.09 + 0.015 * sway(seconds, phases)
        x = -0.8 + (wave * 0.61) % 1.4 + 0.08 * sway(seconds * 0.6, phases)
        canvas.line([(x, y), (x + 0.12, y - 0.012), (x + 0.3, y)], (240, 248, 246, 150), 0.02)
    wash = 0.62 + 0.03 * sway(seconds * 0.5, draw_phases(chance))
    canvas.line([(-1, wash), (-0.4, wash - 0.02), (0.3, wash + 0.02), (1, wash)], (248, 250, 248), 0.035)
    phases = draw_phases(chance)
    x, y = chance.uniform(-0.5, 0.5) + 0.1 * sway(seconds * 0.3, phases), 0.06 + 0.015 * sway(seconds, phases)
    canvas.polygon([(x - 0.16, y), (x + 0.16, y), (x + 0.1, y + 0.08), (x - 0.1, y + 0.08)], (150, 70, 56))
    canvas.polygon([(x, y - 0.02), (x, y - 0.36), (x + 0.16, y - 0.03)], (248, 246, 240))
    canvas.polygon([(x - 0.02, y - 0.02), (x - 0.02, y - 0.3), (x - 0.13, y - 0.03)], look.accent)


def _mountains_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    _sky(canvas, 0.5, rng)
    for depth in range(3):
        rock = mix((90, 100, 120), (190, 206, 222), 0.7 - 0.3 * depth)
        for _ in range(3):
            x, top, half = rng.uniform(-1, 1), rng.uniform(-0.6, -0.2) + 0.2 * depth, rng.uniform(0.5, 0.8)
            canvas.polygon([(x - half, 0.5), (x, top), (x + half, 0.5)], rock)
            canvas.polygon([(x, top), (x + half, 0.5), (x + half * 0.25, 0.5)], shade(rock, -0.1))
            cap = (0.5 - top) * 0.28
            share = half * 0.28
            snow = [(x, top), (x + share, top + cap), (x + share * 0.3, top + cap * 0.75), (x, top + cap * 1.1)]
            canvas.polygon([*snow, (x - share * 0.4, top + cap * 0.7), (x - share, top + cap)], (248, 250, 252))
    canvas.box(-1, 0.5, 1, 1, (128, 164, 92))
    canvas.ellipse(-0.4, 1.0, 1.4, 0.62, (128, 164, 92))
    canvas.ellipse(0.6, 1.15, 1.2, 0.62, (104, 146, 80))
    for _ in range(9):
        x, y = rng.uniform(-0.95, 0.95), rng.uniform(0.6, 0.95)
        canvas.polygon([(x - 0.07, y), (x + 0.07, y), (x, y - 0.28)], rng.pick(_GREENS[:3]))


def _birds(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    chance = rng.child("birds")
    for _ in range(3):
        phases = draw_phases(chance)
        x = chance.uniform(-0.6, 0.6) + 0.2 * sway(seconds * 0.4, phases)
        y = chance.uniform(-0.75, -0.35) + 0.04 * sway(seconds, phases)
        flap = 0.04 * sway(seconds * 2.5, phases)
        canvas.line([(x - 0.08, y - flap), (x, y), (x + 0.08, y - flap)], (60, 60, 66), 0.022)


Still = Callable[[Canvas, Look, Rng], None]
Moving = Callable[[Canvas, Look, Rng, float], None]
_SCENES: tuple[tuple[Still, Moving], ...] = (
    (_market_still, _market_moving),
    (_garden_still, _garden_moving),
    (_cat_still, _cat_moving),
    (_guests_still, _guests_moving),
    (_street_still, _street_moving),
    (_phone_still, _phone_moving),
    (_cloth_still, _nothing_moves),
    (_sea_still, _sea_moving),
    (_mountains_still, _birds),
)


def _scene(rng: Rng) -> tuple[Still, Moving]:
    return rng.child("scene").pick(_SCENES)
