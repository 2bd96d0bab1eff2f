"""The worker of ingest: reads one video's files, writes its frames to a shard, and answers with the rest.

Run by `WorkerPool` as `python -m mmcc.corpus.worker`. All of the user's files are opened here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from mmcc.corpus.features import read_features
from mmcc.corpus.format import Encoding
from mmcc.corpus.shards import ShardWriter
from mmcc.errors import InputError
from mmcc.media.captions import Cue, read_captions
from mmcc.media.sandbox import Report, serve
from mmcc.media.utterances import to_utterances
from mmcc.media.video import Sampling

_PROGRESS_SECONDS = 1.0


@dataclass(frozen=True)
class VideoJob:
    """What a worker needs to ingest one video. Sent as JSON."""

    id: str
    media: str | None
    captions: str | None
    caption_span: tuple[int, int] | None
    caption_kind: str
    shard: str
    encoding: Encoding
    quality: int
    sampling: dict[str, Any]
    feature_rate: float | None
    feature_dims: int | None
    transcribe: bool
    language: str
    stills: list[tuple[str, float]] = field(default_factory=list)
    utterances: list[dict[str, Any]] = field(default_factory=list)  # known without reading captions
    flush: bool = False  # before answering: machines that share a disk see only what has reached it


class VideoWorker:
    """Writes one shard, which it opens with its first job: from then on it can open no file for writing."""

    def __init__(self) -> None:
        self._shard: ShardWriter | None = None

    def begin(self, message: dict[str, Any]) -> None:
        job = VideoJob(**message)
        self._shard = ShardWriter(Path(job.shard))
        if job.transcribe:
            from mmcc.media.speech import start_recognizer

            start_recognizer()

    def handle(self, message: dict[str, Any], report: Report) -> dict[str, Any]:
        job = VideoJob(**message)
        report = _seldom(report)
        answer = _narration(job, report)
        if job.media is None:
            return answer
        shard = self._shard
        assert shard is not None
        if answer.get("caption_kind") == "transcribed":
            report = _second_half(report)
        try:
            store = _store_stills if job.stills else _store_features if job.feature_rate else _store_video
            answer |= store(job, shard, report)
            answer["batches"] = [batch._asdict() for batch in shard.finish(job.id, flush=job.flush)]
        except BaseException:
            shard.take_back()
            raise
        return answer


def _store_video(job: VideoJob, shard: ShardWriter, report: Report) -> dict[str, Any]:
    from mmcc.media.jpeg import encode_jpeg
    from mmcc.media.video import VideoSampler

    assert job.media is not None
    times: list[float] = []
    height = width = 0
    reached = 0.0

    def alive() -> None:
        report(reached, video.report.expected_seconds)

    with VideoSampler(Path(job.media), Sampling(**job.sampling), alive) as video:
        for reached, pixels in video:
            height, width = pixels.shape[:2]
            frame = encode_jpeg(pixels, job.quality) if job.encoding == "jpeg" else pixels.tobytes()
            shard.add(job.id, reached, frame)
            times.append(reached)
        outcome = video.report
    return {
        "status": "partial" if outcome.partial else "ok",
        "mode": outcome.mode,
        "duration": outcome.expected_seconds or outcome.decoded_seconds,
        "decoded": outcome.decoded_seconds,
        "height": height,
        "width": width,
        "times": times,
    }


def _store_stills(job: VideoJob, shard: ShardWriter, report: Report) -> dict[str, Any]:
    """Pictures of a video, each at its time; one that cannot be read is left out, and makes the video partial."""
    from mmcc.media.jpeg import encode_jpeg
    from mmcc.media.photos import fitted, read_photo

    sampling = Sampling(**job.sampling)
    times: list[float] = []
    height = width = 0
    problem = None
    for name, time in job.stills:
        path = Path(name)
        try:
            pixels = fitted(read_photo(path, max_pixels=sampling.max_pixels), path, sampling.size, sampling.fit)
        except InputError as error:
            problem = error
            continue
        if times and pixels.shape[:2] != (height, width):
            problem = InputError(path, "differs in shape from the others", "Ingest with --fit crop or letterbox.")
            continue
        height, width = pixels.shape[:2]
        shard.add(job.id, time, encode_jpeg(pixels, job.quality) if job.encoding == "jpeg" else pixels.tobytes())
        times.append(time)
        report(time, job.stills[-1][1])
    if problem and not times:
        raise problem
    last = job.stills[-1][1]
    return {
        "status": "partial" if problem else "ok",
        "mode": "stills",
        "duration": last,
        "decoded": times[-1] if problem else last,
        "height": height,
        "width": width,
        "times": times,
    }


def _store_features(job: VideoJob, shard: ShardWriter, report: Report) -> dict[str, Any]:
    import numpy as np

    assert job.media is not None and job.feature_rate is not None
    path = Path(job.media)
    array = read_features(path)
    rows, dims = array.shape
    if dims != job.feature_dims:
        cause = f"has {dims} dims, but the corpus has {job.feature_dims}"
        raise InputError(path, cause, "Extract it like the others, or ingest it into another folder.")
    times = [row / job.feature_rate for row in range(rows)]
    for time, row in zip(times, array, strict=True):
        vector = np.ascontiguousarray(row, np.float32)
        if not np.isfinite(vector).all():
            raise InputError(path, f"contains NaN or Inf at {time:g} s", "Extract its features again.")
        shard.add(job.id, time, vector.tobytes())
        report(time, times[-1])
    seconds = rows / job.feature_rate
    return {"status": "ok", "mode": "features", "duration": seconds, "decoded": seconds, "times": times}


def _narration(job: VideoJob, report: Report) -> dict[str, Any]:
    """The utterances from the first source that has any: the data set itself, caption file, subtitle stream, speech."""
    if job.utterances:
        return {"status": "ok", "utterances": job.utterances, "caption_kind": job.caption_kind, "caption_error": None}
    error = heard = None
    for kind, read in _narration_sources(job, report):
        try:
            utterances = to_utterances(read())
        except InputError as failure:
            if kind != "embedded":  # nobody claimed that the file has subtitles
                error = f"{failure.cause}. {failure.remedy}"
            continue
        if utterances:
            spoken = [utterance._asdict() for utterance in utterances]
            return {"status": "ok", "utterances": spoken, "caption_kind": kind, "caption_error": error}
        if kind == "transcribed":
            heard = kind  # do not transcribe a silent video again
    if job.media is None:
        raise InputError(job.captions or job.id, error or "contains no words", "Get its captions again.")
    return {"caption_kind": heard, "caption_error": error}


def _narration_sources(job: VideoJob, report: Report) -> Iterator[tuple[str, Callable[[], list[Cue]]]]:
    if job.captions is not None:
        captions = Path(job.captions)
        yield job.caption_kind, lambda: read_captions(captions, job.caption_span, job.id)
    if job.media is None or job.feature_rate is not None:
        return
    media = Path(job.media)

    def embedded() -> list[Cue]:
        from mmcc.media.subtitle_streams import read_subtitle_stream

        return read_subtitle_stream(media, job.language, lambda seconds: report(0.0, None))  # too quick to count

    def speech() -> list[Cue]:
        from mmcc.media.speech import transcribe
        from mmcc.media.video import declared_seconds

        total = declared_seconds(media)
        return transcribe(media, lambda seconds: report(seconds, total and 2 * total))  # the frames are the second half

    yield "embedded", embedded
    if job.transcribe:
        yield "transcribed", speech


def _second_half(report: Report) -> Report:
    """Progress of the frames, where speech was the first half of the work."""
    return lambda seconds, total: report(seconds + (total or 0.0), total and 2 * total)


def _seldom(report: Report) -> Report:
    """Pass on at most one report per second: enough to show progress, and cheap."""
    last = 0.0

    def sometimes(seconds: float, total: float | None) -> None:
        nonlocal last
        if monotonic() - last >= _PROGRESS_SECONDS:
            last = monotonic()
            report(seconds, total)

    return sometimes


if __name__ == "__main__":
    worker = VideoWorker()
    serve(worker.handle, begin=worker.begin)
