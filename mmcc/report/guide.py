"""A step guide to a video: its clearest changes with stills, as a page and as Markdown.

Stills come from the video file at its own resolution, where it is still there, else from the corpus. Times link to the
moment in the video: on YouTube if its id is known, else in the file if it lies near the guide.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from mmcc.corpus.disk import read_info, youtube_id
from mmcc.media.jpeg import encode_jpeg
from mmcc.media.stills import read_stills
from mmcc.report.chapters import SHORTEST, shortened
from mmcc.report.html import Markup, element, quoted
from mmcc.report.page import Section, warning, write_page
from mmcc.text import clock
from mmcc.tools.footage import Footage
from mmcc.tools.transitions import Change

_QUALITY = 88
_NEAR = 3  # folders up from the guide: further away, a relative path does not survive being passed on
_SIDE_BY_SIDE = "display:flex;flex-wrap:wrap;gap:1.2rem"
_STILL = "width:100%;border-radius:6px;display:block"
_FIGURE = "flex:1 1 20rem;max-width:38rem;margin:0.6rem 0"


@dataclass(frozen=True)
class Guide:
    """The steps of a video in order of time, and what is needed to show them."""

    footage: Footage
    steps: list[Change]
    warnings: Sequence[str] = ()
    video: str = ""  # its address, to which a time can be added
    stills: Mapping[int, bytes] = field(default_factory=dict)  # JPEG by number of the frame

    @property
    def lead(self) -> str:
        return f"The {len(self.steps)} clearest changes of this video, in order of time, as mmcc sees them."

    def link(self, time: float) -> str:
        """The address of a moment, or ""."""
        if not self.video:
            return ""
        return f"{self.video}&t={int(time)}s" if self.video.startswith("https:") else f"{self.video}#t={int(time)}"


def make_guide(
    footage: Footage, changes: Sequence[Change], top: int, folder: Path | None, warnings: Sequence[str] = ()
) -> Guide:
    """The guide that will be written to a folder; None: nobody knows where, so that it links to no file."""
    steps = guide_steps(changes, top)
    frames = sorted({frame for step in steps for frame in (step.from_frame, step.to_frame)})
    return Guide(footage, steps, warnings, address_of(footage, folder), stills_of(footage, frames))


def guide_steps(changes: Sequence[Change], top: int) -> list[Change]:
    """The best changes in order of time; no two begin or end at the same moment."""
    chosen: list[Change] = []
    for change in changes:
        begins = all(abs(change.from_time - other.from_time) >= SHORTEST for other in chosen)
        ends = all(abs(change.to_time - other.to_time) >= SHORTEST for other in chosen)
        if begins and ends and len(chosen) < top:
            chosen.append(change)
    return sorted(chosen, key=lambda change: (change.from_time, change.to_time))


def stills_of(footage: Footage, frames: Sequence[int]) -> dict[int, bytes]:
    """Frames as JPEG, by number: from the video file, else as they are stored; none in a corpus of vectors."""
    if footage.corpus.manifest.encoding == "float32":
        return {}
    times = {frame: float(footage.video.times[frame]) for frame in frames}
    large = read_stills(footage.path, list(times.values())) if footage.path and frames else {}
    return {frame: large.get(time) or _stored(footage, frame) for frame, time in times.items()}


def _stored(footage: Footage, frame: int) -> bytes:
    pixels = footage.still(frame)
    assert pixels is not None, "a corpus of pictures"
    return encode_jpeg(pixels, _QUALITY)


def address_of(footage: Footage, folder: Path | None) -> str:
    """Of the video: on YouTube, or relative to a folder; "" if it is unknown or lies elsewhere."""
    name = Path(str(footage.video.details.get("source") or footage.name))
    known = youtube_id(name.stem)
    if not known and footage.path:
        known = _id_beside(footage.path)
    if known:
        return f"https://www.youtube.com/watch?v={quote(known, safe='')}"
    if footage.path is None or folder is None:
        return ""
    try:
        relative = os.path.relpath(footage.path, folder)
    except ValueError:  # on another drive
        return ""
    return quote(Path(relative).as_posix()) if Path(relative).parts[: _NEAR + 1].count("..") <= _NEAR else ""


def _id_beside(path: Path) -> str:
    """The YouTube id in yt-dlp's info.json beside a video."""
    try:
        known = read_info(path.with_name(f"{path.stem}.info.json")).id
    except ValueError:
        return ""
    return known if re.fullmatch(r"[\w-]{11}", known) else ""


def guide_html(guide: Guide) -> str:
    """A self-contained page."""
    sections = [
        Section(f"{number}. {_title(step)}", (_pair(guide, step),)) for number, step in enumerate(guide.steps, 1)
    ]
    return write_page(guide.footage.name, [*map(warning, guide.warnings), guide.lead], sections)


def _pair(guide: Guide, step: Change) -> Markup:
    sides = (("Before", step.from_frame, step.from_text), ("After", step.to_frame, step.to_text))
    return element("div", *(_side(guide, *side) for side in sides), style=_SIDE_BY_SIDE)


def _side(guide: Guide, word: str, frame: int, text: str) -> Markup:
    time = float(guide.footage.video.times[frame])
    picture = Markup("")
    if jpeg := guide.stills.get(frame):
        source = f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"
        picture = element("img", src=source, alt=f"{word}, at {clock(time)}", style=_STILL)
    link = guide.link(time)
    caption = element("figcaption", f"{word} · ", element("a", clock(time), href=link) if link else clock(time))
    said = quoted("p", f"“{text}”") if text else element("p", "nothing is said", class_="faint")
    return element("figure", caption, element("a", picture, href=link) if link else picture, said, style=_FIGURE)


def guide_markdown(guide: Guide) -> str:
    """The same as Markdown, with the stills in files beside it."""
    parts = [f"# {_markdown(guide.footage.name)}", *(f"> **{_markdown(line)}**" for line in guide.warnings)]
    parts.append(_markdown(guide.lead))
    for number, step in enumerate(guide.steps, 1):
        parts.append(f"## {number}. {_markdown(_title(step))}")
        sides = (("Before", step.from_frame, step.from_text), ("After", step.to_frame, step.to_text))
        for word, frame, text in sides:
            time = float(guide.footage.video.times[frame])
            link = guide.link(time)
            shown = f"[{clock(time)}](<{link}>)" if link else clock(time)
            if frame in guide.stills:
                parts.append(f"![{word}, at {clock(time)}]({still_name(number, word.lower())})")
            parts.append(f"**{word} · {shown}** " + (f"“{_markdown(text)}”" if text else "(nothing is said)"))
    return "\n\n".join(parts) + "\n"


def still_files(guide: Guide) -> dict[str, bytes]:
    """The stills of the Markdown guide, by file name."""
    return {
        still_name(number, side): guide.stills[frame]
        for number, step in enumerate(guide.steps, 1)
        for side, frame in (("before", step.from_frame), ("after", step.to_frame))
        if frame in guide.stills
    }


def still_name(number: int, side: str) -> str:
    return f"step-{number:02}-{side}.jpg"


def _title(step: Change) -> str:
    times = f"{clock(step.from_time)} → {clock(step.to_time)}"
    return f"{times} · {shortened(step.from_text)}" if step.from_text else times


def _markdown(text: str) -> str:
    """Untrusted text in Markdown, with markup, HTML and line breaks escaped."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]()#+!|~-])", r"\\\1", text)
