"""Title and tip cards: words that fit anywhere in a video."""

from __future__ import annotations

import math
from functools import lru_cache

from PIL import ImageDraw, ImageFont

from mmcc.kitchen.drawing.canvas import Canvas
from mmcc.kitchen.drawing.look import FABRICS, Look, Rgb, mix, shade
from mmcc.kitchen.drawing.surfaces import Area, fade_down, soft_light
from mmcc.kitchen.rng import Rng

_CHANNELS = (
    "Home Kitchen|Good Food|Tasty Days|The Blue Pan|Nora Cooks|Spoon & Fork|Family Table|Simply Made|Little Bistro|"
    "Green Plate|Papa's Pot|Kitchen Diary|Salt & Honey|Cook with Sam|Daily Bites|Old Farm Food|Mia's Oven|Fresh & Easy"
).split("|")
_LINES = (
    "Subscribe!|Like & share|Tip|Did you know?|Made with love|Eat well|Cooking is fun|Follow us|Recipe below|"
    "Easy & cheap|For the family|Tell us!|Yummy|Good to know|Thank your cook|Keep it simple|More recipes|Enjoy"
).split("|")
_ICONS = ("spoon", "heart", "pot", "leaf", "hat", "bell", "play", "none")


def draw_card(canvas: Canvas, look: Look, rng: Rng) -> None:
    """A plain, framed or striped ground, one or two lines, perhaps a drawing."""
    ground = rng.pick((look.accent, mix(rng.pick(FABRICS), (250, 244, 232), 0.75), rng.pick(FABRICS)))
    ink = shade(ground, 0.86) if sum(ground) < 400 else shade(ground, -0.72)
    second = rng.pick(FABRICS)
    canvas.box(-1, -1, 1, 1, ground)
    layout = rng.pick(("frame", "ribbon", "split", "dots", "circle", "glow"))
    _draw_ground(canvas, layout, ground, second, rng)
    if layout == "ribbon":
        ink = shade(second, 0.86) if sum(second) < 400 else shade(second, -0.72)
    icon = rng.pick(_ICONS)
    drawn = icon != "none" and layout != "ribbon"
    middle = 0.28 if drawn else 0.0
    if layout == "circle":
        ink = shade(second, 0.9) if sum(second) < 400 else shade(second, -0.75)
    title, line = rng.shuffled((rng.pick(_CHANNELS), rng.pick(_LINES)))
    _write(canvas, title, middle - 0.06, 0.34, ink)
    if rng.chance(0.55):
        _write(canvas, line, middle + 0.32, 0.17, mix(ink, ground, 0.25))
    if drawn:
        _draw_icon(canvas, icon, 0.0, -0.34, 0.24, ink, second if layout != "circle" else ground)


def _draw_ground(canvas: Canvas, layout: str, ground: Rgb, second: Rgb, rng: Rng) -> None:
    if layout == "frame":
        canvas.box(-0.78, -0.78, 0.78, 0.78, mix(ground, second, 0.6), radius=0.06)
        canvas.box(-0.74, -0.74, 0.74, 0.74, ground, radius=0.05)
    elif layout == "ribbon":
        for stripe in range(14):
            x = -1.4 + stripe * 0.2
            canvas.polygon([(x, -1), (x + 0.1, -1), (x + 0.5, 1), (x + 0.4, 1)], mix(ground, second, 0.15))
        canvas.box(-1, -0.36, 1, 0.42, shade(second, -0.2))
        canvas.box(-1, -0.34, 1, 0.4, second)
    elif layout == "split":
        lean = rng.uniform(-0.3, 0.3)
        canvas.polygon([(-1, 0.62 + lean), (1, 0.62 - lean), (1, 1), (-1, 1)], second)
        canvas.polygon([(-1, -0.66 + lean), (1, -0.66 - lean), (1, -1), (-1, -1)], second)
    elif layout == "dots":
        for row in range(9):
            for column in range(9):
                canvas.ellipse(
                    -1 + column * 0.25 + row % 2 * 0.125, -1 + row * 0.25, 0.03, 0.03, mix(ground, second, 0.35)
                )
    elif layout == "circle":
        canvas.ellipse(0, 0, 0.82, 0.82, shade(second, 0.2))
        canvas.ellipse(0, 0, 0.78, 0.78, second)
    else:
        fade_down(canvas, Area(-1, -1, 1, 1), second, 0.0, 0.5)
        soft_light(canvas, rng.uniform(-0.5, 0.5), -0.3, 1.3, 1.3, (255, 255, 255), 0.25)


def _write(canvas: Canvas, text: str, y: float, height: float, ink: Rgb) -> None:
    """Centred, as large as fits; long titles take two lines."""
    words = text.split(" ")
    if len(text) > 10 and len(words) > 1 and height > 0.2:
        half = math.ceil(len(words) / 2)
        _write_line(canvas, " ".join(words[:half]), y - height * 0.42, height * 0.82, ink)
        _write_line(canvas, " ".join(words[half:]), y + height * 0.36, height * 0.82, ink)
    else:
        _write_line(canvas, text, y, height, ink)


def _write_line(canvas: Canvas, text: str, y: float, height: float, ink: Rgb) -> None:
    size = canvas.pixels(height)
    width = _font(size).getlength(text)
    most = canvas.pixels(1.36)
    if width > most:
        size = max(4, math.floor(size * most / width))
    ImageDraw.Draw(canvas.image).text(canvas.at(0, y), text, fill=ink, font=_font(size), anchor="mm")


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType, which draws the text of title cards")
    return font.font_variant(layout_engine=ImageFont.Layout.BASIC)  # the other one is not on every machine


def _draw_icon(canvas: Canvas, icon: str, x: float, y: float, size: float, ink: Rgb, second: Rgb) -> None:
    half = size / 2
    if icon == "spoon":
        top = y - size * 0.7
        for lean in (-1, 1):
            canvas.line([(x + lean * size, top), (x - lean * size, y + size)], ink, 0.06)
        canvas.ellipse(x - size, top, 0.1, 0.12, ink)
        canvas.box(x + size - 0.09, top - 0.1, x + size + 0.09, top + 0.06, ink, radius=0.03)
    elif icon == "heart":
        red = (206, 66, 70) if sum(ink) < 330 else (246, 150, 150)
        for side in (-1, 1):
            canvas.ellipse(x + side * half, y - half * 0.4, half * 1.06, half * 1.06, red)
        canvas.polygon([(x - size * 0.97, y), (x + size * 0.97, y), (x, y + size)], red)
    elif icon == "pot":
        canvas.box(x - size, y - half, x + size, y + half * 1.4, ink, radius=0.08)
        canvas.box(x - size * 1.3, y - half * 0.5, x + size * 1.3, y - half * 0.1, ink, radius=0.03)
        canvas.box(x - size * 1.05, y - half * 1.3, x + size * 1.05, y - half * 1.05, ink, radius=0.03)
        canvas.ellipse(x, y - half * 1.6, 0.05, 0.05, ink)
    elif icon == "leaf":
        for lean in (-1, 0, 1):
            tip = (x + lean * size, y - size + abs(lean) * half)
            canvas.line([(x, y + size), tip], ink, 0.03)
            canvas.ellipse(*tip, 0.11, 0.15, (104, 158, 84))
    elif icon == "hat":
        for side in (-1, 0, 1):
            canvas.ellipse(x + side * half, y - half + abs(side) * 0.05, half * 0.95, half * 0.85, (248, 246, 240))
        canvas.box(x - half * 1.2, y - half * 0.4, x + half * 1.2, y + half * 1.2, (248, 246, 240))
        canvas.box(x - half * 1.2, y + half * 0.7, x + half * 1.2, y + half * 1.2, second)
    elif icon == "bell":
        canvas.ellipse(x, y + half * 1.1, 0.06, 0.06, ink)
        canvas.chord(x, y, half * 1.1, size, 180, 360, ink)
        canvas.polygon(
            [(x - half * 1.1, y), (x + half * 1.1, y), (x + size * 0.8, y + half), (x - size * 0.8, y + half)], ink
        )
    else:
        canvas.box(x - size * 1.2, y - size * 0.8, x + size * 1.2, y + size * 0.8, (206, 52, 48), radius=0.12)
        canvas.polygon([(x - half * 0.7, y - half), (x - half * 0.7, y + half), (x + half, y)], (250, 248, 244))
