"""Frames of a video file at its own resolution, as JPEG; decoded by `WorkerPool` as `python -m mmcc.media.stills`."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from pathlib import Path

import av

from mmcc.errors import InputError
from mmcc.media.jpeg import encode_jpeg
from mmcc.media.pictures import PictureMaker, Pixels
from mmcc.media.sandbox import Job, Limits, Report, WorkerPool, serve
from mmcc.media.video import Sampling, choose_stream, open_container

LONGEST = 1280  # pixels on the longer side: more than a page shows
_QUALITY = 82
_SAME_MOMENT = 1e-3  # seconds; time bases round
_AHEAD = 60.0  # seconds of frames decoded in search of one: no video has keyframes further apart
_LIMITS = Limits(seconds=300.0)


def read_stills(path: Path, times: Sequence[float], longest: int = LONGEST) -> dict[float, bytes]:
    """The frame on display at each time, as JPEG, decoded in a worker process; frames that cannot be decoded are left
    out."""
    job = {"path": str(path), "times": [float(time) for time in times], "longest": longest}
    with WorkerPool("mmcc.media.stills", 1, _LIMITS) as pool:
        (outcome,) = pool.run(iter([job]))
    found = outcome.answer["stills"] if outcome.answer else {}
    return {float(time): b64decode(picture) for time, picture in found.items()}


def _handle(job: Job, report: Report) -> Job:
    stills = {}
    for number, time in enumerate(job["times"]):
        report(float(number), float(len(job["times"])))
        try:
            pixels = still_at(Path(job["path"]), time, job["longest"])
        except InputError:
            continue
        stills[repr(time)] = b64encode(encode_jpeg(pixels, _QUALITY)).decode()
    return {"stills": stills}


def still_at(path: Path, time: float, longest: int = LONGEST) -> Pixels:
    """[H, W, 3]: the frame on display at a time of the playback clock."""
    with open_container(path) as container:
        stream = choose_stream(path, container)
        stream.codec_context.options = {"max_pixels": str(Sampling().max_pixels)}
        start = container.start_time or 0
        shown: av.VideoFrame | None = None
        try:
            container.seek(start + round(time * av.time_base), backward=True)
            for frame in container.decode(stream):
                at = None if frame.time is None else frame.time - start / av.time_base
                if at is None or at > time + _AHEAD:
                    break
                if at > time + _SAME_MOMENT:
                    shown = shown or frame
                    break
                shown = frame
        except (av.FFmpegError, ValueError) as error:
            if shown is None:
                raise InputError(path, f"cannot be decoded at {time:g} s ({error})", "Export it again.") from None
        if shown is None:
            raise InputError(path, f"has no frame at {time:g} s", "Export it again.")
        aspect = stream.sample_aspect_ratio
        width, height = shown.width * float(aspect or 1), float(shown.height)
        size = max(1, round(min(width, height) * min(1.0, longest / max(width, height))))
        return PictureMaker(path, size, "short", Sampling().max_pixels).make(shown, aspect)


if __name__ == "__main__":
    serve(_handle)
