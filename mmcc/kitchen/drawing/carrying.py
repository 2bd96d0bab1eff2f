"""Acts that lift food or vessels: move, flip, bake, cover."""

from __future__ import annotations

from mmcc.kitchen.drawing.cakes import draw_baked, draw_disc, is_batter, is_disc
from mmcc.kitchen.drawing.contents import Ground, colour_of, draw_layers, draw_mass, is_piece
from mmcc.kitchen.drawing.crockery import SHAPES, draw_lid
from mmcc.kitchen.drawing.gesture import Gesture
from mmcc.kitchen.drawing.glassware import TRANSPARENT, TUBES, draw_cap
from mmcc.kitchen.drawing.hands import draw_mitt
from mmcc.kitchen.drawing.pen import Pen, lit, shaded
from mmcc.kitchen.drawing.pieces import PIECES
from mmcc.kitchen.drawing.tools import draw_spatula
from mmcc.kitchen.drawing.vessels import draw_oven
from mmcc.kitchen.drawing.wholes import WHOLES
from mmcc.kitchen.scene import Vessel


def move(gesture: Gesture) -> None:
    """Solid food is carried; the rest is poured from its vessel."""
    source = gesture.scene[gesture.step.source].refilled()
    solid = any(p.item in ("bread", "steak") and is_piece(p) for p in source.portions)
    if gesture.step.source in ("tin", "board"):
        _carry_by_hands(gesture, source)
    elif gesture.step.source == "pan" and (solid or is_batter(source.mixed)):
        _carry_on_spatula(gesture, source)
    else:
        _tip_out(gesture, source)


def _lowered(gesture: Gesture) -> float:
    """Height, in sizes, of what is set down half way through the step."""
    return 0.12 + 0.5 * max(0.0, 1 - gesture.progress / 0.5)


def _draw_load(gesture: Gesture, source: Vessel, ground: Ground) -> None:
    canvas, look, rng = gesture.canvas, gesture.look, gesture.rng.child("load")
    if source.mixed and is_disc("plate", source):
        ground = draw_disc(canvas, look, "plate", source, ground, rng)
    elif source.mixed and gesture.step.source == "tin":
        ground = draw_baked(canvas, look, "plate", source, ground, rng)
    elif source.mixed:
        draw_mass(canvas, look, source.mixed, ground, rng)
    if gesture.step.source == "board":  # only the dough goes
        return
    draw_layers(canvas, look, source, ground, rng, dry=True)


def _carry_on_spatula(gesture: Gesture, source: Vessel) -> None:
    opening, size = gesture.opening, gesture.size
    y = opening.y - _lowered(gesture) * size
    load_x, load_y = gesture.held(opening.x, y)
    gesture.tool(draw_spatula, opening.x + 0.1 * size * gesture.side, y + 0.04 * size, 62, 0.95)
    if gesture.progress < 0.5:
        _draw_load(gesture, source, Ground(load_x, load_y, 0.36 * size))


def _carry_by_hands(gesture: Gesture, source: Vessel) -> None:
    opening, size = gesture.opening, gesture.size
    y = opening.y - _lowered(gesture) * size
    if gesture.progress < 0.5:
        _draw_load(gesture, source, Ground(opening.x, y - 0.3 * gesture.away * size, 0.38 * size))
    apart = 0.42 * size
    gesture.hand("flat", opening.x + gesture.side * apart, y)
    gesture.hand("flat", opening.x - gesture.side * apart, y, other=True)


def _tip_out(gesture: Gesture, source: Vessel) -> None:
    """The vessel from the side, tilted over the opening."""
    opening, size, side, kind = gesture.opening, gesture.size, gesture.side, gesture.step.source
    lip = gesture.held(opening.x + side * 0.12 * size, opening.y - 0.3 * size)
    if gesture.busy and 0.22 < gesture.progress < 0.82:
        _let_run(gesture, source, lip)
    rim, base, height = _profile(kind)
    tilt = -side * (40 + 55 * min(1.0, gesture.progress / 0.25))
    level = Pen(gesture.canvas, 0, 0, 0.86 * size, tilt)
    lip_x, lip_y = level.at(-side * rim, 0)
    pen = Pen(gesture.canvas, lip[0] - lip_x, lip[1] - lip_y, 0.86 * size, tilt)
    colour = gesture.look.colour(kind) if kind not in TRANSPARENT else (206, 222, 228)
    pen.edged(
        [(-rim, 0), (rim, 0), (0.9 * rim, 0.5 * height), (base, height), (-base, height), (-0.9 * rim, 0.5 * height)],
        shaded(colour, 0.1), 0.03
    )  # fmt: skip
    pen.polygon(
        [(-0.6 * rim * side, 0.04), (-0.3 * rim * side, 0.04), (-0.3 * base * side, height),
        (-0.6 * base * side, height)], lit(colour, 0.3)
    )  # fmt: skip
    if kind in TRANSPARENT:
        inside = colour_of(source.portions)
        pen.polygon(
            [(-rim * side, 0.02), (0.2 * rim * side, 0.3 * height), (0.8 * base * side, 0.96 * height),
            (-0.9 * base * side, 0.96 * height)], inside
        )  # fmt: skip
    pen.oval(0, 0, rim, 0.3 * rim, lit(colour, 0.3))
    pen.oval(0, 0, 0.93 * rim, 0.25 * rim, shaded(colour, 0.4))
    pen.oval(-0.3 * rim * side, 0.02, 0.6 * rim, 0.16 * rim, colour_of(source.portions))
    gesture.hand("grip", *pen.at(0.55 * rim * side, 0.7 * height), away=0.0)


def _profile(kind: str) -> tuple[float, float, float]:
    """Radius of the rim and of the base, and height, seen from the side."""
    if kind in TUBES:
        tube = TUBES[kind]
        return tube.rim, tube.base, tube.height
    shape = SHAPES[kind]
    return 0.8 * shape.rim, 0.8 * shape.base, max(0.14, shape.height)


def _let_run(gesture: Gesture, source: Vessel, lip: tuple[float, float]) -> None:
    opening, size = gesture.opening, gesture.size
    runny = [p for p in source.portions if not is_piece(p)]
    pieces = [p for p in source.portions if is_piece(p)]
    bottom = (opening.x, opening.y + 0.1 * opening.radius)
    if runny:
        gesture.stream(lip, bottom, colour_of(runny), 0.09)
    for at, (x, y) in enumerate(gesture.falling(4, lip, bottom, 0.08) if pieces else []):
        piece = pieces[at % len(pieces)]
        PIECES[piece.item](Pen(gesture.canvas, x, y, 0.15 * size, 80 * at, 0.8), piece.cooked, gesture.rng)


def flip(gesture: Gesture) -> None:
    """Up on the spatula, over in the air, and down again."""
    opening, size = gesture.opening, gesture.size
    share = (gesture.progress - 0.3) / 0.4
    if not 0 < share < 1:
        gesture.tool(draw_spatula, opening.x + 0.2 * size * gesture.side, opening.y + 0.06 * size, 58, 0.95)
        return
    _clear(gesture)
    height = 4 * share * (1 - share)
    x, y = opening.x, opening.y - 0.42 * height * size
    edge_on = abs(2 * share - 1)
    held = gesture.vessel.refilled()
    solid = next((p for p in held.portions if p.item in ("bread", "steak") and is_piece(p)), None)
    colour = colour_of(held.mixed or held.portions)
    radius = 0.3 * size
    gesture.tool(draw_spatula, x + 0.22 * size * gesture.side, opening.y - 0.1 * height * size, 58, 0.95)
    deep = radius * (0.16 + edge_on * gesture.look.tilt)
    if solid:
        WHOLES[solid.item](Pen(gesture.canvas, x, y, 2 * radius, 8, deep / radius), solid.cooked, gesture.rng)
    else:
        gesture.canvas.ellipse(x, y + 0.05 * size, radius, deep, shaded(colour, 0.4))
        gesture.canvas.ellipse(x, y, radius, deep, shaded(colour, 0.12))
        gesture.canvas.ellipse(x, y - 0.01 * size, 0.85 * radius, 0.85 * deep, colour)


def _clear(gesture: Gesture) -> None:
    """The bottom of the vessel, while its contents are in the air."""
    opening, colour = gesture.opening, shaded(gesture.look.colour(gesture.step.vessel), 0.26)
    radius = 0.9 * opening.radius
    gesture.canvas.ellipse(opening.x, opening.y, radius, radius * gesture.look.tilt, shaded(colour, 0.1))
    gesture.canvas.ellipse(
        opening.x, opening.y + 0.03 * radius, 0.92 * radius, 0.9 * radius * gesture.look.tilt, colour
    )


def bake(gesture: Gesture) -> None:
    """Mitts take the tin; then the oven, with a hand at its knobs."""
    size = gesture.size
    if gesture.progress < 0.4:
        away = max(0.0, 1.5 * (1 - gesture.progress / 0.16))
        y = (gesture.y + gesture.opening.y) / 2
        draw_mitt(gesture.canvas, gesture.look, gesture.x + 0.5 * size, y, size, 1, away)
        draw_mitt(gesture.canvas, gesture.look, gesture.x - 0.5 * size, y, size, -1, away)
        return
    x, y = gesture.x, gesture.y - 0.1 * size
    draw_oven(gesture.canvas, gesture.look, gesture.vessel, x, y, size, gesture.rng)
    if gesture.progress < 0.7:
        gesture.hand("pinch", x + gesture.side * 0.56 * size, y - 0.74 * size)


def cover(gesture: Gesture) -> None:
    """The lid comes down; then the hand turns it tight."""
    opening, size, kind = gesture.opening, gesture.size, gesture.step.vessel
    high = 0.55 * size * max(0.0, 1 - gesture.progress / 0.5)
    turn = 0.04 * size * gesture.wave(0.8) if gesture.progress > 0.5 else 0.0
    if gesture.progress < 0.5:
        above = Ground(*gesture.held(opening.x, opening.y - high), opening.radius)
        if kind in TRANSPARENT:
            draw_cap(gesture.canvas, gesture.look, kind, above, min(gesture.look.tilt, 0.5))
        else:
            draw_lid(gesture.canvas, gesture.look, above, gesture.look.colour(kind))
    gesture.hand("drop", opening.x + turn, opening.y - high - 0.22 * size)
