"""Frames into an ordinary video file."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray


def write_film(path: Path, frames: Iterable[NDArray[np.uint8]], size: int, fps: float, quantizer: int) -> None:
    """An .mp4 (H.264) of square frames.

    Every frame is encoded by itself, at a constant quantizer. Predicted frames gain or lose detail from one to the
    next, and rate control looks back too: both would reveal which of two frames came first.
    """
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000))
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1  # one video per core
        stream.options = {"preset": "ultrafast", "qp": str(quantizer), "g": "1"}
        for picture in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
