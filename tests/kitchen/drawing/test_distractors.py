"""Shots that show no step: every kind is drawn, the same twice."""

import numpy as np
import pytest

from mmcc.kitchen.drawing import distractors
from mmcc.kitchen.drawing.canvas import Canvas, View
from mmcc.kitchen.drawing.look import draw_look
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.shots import DISTRACTORS
from tests.kitchen.drawing.pictures import grey, picture_of, plain_look


@pytest.mark.parametrize("kind", DISTRACTORS)
def test_every_kind_fills_the_picture_and_is_the_same_twice(kind):
    look = draw_look(Rng("video"))

    def draw(canvas, shot):
        distractors.draw_still(canvas, look, kind, Rng(shot))
        distractors.draw_moving(canvas, look, kind, Rng(shot), 1.5)

    for number in range(12):
        shot = f"shot {number}"
        pixels = picture_of(lambda canvas, shot=shot: draw(canvas, shot))
        again = picture_of(lambda canvas, shot=shot: draw(canvas, shot), View(0.0, 0.0, 2.4))
        assert (pixels == again).all(), "what is drawn depends on the shot's name alone"
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 2
        assert not (pixels[[0, 0, -1, -1], [0, -1, 0, -1]] == (255, 0, 255)).all(axis=1).any()


def test_an_unknown_kind_is_named():
    with pytest.raises(ValueError, match="clock"):
        distractors.draw_still(Canvas(grey(0), View(0, 0, 2)), plain_look(), "clock", Rng("x"))


def test_the_cook_moves():
    look = draw_look(Rng("video"))
    still, *later = (
        picture_of(lambda canvas, at=at: distractors.draw_moving(canvas, look, "head", Rng("shot"), at))
        for at in (0.0, 0.5, 1.0)
    )
    assert all((still != moved).any() for moved in later)
