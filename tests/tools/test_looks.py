"""Figures of pictures."""

import numpy as np

from mmcc.tools.looks import LOOKED_AT, looks, looks_of, photographs


def test_looks_of_plain_pictures():
    plain = np.zeros((2, 48, 48, 3), np.uint8)
    plain[1] = (255, 0, 0)
    black, red = looks(plain)
    assert len(black) == len(red) == 42
    np.testing.assert_allclose(looks(np.full((1, 48, 48, 3), 255, np.uint8))[0, -8:], [0] * 7 + [1])  # one shade
    np.testing.assert_allclose(black[:7], 0)  # means and spreads of the colours, saturation
    np.testing.assert_allclose(red[:7], [1, 0, 0, 0, 0, 0, 1], atol=1e-6)
    assert np.isfinite(looks(plain)).all()


def test_pictures_of_any_size_are_looked_at_alike():
    small = np.random.default_rng(0).integers(0, 256, (2, LOOKED_AT, LOOKED_AT, 3), dtype=np.uint8)
    large = small.repeat(3, axis=1).repeat(3, axis=2)
    np.testing.assert_allclose(looks_of(large), looks_of(small), atol=1e-5)
    assert looks_of(np.zeros((1, 20, 31, 3), np.uint8)).shape == (1, 42)


def test_the_photographs_have_one_figure_each_and_a_covariance():
    mean, covariance = photographs()
    assert mean.shape == (42,) and covariance.shape == (42, 42)
    assert np.linalg.eigvalsh(covariance).min() > -1e-5
    brightness = mean[:3]
    assert (brightness > 0.2).all() and (brightness < 0.7).all()
