"""The camera: light, noise, blur and motion by hand; nothing in them reveals the time."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from mmcc.kitchen.drawing.camera import MARGIN, Motion, draw_motion, expose
from mmcc.kitchen.rng import Rng
from tests.kitchen.drawing.pictures import SIDE, grey, noisy_image, plain_look


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
