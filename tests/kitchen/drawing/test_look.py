"""What a video looks like: the same for the same rng, and varied over videos."""

import numpy as np

from mmcc.kitchen.drawing.look import COUNTERS, HAIR_STYLES, WALLS, draw_look
from mmcc.kitchen.rng import Rng


def test_a_look_is_the_same_for_the_same_rng_and_varied_over_videos():
    assert draw_look(Rng("a")) == draw_look(Rng("a"))
    looks = [draw_look(Rng("many", number)) for number in range(400)]
    assert {look.counter_pattern for look in looks} == set(COUNTERS)
    assert {look.wall_pattern for look in looks} == set(WALLS)
    assert {look.hair_style for look in looks} == set(HAIR_STYLES)
    assert all(0.4 <= look.tilt <= 0.85 and 0 <= look.blur <= 0.9 and 0 <= look.noise <= 6 for look in looks)
    warm = [look.gains[0] > look.gains[2] for look in looks]
    assert 0.3 < np.mean(warm) < 0.8
