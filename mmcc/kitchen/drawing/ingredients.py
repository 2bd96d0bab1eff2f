"""An ingredient in a form, lying where it lies."""

from __future__ import annotations

from math import cos, radians, sin

from mmcc.kitchen.drawing.canvas import Canvas, Point
from mmcc.kitchen.drawing.look import Look, Rgb
from mmcc.kitchen.drawing.packages import PACKAGES
from mmcc.kitchen.drawing.palette import TONES, inside
from mmcc.kitchen.drawing.pen import Pen, blend, circle, glaze, lit, shaded
from mmcc.kitchen.drawing.pieces import PIECES
from mmcc.kitchen.drawing.wholes import PEELED, WHOLES
from mmcc.kitchen.rng import Rng

LYING_ANY_WAY = ("carrot", "cucumber", "banana", "fish", "pasta", "chocolate", "bread", "steak", "lemon", "potato")
PIECE_SIZES = {
    "lemon": 0.5, "strawberry": 0.38, "banana": 0.34, "apple": 0.42, "tomato": 0.44, "onion": 0.4, "carrot": 0.3,
    "potato": 0.36, "cucumber": 0.38, "lettuce": 0.42, "mushroom": 0.4, "cheese": 0.56, "bread": 0.66, "fish": 0.42,
    "steak": 0.6, "chocolate": 0.28, "butter": 0.34, "egg": 0.5, "ice": 0.36, "herbs": 0.16, "rice": 0.16,
    "pasta": 0.34,
}  # fmt: skip
FEW = ("lemon", "cheese", "bread", "egg", "steak")  # large pieces: two or three are enough
GRAINS = ("salt", "spice", "herbs", "cheese")  # strewn thinly, where flour and sugar make a heap
GOLDEN_ANGLE = 137.508


def draw_ingredient(
    canvas: Canvas,
    look: Look,
    item: str,
    form: str,
    x: float,
    y: float,
    size: float,
    rng: Rng,
    cooked: float = 0.0,
) -> None:
    """One ingredient, about `size` wide, centred at (x, y)."""
    if item not in TONES:
        raise KeyError(f"no such ingredient: {item}")
    if form == "cut" and item in PIECES:
        size *= rng.uniform(0.9, 1.1)
        canvas.shadow(x, y + 0.1 * size, 0.5 * size, 0.42 * size * look.tilt, 0.3)
        draw_pieces(canvas, look, item, x, y, 0.36 * size, PIECE_SIZES[item] * size, rng, cooked)
    elif form in ("whole", "peeled", "cut"):
        _draw_whole(canvas, look, item, form, x, y, size * rng.uniform(0.9, 1.1), rng, cooked)
    elif form == "powder":
        draw_powder(canvas, look, item, x, y, size, rng, cooked)
    elif form == "cracked" and item == "egg":
        draw_cracked_egg(canvas, look, x, y, size, rng, cooked)
    elif form in ("poured", "juice", "spread", "smooth"):
        draw_pool(
            canvas, look, inside(item, cooked), x, y, size / 2, rng, thick=0.0 if form in ("poured", "juice") else 0.08
        )
    else:
        raise ValueError(f"{item}: no such form: {form}")


def _draw_whole(
    canvas: Canvas, look: Look, item: str, form: str, x: float, y: float, size: float, rng: Rng, cooked: float
) -> None:
    if item in PACKAGES:
        canvas.shadow(x + 0.05 * size, y + 0.5 * size, 0.4 * size, 0.2 * size, 0.45)
        PACKAGES[item](Pen(canvas, x, y, size, mirror=rng.chance(0.5)), rng)
        return
    turn = rng.uniform(-60, 60) if item in LYING_ANY_WAY else rng.uniform(-14, 14)
    flat = look.tilt if item in ("bread", "steak", "chocolate", "ice") else 0.5 + 0.5 * look.tilt
    canvas.shadow(x + 0.03 * size, y + 0.16 * size, 0.5 * size, 0.4 * size * look.tilt, 0.4)
    pen = Pen(canvas, x, y, size, turn, flat, rng.chance(0.5))
    peeled = PEELED.get(item) if form == "peeled" else None
    (peeled or WHOLES[item])(pen, cooked, rng)


def places(count: int, reach: float, rng: Rng) -> list[Point]:
    """Spots spread evenly over a disc, further ones (those in front) last."""
    start = rng.uniform(0, 360)
    spots = []
    for at in range(count):
        distance = reach * ((at + 0.5) / count) ** 0.5 * rng.uniform(0.85, 1.1)
        angle = radians(start + GOLDEN_ANGLE * at)
        spots.append((distance * cos(angle), distance * sin(angle)))
    return sorted(spots, key=lambda spot: spot[1])


def draw_pieces(
    canvas: Canvas,
    look: Look,
    item: str,
    x: float,
    y: float,
    reach: float,
    piece: float,
    rng: Rng,
    cooked: float = 0.0,
) -> None:
    """Cut pieces of one ingredient, each `piece` wide, strewn within `reach`."""
    count = rng.integer(2, 3) if item in FEW else rng.integer(6, 8)
    for dx, dy in places(count, reach, rng):
        turn = rng.uniform(0, 360) if item not in ("bread", "cheese") else rng.uniform(-30, 30)
        pen = Pen(canvas, x + dx, y + dy * look.tilt, piece * rng.uniform(0.88, 1.14), turn, look.tilt)
        PIECES[item](pen, cooked, rng)


def draw_powder(
    canvas: Canvas, look: Look, item: str, x: float, y: float, size: float, rng: Rng, cooked: float = 0.0
) -> None:
    """A heap, or thinly strewn grains."""
    colour = inside(item, cooked)
    melting = cooked > 0.3 and item != "flour"
    if item in GRAINS or melting:
        count = 18 if item == "cheese" else 30
        for dx, dy in places(count // 2 if melting else count, 0.5 * size, rng):
            _draw_grain(canvas, look, item, colour, x + dx, y + dy * look.tilt, size, rng)
        return
    rise = size * 0.3 * (1 - look.tilt**2) ** 0.5
    rx, ry = size * 0.5, size * 0.5 * look.tilt
    canvas.ellipse(x, y + 0.04 * size, rx * 1.04, ry * 1.04, shaded(colour, 0.34))
    canvas.ellipse(x, y, rx, ry, shaded(colour, 0.2))
    canvas.polygon(
        [(x - 0.84 * rx, y - 0.2 * ry), (x - 0.16 * rx, y - rise), (x + 0.16 * rx, y - rise),
        (x + 0.84 * rx, y - 0.2 * ry), (x, y + 0.8 * ry)], shaded(colour, 0.12)
    )  # fmt: skip
    canvas.ellipse(x - 0.14 * rx, y - 0.55 * rise, 0.5 * rx, 0.62 * ry, colour)
    canvas.ellipse(x - 0.22 * rx, y - 0.75 * rise, 0.24 * rx, 0.28 * ry, lit(colour, 0.7))
    for dx, dy in places(7, 0.62 * size, rng):
        canvas.ellipse(x + dx, y + dy * look.tilt, 0.022 * size, 0.018 * size, colour)


def _draw_grain(canvas: Canvas, look: Look, item: str, colour: Rgb, x: float, y: float, size: float, rng: Rng) -> None:
    if item not in ("herbs", "cheese"):
        radius = size * rng.uniform(0.014, 0.026)
        canvas.ellipse(x, y + 0.4 * radius, 1.3 * radius, 1.2 * radius, shaded(colour, 0.4))
        canvas.ellipse(x, y, radius, radius, colour)
        return
    angle = radians(rng.uniform(0, 360))
    length = size * (0.09 if item == "cheese" else 0.05)
    dx, dy = cos(angle) * length, sin(angle) * length * look.tilt
    tone = rng.pick([colour, lit(colour, 0.3), shaded(colour, 0.15)])
    canvas.polygon(
        [(x - dx, y - dy), (x + 0.3 * dy, y - 0.3 * dx - 0.012 * size), (x + dx, y + dy),
        (x - 0.3 * dy, y + 0.3 * dx + 0.012 * size)], tone
    )  # fmt: skip


def draw_pool(
    canvas: Canvas, look: Look, colour: Rgb, x: float, y: float, radius: float, rng: Rng, thick: float = 0.0
) -> None:
    """A puddle with an uneven edge; `thick` for what stands up like cream."""
    bumps = [rng.uniform(0.84, 1.06) for _ in range(10)]
    shape = []
    for at, (u, v) in enumerate(circle(20)):
        reach = radius * (bumps[at // 2] + bumps[(at + 1) // 2 % 10]) / 2
        shape.append((u * reach, v * reach * look.tilt))
    down = thick * radius + 0.03 * radius
    canvas.polygon([(x + dx, y + dy + down) for dx, dy in shape], shaded(colour, 0.3))
    canvas.polygon([(x + dx, y + dy - thick * radius) for dx, dy in shape], colour)
    canvas.ellipse(
        x - 0.36 * radius, y - (0.4 * look.tilt + thick) * radius, 0.26 * radius, 0.1 * radius * look.tilt,
        lit(colour, 0.6)
    )  # fmt: skip


def draw_cracked_egg(
    canvas: Canvas, look: Look, x: float, y: float, size: float, rng: Rng, cooked: float = 0.0
) -> None:
    """The white runs, clear at first; the yolk stands."""
    radius, tilt = size * 0.5, look.tilt
    white = blend((250, 244, 214), (255, 255, 252), cooked)
    for dx, dy in places(3, 0.2 * size, rng):
        canvas.ellipse(x + dx, y + dy * tilt, radius * 0.72, radius * 0.72 * tilt, glaze(white, 0.5 + 0.5 * cooked))
    if cooked > 0.5:
        canvas.ellipse(x, y, radius * 0.86, radius * 0.86 * tilt, shaded((222, 166, 92), 0.0), line=0.03 * size)
    yolk = blend((253, 186, 28), (250, 196, 70), cooked)
    x, y = x + rng.uniform(-0.08, 0.08) * size, y + rng.uniform(-0.06, 0.02) * size
    canvas.ellipse(x, y + 0.03 * size, 0.22 * size, 0.2 * size * (0.4 + 0.6 * tilt), shaded(yolk, 0.3))
    canvas.ellipse(x, y, 0.21 * size, 0.19 * size * (0.4 + 0.6 * tilt), yolk)
    canvas.ellipse(x - 0.07 * size, y - 0.06 * size, 0.06 * size, 0.035 * size, (255, 244, 196))
