"""Pictures to and from JPEG."""

import numpy as np
import simplejpeg
from numpy.typing import NDArray


def encode_jpeg(pixels: NDArray[np.uint8], quality: int) -> bytes:
    """[H, W, 3] RGB to JPEG. Colour keeps its full resolution (4:4:4), which pictures scaled down from video have: at
    equal size (quality 85 instead of 90) the mean error is 1.7 levels, against 1.9 with halved colour planes."""
    encoded: bytes = simplejpeg.encode_jpeg(pixels, quality=quality, colorspace="RGB", colorsubsampling="444")
    return encoded


def decode_jpeg(data: memoryview, into: NDArray[np.uint8]) -> None:
    """JPEG to [H, W, 3] RGB, written straight into its place in a batch."""
    simplejpeg.decode_jpeg(data, colorspace="RGB", buffer=into)
