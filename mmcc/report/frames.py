"""Frames of a video as JPEG: one at a time, or many beside each other in one picture.

Shapes: H × W pixels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mmcc.errors import InputError
from mmcc.media.jpeg import encode_jpeg
from mmcc.tools.footage import Footage

_QUALITY = 85
Pixels = NDArray[np.uint8]


def frame_jpeg(footage: Footage, frame: int, width: int | None = None) -> bytes:
    """A frame as it is stored, or scaled to a width. InputError where frames are vectors."""
    return encode_jpeg(_scaled(_pixels(footage, frame), width), _QUALITY)


def strip_jpeg(footage: Footage, frames: Sequence[int], width: int) -> bytes:
    """Frames from left to right, each of this width."""
    pictures = [_scaled(_pixels(footage, frame), width) for frame in frames]
    return encode_jpeg(np.ascontiguousarray(np.concatenate(pictures, axis=1)), _QUALITY)


def frame_size(footage: Footage) -> tuple[int, int] | None:
    """Width and height of its stored frames; None where frames are vectors."""
    if footage.corpus.manifest.encoding == "float32":
        return None
    return int(footage.video.details["width"] or 0), int(footage.video.details["height"] or 0)


def _pixels(footage: Footage, frame: int) -> Pixels:
    try:
        pixels = footage.still(frame)
    except ValueError as error:
        cause = f"frame {frame} of {footage.video.id} is damaged ({error})"
        raise InputError(footage.corpus.path, cause, "Ingest it again.") from None
    if pixels is None:
        raise InputError(footage.name, "has feature vectors, which nobody can look at", "Ingest the videos themselves.")
    return pixels


def _scaled(pixels: Pixels, width: int | None) -> Pixels:
    """By area when it shrinks; never enlarged, which a browser does as well."""
    if width is None or width >= pixels.shape[1]:
        return pixels
    height = max(1, round(pixels.shape[0] * width / pixels.shape[1]))
    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.BOX))
