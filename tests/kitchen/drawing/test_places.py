"""Kitchens, cooks and cameras: the same for the same rng, and nothing in them reveals the time."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from mmcc.kitchen.drawing import distractors, room
from mmcc.kitchen.drawing.camera import MARGIN, Motion, draw_motion, expose
from mmcc.kitchen.drawing.canvas import Canvas, View
from mmcc.kitchen.drawing.look import COUNTERS, HAIR_STYLES, WALLS, draw_look
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.shots import DISTRACTORS

SIDE = 144
SQUARE = View(0.0, 0.0, 2.0)


def plain_look(**changes):
    """A look whose camera changes nothing."""
    plain = {"gains": (1.0, 1.0, 1.0), "brightness": 1.0, "contrast": 1.0, "vignette": 0.0, "noise": 0.0, "blur": 0.0}
    return replace(draw_look(Rng("plain")), **(plain | changes))


def picture_of(draw, view=SQUARE):
    image = Image.new("RGB", (SIDE, SIDE), (255, 0, 255))
    draw(Canvas(image, view))
    return np.asarray(image)


def noisy_image():
    values = np.random.PCG64(1).random_raw(SIDE * SIDE * 3) % 256
    return Image.fromarray(values.astype(np.uint8).reshape(SIDE, SIDE, 3))


def grey(level):
    return Image.new("RGB", (SIDE, SIDE), (level,) * 3)


def test_a_look_is_the_same_for_the_same_rng_and_varies_over_videos():
    assert draw_look(Rng("a")) == draw_look(Rng("a"))
    looks = [draw_look(Rng("many", number)) for number in range(400)]
    assert {look.counter_pattern for look in looks} == set(COUNTERS)
    assert {look.wall_pattern for look in looks} == set(WALLS)
    assert {look.hair_style for look in looks} == set(HAIR_STYLES)
    assert all(0.4 <= look.tilt <= 0.85 and 0 <= look.blur <= 0.9 and 0 <= look.noise <= 6 for look in looks)
    warm = [look.gains[0] > look.gains[2] for look in looks]
    assert 0.3 < np.mean(warm) < 0.8


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


def test_a_still_camera_only_scales_down():
    image = noisy_image()
    rest = SIDE / (1 + MARGIN)
    left, right = (SIDE - rest) / 2, (SIDE + rest) / 2
    expected = image.resize((40, 40), Image.Resampling.BILINEAR, box=(left, left, right, right))
    assert (expose(image, 40, plain_look(), Motion(), 1.0, 4.0, noise=5) == np.asarray(expected)).all()


def test_light_by_hand():
    look = plain_look(gains=(1.1, 1.0, 0.9), brightness=0.9, contrast=1.2)
    frame = expose(grey(100), 32, look, Motion(), 0.0, 1.0, noise=0)
    by_hand = [(100 * gain * 0.9 - 128) * 1.2 + 128 for gain in (1.1, 1.0, 0.9)]
    assert frame.reshape(-1, 3).mean(axis=0) == pytest.approx(by_hand, abs=0.51)


def test_vignette_darkens_corners_by_its_strength():
    frame = expose(grey(200), 96, plain_look(vignette=0.25), Motion(), 0.0, 1.0, noise=0)
    assert frame[48, 48, 0] == 200
    assert frame[0, 0, 0] == pytest.approx(200 * 0.75, abs=3)
    assert (frame == frame[::-1]).all() and (frame == frame[:, ::-1]).all()


def test_noise_has_its_level_no_bias_and_differs_between_neighbouring_frames():
    look = plain_look(noise=4.0)
    frames = [expose(grey(128), 64, look, Motion(), 0.0, 1.0, noise=number).astype(int) - 128 for number in range(30)]
    assert np.mean(frames) == pytest.approx(0, abs=0.1)
    assert np.std(frames) == pytest.approx(4.0, rel=0.05)
    flat = [frame.ravel() for frame in frames]
    for one, other in pairwise(flat):
        for shift in range(4):
            assert abs(np.corrcoef(one[shift:], other[: len(other) - shift])[0, 1]) < 0.1
    again = expose(grey(128), 64, look, Motion(), 0.0, 1.0, noise=3).astype(int) - 128
    assert (again == frames[3]).all()


def test_blur_smooths_and_keeps_the_mean():
    sharp, soft = (
        expose(noisy_image(), 48, plain_look(blur=blur), Motion(), 0.0, 1.0, noise=0).astype(float)
        for blur in (0.0, 0.9)
    )
    assert soft.std() < 0.9 * sharp.std()
    assert soft.mean() == pytest.approx(sharp.mean(), abs=1)


def test_no_motion_leaves_the_canvas():
    for number in range(300):
        motion = draw_motion(Rng("motion", number))
        for step in range(25):
            left, top, right, bottom = motion.seen(345, step / 4, 6.0)
            assert 0 <= left < right <= 345 and 0 <= top < bottom <= 345
            assert right - left == pytest.approx(bottom - top, abs=0.1)


def test_a_reversed_motion_is_the_motion_backwards():
    motion = Motion(drift=(0.03, -0.04), zoom=0.05)
    for seconds in (0.0, 1.0, 2.5, 6.0):
        forwards, backwards = motion.seen(345, seconds, 6.0), motion.reversed().seen(345, 6.0 - seconds, 6.0)
        assert forwards == pytest.approx(backwards, abs=1 / 32)


def test_motions_have_no_direction_in_time():
    motions = [draw_motion(Rng("symmetric", number)) for number in range(3000)]
    for values in ([m.drift[0] for m in motions], [m.drift[1] for m in motions], [m.zoom for m in motions]):
        moved = np.array([value for value in values if value])
        assert abs(np.mean(moved > 0) - 0.5) < 0.05
        assert abs(moved.mean()) < 4 * moved.std() / len(moved) ** 0.5
    assert np.mean([m.drift == (0, 0) and m.zoom == 0 and m.shake == 0 for m in motions]) > 0.3, "a tripod is common"
    first, last = ([m.exposure(at) for m in motions if m.flicker] for at in (0.0, 5.0))
    assert abs(np.mean(first) - np.mean(last)) < 0.003


def test_exposure_flickers_with_the_seconds():
    motion = Motion(flicker=0.04)
    levels = {int(expose(grey(120), 8, plain_look(), motion, at / 4, 5.0, noise=0)[0, 0, 0]) for at in range(20)}
    assert len(levels) > 2
    assert all(113 <= level <= 127 for level in levels)
