"""From a script to frames: what the camera sees over time.

A shot's room is drawn once, the things in it once for every state of the scene, and only what acts or moves once per
frame.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mmcc.kitchen.drawing import distractors
from mmcc.kitchen.drawing.actions import draw_action
from mmcc.kitchen.drawing.camera import MARGIN, Motion, draw_motion, expose
from mmcc.kitchen.drawing.canvas import Canvas, View
from mmcc.kitchen.drawing.ingredients import draw_ingredient
from mmcc.kitchen.drawing.look import draw_look
from mmcc.kitchen.drawing.room import draw_room, edge
from mmcc.kitchen.drawing.vessels import draw_oven, draw_vessel
from mmcc.kitchen.recipes import INGREDIENTS
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.scene import Scene
from mmcc.kitchen.script import Moment, Script
from mmcc.kitchen.shots import WORK, Shot

SUPERSAMPLING = 3
_FRAMINGS = {1.6: 0.4, 2.1: 0.35, 3.0: 0.25}  # width of the view: how close the camera is, and how often
_TALL = {"glass": 0.35, "jar": 0.4, "blender": 0.5}  # half their height: the camera looks at their opening
_APART = 1.35  # between vessels on the counter


class Painter:
    """Draws the frames of one video, in order of time."""

    def __init__(self, script: Script, size: int) -> None:
        self._script, self._size = script, size
        rng = Rng(script.seed, "picture")
        self._look = draw_look(rng.child("look"))
        self._side = int(size * SUPERSAMPLING * (1 + MARGIN))
        self._noise = rng.child("noise").integer(0, 2**31)
        self._places = self._lay_counter(rng.child("places"))
        self._waiting = self._lay_ingredients(rng.child("waiting"))
        self._shot: _ShotPicture | None = None

    def frames(self, rate: float) -> Iterator[NDArray[np.uint8]]:
        """One [size, size, 3] picture per moment."""
        for number, moment in enumerate(self._script.moments(rate)):
            if self._shot is None or self._shot.shot != moment.shot:
                self._shot = self._begin(moment.shot)
            picture = self._shot
            image = self._draw(picture, moment)
            seconds = moment.time - moment.shot.start
            length = moment.shot.end - moment.shot.start
            yield expose(image, self._size, self._look, picture.motion, seconds, length, self._noise + number)

    def _lay_counter(self, rng: Rng) -> dict[str, tuple[float, float]]:
        """Where each vessel stands in this video."""
        vessels = rng.shuffled(self._script.recipe.vessels)
        middle = (len(vessels) - 1) / 2
        return {
            name: ((at - middle) * _APART + rng.uniform(-0.1, 0.1), rng.uniform(-0.25, 0.25) * self._look.tilt)
            for at, name in enumerate(vessels)
        }

    def _lay_ingredients(self, rng: Rng) -> list[tuple[str, float, float]]:
        """Some of the recipe's ingredients and some others, which stay all the time and so do not reveal it."""
        items = [item for item in self._script.recipe.ingredients if rng.chance(0.5)][:4]
        items += rng.sample(INGREDIENTS, 2)
        back = 0.75 * edge(self._look)
        return [(item, rng.uniform(-2.8, 2.8), back + rng.uniform(-0.1, 0.1)) for item in items]

    def _begin(self, shot: Shot) -> _ShotPicture:
        rng = Rng(shot.seed)
        motion = draw_motion(rng.child("motion"))
        room = Image.new("RGB", (self._side, self._side))
        if shot.kind != WORK:
            view = View(0.0, 0.0, 2.0 * (1 + MARGIN))
            canvas = Canvas(room, view)
            distractors.draw_still(canvas, self._look, shot.kind, _of_distractor(shot))
            return _ShotPicture(shot, motion, view, room)
        x, y = self._places[shot.focus]
        width = rng.weighted(_FRAMINGS) * rng.uniform(0.9, 1.1) + 0.4 * _TALL.get(shot.focus, 0.0)
        view = View(
            x + rng.uniform(-0.12, 0.12) * width,
            y - 0.12 * width - _TALL.get(shot.focus, 0.0) + rng.uniform(-0.08, 0.08) * width,
            width * (1 + MARGIN),
        )
        canvas = Canvas(room, view)
        draw_room(canvas, self._look, Rng(self._script.seed, "room"))
        for number, (item, left, back) in enumerate(self._waiting):
            draw_ingredient(canvas, self._look, item, "whole", left, back, 0.4, Rng(self._look.seed, item, number))
        return _ShotPicture(shot, motion, view, room)

    def _draw(self, picture: _ShotPicture, moment: Moment) -> Image.Image:
        seconds = moment.time - picture.shot.start
        if picture.shot.kind != WORK:
            image = picture.room.copy()
            canvas = Canvas(image, picture.view)
            distractors.draw_moving(canvas, self._look, picture.shot.kind, _of_distractor(picture.shot), seconds)
            return image
        image = self._with_things(picture, moment).copy()
        step = moment.acting
        if step is not None:
            x, y = self._places[step.vessel]
            rng = Rng(picture.shot.seed, step.text)
            canvas = Canvas(image, picture.view)
            draw_action(canvas, self._look, step, moment.progress, moment.scene, x, y, 1.0, rng, seconds)
        return image

    def _with_things(self, picture: _ShotPicture, moment: Moment) -> Image.Image:
        """The room with its vessels; kept until the scene changes."""
        step = moment.acting
        baking = step is not None and step.act == "bake"
        away = step.source if step is not None and step.act == "move" else ""
        state = (moment.scene, baking, away)
        if picture.state != state:
            picture.state, picture.image = state, picture.room.copy()
            canvas = Canvas(picture.image, picture.view)
            for name in sorted(self._places, key=lambda name: self._places[name][1]):
                if name == away:
                    continue
                x, y = self._places[name]
                rng = Rng(self._look.seed, "vessel", name)
                if baking and step is not None and name == step.vessel:
                    draw_oven(canvas, self._look, moment.scene[name], x, y, 1.0, rng)
                else:
                    draw_vessel(canvas, self._look, name, moment.scene[name], x, y, 1.0, rng)
        return picture.image


def _of_distractor(shot: Shot) -> Rng:
    """What stays and what moves in a shot are drawn from one stream, so that they fit."""
    return Rng(shot.seed, "distractor")


class _ShotPicture:
    """What a shot keeps from frame to frame."""

    def __init__(self, shot: Shot, motion: Motion, view: View, room: Image.Image) -> None:
        self.shot, self.motion, self.view, self.room = shot, motion, view, room
        self.image = room
        self.state: tuple[Scene, bool, str] | None = None
