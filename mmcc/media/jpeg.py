"""Pictures to and from JPEG."""

import numpy as np
import simplejpeg
from numpy.typing import NDArray


def encode_jpeg(pixels: NDArray[np.uint8], quality: int) -> bytes:
    """[H, W, 3] RGB to JPEG, with the colour planes halved as video has them anyway."""
    encoded: bytes = simplejpeg.encode_jpeg(pixels, quality=quality, colorspace="RGB", colorsubsampling="420")
    return encoded


def decode_jpeg(data: memoryview, into: NDArray[np.uint8]) -> None:
    """JPEG to [H, W, 3] RGB, written straight to its place in a batch."""
    simplejpeg.decode_jpeg(data, colorspace="RGB", buffer=into)
