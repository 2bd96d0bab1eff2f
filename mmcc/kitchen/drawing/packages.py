"""What liquids and powders come in: carton, jug, bottle, bag, jar, shaker; standing on y = 0.5, mouth up at y = -0.5.

The mouth stays at the top of the drawing, so that a turned pen pours from it.
"""

from __future__ import annotations

from collections.abc import Callable

from mmcc.kitchen.drawing.look import Rgb
from mmcc.kitchen.drawing.palette import inside
from mmcc.kitchen.drawing.pen import Pen, glaze, lit, shaded
from mmcc.kitchen.rng import Rng

Package = Callable[[Pen, Rng], None]
GLASS: Rgb = (206, 224, 230)
PAPER: Rgb = (232, 216, 186)
METAL: Rgb = (176, 180, 186)


def _slab(pen: Pen, half_top: float, half_bottom: float, top: float, bottom: float, fill: Rgb) -> None:
    """An upright body, lit on its left, dark on its right."""
    pen.edged([(-half_top, top), (half_top, top), (half_bottom, bottom), (-half_bottom, bottom)], fill, 0.035)
    pen.polygon(
        [(half_top * 0.5, top), (half_top, top), (half_bottom, bottom), (half_bottom * 0.5, bottom)], shaded(fill, 0.16)
    )
    pen.polygon(
        [(-half_top * 0.85, top), (-half_top * 0.6, top), (-half_bottom * 0.6, bottom), (-half_bottom * 0.85, bottom)],
        lit(fill, 0.4),
    )


def _milk(pen: Pen, rng: Rng) -> None:
    blue = rng.pick([(52, 112, 190), (60, 150, 110), (206, 70, 66)])
    _slab(pen, 0.24, 0.24, -0.22, 0.5, (250, 250, 248))
    pen.edged([(-0.24, -0.22), (0.24, -0.22), (0.13, -0.42), (-0.13, -0.42)], blue, 0.03)
    pen.polygon([(-0.14, -0.5), (0.14, -0.5), (0.14, -0.41), (-0.14, -0.41)], shaded(blue, 0.2))
    pen.polygon([(-0.24, 0.1), (0.24, -0.02), (0.24, 0.3), (-0.24, 0.42)], blue)
    pen.oval(0.0, 0.2, 0.1, 0.1, (250, 250, 248))


def _jug(pen: Pen, holds: Rgb, body: Rgb) -> None:
    pen.line([(0.24, -0.26), (0.44, -0.18), (0.42, 0.14), (0.26, 0.24)], shaded(body, 0.2), 0.07)
    _slab(pen, 0.22, 0.29, -0.4, 0.5, body)
    pen.edged([(-0.26, -0.06), (0.26, -0.06), (0.26, 0.44), (-0.26, 0.44)], holds, 0.02)
    pen.polygon([(-0.22, -0.02), (-0.15, -0.02), (-0.15, 0.4), (-0.22, 0.4)], lit(holds, 0.5))
    pen.oval(0, -0.4, 0.22, 0.07, lit(body, 0.5))
    pen.polygon([(-0.2, -0.4), (-0.32, -0.46), (-0.2, -0.3)], lit(body, 0.3))


def _water(pen: Pen, rng: Rng) -> None:
    _jug(pen, inside("water"), GLASS)


def _coffee(pen: Pen, rng: Rng) -> None:
    _jug(pen, inside("coffee"), (150, 140, 134))
    pen.polygon([(-0.24, -0.44), (0.24, -0.44), (0.26, -0.28), (-0.26, -0.28)], (38, 36, 40))
    pen.line([(0.24, -0.32), (0.46, -0.22), (0.44, 0.14), (0.28, 0.24)], (38, 36, 40), 0.09)


def _cream(pen: Pen, rng: Rng) -> None:
    china = rng.pick([(226, 236, 244), (244, 214, 214), (240, 240, 240)])
    pen.line([(0.28, -0.16), (0.48, -0.06), (0.42, 0.22), (0.26, 0.28)], shaded(china, 0.2), 0.08)
    _slab(pen, 0.3, 0.24, -0.3, 0.46, china)
    pen.oval(0, 0.44, 0.24, 0.06, shaded(china, 0.2))
    pen.oval(0, -0.3, 0.32, 0.11, shaded(china, 0.25))
    pen.oval(0, -0.29, 0.27, 0.08, inside("cream"))
    pen.polygon([(-0.26, -0.34), (-0.42, -0.4), (-0.28, -0.18)], china)


def _oil(pen: Pen, rng: Rng) -> None:
    colour = inside("oil")
    pen.edged([(-0.07, -0.36), (0.07, -0.36), (0.09, -0.14), (-0.09, -0.14)], lit(colour, 0.2), 0.03)
    _slab(pen, 0.19, 0.2, -0.06, 0.5, colour)
    pen.edged([(-0.08, -0.16), (0.08, -0.16), (0.19, -0.04), (-0.19, -0.04)], colour, 0.02)
    pen.polygon([(-0.08, -0.5), (0.08, -0.5), (0.08, -0.36), (-0.08, -0.36)], (62, 96, 44))
    pen.polygon([(-0.19, 0.12), (0.19, 0.12), (0.2, 0.36), (-0.2, 0.36)], (244, 238, 210))
    pen.oval(0.0, 0.24, 0.09, 0.06, (96, 128, 50), -25)


def _bag(pen: Pen, paper: Rgb, holds: Rgb, mark: Rgb) -> None:
    _slab(pen, 0.32, 0.36, -0.26, 0.5, paper)
    pen.edged(
        [(-0.32, -0.26), (-0.34, -0.4), (-0.12, -0.35), (0.1, -0.42), (0.34, -0.36), (0.32, -0.26)], lit(paper, 0.2),
        0.03
    )  # fmt: skip
    pen.oval(0, -0.34, 0.24, 0.07, holds)
    pen.polygon([(-0.26, -0.04), (0.26, -0.04), (0.28, 0.34), (-0.28, 0.34)], mark)


def _flour(pen: Pen, rng: Rng) -> None:
    _bag(pen, PAPER, inside("flour"), rng.pick([(190, 66, 54), (70, 104, 150)]))
    pen.line([(0.0, 0.3), (0.0, 0.0)], (248, 224, 150), 0.04)
    for y in (0.04, 0.14, 0.24):
        pen.oval(-0.08, y, 0.07, 0.035, (248, 224, 150), 35)
        pen.oval(0.08, y, 0.07, 0.035, (248, 224, 150), -35)


def _sugar(pen: Pen, rng: Rng) -> None:
    _slab(pen, 0.3, 0.3, -0.26, 0.5, GLASS)
    pen.polygon([(-0.27, -0.08), (0.27, -0.08), (0.27, 0.46), (-0.27, 0.46)], inside("sugar"))
    for x, y in ((-0.16, 0.0), (0.06, 0.3), (0.18, 0.06), (-0.06, 0.16), (-0.18, 0.36)):
        pen.oval(x, y, 0.025, 0.025, (206, 206, 214))
    pen.polygon([(-0.2, 0.08), (0.2, 0.08), (0.2, 0.3), (-0.2, 0.3)], (236, 120, 150))
    pen.edged([(-0.33, -0.42), (0.33, -0.42), (0.33, -0.26), (-0.33, -0.26)], rng.pick([METAL, (200, 150, 96)]), 0.03)


def _salt(pen: Pen, rng: Rng) -> None:
    _slab(pen, 0.18, 0.27, -0.2, 0.5, GLASS)
    pen.polygon([(-0.22, 0.08), (0.22, 0.08), (0.25, 0.46), (-0.25, 0.46)], (250, 250, 252))
    pen.oval(0, -0.24, 0.2, 0.2, shaded(METAL, 0.25))
    pen.oval(-0.02, -0.27, 0.18, 0.17, METAL)
    for x, y in ((-0.08, -0.34), (0.06, -0.34), (0.0, -0.24)):
        pen.oval(x, y, 0.03, 0.03, (60, 60, 66))


def _spice(pen: Pen, rng: Rng) -> None:
    _slab(pen, 0.25, 0.25, -0.2, 0.5, inside("spice"))
    pen.edged([(-0.27, -0.46), (0.27, -0.46), (0.27, -0.2), (-0.27, -0.2)], (52, 48, 46), 0.03)
    pen.polygon([(-0.25, 0.04), (0.25, 0.04), (0.25, 0.3), (-0.25, 0.3)], (246, 236, 214))
    pen.oval(0.0, 0.17, 0.12, 0.05, (196, 40, 30), -20)
    pen.polygon([(-0.2, -0.16), (-0.14, -0.16), (-0.14, 0.46), (-0.2, 0.46)], glaze((255, 255, 255), 0.4))


PACKAGES: dict[str, Package] = {
    "milk": _milk, "water": _water, "cream": _cream, "oil": _oil, "coffee": _coffee, "flour": _flour,
    "sugar": _sugar, "salt": _salt, "spice": _spice,
}  # fmt: skip
