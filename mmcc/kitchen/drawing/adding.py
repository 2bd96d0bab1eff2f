"""Acts that add an ingredient to a vessel."""

from __future__ import annotations

from mmcc.kitchen.drawing.gesture import Gesture
from mmcc.kitchen.drawing.ingredients import draw_ingredient
from mmcc.kitchen.drawing.packages import PACKAGES
from mmcc.kitchen.drawing.palette import inside, skin
from mmcc.kitchen.drawing.pen import Pen, lit, shaded
from mmcc.kitchen.drawing.pieces import PIECES
from mmcc.kitchen.drawing.tools import draw_flat_knife, draw_scoop

LETS_GO, LANDED = 0.36, 0.52


def add(gesture: Gesture) -> None:
    """A hand drops it; powder and rice come in a scoop."""
    step, size, opening = gesture.step, gesture.size, gesture.opening
    if step.form == "powder" or step.item == "rice":
        _add_by_scoop(gesture)
        return
    high = opening.y - 0.5 * size
    share = min(1.0, max(0.0, (gesture.progress - LETS_GO) / (LANDED - LETS_GO)))
    fallen = high + 0.18 * size + share * share * (opening.y - high - 0.1 * size)
    x, fallen = gesture.held(opening.x, fallen) if gesture.progress < LETS_GO else (opening.x, fallen)
    if gesture.progress < LANDED:
        if step.form == "cut" and step.item in PIECES:
            for at, (dx, dy) in enumerate(((-0.1, 0.0), (0.06, -0.05), (0.0, 0.08), (0.13, 0.04))):
                pen = Pen(gesture.canvas, x + dx * size, fallen + dy * size, 0.16 * size, 70 * at, 0.8)
                PIECES[step.item](pen, 0.0, gesture.rng)
        else:
            draw_ingredient(gesture.canvas, gesture.look, step.item, step.form, x, fallen, 0.42 * size, gesture.rng)
    gesture.hand("drop", opening.x + 0.06 * size * gesture.side, high)


def _add_by_scoop(gesture: Gesture) -> None:
    size, opening, colour = gesture.size, gesture.opening, inside(gesture.step.item)
    tilt = 60 + 55 * min(1.0, max(0.0, (gesture.progress - 0.16) / 0.2))
    x, y = gesture.held(opening.x + gesture.side * 0.12 * size, opening.y - 0.44 * size)
    if 0.26 < gesture.progress < 0.74:
        for at, (dx, dy) in enumerate(gesture.falling(9, (x, y), (opening.x, opening.y + 0.05 * size), 0.05)):
            radius = (0.035 if at % 2 else 0.022) * size
            gesture.canvas.ellipse(dx, dy, radius, 1.4 * radius, lit(colour, 0.1))
        gesture.stream((x, y), (opening.x, opening.y + 0.05 * size), colour, 0.05)
    pen = Pen(gesture.canvas, x, y, 0.9 * size, gesture.side * tilt)
    draw_scoop(pen, colour, full=gesture.progress < 0.6)
    gesture.hand("grip", *pen.at(0, -0.8), away=0.0)


def pour(gesture: Gesture) -> None:
    """Its package, tilted, with a stream from the mouth."""
    size, opening, item, side = gesture.size, gesture.opening, gesture.step.item, gesture.side
    tilt = 40 + 68 * min(1.0, max(0.0, (gesture.progress - 0.1) / 0.16)) * (1 if gesture.progress < 0.84 else 0.5)
    lip_x, lip_y = gesture.held(opening.x + side * 0.14 * size, opening.y - 0.42 * size)
    wide = 0.74 * size
    level = Pen(gesture.canvas, 0, 0, wide, -side * tilt)
    away_x, away_y = level.at(0, -0.46)
    pen = Pen(gesture.canvas, lip_x - away_x, lip_y - away_y, wide, -side * tilt, mirror=side < 0)
    if gesture.busy and 0.22 < gesture.progress < 0.82:
        colour = inside(item)
        gesture.stream(
            (lip_x, lip_y), (opening.x, opening.y + 0.1 * opening.radius), colour, 0.035 if item == "oil" else 0.06
        )
    PACKAGES[item](pen, gesture.rng)
    gesture.hand("grip", *pen.at(0.2, 0.18), away=0.0)


def sprinkle(gesture: Gesture) -> None:
    """From a shaker, or from the fingers."""
    size, opening, item, side = gesture.size, gesture.opening, gesture.step.item, gesture.side
    shake = 0.05 * size * gesture.wave(1.7) * gesture.busy
    x, y = opening.x + side * 0.12 * size + shake, opening.y - 0.5 * size - 0.5 * abs(shake)
    colour = inside(item)
    if gesture.busy:
        grain = (0.05 if item == "cheese" else 0.026) * size
        for dx, dy in gesture.falling(14, (x - side * 0.1 * size, y + 0.1 * size), (opening.x, opening.y), 0.24):
            gesture.canvas.ellipse(dx, dy + 0.3 * grain, 1.2 * grain, grain, shaded(colour, 0.35))
            gesture.canvas.ellipse(dx, dy, grain, 0.7 * grain, colour)
    if item in ("salt", "spice"):
        pen = Pen(gesture.canvas, *gesture.held(x, y), 0.48 * size, -side * 140)
        PACKAGES[item](pen, gesture.rng)
        gesture.hand("grip", *pen.at(0, 0.24), away=0.0)
    else:
        gesture.hand("pinch", x, y)


def squeeze(gesture: Gesture) -> None:
    """Half a fruit in the fist, and drops."""
    size, opening = gesture.size, gesture.opening
    grip = 1.0 - 0.12 * (gesture.wave(0.9) > 0)
    x, y = opening.x, opening.y - 0.4 * size
    rind, flesh = skin(gesture.step.item), inside(gesture.step.item)
    if gesture.busy:
        for dx, dy in gesture.falling(5, (x, y + 0.14 * size), (opening.x, opening.y + 0.04 * size), 0.03):
            gesture.canvas.ellipse(dx, dy, 0.026 * size, 0.042 * size, flesh)
            gesture.canvas.ellipse(dx - 0.006 * size, dy - 0.01 * size, 0.01 * size, 0.014 * size, (255, 255, 240))
    canvas, (fruit_x, fruit_y) = gesture.canvas, gesture.held(x, y)
    canvas.ellipse(fruit_x, fruit_y, 0.22 * size * grip, 0.2 * size, shaded(rind, 0.3))
    canvas.ellipse(fruit_x, fruit_y - 0.01 * size, 0.21 * size * grip, 0.18 * size, rind)
    canvas.ellipse(fruit_x, fruit_y + 0.1 * size, 0.19 * size * grip, 0.09 * size, (255, 250, 214))
    canvas.ellipse(fruit_x, fruit_y + 0.1 * size, 0.155 * size * grip, 0.07 * size, flesh)
    gesture.hand("drop", x + gesture.side * 0.05 * size, y - 0.16 * size)


def crack(gesture: Gesture) -> None:
    """Whole until it breaks; then two halves of shell, and the yolk falls."""
    size, opening, side = gesture.size, gesture.opening, gesture.side
    x, y = opening.x, opening.y - 0.42 * size
    shell = gesture.rng.pick([(226, 172, 130), (248, 236, 220), (238, 200, 164)])
    open_by = min(1.0, max(0.0, (gesture.progress - 0.34) / 0.1))
    share = min(1.0, max(0.0, (gesture.progress - 0.38) / 0.14))
    if 0.38 < gesture.progress < 0.56:
        fallen = y + share * (opening.y - y)
        gesture.stream((x, y), (x, fallen), (252, 246, 218), 0.07)
        gesture.canvas.ellipse(x, fallen, 0.1 * size, 0.11 * size, shaded((253, 186, 28), 0.25))
        gesture.canvas.ellipse(x, fallen - 0.01 * size, 0.09 * size, 0.095 * size, (253, 186, 28))
    for hand in (-1, 1):
        aside = hand * (0.02 + 0.16 * open_by) * size + hand * gesture.away * size
        half = Pen(gesture.canvas, x + aside, y - 0.04 * size, 0.34 * size, hand * 38 * open_by, mirror=hand < 0)
        edge = [(-0.02, -0.42), (0.08, -0.22), (-0.04, -0.06), (0.08, 0.1), (-0.04, 0.24), (0.02, 0.4)]
        outer = [(0.2, 0.36), (0.34, 0.18), (0.38, -0.04), (0.32, -0.26), (0.18, -0.4)]
        half.edged([*edge, *outer], shell, 0.05)
        if open_by:
            half.polygon([*edge, (0.1, 0.2), (0.14, 0.0), (0.12, -0.2)], (255, 252, 246))
    gesture.hand("pinch", x + side * (0.3 + 0.1 * open_by) * size, y - 0.12 * size)
    gesture.hand("pinch", x - side * (0.3 + 0.1 * open_by) * size, y - 0.12 * size, other=True)


def spread(gesture: Gesture) -> None:
    """A flat knife moves over it, back and forth."""
    size, opening = gesture.size, gesture.opening
    colour = inside(gesture.step.item)
    x = opening.x + 0.45 * opening.radius * gesture.wave(0.6)
    y = opening.y + 0.2 * opening.radius * gesture.wave(0.27) - 0.12 * size * (gesture.step.vessel == "plate")
    if gesture.busy:
        gesture.canvas.ellipse(x, y + 0.03 * size, 0.2 * size, 0.11 * size, shaded(colour, 0.16))
        gesture.canvas.ellipse(x, y, 0.19 * size, 0.1 * size, colour)
        gesture.canvas.ellipse(x - 0.05 * size, y - 0.03 * size, 0.06 * size, 0.025 * size, lit(colour, 0.6))
    gesture.tool(draw_flat_knife, x, y, 56, 0.8)
