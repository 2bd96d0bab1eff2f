"""Video to frames: a file sampled at a steady rate, each frame with its true time.

Presentation timestamps are the only clock. At every point of a grid of `fps` per second, starting at the first
frame, we take the frame on display at that time. A frame that stays on display over several grid points (a slide, a
stalled camera) is taken once. So a sample is always a picture that a viewer saw at that time, even where the frame
rate varies, and no two samples are the same frame.

Times count from the container's start, as in a player, so captions and frames share one clock.

Fast mode skips the frames that no other frame refers to, which saves half of the decoding. A sample is then sometimes
one source frame early, seldom more, and never more than a quarter of the sampling interval: where the skipped frames
would leave a larger gap, the file is decoded in full, and `VideoReport.mode` says so.

Frames arrive one by one: memory does not grow with the length of a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Self

import av
import numpy as np
from av.container import InputContainer
from av.video.stream import VideoStream

from mmcc.errors import InputError
from mmcc.media.pictures import Fit, PictureMaker, Pixels, check_pixels

_SAME_MOMENT = 1e-4  # seconds; time bases round, and no camera is this fast
_EARLY = 0.25  # share of the sampling interval that a sample of fast mode may be early
_HOLE_SECONDS = 0.5  # a longer gap after damage is caused by the damage
_JUMP_SECONDS = 2.0  # backward: more than frame reordering explains
_TIMES_MAY_JUMP = 0x0200  # libavformat's AVFMT_TS_DISCONT: MPEG streams, which may be joined by plain concatenation
# Containers that carry the suffixes we look for, and bare streams. None of them opens a second file, which playlists
# do (HLS, DASH, concat, SDP, image sequences), whatever they are called. libavformat reads three hundred more.
_DEMUXERS = (
    "asf,asf_o,avi,dv,flv,gif,h264,hevc,ivf,m4v,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,"
    "mpeg,mpegts,mpegvideo,mxf,ogg,rm,yuv4mpegpipe"
)
_OPENING = {"protocol_whitelist": "file", "format_whitelist": _DEMUXERS}
_SILENT_PACKETS = 48  # without a frame: more than any order of B-frames (16) and any delay of a decoder (16) explain


@dataclass(frozen=True)
class Sampling:
    """How frames are taken from a file."""

    fps: float = 1.0  # the paper's densest rate
    size: int = 128  # side of the stored picture
    fit: Fit = "crop"  # square by centre crop; "letterbox": square with bars; "short": the short side is `size`
    exact: bool = False  # decode every frame; otherwise skip the ones that no other frame refers to
    max_pixels: int = 8192 * 4320  # of a decoded frame: 8K; anything larger is an attack or a mistake
    max_seconds: float = 12 * 3600.0  # longest file; a broken header can claim centuries


class Frame(NamedTuple):
    time: float  # seconds on the playback clock
    pixels: Pixels  # [H, W, 3], RGB


@dataclass
class VideoReport:
    """How reading a file went. Filled in while it is read; final once the frames run out."""

    mode: Literal["fast", "exact"]
    expected_seconds: float | None  # the length the file declares, if any
    decoded_seconds: float = 0.0
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

    def __init__(self, path: Path, sampling: Sampling, alive: Callable[[], None] = lambda: None) -> None:
        """`alive` is called for every packet: samples may be far apart."""
        self._path, self._sampling, self._alive = path, sampling, alive
        self._picture = PictureMaker(path, sampling.size, sampling.fit, sampling.max_pixels)
        self._open(exact=sampling.exact)

    def _open(self, exact: bool) -> None:
        self._container = open_container(self._path)
        try:
            self._stream = choose_stream(self._path, self._container)
            self._origin = (self._container.start_time or 0) / av.time_base
            self._missing_seconds = 0.0  # total length of holes inside the file
            self._joints = 0  # places where two recordings were joined
            self.report = VideoReport("exact", self._declared_seconds())
            self._check_limits()
            self._prepare_decoder(exact)
        except BaseException:
            self._container.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._container.close()

    def __iter__(self) -> Iterator[Frame]:
        for time, frame in self._on_display():
            yield Frame(time, self._picture.make(frame, self._stream.sample_aspect_ratio))

    def _declared_seconds(self) -> float | None:
        """The stream's own length if known, since the container's may be that of a longer sound track."""
        stream, container = self._stream, self._container
        end = _parse_duration_tag(stream.metadata.get("DURATION", ""))  # Matroska's other lengths are the container's
        if end is None and stream.duration is not None and stream.time_base is not None and stream.duration > 0:
            return float(stream.duration * stream.time_base)
        late = 0.0  # the rest gives ends, not lengths: pictures may begin after the sound
        if stream.start_time is not None and stream.time_base is not None:
            late = float(stream.start_time * stream.time_base) - self._origin
        if end is None and container.duration is not None and container.duration > 0:
            end = container.duration / av.time_base
        return None if end is None else max(0.0, end - late)

    def _check_limits(self) -> None:
        declared = self.report.expected_seconds
        if declared is not None and declared > self._sampling.max_seconds:
            self._too_long(declared)
        context = self._stream.codec_context
        check_pixels(self._path, context.width, context.height, self._sampling.max_pixels)

    def _too_long(self, seconds: float) -> None:
        cause = f"lasts {seconds / 3600:,.3g} hours, over the limit of {self._sampling.max_seconds / 3600:.3g}"
        raise InputError(self._path, cause, "Cut it, or raise --max-hours.")

    def _prepare_decoder(self, exact: bool) -> None:
        context = self._stream.codec_context
        context.thread_count = 1  # files run in parallel; threads inside one would only cost more in total
        context.options = {"max_pixels": str(self._sampling.max_pixels)}  # for sizes that change midway
        rate = self._stream.average_rate or self._stream.guessed_rate
        dense = rate is not None and rate * _EARLY >= self._sampling.fps
        timed = self._stream.start_time is not None  # without a clock, only counting frames gives the time
        if dense and timed and not exact:
            context.skip_frame = "NONREF"
            self.report.mode = "fast"

    def _on_display(self) -> Iterator[tuple[float, av.VideoFrame]]:
        """The frame on display at each point of the grid, every frame at most once."""
        fps = self._sampling.fps
        shown: tuple[float, av.VideoFrame] | None = None
        first = due = 0.0
        for time, frame in self._dense_enough():
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
            raise InputError(self._path, "has no frame that can be decoded", "Download or export it again.")
        time, frame = shown
        end = time + _frame_seconds(frame)
        self.report.decoded_seconds = end - first - self._missing_seconds
        if self._joints:  # each cuts a packet short, and the declared length covers one recording only
            self.report.damaged = max(0, self.report.damaged - self._joints)
            self.report.expected_seconds = max(self.report.expected_seconds or 0.0, self.report.decoded_seconds)
        if self.report.partial:
            self._check_memory()
        if due < max(end, time + 2 * _SAME_MOMENT) - _SAME_MOMENT:
            yield shown

    def _dense_enough(self) -> Iterator[tuple[float, av.VideoFrame]]:
        """Decoded frames; at the first gap that fast mode leaves, the file is reopened and decoded in full."""
        latest = -math.inf
        for time, frame in self._decoded():
            if self.report.mode == "fast" and -math.inf < latest < time - _EARLY / self._sampling.fps:
                self._container.close()
                self._open(exact=True)
                yield from ((time, frame) for time, frame in self._decoded() if time > latest)
                return
            latest = time
            yield time, frame

    def _decoded(self) -> Iterator[tuple[float, av.VideoFrame]]:
        """All frames that decode, in order of time, with their times. Damage is counted and skipped."""
        latest, after = -math.inf, 0.0
        explained = 0  # damage whose gap was found; without damage, a gap is a still picture
        joined = bool(self._container.format.flags & _TIMES_MAY_JUMP)
        for frame in self._decode_all():
            pts = frame.pts if frame.pts is not None else frame.dts
            if pts is not None and frame.time_base is not None:
                time = float(pts * frame.time_base) - self._origin
            else:
                time = after  # a bare stream has no clock but the durations of its frames
            if joined and time < latest - _JUMP_SECONDS:  # joined recordings: the next one follows directly
                self._origin += time - after
                time = after
                self._joints += 1
            if frame.is_corrupt or time <= latest:  # a clock that runs backward gives no true time
                self.report.damaged += 1
                continue
            # Frames held back by the decoder come between damage and the gap it left, so damage waits for its gap.
            if self.report.damaged > explained and time - after > _HOLE_SECONDS:
                self._missing_seconds += time - after
                explained = self.report.damaged
            latest, after = time, time + _frame_seconds(frame)
            yield time, frame

    def _decode_all(self) -> Iterator[av.VideoFrame]:
        packets = self._container.demux(self._stream)
        silent = 0
        while True:
            try:
                packet = next(packets, None)
                self._alive()
                self.report.damaged += packet is not None and packet.is_corrupt
            except (av.FFmpegError, ValueError):  # the container ends early: keep what came before
                self.report.damaged += 1
                packet = None
            try:
                # None flushes the decoder: it still holds the last few frames
                frames = self._stream.codec_context.decode(packet)
            except av.error.EOFError:
                return
            except MemoryError:  # PyAV's own is also an FFmpegError
                raise
            except (av.FFmpegError, ValueError):
                self.report.damaged += 1
                frames = []
            # A decoder that skips frames does not report those it cannot decode; a long silence reveals them.
            silent = 0 if frames or (packet is not None and packet.is_discard) else silent + 1
            self.report.damaged += silent == _SILENT_PACKETS
            for frame in frames:
                if isinstance(frame, av.VideoFrame):
                    yield frame
            if packet is None or (packet.dts is None and packet.size == 0):
                return

    def _check_memory(self) -> None:
        """Distinguish a lack of memory from damage, since decoders report both the same way. Raises MemoryError."""
        context = self._stream.codec_context
        np.empty(8 * context.width * context.height, np.uint8)  # a few frames, reserved but not touched


def open_container(path: Path) -> InputContainer:
    """Open a local media file; anything that prevents it becomes an InputError."""
    if not path.is_file():
        raise InputError(path, "no such file", "Check the path.")
    if path.stat().st_size == 0:
        raise InputError(path, "is empty", "Download or export it again.")
    try:
        # An absolute path cannot be mistaken for a protocol, whatever the file is called.
        return av.open(str(path.absolute()), options=_OPENING, metadata_errors="replace")
    except MemoryError:
        raise
    except av.error.ArgumentError:
        cause = "is damaged, or not a kind of video that mmcc reads, whatever its name says"
        raise InputError(path, cause, "Download it again, or export it as MP4, Matroska or WebM.") from None
    except (av.FFmpegError, ValueError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        forbidden = isinstance(error, PermissionError)
        remedy = "Check its permissions." if forbidden else "Download or export it again."
        raise InputError(path, f"cannot be opened as video ({reason})", remedy) from None


def choose_stream(path: Path, container: InputContainer) -> VideoStream:
    """The stream that a player shows: not a cover picture."""
    pictures = [s for s in container.streams.video if not s.disposition & s.disposition.attached_pic]
    if not pictures:
        raise InputError(path, "has no video stream", "Give a file with pictures, or remove it.")
    pictures = [s for s in pictures if s.codec_context is not None]  # despite its annotation: for an unknown codec
    if not pictures:
        raise InputError(path, "its video is in no known format", "Export it as MP4, Matroska or WebM.")
    best = container.streams.best("video")
    return best if isinstance(best, VideoStream) and best in pictures else pictures[0]


def declared_seconds(path: Path) -> float | None:
    """The length a file declares."""
    with open_container(path) as container:
        return container.duration / av.time_base if container.duration else None


def _frame_seconds(frame: av.VideoFrame) -> float:
    return float(frame.duration * frame.time_base) if frame.duration and frame.time_base else 0.0


def _parse_duration_tag(tag: str) -> float | None:
    """Matroska's per-stream length, e.g. "00:01:28.413000000"."""
    try:
        hours, minutes, seconds = tag.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    except ValueError:
        return None
