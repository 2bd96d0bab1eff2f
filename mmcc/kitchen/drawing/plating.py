"""A random finished dish: it does not reveal what this video cooks."""

from __future__ import annotations

from mmcc.kitchen.drawing.camera import draw_phases, sway
from mmcc.kitchen.drawing.canvas import Canvas, View
from mmcc.kitchen.drawing.look import CHINA, Look, shade
from mmcc.kitchen.drawing.room import draw_room
from mmcc.kitchen.drawing.vessels import draw_vessel
from mmcc.kitchen.recipes import LIQUIDS, PIECES
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Portion, Vessel

_STEEL = (196, 198, 202)


def _canvas(canvas: Canvas, rng: Rng) -> Canvas:
    """Of the world around a dish."""
    return Canvas(canvas.image, View(rng.uniform(-0.2, 0.2), rng.uniform(-0.15, 0.1), rng.uniform(1.75, 2.5)))


def draw_still(canvas: Canvas, look: Look, rng: Rng) -> None:
    world = _canvas(canvas, rng.child("framing"))
    draw_room(world, look, rng.child("room"))
    chance = rng.child("dish")
    side = chance.pick((-1, 1))
    _draw_napkin(world, look, side * chance.uniform(0.8, 0.9), chance.uniform(-0.05, 0.1), chance)
    _draw_cutlery(world, look, -side * chance.uniform(0.7, 0.76), chance)
    if chance.chance(0.5):
        drink = Vessel(mixed=(Portion(chance.pick(LIQUIDS[:3]), "poured"),))
        draw_vessel(world, look, "glass", drink, side * 0.95, -0.75 * look.tilt, 0.4, chance.child("glass"))
    kind = chance.weighted({"plate": 4, "bowl": 1.5})
    draw_vessel(world, look, kind, _dish(chance), 0.0, 0.0, 1.15 if kind == "plate" else 1.0, chance.child(kind))


def _dish(rng: Rng) -> Vessel:
    """A few portions, mixed or not, cooked or not."""
    items = rng.sample(PIECES, rng.integer(2, 4))
    portions = [Portion(item, rng.pick(("cut", "whole", "cut")), rng.pick((0.0, 0.7, 1.0))) for item in items]
    if rng.chance(0.35):
        return Vessel(mixed=tuple(portions[:-1]), top=(portions[-1],))
    return Vessel(top=tuple(portions))


def _draw_napkin(canvas: Canvas, look: Look, x: float, y: float, rng: Rng) -> None:
    cloth = rng.pick((look.accent, *CHINA[:4]))
    half, depth, lean = 0.24, 0.5 * look.tilt, rng.uniform(-0.12, 0.12)
    canvas.shadow(x, y, half * 1.2, depth * 1.1, 0.3)
    canvas.polygon(
        [(x - half + lean, y - depth), (x + half + lean, y - depth), (x + half, y + depth), (x - half, y + depth)],
        cloth,
    )
    canvas.polygon([(x + lean, y - depth), (x + half + lean, y - depth), (x + half, y + depth)], shade(cloth, -0.1))
    canvas.line([(x - half, y + depth * 0.8), (x + half, y + depth * 0.8)], shade(cloth, 0.45), 0.03)


def _draw_cutlery(canvas: Canvas, look: Look, x: float, rng: Rng) -> None:
    """A fork and a knife, side by side."""
    metal = rng.pick((_STEEL, (206, 170, 96), (90, 92, 96)))
    reach = 0.55 * look.tilt
    for offset, tool in ((0.0, "fork"), (0.17, "knife")):
        at = x + offset - 0.08
        canvas.line([(at + 0.03, -reach + 0.03), (at + 0.03, reach + 0.03)], (20, 16, 14, 70), 0.05)
        canvas.line([(at, -0.2 * look.tilt), (at, reach)], metal, 0.045)
        if tool == "fork":
            canvas.ellipse(at, -0.25 * look.tilt, 0.06, 0.12 * look.tilt, metal)
            for prong in (-0.045, -0.015, 0.015, 0.045):
                canvas.line([(at + prong, -0.25 * look.tilt), (at + prong, -reach)], metal, 0.018)
        else:
            canvas.polygon(
                [(at - 0.03, 0), (at + 0.045, 0), (at + 0.045, -reach), (at, -reach * 1.08)], shade(metal, 0.15)
            )


def draw_moving(canvas: Canvas, look: Look, rng: Rng, seconds: float) -> None:
    """Steam, over some dishes."""
    chance = rng.child("steam")
    if not chance.chance(0.5):
        return
    world = _canvas(canvas, rng.child("framing"))
    for wisp in range(3):
        phases, course = draw_phases(chance), chance.pick((-0.45, 0.45))
        x = (wisp - 1) * 0.2
        path = [
            (x + 0.06 * sway(seconds + rise * course, phases), -0.12 - rise * 0.1 + 0.03 * sway(seconds * 1.3, phases))
            for rise in range(6)
        ]
        world.line(path, (255, 255, 255, 46), 0.07)
