"""Everything an act's drawing depends on, and the moves that acts share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import cos, radians, sin

from mmcc.kitchen.drawing.canvas import Canvas, Point
from mmcc.kitchen.drawing.contents import Ground
from mmcc.kitchen.drawing.hands import draw_hand, on_its_way
from mmcc.kitchen.drawing.look import Look, Rgb
from mmcc.kitchen.drawing.pen import Pen, lit, shaded
from mmcc.kitchen.drawing.vessels import mouth
from mmcc.kitchen.recipes import Step
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Scene, Vessel

Tool = Callable[[Pen, Rgb], None]
FAR = 1.5  # in sizes: where a hand waits out of view
ARRIVED, LEAVING = 0.16, 0.86  # shares of a step's progress


@dataclass(frozen=True)
class Gesture:
    """A moment of an act at a vessel whose base is centred at (x, y)."""

    canvas: Canvas
    look: Look
    step: Step
    progress: float
    scene: Scene
    x: float
    y: float
    size: float
    rng: Rng
    seconds: float

    @property
    def side(self) -> int:
        """Where the busy hand comes from: 1 right, -1 left."""
        return -1 if self.look.left_handed else 1

    @cached_property
    def opening(self) -> Ground:
        return mouth(self.look, self.step.vessel, self.x, self.y, self.size)

    @property
    def vessel(self) -> Vessel:
        return self.scene[self.step.vessel]

    @property
    def away(self) -> float:
        """How far away the hands are, before and after the act."""
        if self.progress < ARRIVED:
            return FAR * (1 - self.progress / ARRIVED)
        return FAR * max(0.0, (self.progress - LEAVING) / (1 - LEAVING))

    @property
    def busy(self) -> bool:
        return ARRIVED <= self.progress <= LEAVING

    def wave(self, per_second: float, phase: float = 0.0) -> float:
        """Back and forth between -1 and 1."""
        return sin(radians(360 * (self.seconds * per_second + phase)))

    def hand(self, pose: str, x: float, y: float, *, other: bool = False, away: float | None = None) -> None:
        side = -self.side if other else self.side
        draw_hand(self.canvas, self.look, pose, x, y, self.size, side, self.away if away is None else away)

    def held(self, x: float, y: float) -> Point:
        """Where a thing in the busy hand is, that is meant for (x, y)."""
        return on_its_way(self.look, x, y, self.size, self.side, self.away)

    def tool(self, draw: Tool, x: float, y: float, lean: float, length: float) -> None:
        """A tool whose working end is at (x, y), leaning away from the cook's side, with the hand on its handle."""
        x, y = self.held(x, y)
        pen = Pen(self.canvas, x, y, length * self.size, self.side * lean)
        draw(pen, self.look.wood)
        self.hand("grip", *pen.at(0, -0.86), away=0.0)

    def stream(self, top: Point, bottom: Point, colour: Rgb, width: float) -> None:
        """Something that runs down, and splashes a little."""
        (x0, y0), (x1, y1) = top, bottom
        middle = (x1 + 0.3 * (x0 - x1), y0 + 0.3 * (y1 - y0))
        self.canvas.line([top, middle, bottom], shaded(colour, 0.2), 1.35 * width * self.size)
        self.canvas.line([top, middle, bottom], colour, width * self.size)
        ripple = (1.2 + 0.4 * self.wave(2.0)) * width * self.size
        self.canvas.ellipse(
            x1, y1, 2 * ripple, 2 * ripple * self.look.tilt, lit(colour, 0.35), line=0.3 * width * self.size
        )

    def falling(self, count: int, top: Point, bottom: Point, spread: float) -> list[Point]:
        """Things in the air, evenly on their way down from one place to the other."""
        places = []
        for at in range(count):
            share = (at / count + 1.3 * self.seconds) % 1.0
            aside = spread * self.size * (share + 0.3) * cos(radians(137.5 * at))
            (x0, y0), (x1, y1) = top, bottom
            places.append((x0 + (x1 - x0) * share + aside, y0 + (y1 - y0) * share))
        return places
