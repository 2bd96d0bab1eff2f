"""The cook and other people. Lengths are in half heads: a face reaches from -1 to 1, shoulders are at 1.7."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PIL import Image

from mmcc.kitchen.drawing.canvas import Canvas, Colour, Point, View
from mmcc.kitchen.drawing.look import Look, Rgb, mix, shade

_SPRITE = View(0.0, -0.1, 4.6)  # what the picture of a head holds: room for any hair
_BLUSH: Rgb = (214, 96, 88)


@dataclass(frozen=True)
class Face:
    """A facial expression."""

    mouth: float = 0.0  # 0 closed in a smile, 1 wide open
    eyes: float = 1.0  # 0 shut
    gaze: float = 0.0  # -1 left, 1 right
    brows: float = 0.0  # how far they are raised


@dataclass(frozen=True)
class Figure:
    """Someone at a place of the world."""

    canvas: Canvas
    look: Look
    x: float  # of the middle of the face
    y: float
    scale: float  # half a head, in world units

    def at(self, x: float, y: float) -> Point:
        return self.x + x * self.scale, self.y + y * self.scale

    def moved(self, x: float, y: float) -> Figure:
        return Figure(self.canvas, self.look, *self.at(x, y), self.scale)

    def ellipse(self, x: float, y: float, rx: float, ry: float, fill: Colour) -> None:
        self.canvas.ellipse(*self.at(x, y), rx * self.scale, ry * self.scale, fill)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Colour, radius: float = 0.0) -> None:
        self.canvas.box(*self.at(x0, y0), *self.at(x1, y1), fill, radius=radius * self.scale)

    def polygon(self, points: list[Point], fill: Colour) -> None:
        self.canvas.polygon([self.at(*point) for point in points], fill)

    def line(self, points: list[Point], fill: Colour, width: float) -> None:
        self.canvas.line([self.at(*point) for point in points], fill, width * self.scale)

    def arc(
        self, x: float, y: float, rx: float, ry: float, start: float, end: float, fill: Colour, line: float
    ) -> None:
        scale = self.scale
        self.canvas.arc(*self.at(x, y), rx * scale, ry * scale, start, end, fill, line * scale)

    def chord(self, x: float, y: float, rx: float, ry: float, start: float, end: float, fill: Colour) -> None:
        self.canvas.chord(*self.at(x, y), rx * self.scale, ry * self.scale, start, end, fill)


def draw_body(figure: Figure, bottom: float = 9.0, apron: bool = True) -> None:
    """Shoulders, chest and upper arms, down to `bottom`."""
    look = figure.look
    shirt, dark = look.sleeve, shade(look.sleeve, -0.16)
    for side in (-1, 1):
        figure.line([(side * 1.55, 2.15), (side * 1.95, 4.3)], dark, 0.95)
    figure.polygon(
        [
            (-0.6, 1.32),
            (0.6, 1.32),
            (1.6, 1.72),
            (1.75, 2.6),
            (1.45, bottom),
            (-1.45, bottom),
            (-1.75, 2.6),
            (-1.6, 1.72),
        ],
        shirt,
    )
    for side in (-1, 1):
        figure.ellipse(side * 1.5, 2.2, 0.5, 0.5, shirt)
    figure.polygon([(0.75, 1.5), (1.6, 1.72), (1.75, 2.6), (1.45, bottom), (0.95, bottom)], (*dark, 150))
    if apron:
        cloth = look.apron
        for side in (-1, 1):
            figure.line([(side * 0.72, 1.45), (side * 0.78, 2.7)], shade(cloth, -0.12), 0.2)
        figure.box(-0.98, 2.6, 0.98, 4.4, cloth, radius=0.15)
        figure.polygon([(-0.98, 4.0), (0.98, 4.0), (1.45, 4.9), (1.5, bottom), (-1.5, bottom), (-1.45, 4.9)], cloth)
        figure.polygon(
            [(0.5, 2.6), (0.98, 2.7), (0.98, 4.0), (1.45, 4.9), (1.5, bottom), (0.8, bottom)], shade(cloth, -0.1)
        )
        figure.box(-0.5, 3.2, 0.4, 3.9, shade(cloth, -0.13), radius=0.1)
        figure.line([(-0.5, 3.3), (0.4, 3.3)], shade(cloth, 0.25), 0.06)
    else:
        figure.line([(0, 1.9), (0, bottom)], dark, 0.06)
        for button in range(3):
            figure.ellipse(0, 2.4 + 0.8 * button, 0.08, 0.08, shade(shirt, 0.45))


def draw_legs(figure: Figure, top: float, feet: float, colour: Rgb) -> None:
    for side in (-1, 1):
        figure.line([(side * 0.7, top), (side * 0.75, feet - 0.3)], shade(colour, -0.06 * (side + 1)), 1.1)
        figure.ellipse(side * 0.95, feet, 0.72, 0.3, (48, 42, 40))


def draw_forearm(figure: Figure, side: int, hand: Point, pose: str) -> None:
    """From the elbow to a hand. Poses: open, point, fist, spoon."""
    skin, sleeve = figure.look.skin, figure.look.sleeve
    elbow = (side * 1.95, 4.3)
    x, y = hand
    cuff = (elbow[0] + (x - elbow[0]) * 0.5, elbow[1] + (y - elbow[1]) * 0.5)
    if pose == "spoon":
        figure.line([(x - side * 0.05, y + 0.3), (x - side * 0.3, y - 1.5)], figure.look.wood, 0.2)
        figure.ellipse(x - side * 0.32, y - 1.7, 0.32, 0.46, figure.look.wood)
        figure.ellipse(x - side * 0.34, y - 1.68, 0.18, 0.3, shade(figure.look.wood, -0.2))
    figure.line([elbow, (x, y)], shade(skin, -0.06), 0.56)
    figure.line([elbow, cuff], sleeve, 0.86)
    figure.line([(cuff[0] - 0.1, cuff[1]), (cuff[0] + 0.1, cuff[1])], shade(sleeve, 0.15), 0.8)
    fingers = {"open": (-0.34, -0.12, 0.1, 0.32), "point": (-0.12,)}.get(pose, ())
    for spread in fingers:
        figure.line([(x + spread * 0.7, y - 0.15), (x + spread * 1.25, y - 0.8 + abs(spread) * 0.4)], skin, 0.2)
    figure.line([(x, y), (x - side * 0.5, y - 0.35)], skin, 0.22)
    figure.ellipse(x, y - 0.08, 0.4, 0.42, skin)
    figure.ellipse(x + 0.08, y + 0.04, 0.24, 0.24, shade(skin, -0.07))
    if pose in ("fist", "spoon"):
        for knuckle in range(3):
            figure.line(
                [(x - 0.22, y - 0.22 + knuckle * 0.2), (x + 0.2, y - 0.22 + knuckle * 0.2)], shade(skin, -0.14), 0.05
            )


def draw_head(figure: Figure, face: Face) -> None:
    """Head and neck with what the face does; over the body."""
    side = max(8, figure.canvas.pixels(_SPRITE.width * figure.scale))
    sprite = _bare_head(figure.look, side)
    left, top = figure.canvas.at(*figure.at(_SPRITE.x - _SPRITE.width / 2, _SPRITE.y - _SPRITE.width / 2))
    figure.canvas.image.paste(sprite, (left, top), sprite)
    _draw_features(figure, face)


def _draw_features(figure: Figure, face: Face) -> None:
    look = figure.look
    brow = (
        shade(look.hair, -0.25) if look.hair_style not in ("bald",) or look.beard != "none" else shade(look.skin, -0.5)
    )
    for side in (-1, 1):
        x = side * 0.34
        if face.eyes > 0.3:
            figure.ellipse(x, 0.0, 0.16, 0.15, (246, 244, 240))
            figure.ellipse(x + face.gaze * 0.05, 0.01, 0.1, 0.125, (50, 36, 30))
            figure.ellipse(x + face.gaze * 0.05 - 0.04, -0.04, 0.035, 0.04, (250, 250, 250))
        else:
            figure.arc(x, -0.04, 0.15, 0.12, 20, 160, shade(look.skin, -0.6), 0.06)
        lift = -0.3 - 0.1 * face.brows
        figure.line([(x - 0.17, lift + 0.03 - side * 0.02), (x + 0.17, lift + 0.03 + side * 0.02)], brow, 0.085)
        if look.glasses:
            figure.arc(x, 0.0, 0.25, 0.24, 0, 360, (44, 40, 42), 0.05)
    if look.glasses:
        figure.line([(-0.1, -0.04), (0.1, -0.04)], (44, 40, 42), 0.05)
    lip = mix(shade(look.skin, -0.3), (176, 62, 60), 0.5)
    if face.mouth < 0.25:
        figure.arc(0, 0.38, 0.32, 0.22, 25, 155, lip, 0.085)
        return
    height = 0.07 + 0.16 * face.mouth
    width = 0.3 - 0.07 * face.mouth
    figure.ellipse(0, 0.53, width + 0.04, height + 0.04, lip)
    figure.ellipse(0, 0.53, width, height, (98, 30, 34))
    figure.chord(0, 0.53, width * 0.9, height * 0.9, 200, 340, (244, 240, 234))


@lru_cache(maxsize=16)
def _bare_head(look: Look, side: int) -> Image.Image:
    """A transparent head without eyes and mouth: it moves in each frame, and pasting is far cheaper than drawing."""
    image = Image.new("RGBA", (side, side), (*look.skin, 0))
    figure = Figure(Canvas(image, _SPRITE), look, 0.0, 0.0, 1.0)
    skin, dark = look.skin, shade(look.skin, -0.12)
    _draw_back_hair(figure)
    figure.box(-0.36, 0.6, 0.36, 1.45, shade(skin, -0.18), radius=0.1)
    figure.ellipse(0, 1.42, 0.52, 0.22, shade(skin, -0.08))
    for ear in (-1, 1):
        figure.ellipse(ear * 0.8, 0.08, 0.15, 0.2, shade(skin, -0.05))
        figure.ellipse(ear * 0.8, 0.09, 0.08, 0.12, dark)
    figure.ellipse(0.0, 0.0, 0.8, 0.92, dark)
    figure.ellipse(0.0, 0.3, 0.68, 0.68, dark)
    figure.ellipse(-0.03, -0.02, 0.77, 0.9, skin)
    figure.ellipse(-0.03, 0.28, 0.65, 0.66, skin)
    figure.ellipse(-0.3, -0.45, 0.28, 0.2, shade(skin, 0.1))
    for cheek in (-1, 1):
        figure.ellipse(cheek * 0.46, 0.3, 0.17, 0.12, mix(skin, _BLUSH, 0.22))
    _draw_beard(figure)
    figure.arc(0.02, 0.16, 0.11, 0.13, 10, 170, shade(skin, -0.24), 0.06)
    _draw_front_hair(figure)
    return image


def _draw_beard(figure: Figure) -> None:
    look = figure.look
    if look.beard == "beard":
        figure.chord(0, 0.34, 0.72, 0.74, 5, 175, look.hair)
        figure.chord(0, 0.22, 0.55, 0.3, 20, 160, look.skin)
        figure.ellipse(0, 0.54, 0.3, 0.16, mix(look.hair, look.skin, 0.4))
    if look.beard in ("beard", "moustache"):
        for side in (-1, 1):
            figure.line([(side * 0.06, 0.36), (side * 0.34, 0.43)], look.hair, 0.13)


def _draw_back_hair(figure: Figure) -> None:
    style, hair = figure.look.hair_style, shade(figure.look.hair, -0.12)
    if style == "long":
        figure.box(-1.0, -0.5, 1.0, 1.95, hair, radius=0.5)
        figure.ellipse(0, -0.3, 1.0, 0.85, hair)
    elif style == "bob":
        figure.box(-1.0, -0.5, 1.0, 0.95, hair, radius=0.4)
    elif style == "bun":
        figure.ellipse(0, -1.12, 0.4, 0.36, figure.look.hair)
        figure.arc(0, -1.1, 0.25, 0.2, 200, 340, shade(figure.look.hair, 0.2), 0.06)
        figure.ellipse(0, -0.25, 0.88, 0.76, hair)
    elif style == "curly":
        for x, y in ((-0.9, 0.3), (0.9, 0.3), (-1.0, -0.2), (1.0, -0.2), (-0.85, -0.65), (0.85, -0.65)):
            figure.ellipse(x, y, 0.4, 0.42, hair)
    elif style == "ponytail":
        figure.line([(0.6, -0.6), (1.25, -0.3), (1.2, 0.9)], hair, 0.46)
        figure.ellipse(0, -0.25, 0.88, 0.76, hair)
    elif style == "scarf":
        cloth = shade(figure.look.accent, -0.15)
        figure.polygon([(0.5, 0.1), (1.1, 0.9), (0.75, 1.05), (0.3, 0.5)], cloth)
        figure.ellipse(0, -0.25, 0.9, 0.8, cloth)


def _draw_front_hair(figure: Figure) -> None:
    look = figure.look
    style, hair, light = look.hair_style, look.hair, shade(look.hair, 0.16)
    if style == "bald":
        figure.arc(-0.1, -0.5, 0.4, 0.26, 200, 280, shade(look.skin, 0.3), 0.08)
        return
    if style == "hat":
        figure.chord(0, -0.15, 0.84, 0.82, 190, 350, hair)
        for x, y, r in ((-0.55, -1.35, 0.46), (0.55, -1.35, 0.46), (0.0, -1.55, 0.6)):
            figure.ellipse(x, y, r, r * 0.85, (238, 236, 230))
        figure.box(-0.72, -1.35, 0.72, -0.55, (246, 244, 240), radius=0.1)
        for fold in (-0.4, 0.0, 0.4):
            figure.line([(fold, -1.35), (fold, -0.7)], (214, 212, 208), 0.05)
        return
    if style == "scarf":
        figure.chord(0, -0.1, 0.86, 0.9, 195, 345, look.accent)
        for x, y in ((-0.4, -0.65), (0.1, -0.78), (0.5, -0.55), (-0.1, -0.5)):
            figure.ellipse(x, y, 0.08, 0.07, shade(look.accent, 0.5))
        return
    if style == "curly":
        for x, y in (
            (-0.66, -0.55),
            (-0.35, -0.82),
            (0.0, -0.9),
            (0.35, -0.82),
            (0.66, -0.55),
            (-0.2, -0.62),
            (0.25, -0.62),
        ):
            figure.ellipse(x, y, 0.32, 0.3, hair)
        for x, y in ((-0.45, -0.85), (0.05, -1.0), (0.45, -0.78)):
            figure.arc(x, y, 0.15, 0.13, 180, 320, light, 0.06)
        return
    parting = {"side": 0.35, "bob": 0.0, "long": -0.1, "bun": 0.1, "ponytail": -0.25}.get(style, -0.1)
    figure.chord(0, -0.1, 0.86, 0.92, 188, 352, hair)
    figure.polygon([(parting, -0.5), (0.84, -0.28), (0.84, 0.12), (0.68, -0.2), (parting + 0.2, -0.62)], hair)
    figure.polygon([(parting, -0.5), (-0.84, -0.28), (-0.84, 0.12), (-0.68, -0.2), (parting - 0.2, -0.62)], hair)
    if style in ("short", "side"):
        figure.ellipse(-0.05 if style == "short" else 0.12, -0.72, 0.66, 0.34, hair)
    if style == "long":
        for side in (-1, 1):
            figure.line([(side * 0.82, -0.2), (side * 0.88, 1.6)], hair, 0.26)
    if style == "bob":
        figure.chord(0, -0.12, 0.8, 0.72, 200, 340, hair)
        for side in (-1, 1):
            figure.line([(side * 0.82, -0.3), (side * 0.84, 0.75)], hair, 0.28)
    figure.arc(-0.05, -0.15, 0.62, 0.7, 210, 285, light, 0.09)
