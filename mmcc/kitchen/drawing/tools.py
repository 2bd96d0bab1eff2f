"""What hands hold: each tool has its working end at (0, 0) under the pen and the end of its handle at (0, -1)."""

from __future__ import annotations

from mmcc.kitchen.drawing.look import Rgb
from mmcc.kitchen.drawing.pen import Pen, lit, shaded

STEEL: Rgb = (196, 200, 206)
GRIP: Rgb = (46, 44, 48)


def _handle(pen: Pen, top: float, bottom: float, colour: Rgb, width: float = 0.075) -> None:
    pen.line([(0, bottom), (0, top)], shaded(colour, 0.35), width + 0.025)
    pen.line([(0, bottom), (0, top)], colour, width)


def draw_spoon(pen: Pen, wood: Rgb) -> None:
    _handle(pen, -1.0, -0.1, wood, 0.06)
    pen.oval(0, 0, 0.115, 0.155, shaded(wood, 0.35))
    pen.oval(0, -0.01, 0.095, 0.135, wood)
    pen.oval(-0.01, -0.02, 0.06, 0.09, shaded(wood, 0.16))


def draw_whisk(pen: Pen, wood: Rgb) -> None:
    _handle(pen, -1.0, -0.55, wood, 0.08)
    for half in (0.16, 0.09, 0.0):
        for side in (-1, 1) if half else (1,):
            wire = [(0, -0.55), (side * half, -0.26), (side * half * 0.9, -0.08), (0, 0.02)]
            pen.line(wire, shaded(STEEL, 0.3), 0.03)
            pen.line(wire, lit(STEEL, 0.4), 0.014)


def draw_masher(pen: Pen, wood: Rgb) -> None:
    _handle(pen, -1.0, -0.62, wood, 0.09)
    pen.line([(0, -0.62), (0, -0.4), (-0.14, -0.26), (-0.14, -0.06)], shaded(STEEL, 0.25), 0.04)
    pen.line([(0, -0.4), (0.14, -0.26), (0.14, -0.06)], shaded(STEEL, 0.25), 0.04)
    pen.oval(0, 0.0, 0.21, 0.11, shaded(STEEL, 0.45))
    pen.oval(0, -0.02, 0.19, 0.09, STEEL)
    for x in (-0.09, 0.0, 0.09):
        pen.oval(x, -0.02, 0.025, 0.025, shaded(STEEL, 0.5))


def draw_knife(pen: Pen, wood: Rgb) -> None:
    """The edge faces to the left of the handle."""
    _handle(pen, -1.0, -0.7, GRIP, 0.085)
    pen.edged([(0.05, -0.7), (0.05, -0.16), (0.0, 0.0), (-0.08, -0.16), (-0.1, -0.7)], STEEL, 0.02)
    pen.polygon([(-0.08, -0.16), (-0.1, -0.7), (-0.055, -0.7), (-0.045, -0.12)], lit(STEEL, 0.7))


def draw_flat_knife(pen: Pen, wood: Rgb) -> None:
    _handle(pen, -1.0, -0.56, wood, 0.07)
    pen.line([(0, -0.54), (0, -0.06)], shaded(STEEL, 0.3), 0.12)
    pen.line([(0, -0.54), (0, -0.06)], lit(STEEL, 0.2), 0.09)


def draw_spatula(pen: Pen, wood: Rgb) -> None:
    _handle(pen, -1.0, -0.3, GRIP, 0.06)
    pen.edged([(-0.15, 0.02), (0.15, 0.02), (0.12, -0.3), (-0.12, -0.3)], STEEL, 0.03)
    for x in (-0.06, 0.0, 0.06):
        pen.line([(x, -0.06), (x, -0.22)], shaded(STEEL, 0.45), 0.02)


def draw_peeler(pen: Pen, wood: Rgb) -> None:
    _handle(pen, -0.6, -0.24, wood, 0.1)
    pen.line([(0, -0.24), (-0.08, -0.14), (-0.08, 0.02), (0.08, 0.02), (0.08, -0.14), (0, -0.24)], STEEL, 0.035)
    pen.line([(-0.08, 0.02), (0.08, 0.02)], shaded(STEEL, 0.4), 0.05)


def draw_scoop(pen: Pen, holds: Rgb, *, full: bool) -> None:
    """A measuring cup; it pours towards (0, 0)."""
    _handle(pen, -0.9, -0.4, STEEL, 0.06)
    pen.edged([(-0.17, -0.02), (0.17, -0.02), (0.13, -0.4), (-0.13, -0.4)], STEEL, 0.03)
    pen.oval(0, -0.02, 0.17, 0.06, shaded(STEEL, 0.4))
    if full:
        pen.oval(0, -0.02, 0.15, 0.07, holds)
