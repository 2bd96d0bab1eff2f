"""Decoded frames to pictures: upright, with square pixels and true colours, at the stored size."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import av
import numpy as np
from av.video.reformatter import Colorspace, Interpolation, VideoReformatter
from numpy.typing import NDArray

from mmcc.errors import InputError

Fit = Literal["crop", "letterbox", "short"]
Pixels = NDArray[np.uint8]

_UNSPECIFIED = 2  # libavutil's AVCOL_SPC_UNSPECIFIED
_HD_HEIGHT = 720  # untagged video from this height on is BT.709, below it BT.601: the rule players follow


class PictureMaker:
    """Turns decoded frames into pictures of the wanted size: upright, square-pixelled, without combing."""

    def __init__(self, path: Path, size: int, fit: Fit, max_pixels: int) -> None:
        self._path, self._size, self._fit, self._max_pixels = path, size, fit, max_pixels
        self._scaler = VideoReformatter()  # keeps its tables from frame to frame
        self._fields = _FieldFilter()
        self._shape: tuple[int, int] | None = None  # of "short" pictures, set by the first

    def make(self, frame: av.VideoFrame, pixel_aspect: Fraction | None) -> Pixels:
        check_pixels(self._path, frame.width, frame.height, self._max_pixels)
        # The picture has the frame's size, even when we keep only one field of it.
        width, height = frame.width * float(pixel_aspect or 1), float(frame.height)
        colorspace = _colorspace(frame)
        display_matrix = _display_matrix(frame)
        if frame.interlaced_frame:
            frame = self._fields.first_field(frame)
        width, height = self._scaled(width, height)
        check_pixels(self._path, width, height, self._max_pixels)
        scaled = self._scaler.reformat(
            frame,
            width=width,
            height=height,
            format="rgb24",
            src_colorspace=colorspace,
            interpolation=Interpolation.AREA,
            threads=1,
        )
        pixels: Pixels = scaled.to_ndarray().astype(np.uint8, copy=False)
        return np.ascontiguousarray(self._placed(_upright(pixels, display_matrix)))

    def _scaled(self, width: float, height: float) -> tuple[int, int]:
        side = max(width, height) if self._fit == "letterbox" else min(width, height)
        scale = self._size / side
        return max(1, round(width * scale)), max(1, round(height * scale))

    def _placed(self, pixels: Pixels) -> Pixels:
        """Cropped to, or centred on, the picture's final shape."""
        if self._fit != "short":
            return _centred(pixels, self._size, self._size)
        if self._shape is None:
            self._shape = pixels.shape[0], pixels.shape[1]
        return _centred(pixels, *self._shape)  # pictures of one video share a shape, even if it changes midway


class _FieldFilter:
    """One field of an interlaced frame: half the lines, all from one instant, so nothing combs."""

    def __init__(self) -> None:
        self._graph: av.filter.Graph | None = None
        self._layout: tuple[int, int, str] | None = None

    def first_field(self, frame: av.VideoFrame) -> av.VideoFrame:
        layout = frame.width, frame.height, frame.format.name
        if self._graph is None or layout != self._layout:
            self._graph, self._layout = self._build(frame), layout
        self._graph.push(frame)
        field = self._graph.pull()
        assert isinstance(field, av.VideoFrame)
        return field

    @staticmethod
    def _build(frame: av.VideoFrame) -> av.filter.Graph:
        graph = av.filter.Graph()
        source = graph.add_buffer(
            width=frame.width, height=frame.height, format=frame.format, time_base=frame.time_base or Fraction(1, 1000)
        )
        graph.link_nodes(source, graph.add("field", "type=top"), graph.add("buffersink")).configure()
        return graph


def _centred(pixels: Pixels, height: int, width: int) -> Pixels:
    """The middle of a picture, with black bars where it is smaller."""
    rows, columns = pixels.shape[0], pixels.shape[1]
    top, left = max(0, rows - height) // 2, max(0, columns - width) // 2
    pixels = pixels[top : top + height, left : left + width]
    if pixels.shape[:2] == (height, width):
        return pixels
    canvas = np.zeros((height, width, 3), np.uint8)
    top, left = (height - pixels.shape[0]) // 2, (width - pixels.shape[1]) // 2
    canvas[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels
    return canvas


def _display_matrix(frame: av.VideoFrame) -> NDArray[np.int32] | None:
    stored: Any = frame.side_data.get("DISPLAYMATRIX")
    return None if stored is None else np.frombuffer(bytes(stored), np.int32)


def _upright(pixels: Pixels, matrix: NDArray[np.int32] | None) -> Pixels:
    """The picture as a player shows it: x' = a·x + c·y, y' = b·x + d·y, by right angles and mirrors."""
    if matrix is None or len(matrix) != 9:
        return pixels
    a, b, c, d = matrix[[0, 1, 3, 4]].tolist()
    if abs(b) + abs(c) > abs(a) + abs(d):
        pixels, a, d = pixels.transpose(1, 0, 2), c, b
    return pixels[:: -1 if d < 0 else 1, :: -1 if a < 0 else 1]


def check_pixels(path: Path, width: int, height: int, limit: int) -> None:
    if width * height > limit:
        cause = f"has frames of {width}x{height}, over the limit of {limit:,} pixels"
        raise InputError(path, cause, "Scale it down, or raise --max-pixels.")


def _colorspace(frame: av.VideoFrame) -> int | None:
    """None trusts the frame's own tag, which many files lack."""
    untagged = frame.colorspace == _UNSPECIFIED
    return Colorspace.ITU709 if untagged and frame.height >= _HD_HEIGHT else None
