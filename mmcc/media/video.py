"""Video to frames: a file sampled at a steady rate, each frame with its true time.

Presentation timestamps are the only clock. At every point of a grid of `fps` per second, laid from the first
frame on, we take the frame that is then on display. A frame that stays on display over several grid points (a
slide, a stalled camera) is taken once. So a sample always is a picture that a viewer saw at that moment, also
where the frame rate varies, and no two samples are the same frame.

Times count from the container's start, as in a player, so captions and frames share one clock.

Fast mode skips the frames that no other frame refers to; a sample is then at most one source frame early, and
half of the decoding is saved. Where the source has so few frames that this would show, the file is decoded in
full, and `VideoReport.mode` says so.

Frames arrive one by one: memory does not grow with the length of a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple, Self

import av
import numpy as np
from av.container import InputContainer
from av.video.reformatter import Colorspace, Interpolation, VideoReformatter
from av.video.stream import VideoStream
from numpy.typing import NDArray

from mmcc.media.errors import InputError

Fit = Literal["crop", "letterbox", "short"]
Pixels = NDArray[np.uint8]

_SAME_MOMENT = 1e-4  # seconds; time bases round, and no camera is this fast
_FAST_OVERSAMPLING = 4  # source frames per sample from which a skipped neighbour no longer matters
_UNSPECIFIED = 2  # libavutil's AVCOL_SPC_UNSPECIFIED
_HOLE_SECONDS, _HOLE_PACES = 2.0, 20  # a longer gap, at a steady pace before it, is a loss and not a slide
_SILENT_PACKETS = 48  # without a frame: more than any order of B-frames (16) and any delay of a decoder (16) explain
_HD_HEIGHT = 720  # untagged video from this height on is BT.709, below it BT.601: the rule players follow


@dataclass(frozen=True)
class Sampling:
    """How frames are taken from a file."""

    fps: float = 1.0  # the paper's densest rate
    size: int = 128  # side of the stored picture
    fit: Fit = "crop"  # square by centre crop; "letterbox": square with bars; "short": the short side is `size`
    exact: bool = False  # decode every frame; else skip the ones nothing refers to
    max_pixels: int = 8192 * 4320  # of a decoded frame: 8K; what is larger is an attack or a mistake
    max_seconds: float = 12 * 3600.0  # longest file; a broken header can claim centuries


class Frame(NamedTuple):
    time: float  # seconds on the playback clock
    pixels: Pixels  # [H, W, 3], RGB


@dataclass
class VideoReport:
    """What came of a file. Filled while it is read; final when the frames have run out."""

    mode: Literal["fast", "exact"]
    expected_seconds: float | None  # what the file says of its length, if it does
    decoded_seconds: float = 0.0
    frames: int = 0
    damaged: int = 0  # packets or frames that could not be decoded

    @property
    def partial(self) -> bool:
        """Some of the file is missing: damaged inside, or shorter than it says."""
        if self.damaged:
            return True
        if self.expected_seconds is None:
            return False
        return self.expected_seconds - self.decoded_seconds > max(1.5, 0.01 * self.expected_seconds)


class VideoSampler:
    """Iterate over the sampled frames of one file.

    >>> with VideoSampler(Path("soup.mp4"), Sampling(fps=1, size=128)) as video:
    ...     for time, pixels in video:
    ...         ...
    ...     print(video.report)
    """

    def __init__(self, path: Path, sampling: Sampling) -> None:
        self._path, self._sampling = path, sampling
        self._container = open_container(path)
        try:
            self._stream = self._choose_stream()
            self._origin = (self._container.start_time or 0) / av.time_base
            self._missing_seconds = 0.0  # of holes in the midst of the file
            self.report = VideoReport("exact", self._declared_seconds())
            self._check_limits()
            self._prepare_decoder()
        except BaseException:
            self._container.close()
            raise
        self._picture = _PictureMaker(path, sampling)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.close()

    def __iter__(self) -> Iterator[Frame]:
        for time, frame in self._on_display():
            pixels = self._picture.make(frame, self._stream.sample_aspect_ratio)
            self.report.frames += 1
            yield Frame(time, pixels)

    def _choose_stream(self) -> VideoStream:
        pictures = [s for s in self._container.streams.video if not s.disposition & s.disposition.attached_pic]
        if not pictures:
            raise InputError(self._path, "has no video stream", "Give a file with pictures, or remove it.")
        best = self._container.streams.best("video")
        return best if isinstance(best, VideoStream) and best in pictures else pictures[0]

    def _declared_seconds(self) -> float | None:
        """The stream's own length if known, since the container's may be that of a longer sound track."""
        stream, container = self._stream, self._container
        if stream.duration is not None and stream.time_base is not None and stream.duration > 0:
            return float(stream.duration * stream.time_base)
        if (tagged := _parse_duration_tag(stream.metadata.get("DURATION", ""))) is not None:
            return tagged
        if container.duration is not None and container.duration > 0:
            return container.duration / av.time_base
        return None

    def _check_limits(self) -> None:
        declared = self.report.expected_seconds
        if declared is not None and declared > self._sampling.max_seconds:
            self._too_long(declared)
        context = self._stream.codec_context
        _check_pixels(self._path, context.width, context.height, self._sampling.max_pixels)

    def _too_long(self, seconds: float) -> None:
        cause = f"lasts {seconds / 3600:,.3g} hours, over the limit of {self._sampling.max_seconds / 3600:.3g}"
        raise InputError(self._path, cause, "Cut it, or raise --max-hours.")

    def _prepare_decoder(self) -> None:
        context = self._stream.codec_context
        context.thread_count = 1  # files run in parallel; threads inside one would only cost more in total
        context.options = {"max_pixels": str(self._sampling.max_pixels)}  # for sizes that change midway
        rate = self._stream.average_rate or self._stream.guessed_rate
        dense = rate is not None and rate >= _FAST_OVERSAMPLING * self._sampling.fps
        timed = self._stream.start_time is not None  # without a clock, frames are all there is to tell the time by
        if dense and timed and not self._sampling.exact:
            context.skip_frame = "NONREF"
            self.report.mode = "fast"

    def _on_display(self) -> Iterator[tuple[float, av.VideoFrame]]:
        """At each point of the grid the frame then on display, every frame at most once."""
        fps = self._sampling.fps
        shown: tuple[float, av.VideoFrame] | None = None
        first = due = 0.0
        for time, frame in self._decoded():
            if shown is None:
                first = due = time
            elif due < time - _SAME_MOMENT:
                yield shown
                due = first + math.ceil((time - first - _SAME_MOMENT) * fps) / fps
            shown = time, frame
            if time - first > self._sampling.max_seconds:
                self._too_long(time - first)
        if shown is None:
            self._check_memory()
            raise InputError(self._path, "holds no frame that can be decoded", "Download or export it again.")
        time, frame = shown
        end = time + _frame_seconds(frame)
        self.report.decoded_seconds = end - first - self._missing_seconds
        if self.report.partial:
            self._check_memory()
        if due < max(end, time + 2 * _SAME_MOMENT) - _SAME_MOMENT:
            yield shown

    def _decoded(self) -> Iterator[tuple[float, av.VideoFrame]]:
        """All frames that decode, in time's order, with their times. Damage is counted and passed over."""
        latest, after = -math.inf, 0.0
        count, pace = 0, 0.0  # frames so far, and the mean seconds between them
        # MP4 lists all of its frames: a gap between two is meant, unless something between them is damaged.
        lists_frames, damaged = "mp4" in self._container.format.name, 0
        for frame in self._decode_all():
            pts = frame.pts if frame.pts is not None else frame.dts
            if pts is not None and frame.time_base is not None:
                time = float(pts * frame.time_base) - self._origin
            else:
                time = after  # a bare stream has no clock but the durations of its frames
            if frame.is_corrupt or time <= latest:  # a clock that runs backward has no true time to give
                self.report.damaged += 1
                continue
            hole = count > _HOLE_PACES and time - after > max(_HOLE_SECONDS, _HOLE_PACES * pace)
            if hole and (self.report.damaged > damaged or not lists_frames):
                self._missing_seconds += time - after
            elif count:
                pace += (time - latest - pace) / count
            count, damaged = count + 1, self.report.damaged
            latest, after = time, time + _frame_seconds(frame)
            yield time, frame

    def _decode_all(self) -> Iterator[av.VideoFrame]:
        packets = self._container.demux(self._stream)
        silent = 0
        while True:
            try:
                packet = next(packets, None)
                self.report.damaged += packet is not None and packet.is_corrupt
            except (av.FFmpegError, ValueError):  # the container broke off: what came before stands
                self.report.damaged += 1
                packet = None
            try:
                # None flushes the decoder: it still holds the last few frames
                frames = self._stream.codec_context.decode(packet)
            except av.error.EOFError:
                return
            except MemoryError:  # which PyAV raises as one of its errors, too
                raise
            except (av.FFmpegError, ValueError):
                self.report.damaged += 1
                frames = []
            # A decoder that skips frames says nothing of those it cannot decode; its silence tells.
            silent = 0 if frames else silent + 1
            self.report.damaged += silent == _SILENT_PACKETS
            for frame in frames:
                if isinstance(frame, av.VideoFrame):
                    yield frame
            if packet is None or (packet.dts is None and packet.size == 0):
                return

    def _check_memory(self) -> None:
        """Tell a lack of memory from damage: decoders report both alike. Raises MemoryError."""
        context = self._stream.codec_context
        np.empty(8 * context.width * context.height, np.uint8)  # a few frames, reserved but not touched


class _PictureMaker:
    """Turns decoded frames into pictures of the wanted size: upright, square-pixelled, without combing."""

    def __init__(self, path: Path, sampling: Sampling) -> None:
        self._path, self._sampling = path, sampling
        self._scaler = VideoReformatter()  # keeps its tables from frame to frame
        self._fields = _FieldFilter()
        self._shape: tuple[int, int] | None = None  # of "short" pictures, set by the first

    def make(self, frame: av.VideoFrame, pixel_aspect: Fraction | None) -> Pixels:
        _check_pixels(self._path, frame.width, frame.height, self._sampling.max_pixels)
        # A frame's own size is that of the picture, also when we keep but one field of it.
        width, height = frame.width * float(pixel_aspect or 1), float(frame.height)
        colorspace = _colorspace(frame)
        turns = round(frame.rotation / 90) % 4
        if frame.interlaced_frame:
            frame = self._fields.first_field(frame)
        width, height = self._scaled(width, height)
        _check_pixels(self._path, width, height, self._sampling.max_pixels)
        scaled = self._scaler.reformat(
            frame,
            width=width,
            height=height,
            format="rgb24",
            src_colorspace=colorspace,
            interpolation=Interpolation.AREA,
            threads=1,
        )
        pixels: Pixels = np.rot90(scaled.to_ndarray(), turns).astype(np.uint8, copy=False)
        return np.ascontiguousarray(self._placed(pixels))

    def _scaled(self, width: float, height: float) -> tuple[int, int]:
        side = max(width, height) if self._sampling.fit == "letterbox" else min(width, height)
        scale = self._sampling.size / side
        return max(1, round(width * scale)), max(1, round(height * scale))

    def _placed(self, pixels: Pixels) -> Pixels:
        """Cropped to, or centred on, the picture's final shape."""
        size = self._sampling.size
        if self._sampling.fit != "short":
            return _centred(pixels, size, size)
        if self._shape is None:
            self._shape = pixels.shape[0], pixels.shape[1]
        return _centred(pixels, *self._shape)  # pictures of one video share a shape, even if it changes midway


class _FieldFilter:
    """One field of an interlaced frame: half the lines, all of one moment, so nothing combs."""

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


def open_container(path: Path) -> InputContainer:
    """Open a local media file; anything that prevents it becomes an InputError."""
    if not path.is_file():
        raise InputError(path, "no such file", "Check the path.")
    if path.stat().st_size == 0:
        raise InputError(path, "is empty", "Download or export it again.")
    try:
        # An absolute path cannot be taken for a protocol, whatever a file is called.
        return av.open(str(path.absolute()), options={"protocol_whitelist": "file"}, metadata_errors="replace")
    except MemoryError:
        raise
    except (av.FFmpegError, ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        forbidden = isinstance(error, PermissionError)
        remedy = "Check its permissions." if forbidden else "Download or export it again."
        raise InputError(path, f"cannot be opened as video ({reason})", remedy) from None


def declared_seconds(path: Path) -> float | None:
    """What a file says of its length."""
    with open_container(path) as container:
        return container.duration / av.time_base if container.duration else None


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


def _check_pixels(path: Path, width: int, height: int, limit: int) -> None:
    if width * height > limit:
        cause = f"has frames of {width}x{height}, over the limit of {limit:,} pixels"
        raise InputError(path, cause, "Scale it down, or raise --max-pixels.")


def _colorspace(frame: av.VideoFrame) -> int | None:
    """None trusts the frame's own tag; many files have none."""
    untagged = frame.colorspace == _UNSPECIFIED
    return Colorspace.ITU709 if untagged and frame.height >= _HD_HEIGHT else None


def _frame_seconds(frame: av.VideoFrame) -> float:
    return float(frame.duration * frame.time_base) if frame.duration and frame.time_base else 0.0


def _parse_duration_tag(tag: str) -> float | None:
    """Matroska's per-stream length, e.g. "00:01:28.413000000"."""
    try:
        hours, minutes, seconds = tag.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    except ValueError:
        return None
