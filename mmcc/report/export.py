"""A video's changes as files for other programs: chapters for players and YouTube, and a step guide with stills.

A folder gets all of its files or none: they are written beside it first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from mmcc.errors import InputError
from mmcc.report.chapters import FEWEST, SHORTEST, as_ffmetadata, as_webvtt, as_youtube, chapters_of
from mmcc.report.guide import guide_html, guide_markdown, make_guide, still_files
from mmcc.tools.transitions import VideoChanges


def write_exports(
    folder: Path, videos: Sequence[VideoChanges], top: int, warnings: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Write the files of each video, in a folder of its own if there are several; returns notes for the user.

    `warnings`: by name of the video, what whoever gets a file should know about the answers.
    """
    taken: set[str] = set()
    notes: list[str] = []
    for video in videos:
        place = folder / _folder_name(video.footage.name, taken) if len(videos) > 1 else folder
        notes += _write_export(place, video, top, (warnings or {}).get(video.footage.name, ()))
    return notes


def export_file(name: str, video: VideoChanges, top: int, warnings: Sequence[str] = ()) -> bytes | None:
    """One of these files by its name; None for YouTube's chapters where there is no room for enough of them."""
    chapters = chapters_of(video, top)
    match name:
        case "chapters.vtt":
            text = as_webvtt(chapters, warnings)
        case "chapters.ffmetadata":
            text = as_ffmetadata(chapters, warnings)
        case "chapters.txt":
            if len(chapters) < FEWEST:
                return None
            text = as_youtube(chapters, warnings)
        case "guide.html":
            text = guide_html(make_guide(video.footage, video.changes, top, None, warnings))
        case _:
            raise ValueError(f"there is no export named {name!r}")
    return text.encode("utf-8", "replace")


def _write_export(folder: Path, video: VideoChanges, top: int, warnings: Sequence[str]) -> list[str]:
    chapters = chapters_of(video, top)
    notes = []
    files = {"chapters.vtt": as_webvtt(chapters, warnings), "chapters.ffmetadata": as_ffmetadata(chapters, warnings)}
    if len(chapters) >= FEWEST:
        files["chapters.txt"] = as_youtube(chapters, warnings)
    else:
        cause = f"YouTube needs {FEWEST} chapters of {SHORTEST:g} s, and there is room for {len(chapters)}"
        notes.append(f"{video.footage.name}: no chapters.txt ({cause})")
    guide = make_guide(video.footage, video.changes, top, folder, warnings)
    files |= {"guide.html": guide_html(guide), "guide.md": guide_markdown(guide)}
    contents = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    _write_all(folder, contents | still_files(guide))
    return notes


def _write_all(folder: Path, contents: Mapping[str, bytes]) -> None:
    """All files, or none of them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".tmp-", dir=folder) as draft:
            for name, content in contents.items():
                (Path(draft) / name).write_bytes(content)
            for name in contents:
                (Path(draft) / name).replace(folder / name)
    except OSError as error:
        raise InputError(folder, f"cannot be written ({error.strerror})", "Choose another place.") from None


def _folder_name(name: str, taken: set[str]) -> str:
    """A folder name: the video's, without characters that file systems refuse, and unique."""
    plain = re.sub(r"[^\w .-]", "_", Path(name).stem).strip(" .") or "video"
    number, found = 1, plain
    while found.casefold() in taken:
        number += 1
        found = f"{plain} {number}"
    taken.add(found.casefold())
    return found
