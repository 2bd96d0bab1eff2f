"""A picture drawn at several times its size, in coordinates independent of its pixels.

World units: x to the right, y down, a mixing bowl is about 1 wide. Colours are (r, g, b) or (r, g, b, alpha), 0-255.
Coordinates are rounded to the grid of the enlarged picture, so that the last digit of a float never shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor

from PIL import Image, ImageDraw, ImageFilter

Colour = tuple[int, int, int] | tuple[int, int, int, int]
Point = tuple[float, float]


@dataclass(frozen=True)
class View:
    """The square of the world that a picture shows."""

    x: float  # its centre
    y: float
    width: float


class Canvas:
    """Shapes in world units, onto a square picture of `side` pixels (already enlarged for supersampling)."""

    def __init__(self, image: Image.Image, view: View) -> None:
        self.image = image  # RGB
        self.view = view
        self.scale = image.width / view.width
        self._left, self._top = view.x - view.width / 2, view.y - view.width / 2
        self._glazing = ImageDraw.Draw(image, "RGBA")
        self._opaque = ImageDraw.Draw(image)  # does not blend: several times as fast

    def at(self, x: float, y: float) -> tuple[int, int]:
        """The pixel of a point."""
        return floor((x - self._left) * self.scale + 0.5), floor((y - self._top) * self.scale + 0.5)

    def _box(self, x: float, y: float, rx: float, ry: float) -> tuple[int, int, int, int]:
        """The pixels around an ellipse."""
        scale, middle_x, middle_y = self.scale, (x - self._left) * self.scale + 0.5, (y - self._top) * self.scale + 0.5
        return (
            floor(middle_x - rx * scale),
            floor(middle_y - ry * scale),
            floor(middle_x + rx * scale),
            floor(middle_y + ry * scale),
        )

    def _with(self, fill: Colour) -> ImageDraw.ImageDraw:
        return self._opaque if len(fill) == 3 else self._glazing

    def pixels(self, length: float) -> int:
        return floor(length * self.scale + 0.5)

    def ellipse(self, x: float, y: float, rx: float, ry: float, fill: Colour, *, line: float = 0.0) -> None:
        """Filled, or its outline only where a line width is given."""
        box = self._box(x, y, rx, ry)
        if line:
            self._with(fill).ellipse(box, outline=fill, width=max(1, self.pixels(line)))
        else:
            self._with(fill).ellipse(box, fill=fill)

    def arc(
        self, x: float, y: float, rx: float, ry: float, start: float, end: float, fill: Colour, line: float
    ) -> None:
        """Part of an ellipse's outline; degrees, clockwise from the right."""
        self._with(fill).arc(self._box(x, y, rx, ry), start, end, fill=fill, width=max(1, self.pixels(line)))

    def chord(self, x: float, y: float, rx: float, ry: float, start: float, end: float, fill: Colour) -> None:
        self._with(fill).chord(self._box(x, y, rx, ry), start, end, fill=fill)

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        left, top, scale = self._left, self._top, self.scale
        path = [(floor((x - left) * scale + 0.5), floor((y - top) * scale + 0.5)) for x, y in points]
        self._with(fill).polygon(path, fill=fill)

    def line(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        """With round joints and ends."""
        thick = max(1, self.pixels(width))
        path = [self.at(x, y) for x, y in points]
        draw, half = self._with(fill), thick // 2
        draw.line(path, fill=fill, width=thick, joint="curve" if len(path) > 2 else None)
        if thick > 3:  # thinner ends look round by themselves
            for x, y in (path[0], path[-1]):
                draw.ellipse((x - half, y - half, x + half, y + half), fill=fill)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Colour, *, radius: float = 0.0) -> None:
        (left, top), (right, bottom) = self.at(x0, y0), self.at(x1, y1)
        if radius:
            self._with(fill).rounded_rectangle((left, top, right, bottom), self.pixels(radius), fill=fill)
        else:
            self._with(fill).rectangle((left, top, right, bottom), fill=fill)

    def shadow(self, x: float, y: float, rx: float, ry: float, strength: float = 0.4) -> None:
        """Soft, as under a thing on a table."""
        mask = _shadow_mask(_rounded(self.pixels(2.6 * rx)), _rounded(self.pixels(2.6 * ry)), strength)
        middle_x, middle_y = self.at(x, y)
        self.image.paste((18, 14, 12), (middle_x - mask.width // 2, middle_y - mask.height // 2), mask)


def _rounded(pixels: int) -> int:
    """To steps of about 6 %, so that a few masks serve all shadows."""
    step = max(2, 1 << max(0, pixels.bit_length() - 4))
    return max(2, (pixels + step // 2) // step * step)


@lru_cache(maxsize=512)
def _shadow_mask(width: int, height: int, strength: float) -> Image.Image:
    mask = _soft_ellipse().resize((width, height), Image.Resampling.BILINEAR)
    return mask.point([floor(value * strength + 0.5) for value in range(256)]) if strength < 1 else mask


@lru_cache(maxsize=1)
def _soft_ellipse() -> Image.Image:
    """A blurred disc, to be stretched: blurring at full size for each shadow would cost more than all the rest."""
    disc = Image.new("L", (64, 64), 0)
    ImageDraw.Draw(disc).ellipse((12, 12, 51, 51), fill=255)
    return disc.filter(ImageFilter.GaussianBlur(5))
