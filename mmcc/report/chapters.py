"""A video in chapters, in the formats of players, ffmpeg and YouTube.

A chapter begins where one of the video's best changes begins or ends (on unseen kitchen videos 55 % of these moments
lie within 5 s of the beginning of a step; at random 40 %). Its title is its most concrete utterance (Eq. 7). Warnings
about the model's answers are part of every file, where its format has room for them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mmcc.text import clock
from mmcc.tools.footage import Footage
from mmcc.tools.transitions import Narration, VideoChanges

SHORTEST = 10.0  # seconds of a chapter; with fewer or shorter chapters YouTube shows none
FEWEST = 3
_TITLE = 80  # characters: as long as a player's menu shows


class Chapter(NamedTuple):
    start: float
    end: float
    title: str


def chapters_of(video: VideoChanges, top: int) -> list[Chapter]:
    """The video in chapters of at least 10 s (unless the video is shorter); more than the `top` changes are used only
    if those give fewer than three."""
    duration = _duration(video.footage)
    starts = [0.0]
    for place, change in enumerate(video.changes):
        if place >= top and len(starts) >= FEWEST:
            break
        for time in (change.from_time, change.to_time):
            if time <= duration - SHORTEST and all(abs(time - other) >= SHORTEST for other in starts):
                starts.append(float(int(time)))  # whole seconds: YouTube reads no others
    starts = _with_room(sorted(starts))
    ends = [*starts[1:], duration]
    return [
        Chapter(start, end, _title(video.narration, start, end, number))
        for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1)
    ]


def _with_room(starts: Sequence[float]) -> list[float]:
    """Without those that rounding has brought too close."""
    kept: list[float] = []
    for start in starts:
        if not kept or start - kept[-1] >= SHORTEST:
            kept.append(start)
    return kept


def _duration(footage: Footage) -> float:
    last = float(footage.video.times[-1]) + 1 / footage.corpus.manifest.fps
    return max(footage.video.duration, last)


def _title(narration: Narration, start: float, end: float, number: int) -> str:
    """The most concrete utterance between two moments."""
    said = zip(narration.concreteness, narration.times, narration.texts, strict=True)
    within = [(seen, text) for seen, time, text in said if start <= time < end]
    return shortened(max(within)[1]) if within else f"Part {number}"


def shortened(text: str) -> str:
    """As a title."""
    text = " ".join(text.split())
    if len(text) > _TITLE:
        text = text[: _TITLE - 1].rsplit(" ", 1)[0] + "…"
    return text[:1].upper() + text[1:]


def as_webvtt(chapters: Sequence[Chapter], warnings: Sequence[str] = ()) -> str:
    """https://www.w3.org/TR/webvtt1/: one cue per chapter, after a NOTE per warning."""
    notes = [f"NOTE {_vtt_text(_one_line(line))}\n" for line in warnings]
    cues = [
        f"{number}\n{_vtt_time(each.start)} --> {_vtt_time(each.end)}\n{_vtt_text(each.title)}\n"
        for number, each in enumerate(chapters, 1)
    ]
    return "\n".join(["WEBVTT\n", *notes, *cues])


def _vtt_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds * 1000), 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}.{rest % 1000:03}"


def _vtt_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_ffmetadata(chapters: Sequence[Chapter], warnings: Sequence[str] = ()) -> str:
    """For `ffmpeg -i video.mp4 -i chapters.ffmetadata -map_metadata 1 -codec copy out.mp4`; warnings as comments."""
    parts = [";FFMETADATA1", *(f"; {_one_line(line)}" for line in warnings)]
    for each in chapters:
        title = re.sub(r"([=;#\\])", r"\\\1", each.title)
        start, end = round(each.start * 1000), round(each.end * 1000)
        parts.append(f"[CHAPTER]\nTIMEBASE=1/1000\nSTART={start}\nEND={end}\ntitle={title}")
    return "\n".join(parts) + "\n"


def as_youtube(chapters: Sequence[Chapter], warnings: Sequence[str] = ()) -> str:
    """Lines for a video's description, which may not contain angle brackets; warnings below them, without anything that
    YouTube would read as a time."""
    lines = [f"{clock(each.start)} {each.title}" for each in chapters]
    lines += ["", *(re.sub(r"(\d):(?=\d)", r"\1.", _one_line(line)) for line in warnings)] if warnings else []
    return "".join(re.sub("[<>]", "", line) + "\n" for line in lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())
