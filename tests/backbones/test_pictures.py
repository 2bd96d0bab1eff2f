"""Pictures are fitted as Pillow would do it."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mmcc.backbones.pictures import centre_square


def scene(height: int, width: int) -> np.ndarray:
    """A smooth picture with some noise, edges and pure white: what overshoots at an edge must be clipped."""
    rng = np.random.default_rng(height * 1000 + width)
    ramp = np.linspace(0, 255, width)[None, :, None] + np.linspace(-60, 60, height)[:, None, None]
    noisy = ramp + rng.normal(0, 20, (height, width, 3))
    noisy[: height // 3, : width // 2] = 255
    return noisy.clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize(("height", "width", "visible"), [(90, 160, 1), (160, 90, 1), (40, 40, 1), (101, 64, 0.875)])
@pytest.mark.parametrize("size", [24, 100])
def test_as_by_hand(height, width, visible, size):
    pictures = np.stack([scene(height, width), scene(height, width)[::-1]])
    side = round(visible * min(height, width))
    top, left = (height - side) // 2, (width - side) // 2
    box = (left, top, left + side, top + side)
    found = centre_square(torch.from_numpy(pictures), size, visible)
    assert found.dtype == torch.uint8 and found.shape == (2, size, size, 3)
    for picture, mine in zip(pictures, found.numpy(), strict=True):
        by_hand = Image.fromarray(picture).crop(box).resize((size, size), Image.Resampling.BICUBIC)
        difference = np.abs(mine.astype(int) - np.asarray(by_hand))  # weights are rounded to 16 bits, or to more
        assert difference.max() <= 2 and difference.mean() < 0.1


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30), st.integers(0, 255))
def test_one_colour_stays_that_colour(height, width, size, colour):
    flat = torch.full((2, height, width, 3), colour, dtype=torch.uint8)
    assert torch.equal(centre_square(flat, size), torch.full((2, size, size, 3), colour, dtype=torch.uint8))


def test_a_picture_of_the_right_size_is_left_alone():
    picture = torch.from_numpy(scene(20, 30))[None]
    assert torch.equal(centre_square(picture, 20), picture[:, :, 5:25])


def test_a_picture_does_not_depend_on_its_neighbours():
    pictures = torch.from_numpy(np.stack([scene(30, 40), scene(30, 40) // 2]))
    assert torch.equal(centre_square(pictures, 17)[1:], centre_square(pictures[1:], 17))
