"""Augmentation: shapes stay, all frames of a segment change the same way, and seed and sample decide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.data import DataConfig
from mmcc.data.augment import augment

NOTHING = {"crop_smallest": 1.0, "flip": 0.0, "colour": 0.0}


@pytest.fixture(scope="module")
def frames():
    return np.random.default_rng(0).integers(0, 256, (5, 20, 28, 3), np.uint8)


@settings(max_examples=30)
@given(st.integers(0, 99), st.integers(1, 3), st.integers(1, 40), st.integers(1, 40))
def test_shape_and_type_stay_and_the_input_is_not_changed(sample, count, height, width):
    frames = np.random.default_rng(sample).integers(0, 256, (count, height, width, 3), np.uint8)
    before = frames.copy()
    augmented = augment(frames, DataConfig(), seed=0, sample=sample)
    assert augmented.shape == frames.shape and augmented.dtype == np.uint8
    assert np.array_equal(frames, before)
    assert np.array_equal(augmented, augment(frames, DataConfig(), seed=0, sample=sample))


def test_every_sample_and_every_seed_is_another_draw(frames):
    drawn = [augment(frames, DataConfig(), seed, sample).tobytes() for seed in (0, 1) for sample in range(10)]
    assert len(set(drawn)) == 20


def test_all_frames_of_a_segment_are_changed_the_same_way(frames):
    same = np.repeat(frames[:1], 5, axis=0)
    for sample in range(5):
        augmented = augment(same, DataConfig(), seed=0, sample=sample)
        assert (augmented == augmented[:1]).all()


def test_with_everything_off_nothing_changes(frames):
    assert np.array_equal(augment(frames, DataConfig(**NOTHING), seed=0, sample=0), frames)


def test_a_flip_is_a_mirror(frames):
    assert np.array_equal(augment(frames, DataConfig(**NOTHING | {"flip": 1.0}), 0, 0), frames[:, :, ::-1])


def test_flips_are_as_frequent_as_asked(frames):
    config = DataConfig(**NOTHING | {"flip": 0.25})
    flips = sum(not np.array_equal(augment(frames, config, 0, sample), frames) for sample in range(400))
    assert 70 <= flips <= 130


def test_colours_are_scaled_within_their_bounds_and_never_wrap():
    levels = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1).repeat(3, axis=3)
    gains = set()
    for sample in range(50):
        lit = augment(levels, DataConfig(**NOTHING | {"colour": 0.9}), 0, sample).reshape(256, 3).astype(int)
        assert (np.diff(lit, axis=0) >= 0).all()
        assert (lit[100] <= 100 * 1.9 * 1.9 + 1).all()
        gains.add(tuple(lit[50]))
    assert len(gains) == 50


def test_a_crop_keeps_at_least_its_share_of_the_picture():
    rows = np.arange(40, dtype=np.uint8)[None, :, None, None] * 6
    frames = np.broadcast_to(rows, (1, 40, 40, 3)).copy()
    for sample in range(50):
        cropped = augment(frames, DataConfig(**NOTHING | {"crop_smallest": 0.25}), 0, sample)[0, :, 0, 0]
        assert int(cropped[-1]) - int(cropped[0]) >= 6 * (20 - 2)  # half of each side; interpolation stops short
        assert (np.diff(cropped.astype(int)) >= 0).all()
