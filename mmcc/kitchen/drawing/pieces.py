"""One piece of a cut ingredient, about 1 wide, lying flat under the pen."""

from __future__ import annotations

from collections.abc import Callable

from mmcc.kitchen.drawing.canvas import Point
from mmcc.kitchen.drawing.look import Rgb
from mmcc.kitchen.drawing.palette import inside, skin
from mmcc.kitchen.drawing.pen import Pen, blend, lit, shaded
from mmcc.kitchen.rng import Rng

Piece = Callable[[Pen, float, Rng], None]  # how far cooked; rng for the details

LEAF: tuple[Point, ...] = (
    (-0.5, 0.08), (-0.4, -0.2), (-0.2, -0.16), (-0.05, -0.36), (0.14, -0.22), (0.34, -0.34), (0.52, -0.06),
    (0.4, 0.1), (0.44, 0.28), (0.16, 0.24), (0.0, 0.38), (-0.2, 0.22), (-0.36, 0.3),
)  # fmt: skip
CAP: tuple[Point, ...] = (
    (-0.5, 0.04), (-0.44, -0.18), (-0.24, -0.36), (0.0, -0.42), (0.24, -0.36), (0.44, -0.18), (0.5, 0.04),
    (0.3, 0.12), (0.14, 0.1), (0.16, 0.46), (-0.16, 0.46), (-0.14, 0.1), (-0.3, 0.12),
)  # fmt: skip
HEART: tuple[Point, ...] = (
    (0.0, 0.54), (-0.2, 0.36), (-0.38, 0.06), (-0.4, -0.18), (-0.28, -0.36), (-0.06, -0.34), (0.06, -0.34),
    (0.28, -0.36), (0.4, -0.18), (0.38, 0.06), (0.2, 0.36),
)  # fmt: skip
CRESCENT: tuple[Point, ...] = (
    (-0.5, -0.16), (-0.42, 0.14), (-0.18, 0.34), (0.18, 0.34), (0.42, 0.14), (0.5, -0.16),
    (0.26, -0.04), (0.0, 0.0), (-0.26, -0.04),
)  # fmt: skip


def _coin(pen: Pen, rim: Rgb, face: Rgb, rim_share: float = 0.82, thick: float = 0.1) -> None:
    x, y = pen.x, pen.y
    radius = pen.size / 2
    pen.canvas.ellipse(x, y + thick * pen.size, radius, radius * pen.flat, shaded(rim, 0.4))
    pen.canvas.ellipse(x, y, radius, radius * pen.flat, rim)
    pen.canvas.ellipse(x, y, radius * rim_share, radius * rim_share * pen.flat, face)


def _block(pen: Pen, colour: Rgb, width: float = 0.8, depth: float = 0.8, height: float = 0.3) -> None:
    """A cuboid: its outline as the dark side, its top lifted."""
    x, y = width / 2, depth / 2
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)]
    below = [pen.at(*corner) for corner in corners]
    above = [(u, v - height * pen.size) for u, v in below]
    side = shaded(colour, 0.24)
    pen.edged(corners, side, 0.06)
    for at in range(4):
        pen.canvas.polygon([below[at - 1], below[at], above[at], above[at - 1]], side)
    pen.canvas.polygon(above, lit(colour, 0.12))


def _lemon(pen: Pen, cooked: float, rng: Rng) -> None:
    _coin(pen, skin("lemon", cooked), (255, 250, 214), 0.86)
    flesh = inside("lemon", cooked)
    pen.oval(0, 0, 0.36, 0.36, flesh)
    for x, y in ((0.36, 0.0), (0.18, 0.31), (0.18, -0.31)):
        pen.line([(-x, -y), (x, y)], (255, 250, 214), 0.045)


def _strawberry(pen: Pen, cooked: float, rng: Rng) -> None:
    pen.edged(HEART, skin("strawberry", cooked), 0.08)
    flesh = inside("strawberry", cooked)
    pen.moved(0, 0, 0.68).polygon(HEART, flesh)
    pen.oval(0, 0.0, 0.09, 0.2, lit(flesh, 0.6))


def _banana(pen: Pen, cooked: float, rng: Rng) -> None:
    flesh = inside("banana", cooked)
    _coin(pen, blend(flesh, (236, 206, 110), 0.6), flesh, 0.86, 0.14)
    pen.oval(0, 0, 0.16, 0.16, shaded(flesh, 0.12))
    for x, y in ((0.0, -0.08), (0.08, 0.05), (-0.08, 0.05)):
        pen.oval(x, y, 0.035, 0.035, (120, 84, 40))


def _apple(pen: Pen, cooked: float, rng: Rng) -> None:
    pen.edged(CRESCENT, skin("apple", cooked), 0.07)
    pen.raised(0.07).polygon(CRESCENT, inside("apple", cooked))


def _tomato(pen: Pen, cooked: float, rng: Rng) -> None:
    flesh = inside("tomato", cooked)
    _coin(pen, skin("tomato", cooked), blend(flesh, (250, 120, 80), 0.55 * (1 - cooked)), 0.8)
    for x, y in ((0.0, -0.21), (0.2, 0.1), (-0.2, 0.1)):
        pen.oval(x, y, 0.11, 0.11, shaded(flesh, 0.12))
        pen.oval(x, y, 0.045, 0.045, (250, 206, 110))


def _onion(pen: Pen, cooked: float, rng: Rng) -> None:
    flesh = inside("onion", cooked)
    edge = blend((186, 118, 170), (168, 112, 52), cooked)
    _coin(pen, edge, flesh, 0.88, 0.08)
    pen.oval(0, 0, 0.29, 0.29, shaded(blend(edge, flesh, 0.55), 0.02))
    pen.oval(0, 0, 0.24, 0.24, flesh)
    pen.oval(0, 0, 0.1, 0.1, blend(edge, flesh, 0.5))


def _carrot(pen: Pen, cooked: float, rng: Rng) -> None:
    flesh = inside("carrot", cooked)
    _coin(pen, shaded(flesh, 0.08), flesh, 0.84, 0.14)
    pen.oval(0, 0, 0.2, 0.2, lit(flesh, 0.3))


def _potato(pen: Pen, cooked: float, rng: Rng) -> None:
    _block(pen, inside("potato", cooked), 0.76, rng.uniform(0.6, 0.85), 0.26)


def _cucumber(pen: Pen, cooked: float, rng: Rng) -> None:
    flesh = inside("cucumber", cooked)
    _coin(pen, skin("cucumber", cooked), flesh, 0.82)
    pen.oval(0, 0, 0.22, 0.22, lit(flesh, 0.4))
    for x, y in ((0.0, -0.15), (0.15, 0.07), (-0.15, 0.07)):
        pen.oval(x, y, 0.04, 0.04, (176, 196, 106))


def _lettuce(pen: Pen, cooked: float, rng: Rng) -> None:
    leaf = blend(inside("lettuce", cooked), skin("lettuce", cooked), rng.uniform(0.0, 1.0))
    big = pen.moved(0, 0, 1.25)
    big.edged(LEAF, leaf, 0.06)
    big.line([(-0.46, 0.06), (0.0, 0.0), (0.36, -0.06)], lit(leaf, 0.55), 0.08)


def _mushroom(pen: Pen, cooked: float, rng: Rng) -> None:
    pen.line([*CAP, CAP[0]], shaded(skin("mushroom", cooked), 0.2), 0.12)
    pen.polygon(CAP, inside("mushroom", cooked))
    pen.line([(-0.28, -0.02), (-0.1, 0.02), (0.1, 0.02), (0.28, -0.02)], shaded(inside("mushroom", cooked), 0.45), 0.08)


def _cheese(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("cheese", cooked)
    if cooked > 0.3:  # it has run
        pen.oval(0, 0, 0.62, 0.5, shaded(colour, 0.18))
        pen.oval(-0.02, -0.04, 0.56, 0.44, lit(colour, 0.1))
        return
    _block(pen, colour, 0.96, 0.9, 0.07)
    for x, y, radius in ((-0.2, -0.2, 0.1), (0.22, 0.06, 0.08), (-0.12, 0.2, 0.07)):
        pen.raised(0.07).oval(x, y, radius, radius, shaded(colour, 0.16))


def _bread(pen: Pen, cooked: float, rng: Rng) -> None:
    crumb = inside("bread", cooked)
    corners = [(-0.5, 0.34), (0.5, 0.34), (0.0, -0.5)]
    pen.raised(-0.06).edged(corners, shaded(skin("bread", cooked), 0.1), 0.12)
    pen.polygon(corners, skin("bread", cooked))
    pen.moved(0, 0.02, 0.78).polygon(corners, crumb)


def _fish(pen: Pen, cooked: float, rng: Rng) -> None:
    flesh = inside("fish", cooked)
    _block(pen, flesh, 0.95, 0.62, 0.2)
    top = pen.raised(0.2)
    for x in (-0.22, 0.04, 0.28):
        top.line([(x - 0.08, -0.22), (x + 0.06, 0.0), (x - 0.08, 0.22)], lit(flesh, 0.5), 0.06)


def _steak(pen: Pen, cooked: float, rng: Rng) -> None:
    _block(pen, skin("steak", cooked), 0.98, 0.34, 0.12)
    pen.raised(0.12).line([(-0.36, 0.0), (0.36, 0.0)], blend((226, 92, 92), (176, 96, 76), cooked), 0.14)


def _chocolate(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("chocolate", cooked)
    if cooked > 0.5:
        pen.oval(0, 0, 0.5, 0.4, colour)
        pen.oval(-0.1, -0.1, 0.2, 0.1, lit(colour, 0.25))
        return
    _block(pen, colour, 0.8, 0.8, 0.2)
    pen.raised(0.2).line([(-0.26, -0.26), (0.26, -0.26)], lit(colour, 0.3), 0.07)


def _butter(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("butter", cooked)
    if cooked > 0.2:
        pen.oval(0, 0, 0.5, 0.36, shaded(colour, 0.1))
        return
    _block(pen, colour, 0.8, 0.7, 0.26)


def _egg(pen: Pen, cooked: float, rng: Rng) -> None:
    pen.oval(0, 0.06, 0.4, 0.5, (214, 206, 192))
    pen.oval(0, 0, 0.4, 0.5, (254, 252, 244))
    pen.oval(0, 0.06, 0.22, 0.22, (250, 186, 44))


def _ice(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("ice", cooked)
    _block(pen, shaded(colour, 0.04), 0.72, 0.72, 0.34)
    pen.raised(0.34).oval(-0.1, -0.1, 0.18, 0.12, (255, 255, 255))


def _herbs(pen: Pen, cooked: float, rng: Rng) -> None:
    leaf = blend(inside("herbs", cooked), (124, 190, 80), rng.uniform(0.0, 0.5))
    pen.oval(0, 0, 0.46, 0.24, shaded(leaf, 0.2))
    pen.oval(-0.04, -0.05, 0.36, 0.14, leaf)


def _rice(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("rice", cooked)
    for _ in range(3):
        grain = pen.moved(rng.uniform(-0.4, 0.4), rng.uniform(-0.4, 0.4), 1.0, rng.uniform(0, 180))
        grain.oval(0, 0.05, 0.26, 0.13, shaded(colour, 0.22))
        grain.oval(0, 0, 0.24, 0.11, colour)


def _pasta(pen: Pen, cooked: float, rng: Rng) -> None:
    colour = inside("pasta", cooked)
    noodle = [(-0.6, 0.1), (-0.25, -0.22), (0.2, 0.16), (0.6, -0.1)]
    pen.moved(0, 0.07).line(noodle, shaded(colour, 0.3), 0.17)
    pen.line(noodle, colour, 0.15)


PIECES: dict[str, Piece] = {
    "lemon": _lemon, "strawberry": _strawberry, "banana": _banana, "apple": _apple, "tomato": _tomato,
    "onion": _onion, "carrot": _carrot, "potato": _potato, "cucumber": _cucumber, "lettuce": _lettuce,
    "mushroom": _mushroom, "cheese": _cheese, "bread": _bread, "fish": _fish, "steak": _steak,
    "chocolate": _chocolate, "butter": _butter, "egg": _egg, "ice": _ice, "herbs": _herbs, "rice": _rice,
    "pasta": _pasta,
}  # fmt: skip
