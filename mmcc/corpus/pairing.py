"""Which captions belong to which video, and which of several to take.

The folder, CrossTask and HowTo100M readers differ only in how they name videos; pairing and choosing happen here.
Names decide first. Only the heads of caption files are read, and only where names do not decide.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from mmcc.corpus.disk import CAPTION_SUFFIXES, File, MediaIndex, lies_in
from mmcc.corpus.source import CaptionFile
from mmcc.errors import InputError
from mmcc.media.captions import looks_automatic
from mmcc.storage import Unreachable
from mmcc.text import one_line

_HEAD_BYTES = 2 * 1024  # real captions give the same answer from 1 to 16 kB, and reading costs in proportion
_SHOWN = 6  # yt-dlp can leave a hundred languages beside one video; a line names this many of the rejected ones
_MACHINE_WORDS = ("asr", "auto", "orig", "whisper", "moonshine")
_LANGUAGE = re.compile(r"[a-z]{2,3}([-_][a-z0-9]+)*\Z")
_NOT_LANGUAGES = frozenset({"asr", "cc", "hoh", "raw", "sdh", "sub"})  # other short tags of subtitle files
_TABLES = (".json", ".csv")
_LONG_FORMS = {"eng": "en", "english": "en"}


class Candidate(NamedTuple):
    """A caption file that may belong to a video."""

    file: File
    stem: str  # the part of its name that names the video
    tag: str  # the rest: "en", "en-US", "moonshine-asr", ""
    chosen_folder: bool  # it is in the folder that the user gave for captions
    beside: bool  # it is in the video's own folder
    by_stem: bool = False  # matched by a bare name elsewhere in the tree, the weakest evidence


class Match(NamedTuple):
    """The video that the name of a caption file in another folder refers to."""

    id: str
    by_stem: bool = False


class Pairs(NamedTuple):
    candidates: dict[str, list[Candidate]]  # by video id
    orphans: list[File]


def prefixes(stem: str) -> Iterator[tuple[str, str]]:
    """A caption's name cut at each dot, longest first: ("soup.en", ""), ("soup", "en")."""
    yield stem, ""
    dot = stem.rfind(".")
    while dot > 0:
        yield stem[:dot], stem[dot + 1 :]
        dot = stem.rfind(".", 0, dot)


def pair(
    videos: Mapping[str, File],
    captions: Iterable[File],
    elsewhere: Callable[[File, str], Match | None],
    chosen_folder: str | None = None,
) -> Pairs:
    """Assign each caption file to one video: beside it by the longest stem, otherwise as `elsewhere` reads its name."""
    beside: dict[tuple[str, str], str] = {}
    for video_id, video in videos.items():
        beside.setdefault((video.folder, video.stem), video_id)
    pairs = Pairs({}, [])
    for file in captions:
        in_chosen = chosen_folder is not None and lies_in(file.folder, chosen_folder)
        for stem, tag in prefixes(file.stem):
            if owner := beside.get((file.folder, stem)):
                found = Candidate(file, stem, tag, in_chosen, True)
                break
        else:
            for stem, tag in prefixes(file.stem):
                if match := elsewhere(file, stem):
                    owner, found = match.id, Candidate(file, stem, tag, in_chosen, False, match.by_stem)
                    break
            else:
                pairs.orphans.append(file)
                continue
        pairs.candidates.setdefault(owner, []).append(found)
    return pairs


class _Ranked(NamedTuple):
    """A candidate with the criteria, most important first; the smallest wins."""

    foreign: bool  # not in the wanted language; a file that names no language counts as the wanted one
    automatic: bool
    variety: int  # "en" before "en-US" before "en-GB" before other varieties, and before files that name none
    elsewhere: tuple[bool, bool]  # outside the folder given for captions, outside the video's folder
    suffix: int
    path: Path
    label: str


_REASONS = ("language", "manual before automatic", "language", "location", "format", "name")


def choose(
    video: str,
    candidates: list[Candidate],
    index: MediaIndex,
    *,
    beside: File | None = None,
    language: str = "en",
    kind: str | None = None,
) -> tuple[CaptionFile | None, list[str]]:
    """The captions to use for a video, and messages that explain a choice.

    Captions in the wanted language, or of unnamed language, come before those in others; within each group, manual
    captions win over automatic ones. If `kind` is given, the files are trusted to be of that kind and are not opened.
    """
    lines, usable = [], []
    for candidate in candidates:
        if kind is not None or looks_like_captions(candidate.file.path):
            usable.append(candidate)
        else:
            name = one_line(candidate.file.name)
            lines.append(f"{one_line(video)}: ignored {name}, which does not look like captions")
    if not usable:
        return None, lines
    strange = [_is_foreign(_language(candidate.tag), language) for candidate in usable]
    ranked = []
    for candidate, foreign in zip(usable, strange, strict=True):
        # A file whose language cannot win is not opened: whether it is automatic does not matter.
        unsettled = foreign == min(strange)
        automatic = kind == "automatic" if kind else unsettled and _is_automatic(candidate, index, beside)
        ranked.append(_rank(candidate, foreign, automatic, language))
    ranked.sort()
    best = ranked[0]
    if len(ranked) > 1:
        reason = next(why for why, ours, theirs in zip(_REASONS, best, ranked[1], strict=False) if ours != theirs)
        left = ", ".join(other.label for other in ranked[1 : 1 + _SHOWN])
        more = f" and {len(ranked) - 1 - _SHOWN} more" if len(ranked) > 1 + _SHOWN else ""
        lines.append(f"{one_line(video)}: took {best.label} (reason: {reason}); ignored {left}{more}")
    elif best.foreign:
        lines.append(f"{one_line(video)}: took {best.label}, for lack of captions in {language!r}")
    return CaptionFile(best.path, "automatic" if best.automatic else "manual"), lines


def looks_like_captions(path: Path) -> bool:
    """Whether a .json or .csv file starts like captions; the other suffixes leave no doubt."""
    suffix = path.suffix.lower()
    if suffix not in _TABLES:
        return True
    head = _head(path).replace(b"\0", b"").lower()  # NULs: UTF-16
    if suffix == ".csv":
        header = head.lstrip().partition(b"\n")[0]
        return all(column in header for column in (b"start", b"end", b"text"))
    return any(key in head for key in (b'"segments"', b'"transcription"', b'"chunks"', b'"start"', b'"text"'))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except Unreachable:
        raise
    except (OSError, InputError):
        return b""  # reading the captions will report why


def _is_automatic(candidate: Candidate, index: MediaIndex, beside: File | None) -> bool:
    info = index.info(candidate.file.folder, candidate.stem)
    if info is None and beside is not None:
        info = index.info(beside.folder, beside.stem)
    if info is not None and candidate.tag in info.manual | info.automatic:
        return candidate.tag in info.automatic
    if any(word in candidate.tag.lower() for word in _MACHINE_WORDS):
        return True
    path = candidate.file.path
    # Tables are written by programs: Whisper's JSON, HowTo100M's CSV.
    return path.suffix.lower() in _TABLES or looks_automatic(_head(path))


def _language(tag: str) -> str:
    """The language named by a tag such as "en-US", "sdh.eng" or "whisper", in lower case, or ""."""
    for part in tag.lower().split("."):
        part = _LONG_FORMS.get(part, part)
        if _LANGUAGE.match(part) and part not in _NOT_LANGUAGES:
            return part.replace("_", "-")
    return ""


def _is_foreign(found: str, wanted: str) -> bool:
    return bool(found) and found.partition("-")[0] != wanted.lower().partition("-")[0]


def _rank(candidate: Candidate, foreign: bool, automatic: bool, wanted: str) -> _Ranked:
    found = _language(candidate.tag)
    base = wanted.lower().partition("-")[0]
    order = (wanted.lower(), base, f"{base}-us", f"{base}-gb")
    path = candidate.file.path
    labels = [found or "no language named"] + ["automatic"] * automatic
    return _Ranked(
        foreign=foreign,
        automatic=automatic,
        variety=order.index(found) if found in order else len(order) + (not found),
        elsewhere=(not candidate.chosen_folder, not candidate.beside),
        suffix=CAPTION_SUFFIXES.index(path.suffix.lower()),
        path=path,
        label=f"{one_line(path.name)} ({', '.join(labels)})",
    )
