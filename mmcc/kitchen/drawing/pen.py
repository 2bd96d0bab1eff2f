"""Shapes in the small world of one thing: its own unit, turned as it lies, flattened as the camera sees it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import cos, floor, radians, sin

from mmcc.kitchen.drawing.canvas import Canvas, Colour, Point
from mmcc.kitchen.drawing.look import Rgb

WHITE: Rgb = (255, 255, 255)
DARK: Rgb = (52, 30, 22)  # what shaded colours go towards: a warm dark looks cleaner than black


@lru_cache(maxsize=1 << 14)
def blend(one: Rgb, other: Rgb, share: float) -> Rgb:
    """`share` of the other colour, the rest of the one."""
    share = min(1.0, max(0.0, share))
    return (
        floor(one[0] + (other[0] - one[0]) * share + 0.5),
        floor(one[1] + (other[1] - one[1]) * share + 0.5),
        floor(one[2] + (other[2] - one[2]) * share + 0.5),
    )


def shaded(colour: Rgb, share: float = 0.25) -> Rgb:
    return blend(colour, DARK, share)


def lit(colour: Rgb, share: float = 0.3) -> Rgb:
    return blend(colour, WHITE, share)


def glaze(colour: Rgb, alpha: float) -> Colour:
    """See-through; 1 is opaque."""
    return (*colour, floor(min(1.0, max(0.0, alpha)) * 255 + 0.5))


@lru_cache(maxsize=16)
def circle(points: int) -> tuple[Point, ...]:
    """Of radius 1."""
    return tuple((cos(radians(360 * at / points)), sin(radians(360 * at / points))) for at in range(points))


class Pen:
    """Draws on a canvas in units of a thing `size` wide around (x, y), turned by `turn` degrees clockwise.

    `flat` is the height over width that the camera leaves: 1 for what stands upright, the look's tilt for what lies.
    """

    def __init__(
        self,
        canvas: Canvas,
        x: float,
        y: float,
        size: float,
        turn: float = 0.0,
        flat: float = 1.0,
        mirror: bool = False,
    ) -> None:
        self.canvas, self.x, self.y, self.size, self.turn, self.flat, self.mirror = (
            canvas,
            x,
            y,
            size,
            turn,
            flat,
            mirror,
        )
        cosine, sine = cos(radians(turn)) * size, sin(radians(turn)) * size
        self._xx, self._xy = (-cosine if mirror else cosine), -sine
        self._yx, self._yy = (-sine if mirror else sine) * flat, cosine * flat

    def at(self, x: float, y: float) -> Point:
        """The place in the world of a point of the thing."""
        return self.x + self._xx * x + self._xy * y, self.y + self._yx * x + self._yy * y

    def moved(self, x: float, y: float, size: float = 1.0, turn: float = 0.0) -> Pen:
        """A pen for a part of the thing."""
        turned = self.turn + (-turn if self.mirror else turn)
        return Pen(self.canvas, *self.at(x, y), self.size * size, turned, self.flat, self.mirror)

    def raised(self, height: float) -> Pen:
        """Higher above the table: up in the picture, however the thing is turned."""
        return Pen(self.canvas, self.x, self.y - height * self.size, self.size, self.turn, self.flat, self.mirror)

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        self.canvas.polygon([self.at(x, y) for x, y in points], fill)

    def line(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        self.canvas.line([self.at(x, y) for x, y in points], fill, width * self.size)

    def oval(self, x: float, y: float, rx: float, ry: float, fill: Colour, turn: float = 0.0) -> None:
        """Turned within the thing by `turn`."""
        turned = self.turn + (-turn if self.mirror else turn)
        if rx == ry or turned % 180 == 0:
            self.canvas.ellipse(*self.at(x, y), rx * self.size, ry * self.size * self.flat, fill)
            return
        cosine, sine = cos(radians(turn)), sin(radians(turn))
        points = circle(12 if max(rx, ry) * self.size * self.canvas.scale < 14 else 22)
        self.polygon(
            [(x + rx * cosine * u - ry * sine * v, y + rx * sine * u + ry * cosine * v) for u, v in points], fill
        )

    def edged(self, points: Sequence[Point], fill: Rgb, rim: float = 0.04) -> None:
        """A polygon with a darker, rounded outline."""
        self.line([*points, points[0]], shaded(fill, 0.35), rim)
        self.polygon(points, fill)
