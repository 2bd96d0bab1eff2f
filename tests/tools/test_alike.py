"""Predictions that are one and the same, whatever was shown."""

import numpy as np
import pytest

from mmcc.tools.alike import all_alike


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_all_alike_is_about_the_least_cosine_of_any_two(kind):
    angles = np.array([0.0, 0.01, 0.02])  # radians: the largest cosine apart is cos 0.02 = 0.9998
    near = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(kind)
    assert all_alike(near)
    one_away = np.stack([*near, np.array([np.cos(0.1), np.sin(0.1)], kind)])  # cos 0.08 = 0.9968
    assert not all_alike(one_away)


@pytest.mark.parametrize("count", [0, 1])
def test_one_alone_tells_nothing(count):
    assert not all_alike(np.eye(4, dtype=np.float32)[:count])
