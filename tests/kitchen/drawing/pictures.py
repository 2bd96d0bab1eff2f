"""Small pictures to draw on, and a look that adds nothing."""

from dataclasses import replace

import numpy as np
from PIL import Image

from mmcc.kitchen.drawing.canvas import Canvas, View
from mmcc.kitchen.drawing.look import draw_look
from mmcc.kitchen.rng import Rng

SIDE = 144
SQUARE = View(0.0, 0.0, 2.0)


def plain_look(**changes):
    """A look whose camera changes nothing."""
    plain = {"gains": (1.0, 1.0, 1.0), "brightness": 1.0, "contrast": 1.0, "vignette": 0.0, "noise": 0.0, "blur": 0.0}
    return replace(draw_look(Rng("plain")), **(plain | changes))


def picture_of(draw, view=SQUARE):
    image = Image.new("RGB", (SIDE, SIDE), (255, 0, 255))
    draw(Canvas(image, view))
    return np.asarray(image)


def noisy_image():
    values = np.random.PCG64(1).random_raw(SIDE * SIDE * 3) % 256
    return Image.fromarray(values.astype(np.uint8).reshape(SIDE, SIDE, 3))


def grey(level):
    return Image.new("RGB", (SIDE, SIDE), (level,) * 3)
