"""What hands and tools do at a vessel: one drawing for each act, driven by the time and the progress of the step."""

from __future__ import annotations

from collections.abc import Callable

from mmcc.kitchen.drawing.adding import add, crack, pour, spread, sprinkle, squeeze
from mmcc.kitchen.drawing.canvas import Canvas
from mmcc.kitchen.drawing.carrying import bake, cover, flip, move
from mmcc.kitchen.drawing.contents import colour_of
from mmcc.kitchen.drawing.crockery import draw_steam
from mmcc.kitchen.drawing.gesture import Gesture
from mmcc.kitchen.drawing.glassware import TRANSPARENT
from mmcc.kitchen.drawing.ingredients import draw_ingredient
from mmcc.kitchen.drawing.look import Look
from mmcc.kitchen.drawing.palette import skin
from mmcc.kitchen.drawing.pen import Pen, glaze, lit, shaded
from mmcc.kitchen.drawing.tools import draw_knife, draw_masher, draw_peeler, draw_spoon, draw_whisk
from mmcc.kitchen.recipes import Step
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Scene


def draw_action(
    canvas: Canvas,
    look: Look,
    step: Step,
    progress: float,
    scene: Scene,
    x: float,
    y: float,
    size: float,
    rng: Rng,
    seconds: float,
) -> None:
    """Over a vessel already drawn at (x, y): `progress` is that of the step, `seconds` times its moves."""
    if step.act not in ACTS:
        raise KeyError(f"no such act: {step.act}")
    ACTS[step.act](Gesture(canvas, look, step, progress, scene, x, y, size, rng, seconds))


def _cut(gesture: Gesture) -> None:
    """The knife moves up and down along the item, which the other hand holds."""
    size, side, opening = gesture.size, gesture.side, gesture.opening
    _lay_out(gesture)
    stroke = abs(gesture.wave(0.8)) if gesture.busy else 1.0
    x = opening.x + side * (0.16 - 0.3 * min(1.0, gesture.progress)) * size
    gesture.hand("flat", opening.x - side * 0.42 * size, opening.y - 0.06 * size, other=True)
    gesture.tool(draw_knife, x - side * 0.1 * size, opening.y + (0.12 - 0.26 * stroke) * size, 48 + 10 * stroke, 0.95)


def _peel(gesture: Gesture) -> None:
    """One hand holds it, the other draws the peeler over it; peel falls."""
    size, side, opening = gesture.size, gesture.side, gesture.opening
    x, y = opening.x, opening.y - 0.04 * size
    peel = skin(gesture.step.item)
    stroke = gesture.wave(0.8)
    _lay_out(gesture)
    gesture.hand("flat", x - side * 0.46 * size, y, other=True)
    if gesture.busy:
        for dx, dy in gesture.falling(2, (x + 0.05 * size, y - 0.1 * size), (x, y + 0.26 * size), 0.3):
            curl = [(dx - 0.07 * size, dy), (dx, dy + 0.04 * size), (dx + 0.06 * size, dy - 0.02 * size)]
            gesture.canvas.line(curl, shaded(peel, 0.2), 0.045 * size)
            gesture.canvas.line(curl, lit(peel, 0.1), 0.03 * size)
    gesture.tool(draw_peeler, x + 0.12 * stroke * size, y - 0.05 * size, 70, 0.62)


def _lay_out(gesture: Gesture) -> None:
    """The item to be cut, unless the scene already shows it."""
    item = gesture.step.item
    if item and gesture.progress < 0.5 and all(p.item != item for p in gesture.vessel.top):
        spot = gesture.opening
        draw_ingredient(gesture.canvas, gesture.look, item, "whole", spot.x, spot.y, 0.56 * gesture.size, gesture.rng)


def _stir(gesture: Gesture) -> None:
    _go_round(gesture, draw_spoon, 0.55, 26)


def _whisk(gesture: Gesture) -> None:
    _go_round(gesture, draw_whisk, 1.3, 30)


def _go_round(gesture: Gesture, draw: Callable[[Pen, tuple[int, int, int]], None], speed: float, lean: float) -> None:
    opening = gesture.opening
    reach = opening.radius * (0.25 if gesture.step.vessel in TRANSPARENT else 0.45)
    deep = 0.3 * gesture.size if gesture.step.vessel in TRANSPARENT else 0.1 * opening.radius
    across, along = gesture.wave(speed), gesture.wave(speed, 0.25)
    x, y = opening.x + reach * across, opening.y + deep + reach * along * gesture.look.tilt
    if gesture.busy and gesture.vessel.portions and gesture.step.vessel not in TRANSPARENT:
        wake = glaze(lit(colour_of(gesture.vessel.portions), 0.4), 0.6)
        start = 90 - 360 * gesture.seconds * speed
        gesture.canvas.arc(
            opening.x, opening.y + deep, reach, reach * gesture.look.tilt, start, start + 130, wake, 0.03 * gesture.size
        )
    gesture.tool(draw, x, y, lean + 6 * across, 0.9)


def _mash(gesture: Gesture) -> None:
    opening = gesture.opening
    down = gesture.wave(0.8)
    x = opening.x + 0.3 * opening.radius * gesture.wave(0.23)
    gesture.tool(draw_masher, x, opening.y + (0.1 * down - 0.02) * gesture.size, 14, 0.9)


def _blend(gesture: Gesture) -> None:
    """The contents whirl, and a hand holds the lid."""
    opening, size, canvas = gesture.opening, gesture.size, gesture.canvas
    if gesture.busy and gesture.vessel.portions:
        colour = colour_of(gesture.vessel.portions)
        for at in range(4):
            start = 360 * (gesture.seconds * 2.3 + 0.23 * at)
            y = opening.y + (0.2 + 0.12 * at) * size
            wide = opening.radius * (0.86 - 0.07 * at)
            tone = glaze(lit(colour, 0.5) if at % 2 else shaded(colour, 0.2), 0.6)
            canvas.arc(opening.x, y, wide, 0.4 * wide, start, start + 160, tone, 0.035 * size)
    shake = 0.012 * size * gesture.wave(5.3) * gesture.busy
    gesture.hand("flat", opening.x + gesture.side * 0.1 * size + shake, opening.y - 0.1 * size)


def _knead(gesture: Gesture) -> None:
    """Two hands press in turn."""
    size, opening = gesture.size, gesture.opening
    for hand, other in ((1, False), (-1, True)):
        press = 0.06 * size * gesture.wave(0.7, 0.0 if other else 0.5)
        x = opening.x + hand * gesture.side * (0.2 * size + press)
        gesture.hand("flat", x, opening.y - 0.06 * size + press, other=other)


def _cook(gesture: Gesture) -> None:
    """Flames below and steam above; a spoon leans in the vessel, and a hand tends it for a while."""
    canvas, look, size, opening = gesture.canvas, gesture.look, gesture.size, gesture.opening
    for at in range(7):
        share = (at - 3) / 3.4
        x = gesture.x + 0.52 * size * share
        y = gesture.y + 0.56 * size * look.tilt * (1 - share * share) ** 0.5
        tall = size * (0.1 + 0.03 * gesture.wave(2.1, 0.37 * at))
        canvas.polygon([(x - 0.035 * size, y), (x, y - tall), (x + 0.035 * size, y)], (64, 120, 240))
        canvas.polygon([(x - 0.018 * size, y), (x, y - 0.55 * tall), (x + 0.018 * size, y)], (255, 190, 70))
    draw_steam(canvas, opening, gesture.rng.child("steam"), gesture.seconds)
    spoon_x, spoon_y = opening.x + gesture.side * 0.2 * size, opening.y + 0.1 * opening.radius
    if 0.3 < gesture.progress < 0.6:
        gesture.tool(draw_spoon, spoon_x + 0.1 * size * gesture.wave(0.4), spoon_y, 30, 0.85)
    else:
        draw_spoon(Pen(canvas, spoon_x, spoon_y, 0.85 * size, gesture.side * 46), look.wood)


ACTS: dict[str, Callable[[Gesture], None]] = {
    "add": add, "pour": pour, "sprinkle": sprinkle, "squeeze": squeeze, "crack": crack, "spread": spread,
    "cut": _cut, "peel": _peel, "stir": _stir, "whisk": _whisk, "blend": _blend, "mash": _mash, "knead": _knead,
    "cook": _cook, "flip": flip, "bake": bake, "cover": cover, "move": move,
}  # fmt: skip
