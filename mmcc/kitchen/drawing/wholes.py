"""Ingredients as they come from the market: each about 1 wide under the pen, which turns it as it lies."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, radians, sin

from mmcc.kitchen.drawing.canvas import Point
from mmcc.kitchen.drawing.look import Rgb
from mmcc.kitchen.drawing.palette import inside, skin
from mmcc.kitchen.drawing.pen import Pen, blend, circle, lit, shaded
from mmcc.kitchen.drawing.pieces import HEART, LEAF, PIECES
from mmcc.kitchen.rng import Rng

Whole = Callable[[Pen, float, Rng], None]  # how far cooked; rng for the details
STEM: Rgb = (92, 132, 50)
CREAMY: Rgb = (255, 250, 232)

SLICE: tuple[Point, ...] = (
    (-0.42, 0.46), (-0.42, -0.06), (-0.5, -0.18), (-0.48, -0.36), (-0.34, -0.47), (0.34, -0.47), (0.48, -0.36),
    (0.5, -0.18), (0.42, -0.06), (0.42, 0.46),
)  # fmt: skip
CHOP: tuple[Point, ...] = (
    (-0.5, 0.02), (-0.42, -0.24), (-0.14, -0.36), (0.2, -0.34), (0.44, -0.18), (0.5, 0.08), (0.34, 0.26),
    (0.06, 0.22), (-0.18, 0.34), (-0.4, 0.26),
)  # fmt: skip


STAR: tuple[Point, ...] = tuple(
    (u * reach, 0.6 * v * reach) for at, (u, v) in enumerate(circle(10)) for reach in (0.22 if at % 2 else 0.08,)
)


def ball(pen: Pen, colour: Rgb, rx: float, ry: float, turn: float = 0.0) -> None:
    """A round body: dark below, lit from the upper left, with a glint."""
    pen.oval(0, 0, rx, ry, shaded(colour, 0.34), turn)
    pen.oval(-0.03 * rx, -0.07 * ry, rx * 0.92, ry * 0.9, colour, turn)
    pen.oval(-0.2 * rx, -0.26 * ry, rx * 0.58, ry * 0.54, lit(colour, 0.16), turn)
    pen.oval(-0.34 * rx, -0.44 * ry, rx * 0.2, ry * 0.14, lit(colour, 0.75), turn - 20)


def upright(pen: Pen, size: float = 1.0) -> Pen:
    """For what the camera sees as round from everywhere."""
    return Pen(pen.canvas, pen.x, pen.y, pen.size * size, 0.0, 1.0, pen.mirror)


def _egg(pen: Pen, cooked: float, rng: Rng) -> None:
    shell = rng.pick([(226, 172, 130), (248, 236, 220), (238, 200, 164)])
    for x, y in ((-0.22, -0.06), (0.2, 0.08)):
        ball(upright(pen).moved(x, y), shell, 0.25, 0.32, rng.uniform(-50, 50))


def _butter(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("butter", cooked)
    if cooked > 0.2:  # it has melted
        pen.oval(0, 0.02, 0.5, 0.42, shaded(colour, 0.12))
        pen.oval(-0.02, -0.02, 0.44, 0.36, lit(colour, 0.1))
        pen.oval(-0.14, -0.12, 0.12, 0.06, lit(colour, 0.7))
        return
    front = upright(pen)
    front.edged([(-0.46, -0.04), (0.2, 0.1), (0.2, 0.36), (-0.46, 0.2)], shaded(colour, 0.14), 0.03)
    front.polygon([(0.2, 0.1), (0.48, -0.08), (0.48, 0.16), (0.2, 0.36)], shaded(colour, 0.28))
    front.polygon([(-0.46, -0.04), (-0.16, -0.2), (0.48, -0.08), (0.2, 0.1)], lit(colour, 0.3))
    front.line([(-0.26, 0.02), (-0.26, 0.24)], shaded(colour, 0.3), 0.03)


def _lemon(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = skin("lemon", cooked)
    body = Pen(pen.canvas, pen.x, pen.y, pen.size, pen.turn * 0.3)
    body.polygon(
        [(-0.5, -0.03), (-0.34, -0.16), (0.34, -0.16), (0.52, -0.05), (0.52, 0.05), (0.34, 0.16), (-0.34, 0.16),
        (-0.5, 0.03)], shaded(colour, 0.3)
    )  # fmt: skip
    ball(body, colour, 0.42, 0.32)
    body.polygon([(0.36, -0.13), (0.5, -0.04), (0.5, 0.04), (0.36, 0.13)], colour)


def _strawberry(pen: Pen, cooked: float, rng: Rng) -> None:
    for x, y in ((-0.24, -0.1), (0.24, -0.06), (0.0, 0.18)):
        berry = upright(pen, 0.52).moved(x * 1.9, y * 1.9, 1.0, rng.uniform(-40, 40))
        red = skin("strawberry", cooked)
        berry.edged(HEART, red, 0.1)
        berry.oval(-0.14, -0.12, 0.12, 0.16, lit(red, 0.3))
        for seed_x, seed_y in ((-0.16, 0.08), (0.16, 0.08), (0.0, -0.08), (0.0, 0.26)):
            berry.oval(seed_x, seed_y, 0.035, 0.05, (250, 214, 110))
        berry.polygon(
            [(-0.34, -0.42), (-0.1, -0.36), (0.0, -0.56), (0.1, -0.36), (0.34, -0.42), (0.12, -0.2), (0.0, -0.14),
            (-0.12, -0.2)], STEM
        )  # fmt: skip


def _arch(span: float, radius: float, thick: float) -> tuple[list[Point], list[Point]]:
    """The two edges of a bent thing that tapers to its ends."""
    outer: list[Point] = []
    inner: list[Point] = []
    for at in range(9):
        degrees = -90 - span / 2 + span * at / 8
        half = thick * (1 - abs(at - 4) / 4 * 0.7)
        for edge, reach in ((outer, radius + half), (inner, radius - half)):
            edge.append((cos(radians(degrees)) * reach, sin(radians(degrees)) * reach + radius * 0.8))
    return outer, inner


BANANA = _arch(118, 0.56, 0.14)
BANANA_MIDDLE = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in zip(*BANANA, strict=True)][1:-1]


def _banana(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = skin("banana", cooked)
    outer, inner = BANANA
    pen.edged([*outer, *reversed(inner)], colour, 0.05)
    pen.line(BANANA_MIDDLE, lit(colour, 0.4), 0.05)
    pen.line([outer[0], inner[0]], (96, 70, 30), 0.08)
    pen.line([outer[-1], inner[-1]], (96, 70, 30), 0.06)


def _peeled_banana(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("banana", cooked)
    outer, inner = BANANA
    pen.edged([*outer, *reversed(inner)], colour, 0.05)
    peel = skin("banana", cooked)
    (x, y), (u, v) = outer[0], inner[0]
    for tip in ((x - 0.16, y - 0.1), (x + 0.02, y + 0.3), (u + 0.24, v + 0.16)):
        pen.edged([outer[2], tip, inner[1]], peel, 0.05)


def _apple(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = blend(skin("apple", cooked), (150, 190, 60), 0.0 if rng.chance(0.8) else 0.85)
    body = upright(pen)
    body.oval(-0.18, 0.04, 0.28, 0.36, shaded(colour, 0.34))
    body.oval(0.18, 0.04, 0.28, 0.36, shaded(colour, 0.34))
    ball(body.moved(0, 0.02), colour, 0.42, 0.35)
    body.oval(0, -0.26, 0.12, 0.05, shaded(colour, 0.5))
    body.line([(0, -0.26), (0.05, -0.46)], (100, 66, 36), 0.05)
    body.oval(0.18, -0.4, 0.14, 0.06, STEM, -24)


def _peeled_apple(pen: Pen, cooked: float, rng: Rng) -> None:
    ball(upright(pen), inside("apple", cooked), 0.42, 0.36)
    upright(pen).line([(0, -0.26), (0.05, -0.44)], (100, 66, 36), 0.05)
    ring = skin("apple", cooked)
    upright(pen).line([(-0.44, 0.3), (-0.2, 0.42), (0.1, 0.36), (0.34, 0.46)], ring, 0.07)


def _tomato(pen: Pen, cooked: float, rng: Rng) -> None:
    body = upright(pen)
    ball(body, skin("tomato", cooked), 0.46, 0.4)
    body.moved(0, -0.24).polygon(STAR, (62, 120, 40))
    body.line([(0, -0.26), (0.02, -0.38)], (62, 120, 40), 0.05)


def _onion(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = rng.pick([skin("onion", cooked), (146, 52, 92)])
    body = upright(pen)
    body.polygon([(-0.2, -0.24), (-0.05, -0.5), (0.06, -0.48), (0.2, -0.24)], shaded(colour, 0.1))
    ball(body.moved(0, 0.04), colour, 0.44, 0.37)
    for bend in (-0.3, 0.0, 0.28):
        body.line([(bend * 0.3, -0.3), (bend, 0.04), (bend * 0.3, 0.38)], shaded(colour, 0.22), 0.025)
    body.line([(-0.08, 0.42), (0.0, 0.38), (0.08, 0.43)], (150, 120, 80), 0.03)


def _carrot(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = skin("carrot", cooked)
    for tip in ((-0.62, -0.14), (-0.66, 0.02), (-0.6, 0.16)):
        pen.line([(-0.34, 0.0), tip], STEM, 0.08)
    pen.edged(
        [(-0.38, -0.12), (-0.3, -0.15), (0.1, -0.1), (0.54, 0.0), (0.1, 0.12), (-0.3, 0.15), (-0.38, 0.1)], colour,
        0.05
    )  # fmt: skip
    pen.line([(-0.28, -0.07), (0.16, -0.03)], lit(colour, 0.4), 0.05)
    for x in (-0.18, 0.02, 0.2):
        pen.line([(x, 0.02), (x + 0.01, 0.08)], shaded(colour, 0.25), 0.025)


def _potato(pen: Pen, cooked: float, rng: Rng) -> None:
    _tuber(pen, skin("potato", cooked), spots=True)


def _peeled_potato(pen: Pen, cooked: float, rng: Rng) -> None:
    _tuber(pen, inside("potato", cooked), spots=False)
    upright(pen).line([(-0.4, 0.36), (-0.1, 0.42), (0.16, 0.34)], skin("potato"), 0.06)
    upright(pen).line([(0.26, 0.4), (0.46, 0.3)], skin("potato"), 0.06)


def _tuber(pen: Pen, colour: Rgb, *, spots: bool) -> None:
    body = Pen(pen.canvas, pen.x, pen.y, pen.size, pen.turn * 0.3)
    ball(body, colour, 0.48, 0.34)
    if spots:
        for x, y in ((-0.18, 0.06), (0.12, -0.1), (0.24, 0.1), (0.0, 0.18)):
            body.oval(x, y, 0.035, 0.025, shaded(colour, 0.4))


def _cucumber(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = skin("cucumber", cooked)
    pen.line([(-0.4, 0.03), (0.0, -0.01), (0.4, 0.03)], shaded(colour, 0.35), 0.27)
    pen.line([(-0.4, 0.01), (0.0, -0.03), (0.4, 0.01)], colour, 0.22)
    pen.line([(-0.36, -0.05), (0.34, -0.06)], lit(colour, 0.4), 0.035)
    pen.line([(-0.34, 0.04), (0.36, 0.03)], lit(colour, 0.2), 0.025)


def _lettuce(pen: Pen, cooked: float, rng: Rng) -> None:
    green = skin("lettuce", cooked)
    for x, y, size, turn, light in (
        (-0.12, 0.06, 0.86, 200, -1), (0.14, 0.08, 0.84, 20, -1), (-0.1, -0.1, 0.78, 150, 0),
        (0.12, -0.08, 0.74, 300, 1), (0.0, 0.02, 0.56, 70, 2),
    ):  # fmt: skip
        leaf = shaded(green, 0.2) if light < 0 else lit(green, 0.16 * light)
        upright(pen, size).moved(x, y, 1.0, turn).edged(LEAF, leaf, 0.05)
    upright(pen).line([(0.0, 0.3), (0.0, 0.06)], (226, 240, 190), 0.06)


def _mushroom(pen: Pen, cooked: float, rng: Rng) -> None:
    cap = rng.pick([skin("mushroom", cooked), blend(skin("mushroom", cooked), CREAMY, 0.7)])
    for x, y, turn in ((-0.22, -0.06, -16), (0.22, 0.06, 14)):
        body = upright(pen, 0.62).moved(x * 1.6, y * 1.6, 1.0, turn + rng.uniform(-10, 10))
        body.edged([(-0.14, 0.0), (0.14, 0.0), (0.18, 0.42), (-0.18, 0.42)], CREAMY, 0.05)
        for share, tone in ((1.0, shaded(cap, 0.3)), (0.9, cap)):
            x, y = body.at(0, 0.04 * share)
            wide, tall = 0.48 * share * body.size, 0.46 * share * body.size
            body.canvas.chord(x, y, wide, tall, 180 + body.turn, 360 + body.turn, tone)
        body.oval(-0.16, -0.2, 0.14, 0.08, lit(cap, 0.5), -24)


def _cheese(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("cheese", cooked)
    block = upright(pen)
    block.edged([(-0.48, 0.06), (0.46, -0.02), (0.46, 0.28), (-0.48, 0.38)], shaded(colour, 0.08), 0.04)
    block.edged([(-0.48, 0.06), (0.16, -0.34), (0.46, -0.02)], lit(colour, 0.3), 0.03)
    for x, y, radius in ((-0.22, 0.2, 0.08), (0.1, 0.14, 0.06), (0.3, 0.2, 0.07), (0.12, -0.1, 0.06)):
        block.oval(x, y, radius, radius * 0.9, shaded(colour, 0.3))


def _bread(pen: Pen, cooked: float, rng: Rng) -> None:
    crust, crumb = skin("bread", cooked), inside("bread", cooked)
    below = pen.raised(-0.09)
    below.edged(SLICE, shaded(crust, 0.3), 0.05)
    pen.polygon(SLICE, crust)
    pen.moved(0, 0, 0.86).polygon(SLICE, crumb)
    for _ in range(5):
        spot = blend(crumb, (120, 64, 24), 0.35) if cooked > 0.3 else shaded(crumb, 0.1)
        pen.oval(rng.uniform(-0.28, 0.28), rng.uniform(-0.3, 0.3), 0.06 + 0.06 * cooked, 0.05 + 0.03 * cooked, spot)


def _rice(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("rice", cooked)
    heap = upright(pen)
    heap.canvas.ellipse(pen.x, pen.y + 0.08 * pen.size, 0.5 * pen.size, 0.34 * pen.size, shaded(colour, 0.24))
    heap.oval(0.0, -0.04, 0.42, 0.34, shaded(colour, 0.12))
    heap.oval(-0.04, -0.1, 0.3, 0.24, colour)
    for _ in range(16):
        x, y = rng.uniform(-0.42, 0.42), rng.uniform(-0.24, 0.26)
        grain = heap.moved(x * (1 - abs(y)), y, 1.0, rng.uniform(0, 180))
        grain.oval(0, 0, 0.07, 0.032, rng.pick([lit(colour, 0.6), lit(colour, 0.6), shaded(colour, 0.22)]))


def _pasta(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("pasta", cooked)
    if cooked > 0.2:
        pen.oval(0, 0.04, 0.5, 0.46, shaded(colour, 0.28))
        for at in range(7):
            radius = 0.44 - 0.055 * at
            x, y = pen.at(rng.uniform(-0.05, 0.05), rng.uniform(-0.06, 0.02) - at * 0.02)
            tone = shaded(colour, 0.22) if at % 2 else lit(colour, 0.2)
            pen.canvas.ellipse(x, y, radius * pen.size, radius * pen.size * pen.flat, tone, line=0.05 * pen.size)
        return
    for at in range(9):
        spread = (at - 4) / 4
        tone = lit(colour, 0.25) if at % 2 else shaded(colour, 0.16)
        pen.line([(-0.52, spread * 0.16), (0.0, spread * 0.06), (0.52, spread * 0.18)], tone, 0.045)
    pen.line([(0.0, -0.09), (0.0, 0.09)], (200, 60, 50), 0.09)


def _fish(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = skin("fish", cooked)
    fish = Pen(pen.canvas, pen.x, pen.y, pen.size, pen.turn * 0.3, 1.0, pen.mirror)
    fish.edged([(0.26, 0.0), (0.52, -0.2), (0.46, 0.0), (0.52, 0.2)], shaded(colour, 0.15), 0.04)
    fish.polygon([(-0.08, -0.18), (0.12, -0.3), (0.18, -0.14)], shaded(colour, 0.3))
    fish.oval(-0.06, 0.0, 0.42, 0.22, shaded(colour, 0.4))
    fish.oval(-0.06, -0.01, 0.4, 0.2, colour)
    fish.oval(-0.08, 0.07, 0.34, 0.11, lit(colour, 0.65))
    fish.line([(-0.24, -0.16), (-0.2, 0.0), (-0.25, 0.15)], shaded(colour, 0.3), 0.03)
    fish.oval(-0.34, -0.04, 0.045, 0.045, (250, 250, 240))
    fish.oval(-0.34, -0.04, 0.024, 0.024, (20, 20, 24))


def _steak(pen: Pen, cooked: float, rng: Rng) -> None:
    meat = skin("steak", cooked) if cooked < 0.2 else inside("steak", cooked)
    below = pen.raised(-0.09)
    below.edged(CHOP, shaded(meat, 0.3), 0.05)
    fat = blend((250, 226, 206), (206, 160, 96), cooked)
    pen.polygon(CHOP, fat)
    pen.moved(0.02, 0.01, 0.86).polygon(CHOP, meat)
    pen.oval(-0.12, -0.08, 0.18, 0.1, lit(meat, 0.14))
    if cooked > 0.3:
        for x in (-0.24, -0.04, 0.16, 0.32):
            pen.line([(x - 0.08, 0.16), (x + 0.08, -0.2)], shaded(meat, 0.62), 0.05)
        return
    for x, y in ((-0.26, 0.04), (0.0, -0.16), (0.22, 0.02)):
        pen.line([(x - 0.08, y), (x + 0.02, y + 0.05), (x + 0.12, y + 0.02)], fat, 0.03)


def _chocolate(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("chocolate", cooked)
    pen.raised(-0.06).edged([(-0.5, -0.36), (0.5, -0.36), (0.5, 0.36), (-0.5, 0.36)], shaded(colour, 0.4), 0.04)
    pen.polygon([(-0.5, -0.36), (0.5, -0.36), (0.5, 0.36), (-0.5, 0.36)], shaded(colour, 0.25))
    for x in (-0.375, -0.125, 0.125, 0.375):
        for y in (-0.24, 0.0, 0.24):
            pen.polygon([(x - 0.1, y - 0.1), (x + 0.1, y - 0.1), (x + 0.1, y + 0.1), (x - 0.1, y + 0.1)], colour)
            pen.line([(x - 0.08, y - 0.08), (x + 0.07, y - 0.08)], lit(colour, 0.28), 0.03)


def _ice(pen: Pen, cooked: float, rng: Rng) -> None:
    for x, y in ((-0.24, -0.1), (0.24, -0.06), (0.0, 0.2)):
        PIECES["ice"](pen.moved(x, y, 0.5, rng.uniform(-40, 40)), cooked, rng)


def _herbs(pen: Pen, cooked: float, rng: Rng) -> None:
    green = inside("herbs", cooked)
    for turn in (-34, -12, 12, 34):
        sprig = upright(pen).moved(0, 0.4, 1.0, turn + rng.uniform(-5, 5))
        sprig.line([(0, 0), (0, -0.7)], shaded(green, 0.3), 0.035)
        for y in (-0.32, -0.54, -0.74):
            sprig.oval(-0.1, y, 0.12, 0.06, rng.pick([green, lit(green, 0.2)]), 30)
            sprig.oval(0.1, y, 0.12, 0.06, shaded(green, 0.15), -30)


WHOLES: dict[str, Whole] = {
    "egg": _egg, "butter": _butter, "lemon": _lemon, "strawberry": _strawberry, "banana": _banana, "apple": _apple,
    "tomato": _tomato, "onion": _onion, "carrot": _carrot, "potato": _potato, "cucumber": _cucumber,
    "lettuce": _lettuce, "mushroom": _mushroom, "cheese": _cheese, "bread": _bread, "rice": _rice, "pasta": _pasta,
    "fish": _fish, "steak": _steak, "chocolate": _chocolate, "ice": _ice, "herbs": _herbs,
}  # fmt: skip
PEELED: dict[str, Whole] = {"banana": _peeled_banana, "apple": _peeled_apple, "potato": _peeled_potato}
