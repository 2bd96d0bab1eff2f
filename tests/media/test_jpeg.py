"""Pictures survive JPEG."""

import numpy as np

from mmcc.media.jpeg import decode_jpeg, encode_jpeg


def test_a_picture_comes_back_in_its_place():
    rows, columns = np.mgrid[0:40, 0:56]
    pixels = np.stack([rows * 6, columns * 4, 255 - rows * 3 - columns], axis=-1).astype(np.uint8)
    batch = np.zeros((3, 40, 56, 3), np.uint8)
    decode_jpeg(memoryview(encode_jpeg(pixels, 90)), batch[1])
    assert np.abs(batch[1].astype(int) - pixels).max() < 12
    assert not batch[0].any() and not batch[2].any()


def test_colour_keeps_its_resolution():
    pixels = np.zeros((32, 32, 3), np.uint8)
    pixels[:, ::2], pixels[:, 1::2] = (230, 40, 40), (40, 60, 230)  # columns that halved colour planes would blend
    decoded = np.empty_like(pixels)
    decode_jpeg(memoryview(encode_jpeg(pixels, 90)), decoded)
    assert np.abs(decoded.astype(int) - pixels).mean() < 6
