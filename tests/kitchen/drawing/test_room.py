"""Walls and counters: drawn in every pattern, the same twice, and fixed where they are."""

import numpy as np
import pytest

from mmcc.kitchen.drawing import room
from mmcc.kitchen.drawing.canvas import View
from mmcc.kitchen.drawing.look import COUNTERS, WALLS, draw_look
from mmcc.kitchen.rng import Rng
from tests.kitchen.drawing.pictures import SIDE, picture_of, plain_look


@pytest.mark.parametrize("tilt", [0.4, 0.6, 0.85])
def test_every_wall_and_counter_draws(tilt):
    view = View(0.0, 0.0, 5.0)
    patterns = [(wall, counter) for wall in WALLS for counter in list(COUNTERS)[:3]]
    patterns += [("plain", counter) for counter in COUNTERS]
    for wall, counter in patterns[:: 1 if tilt == 0.6 else 4]:
        look = plain_look(
            tilt=tilt, wall_pattern=wall, counter_pattern=counter, wall=(40, 60, 200), counter=(200, 60, 40)
        )
        pixels = picture_of(lambda canvas, look=look: room.draw_room(canvas, look, Rng("x")), view).astype(int)
        below = pixels[int((room.edge(look) + 0.9 + 2.5) / 5 * SIDE)].mean(axis=0)
        assert below[0] > below[2], f"{counter}: the counter has the counter's colour"


def test_a_room_is_the_same_twice_and_differs_between_videos():
    def paint(seed):
        room._painted.cache_clear()
        return picture_of(lambda canvas: room.draw_room(canvas, draw_look(Rng(seed)), Rng("shot")), View(0, 0, 4))

    assert (paint("a") == paint("a")).all()
    assert (paint("a") != paint("b")).any()


def test_a_point_of_the_room_stays_where_it_is_when_the_view_moves():
    look = plain_look()
    far, near = (
        picture_of(lambda canvas: room.draw_room(canvas, look, Rng("x")), View(x, 0.0, 4.0)) for x in (0.0, 1.0)
    )
    shift = SIDE // 4
    same = np.abs(far[:, shift:].astype(int) - near[:, :-shift].astype(int))
    assert np.median(same) <= 1
