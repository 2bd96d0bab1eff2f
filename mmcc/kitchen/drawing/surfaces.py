"""Walls and counters: what they are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

from PIL import Image

from mmcc.kitchen.drawing.canvas import Canvas, Colour
from mmcc.kitchen.drawing.look import Look, Rgb, mix, shade
from mmcc.kitchen.rng import Rng


@dataclass(frozen=True)
class Area:
    """A rectangle of the world."""

    left: float
    top: float
    right: float
    bottom: float


def faded(colour: Rgb, alpha: int) -> Colour:
    return (*colour, alpha)


def soft_light(canvas: Canvas, x: float, y: float, rx: float, ry: float, colour: Rgb, strength: float) -> None:
    """A glow that fades to its rim."""
    size = (max(2, canvas.pixels(2 * rx)), max(2, canvas.pixels(2 * ry)))
    ramp = [math.floor(max(0, 255 - value * 1.42) * strength + 0.5) for value in range(256)]
    mask = Image.radial_gradient("L").point(ramp).resize(size, Image.Resampling.BILINEAR)
    canvas.image.paste(colour, canvas.at(x - rx, y - ry), mask)


def fade_down(canvas: Canvas, area: Area, colour: Rgb, top: float, bottom: float) -> None:
    """A veil of one colour whose strength goes from `top` to `bottom`."""
    (left, upper), (right, lower) = canvas.at(area.left, area.top), canvas.at(area.right, area.bottom)
    ramp = [math.floor((top + (bottom - top) * value / 255) * 255 + 0.5) for value in range(256)]
    mask = Image.linear_gradient("L").point(ramp).resize((right - left, max(1, lower - upper)))
    canvas.image.paste(colour, (left, upper), mask)


def draw_wall(canvas: Canvas, look: Look, area: Area, rise: float, rng: Rng) -> None:
    """Its pattern; `rise` is how tall a unit of height appears."""
    canvas.box(area.left, area.top, area.right, area.bottom, look.wall)
    pattern = look.wall_pattern
    if pattern == "square tiles":
        side = rng.uniform(0.38, 0.7)
        _tiles(canvas, look.wall, area, (side, side * rise), 0.0, rng.uniform(0.0, 0.05), rng)
    elif pattern == "metro tiles":
        side = rng.uniform(0.5, 0.75)
        _tiles(canvas, look.wall, area, (side, side * rise * 0.45), 0.5, 0.03, rng)
    elif pattern == "mosaic":
        side = rng.uniform(0.24, 0.32)
        _tiles(canvas, look.wall, area, (side, side * rise), 0.0, 0.16, rng)
    elif pattern == "bricks":
        _bricks(canvas, look.wall, area, rise, rng)
    elif pattern == "stripes":
        _stripes(canvas, look.wall, area, rng)
    elif pattern == "boards":
        _boards(canvas, look.wall, area, rng)
    else:
        canvas.box(area.left, area.bottom - 0.75 * rise, area.right, area.bottom, mix(look.wall, look.cabinet, 0.35))
        canvas.box(area.left, area.bottom - 0.8 * rise, area.right, area.bottom - 0.75 * rise, shade(look.wall, 0.4))


def _tiles(
    canvas: Canvas, colour: Rgb, area: Area, side: tuple[float, float], shift: float, variety: float, rng: Rng
) -> None:
    """Rows of tiles from the counter upwards, each row moved by `shift` of a tile."""
    width, height = side
    joint = 0.025
    canvas.box(area.left, area.top, area.right, area.bottom, shade(colour, -0.16 if sum(colour) > 330 else 0.22))
    variants = [shade(colour, rng.uniform(-variety, variety) - 0.02) for _ in range(8)]
    gleams = [shade(variant, 0.14) for variant in variants]
    special = shade(mix(colour, variants[0], 0.5), -0.25) if rng.chance(0.3) else None
    for row in range(math.ceil((area.bottom - area.top) / height)):
        bottom = area.bottom - row * height
        for column in range(math.ceil((area.right - area.left) / width) + 1):
            left = area.left + (column - (row % 2) * shift) * width
            pick = rng.integer(0, 7)
            face = special if special and shift == 0 and (row * 2 + column) % 5 == 0 else variants[pick]
            canvas.box(left + joint, bottom - height + joint, left + width, bottom, face)
            canvas.box(left + joint, bottom - height + joint, left + width, bottom - height + 2 * joint, gleams[pick])


def _bricks(canvas: Canvas, colour: Rgb, area: Area, rise: float, rng: Rng) -> None:
    width, height, joint = 0.56, 0.23 * rise, 0.035
    canvas.box(area.left, area.top, area.right, area.bottom, mix(colour, (206, 198, 186), 0.7))
    variants = [mix(shade(colour, rng.uniform(-0.22, 0.14)), (150, 90, 70), rng.uniform(0.0, 0.25)) for _ in range(12)]
    for row in range(math.ceil((area.bottom - area.top) / height)):
        bottom = area.bottom - row * height
        for column in range(math.ceil((area.right - area.left) / width) + 1):
            left = area.left + (column - (row % 2) * 0.5) * width
            face = rng.pick(variants)
            canvas.box(left + joint, bottom - height + joint, left + width, bottom, face, radius=0.02)
            canvas.box(left + joint, bottom - 0.02, left + width, bottom, shade(face, -0.18))


def _stripes(canvas: Canvas, colour: Rgb, area: Area, rng: Rng) -> None:
    width = rng.uniform(0.16, 0.4)
    other = shade(colour, rng.pick((-0.14, -0.08, 0.35)))
    for at in range(math.ceil((area.right - area.left) / width / 2)):
        left = area.left + 2 * at * width
        canvas.box(left, area.top, left + width, area.bottom, other)
        canvas.box(left + width * 0.45, area.top, left + width * 0.55, area.bottom, shade(other, -0.12))


def _boards(canvas: Canvas, colour: Rgb, area: Area, rng: Rng) -> None:
    width = rng.uniform(0.35, 0.6)
    for at in range(math.ceil((area.right - area.left) / width)):
        left = area.left + at * width
        face = shade(colour, rng.uniform(-0.07, 0.05))
        canvas.box(left, area.top, left + width, area.bottom, face)
        for _ in range(3):
            x = left + rng.uniform(0.1, 0.9) * width
            canvas.box(x, area.top, x + 0.012, area.bottom, shade(face, -0.06))
        canvas.box(left, area.top, left + 0.03, area.bottom, shade(colour, -0.3))
        canvas.box(left + 0.03, area.top, left + 0.055, area.bottom, shade(colour, 0.2))


def draw_counter(canvas: Canvas, look: Look, area: Area, rng: Rng) -> None:
    """Its pattern, flattened by the look's tilt."""
    canvas.box(area.left, area.top, area.right, area.bottom, look.counter)
    pattern = look.counter_pattern
    if pattern == "planks":
        _planks(canvas, look.counter, area, look.tilt, rng)
    elif pattern == "butcher":
        _butcher(canvas, look.counter, area, look.tilt, rng)
    elif pattern == "marble":
        _marble(canvas, look.counter, area, look.tilt, rng)
    elif pattern == "stone":
        _stone(canvas, look.counter, area, look.tilt, rng)
    elif pattern == "steel":
        _steel(canvas, look.counter, area, rng)
    elif pattern == "cloth":
        _checks(canvas, look.counter, area, look.tilt, rng)
    elif pattern == "stripes":
        _cloth_stripes(canvas, look.counter, area, look.tilt, rng)


def _planks(canvas: Canvas, colour: Rgb, area: Area, tilt: float, rng: Rng) -> None:
    depth = rng.uniform(0.4, 0.8) * tilt
    for at in range(math.ceil((area.bottom - area.top) / depth)):
        top = area.top + at * depth
        face = shade(colour, rng.uniform(-0.1, 0.08))
        canvas.box(area.left, top, area.right, top + depth, face)
        for _ in range(5):
            _grain(canvas, area, top + rng.uniform(0.1, 0.9) * depth, depth, shade(face, -0.13), rng)
        for _ in range(2):
            x, y = rng.uniform(area.left, area.right), top + rng.uniform(0.3, 0.7) * depth
            canvas.ellipse(x, y, 0.12, 0.06 * tilt, shade(face, -0.16))
            canvas.ellipse(x, y, 0.06, 0.03 * tilt, shade(face, -0.34))
        canvas.box(area.left, top, area.right, top + 0.025, shade(colour, -0.4))
        seam = rng.uniform(area.left, area.right)
        canvas.box(seam, top, seam + 0.025, top + depth, shade(colour, -0.4))


def _grain(canvas: Canvas, area: Area, y: float, depth: float, colour: Rgb, rng: Rng) -> None:
    phase, start = rng.uniform(0, math.tau), rng.uniform(area.left - 2, area.right - 1)
    length = rng.uniform(2, 7)
    path = [(start + length * i / 8, y + 0.1 * depth * math.sin(phase + i * 0.9)) for i in range(9)]
    canvas.line(path, colour, rng.uniform(0.012, 0.03))


def _butcher(canvas: Canvas, colour: Rgb, area: Area, tilt: float, rng: Rng) -> None:
    depth = rng.uniform(0.16, 0.3) * tilt
    variants = [shade(colour, rng.uniform(-0.2, 0.14)) for _ in range(9)]
    for row in range(math.ceil((area.bottom - area.top) / depth)):
        top, x = area.top + row * depth, area.left - rng.uniform(0, 1.2)
        while x < area.right:
            width = rng.uniform(0.6, 1.6)
            face = rng.pick(variants)
            canvas.box(x, top, x + width, top + depth, face)
            canvas.box(x, top + depth * 0.55, x + width, top + depth * 0.62, shade(face, -0.07))
            canvas.box(x, top, x + 0.015, top + depth, shade(face, -0.25))
            x += width
        canvas.box(area.left, top, area.right, top + 0.012, shade(colour, -0.25))


def _marble(canvas: Canvas, colour: Rgb, area: Area, tilt: float, rng: Rng) -> None:
    vein = shade(colour, -0.3) if sum(colour) > 330 else shade(colour, 0.45)
    for _ in range(14):
        x, y = rng.uniform(area.left, area.right), rng.uniform(area.top, area.bottom)
        canvas.ellipse(x, y, rng.uniform(0.3, 1.1), rng.uniform(0.1, 0.5) * tilt, faded(vein, 14))
    for _ in range(16):
        x, y = rng.uniform(area.left - 1, area.right), rng.uniform(area.top, area.bottom)
        heading = rng.pick((-0.5, 0.4, 0.6)) + rng.uniform(-0.3, 0.3)
        path = [(x, y)]
        for _ in range(rng.integer(5, 12)):
            x += rng.uniform(0.1, 0.5)
            y += (heading * 0.3 + rng.uniform(-0.2, 0.2)) * tilt
            path.append((x, y))
        # opaque: where pieces of a see-through line overlap, dots would show
        canvas.line(path, mix(colour, vein, 0.2), rng.uniform(0.04, 0.11))
        canvas.line(path, mix(colour, vein, 0.5), rng.uniform(0.012, 0.025))


def _stone(canvas: Canvas, colour: Rgb, area: Area, tilt: float, rng: Rng) -> None:
    coarse = rng.chance(0.35)  # terrazzo
    tints = [shade(colour, by) for by in ((-0.3, 0.25, 0.45, -0.15) if coarse else (-0.25, 0.12, 0.22, -0.12))]
    if coarse:
        tints.append(mix(colour, (190, 110, 80), 0.6))
    for _ in range(700 if coarse else 1200):
        x, y = rng.uniform(area.left, area.right), rng.uniform(area.top, area.bottom)
        radius = rng.uniform(0.02, 0.07) if coarse else rng.uniform(0.01, 0.025)
        canvas.ellipse(x, y, radius, radius * tilt, rng.pick(tints))


def _steel(canvas: Canvas, colour: Rgb, area: Area, rng: Rng) -> None:
    for _ in range(90):
        y, x = rng.uniform(area.top, area.bottom), rng.uniform(area.left - 2, area.right)
        tint = shade(colour, rng.pick((-0.12, -0.06, 0.12, 0.2)))
        canvas.box(x, y, x + rng.uniform(1, 6), y + 0.01, faded(tint, 110))
    for _ in range(3):
        x = rng.uniform(area.left, area.right)
        soft_light(canvas, x, (area.top + area.bottom) / 2, 1.6, area.bottom - area.top, (255, 255, 255), 0.35)


def _checks(canvas: Canvas, colour: Rgb, area: Area, tilt: float, rng: Rng) -> None:
    side = rng.uniform(0.16, 0.36)
    canvas.box(area.left, area.top, area.right, area.bottom, (240, 236, 228))
    for at in range(math.ceil((area.right - area.left) / side / 2)):
        left = area.left + 2 * at * side
        canvas.box(left, area.top, left + side, area.bottom, faded(colour, 120))
    for at in range(math.ceil((area.bottom - area.top) / side / tilt / 2)):
        top = area.top + 2 * at * side * tilt
        canvas.box(area.left, top, area.right, min(top + side * tilt, area.bottom), faded(colour, 120))


def _cloth_stripes(canvas: Canvas, colour: Rgb, area: Area, tilt: float, rng: Rng) -> None:
    canvas.box(area.left, area.top, area.right, area.bottom, mix((238, 232, 220), colour, 0.1))
    gap = rng.uniform(0.5, 1.0)
    x = area.left + rng.uniform(0, gap)
    while x < area.right:
        for offset, width in ((0.0, 0.1), (0.15, 0.03), (-0.08, 0.03)):
            canvas.box(x + offset, area.top, x + offset + width, area.bottom, faded(colour, 190))
        x += gap
    for at in range(math.ceil((area.bottom - area.top) / (0.05 * tilt))):
        top = area.top + at * 0.05 * tilt
        canvas.box(area.left, top, area.right, top + 0.008, faded(shade(colour, -0.3), 16))
