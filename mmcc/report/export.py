"""A video's changes as files for other programs: chapters for players and YouTube, and a step guide with stills.

A chapter begins where one of the video's best changes begins or ends (on held-out kitchen videos 59 % of these moments
lie within 5 s of the beginning of a step; at random 50 %). Its title is its most concrete utterance (Eq. 7).
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mmcc.errors import InputError
from mmcc.media.jpeg import encode_jpeg
from mmcc.report.html import Markup, element
from mmcc.report.page import Section, write_page
from mmcc.text import clock
from mmcc.tools.footage import Footage
from mmcc.tools.transitions import Change, Narration, VideoChanges

SHORTEST = 10.0  # seconds of a chapter; with fewer or shorter chapters YouTube shows none
FEWEST = 3
_TITLE = 80  # characters: as long as a player's menu shows
_QUALITY = 88
_SIDE_BY_SIDE = "display:flex;flex-wrap:wrap;gap:1.2rem"
_STILL = "width:100%;max-width:22rem;border-radius:6px;display:block"


class Chapter(NamedTuple):
    start: float
    end: float
    title: str


def write_exports(folder: Path, videos: Sequence[VideoChanges], top: int) -> list[str]:
    """Write the files of each video, in a folder of its own if there are several; returns notes for the user."""
    taken: set[str] = set()
    notes: list[str] = []
    for video in videos:
        place = folder / _folder_name(video.footage.name, taken) if len(videos) > 1 else folder
        notes += _write_export(place, video, top)
    return notes


def _write_export(folder: Path, video: VideoChanges, top: int) -> list[str]:
    chapters = chapters_of(video, top)
    notes = []
    files = {"chapters.vtt": as_webvtt(chapters), "chapters.ffmetadata": as_ffmetadata(chapters)}
    if len(chapters) >= FEWEST:
        files["chapters.txt"] = as_youtube(chapters)
    else:
        cause = f"YouTube needs {FEWEST} chapters of {SHORTEST:g} s, and there is room for {len(chapters)}"
        notes.append(f"{video.footage.name}: no chapters.txt ({cause})")
    steps = guide_steps(video.changes, top)
    files["guide.html"] = guide_html(video.footage, steps)
    files["guide.md"] = guide_markdown(video.footage, steps)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_bytes(text.encode("utf-8", "replace"))
        for place, step in enumerate(steps, 1):
            for side, frame in (("before", step.from_frame), ("after", step.to_frame)):
                if jpeg := _jpeg(step.footage, frame):
                    (folder / _still_name(place, side)).write_bytes(jpeg)
    except OSError as error:
        place_of = error.filename or folder
        raise InputError(place_of, f"cannot be written ({error.strerror})", "Choose another place.") from None
    return notes


def guide_steps(changes: Sequence[Change], top: int) -> list[Change]:
    """The best changes in order of time; no two begin or end at the same moment."""
    chosen: list[Change] = []
    for change in changes:
        begins = all(abs(change.from_time - other.from_time) >= SHORTEST for other in chosen)
        ends = all(abs(change.to_time - other.to_time) >= SHORTEST for other in chosen)
        if begins and ends and len(chosen) < top:
            chosen.append(change)
    return sorted(chosen, key=lambda change: (change.from_time, change.to_time))


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
    return _shortened(max(within)[1]) if within else f"Part {number}"


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    if len(text) > _TITLE:
        text = text[: _TITLE - 1].rsplit(" ", 1)[0] + "…"
    return text[:1].upper() + text[1:]


def as_webvtt(chapters: Sequence[Chapter]) -> str:
    """https://www.w3.org/TR/webvtt1/: one cue per chapter."""
    cues = [
        f"{number}\n{_vtt_time(each.start)} --> {_vtt_time(each.end)}\n{_vtt_text(each.title)}\n"
        for number, each in enumerate(chapters, 1)
    ]
    return "\n".join(["WEBVTT\n", *cues])


def _vtt_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds * 1000), 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}.{rest % 1000:03}"


def _vtt_text(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_ffmetadata(chapters: Sequence[Chapter]) -> str:
    """For `ffmpeg -i video.mp4 -i chapters.ffmetadata -map_metadata 1 -codec copy out.mp4`."""
    parts = [";FFMETADATA1"]
    for each in chapters:
        title = re.sub(r"([=;#\\])", r"\\\1", each.title)
        start, end = round(each.start * 1000), round(each.end * 1000)
        parts.append(f"[CHAPTER]\nTIMEBASE=1/1000\nSTART={start}\nEND={end}\ntitle={title}")
    return "\n".join(parts) + "\n"


def as_youtube(chapters: Sequence[Chapter]) -> str:
    """Lines for a video's description, which may not contain angle brackets."""
    return "".join(f"{clock(each.start)} {re.sub('[<>]', '', each.title)}\n" for each in chapters)


def guide_html(footage: Footage, steps: Sequence[Change]) -> str:
    """A self-contained page."""
    sections = [Section(f"{number}. {_step_title(step)}", (_pair(step),)) for number, step in enumerate(steps, 1)]
    return write_page(footage.name, [_lead(steps)], sections)


def _pair(step: Change) -> Markup:
    sides = (("Before", step.from_frame, step.from_text), ("After", step.to_frame, step.to_text))
    return element("div", *(_side(step.footage, *side) for side in sides), style=_SIDE_BY_SIDE)


def _side(footage: Footage, word: str, frame: int, text: str) -> Markup:
    time = clock(float(footage.video.times[frame]))
    jpeg = _jpeg(footage, frame)
    picture = Markup("")
    if jpeg:
        source = f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"
        picture = element("img", src=source, alt=f"{word}, at {time}", style=_STILL)
    said = element("p", f"“{text}”") if text else element("p", "nothing is said", class_="faint")
    caption = element("figcaption", f"{word} · {time}")
    return element("figure", caption, picture, said, style="flex:1 1 9rem;max-width:22rem;margin:0.6rem 0")


def guide_markdown(footage: Footage, steps: Sequence[Change]) -> str:
    """The same as Markdown, with the stills in files beside it."""
    parts = [f"# {_markdown(footage.name)}", _markdown(_lead(steps))]
    for number, step in enumerate(steps, 1):
        parts.append(f"## {number}. {_markdown(_step_title(step))}")
        sides = (("Before", step.from_frame, step.from_text), ("After", step.to_frame, step.to_text))
        for word, frame, text in sides:
            time = clock(float(footage.video.times[frame]))
            if footage.corpus.manifest.encoding != "float32":
                parts.append(f"![{word}, at {time}]({_still_name(number, word.lower())})")
            parts.append(f"**{word} · {time}** " + (f"“{_markdown(text)}”" if text else "(nothing is said)"))
    return "\n\n".join(parts) + "\n"


def _lead(steps: Sequence[Change]) -> str:
    return f"The {len(steps)} clearest changes of this video, in order of time, as mmcc sees them."


def _step_title(step: Change) -> str:
    times = f"{clock(step.from_time)} → {clock(step.to_time)}"
    return f"{times} · {_shortened(step.from_text)}" if step.from_text else times


def _markdown(text: str) -> str:
    """Untrusted text in Markdown, with markup, HTML and line breaks escaped."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]()#+!|~-])", r"\\\1", text)


def _still_name(number: int, side: str) -> str:
    return f"step-{number:02}-{side}.jpg"


def _jpeg(footage: Footage, frame: int) -> bytes | None:
    pixels = footage.still(frame)
    return None if pixels is None else encode_jpeg(pixels, _QUALITY)


def _folder_name(name: str, taken: set[str]) -> str:
    """A folder name: the video's, without characters that file systems refuse, and unique."""
    plain = re.sub(r"[^\w .-]", "_", Path(name).stem).strip(" .") or "video"
    number, found = 1, plain
    while found.casefold() in taken:
        number += 1
        found = f"{plain} {number}"
    taken.add(found.casefold())
    return found
