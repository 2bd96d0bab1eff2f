"""Find videos, captions and yt-dlp's info.json by name, in one walk over the disk, or one listing of a bucket.

Afterwards every question ("what lies beside this video?", "where is this id?") is a dictionary look-up, so pairing
stays linear for folders of a hundred thousand files. Videos are never opened here.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, TypeVar

from mmcc.corpus.source import Skipped
from mmcc.errors import InputError
from mmcc.storage import RemotePath, Unreachable, is_remote, spelled
from mmcc.storage.listing import Entry, Listing
from mmcc.text import one_line, storable
from mmcc.untrusted import parse_json, read_start

# fmt: off
VIDEO_SUFFIXES = frozenset((
    ".3g2", ".3gp", ".asf", ".avi", ".divx", ".f4v", ".flv", ".m2ts", ".m2v", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg",
    ".mpg", ".mts", ".mxf", ".ogm", ".ogv", ".qt", ".rm", ".rmvb", ".ts", ".vob", ".webm", ".wmv", ".y4m",
))
# fmt: on
CAPTION_SUFFIXES = (".vtt", ".srt", ".json", ".csv")  # in order of preference: .vtt may give the time of every word

_NOT_CAPTIONS = (".info.json", ".live_chat.json")  # yt-dlp writes both beside a video
_YOUTUBE_ID = re.compile(r"\[([A-Za-z0-9_-]{11})\]\Z")
_TRACK = re.compile(r"\.f(\d{2,})(-\w+)?\Z")  # yt-dlp's name for one track of a download that it merges later
_SOUND_ONLY = frozenset(("139", "140", "141", "171", "172", "249", "250", "251", "599", "600"))  # YouTube's formats
_MAX_INFO_BYTES = 64 * 1024 * 1024  # real ones have a few hundred kB
_REQUESTS = 16  # at the same time
_NAMELESS = 'its key has an empty part, ".", ".." or an option after "?", so that no address names it. Rename it.'

Given = TypeVar("Given")
Result = TypeVar("Result")


class File(NamedTuple):
    """A file's path in parts. `stem` is composed Unicode: a Mac stores "é" as two characters, other systems as one."""

    folder: str
    name: str
    stem: str
    remote: RemotePath | None = None  # where it is, if not on this machine

    @property
    def path(self) -> Path:
        return self.remote or Path(self.folder, self.name)

    @classmethod
    def of(cls, folder: str, name: str, suffix_length: int, remote: RemotePath | None = None) -> "File":
        return cls(folder, name, composed(name[: len(name) - suffix_length]), remote)


class Info(NamedTuple):
    """What yt-dlp's info.json says about a video."""

    id: str = ""
    title: str = ""
    manual: frozenset[str] = frozenset()
    automatic: frozenset[str] = frozenset()


def composed(text: str) -> str:
    """A name in the normal form in which names are compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", storable(text))


def skip(path: str | Path, reason: str) -> Skipped:
    return Skipped(storable(str(path)), reason)


def youtube_id(stem: str) -> str | None:
    """The id in yt-dlp's "Title [id]"; earlier brackets belong to the title."""
    found = _YOUTUBE_ID.search(stem)
    return found[1] if found else None


def youtube_title(stem: str) -> str:
    return _YOUTUBE_ID.sub("", stem).strip()


def dataset_id(stem: str, wanted: Container[str]) -> str | None:
    """The listed video a file is named after: "<id>", "<task>_<id>" or yt-dlp's "Title [id]"."""
    for name in (stem, youtube_id(stem), stem.partition("_")[2]):
        if name and name in wanted:
            return name
    return None


def is_there(path: Path) -> bool:
    """Also a link that leads nowhere."""
    return path.exists() if is_remote(path) else os.path.lexists(path)


def require_folder(path: Path, what: str) -> None:
    if not is_there(path):
        raise InputError(path, "no such folder", f"Check the path of the {what}.")
    if not path.is_dir():
        raise InputError(path, "is not a folder", f"Give the folder that contains the {what}.")


def _scan(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return list(found)


def _holds(question: Callable[[], bool]) -> bool:
    """Ask a directory entry; a link to itself or into a forbidden folder raises an error, which means no."""
    try:
        return question()
    except OSError:
        return False


def as_walked(folder: Path, root: Path) -> str:
    """`folder` as spelled during a walk of `root`, so that comparing strings shows what lies inside it."""
    if is_remote(folder) or is_remote(root):
        return spelled(folder)
    inner = os.path.relpath(folder, root)
    if os.pardir in Path(inner).parts:
        return os.fspath(folder)
    return os.fspath(root) if inner == os.curdir else os.path.join(root, inner)  # noqa: PTH118 (keeps "./")


def lies_in(folder: str, outer: str) -> bool:
    """Whether `folder` is `outer` or a folder under it, both spelled as walked."""
    return folder == outer or folder.startswith(outer if outer.endswith(os.sep) else outer + os.sep)


class MediaIndex:
    """Every video, caption file and info.json under some folders, found by one walk, or one listing of a prefix.

    Hidden files and folders are skipped. Each folder is visited once, under its own name rather than a link's where
    both are reachable, so loops of links end. In `captions` folders only captions (and info.json) are taken; without
    `recurse`, subfolders of the video folders are skipped.
    """

    def __init__(
        self,
        videos: Iterable[Path],
        captions: Iterable[Path] = (),
        *,
        media_suffixes: frozenset[str] = VIDEO_SUFFIXES,
        without: Iterable[Path] = (),
        recurse: bool = True,
    ) -> None:
        self.videos: list[File] = []
        self.captions: list[File] = []
        self.skipped: list[Skipped] = []
        self.notes: list[str] = []  # info.json files that could not be used
        self.remote = False  # whether some of the files are in a bucket
        self._infos: dict[tuple[str, str], Path] = {}
        self._read: dict[Path, Info | None] = {}
        self._media_suffixes = media_suffixes
        self._seen = {place for folder in without if (place := self._place(spelled(folder), is_remote(folder)))}
        for roots, with_videos in ((videos, True), (captions, False)):
            for root in roots:
                self._walk(root, with_videos, recurse or not with_videos)
        self.videos.sort()
        self.captions.sort()
        self._leave_out_leftovers()
        self._read_infos()

    def info(self, folder: str, stem: str) -> Info | None:
        """The usable info.json of the video with this stem, read once."""
        path = self._infos.get((folder, stem))
        if path is None:
            return None
        if path not in self._read:
            self._keep(path, _info_or_problem(path))
        return self._read[path]

    def _keep(self, path: Path, found: Info | ValueError) -> None:
        self._read[path] = found if isinstance(found, Info) else None
        if isinstance(found, ValueError):
            self.notes.append(f"{one_line(path)}: ignored ({found})")

    def _read_infos(self) -> None:
        """Those in a bucket, before they are asked for."""
        paths = [path for path in self._infos.values() if is_remote(path)]
        for path, found in zip(paths, at_once(_info_or_problem, paths, remote=True), strict=True):
            self._keep(path, found)

    def _walk(self, root: Path, with_videos: bool, recurse: bool) -> None:
        folders, links = [spelled(root)], list[str]()
        if isinstance(root, RemotePath) and folders[0] in self._seen:  # listing it again would cost requests
            return
        listing = self._list(root, with_videos, recurse) if isinstance(root, RemotePath) else None
        while folders or links:
            if not folders:  # links last: a folder reached by its own name keeps that name
                links.sort(reverse=True)
                folders.append(links.pop())
            folder = folders.pop()
            place = self._place(folder, listing is not None)
            if place is None or place in self._seen:
                continue
            self._seen.add(place)
            try:
                entries: Sequence[os.DirEntry[str] | Entry] = listing.entries(folder) if listing else _scan(folder)
            except OSError as error:
                self.skipped.append(skip(folder, f"folder cannot be read: {error.strerror}"))
                continue
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.startswith("."):
                    continue
                if _holds(entry.is_dir):
                    if recurse:
                        (links if entry.is_symlink() else folders).append(os.path.join(folder, entry.name))  # noqa: PTH118
                else:
                    self._file(folder, entry, with_videos)

    def _list(self, root: RemotePath, with_videos: bool, recurse: bool) -> Listing:
        self.remote, listing = True, Listing(root, recurse=recurse)
        for key in listing.nameless:
            if with_videos and key[key.rfind(".") :].lower() in self._media_suffixes:
                self.skipped.append(skip(f"s3://{key}", _NAMELESS))
        return listing

    def _place(self, folder: str, remote: bool) -> tuple[int, int] | str | None:
        if remote:  # there are no links: a folder has one name
            return folder
        try:
            found = os.stat(folder)  # noqa: PTH116 (a Path per folder would double the walk's time)
        except OSError as error:
            self.skipped.append(skip(folder, f"folder cannot be read: {error.strerror}"))
            return None
        return found.st_dev, found.st_ino

    def _file(self, folder: str, entry: os.DirEntry[str] | Entry, with_videos: bool) -> None:
        name, remote = entry.name, entry.file if isinstance(entry, Entry) else None
        suffix = name[name.rfind(".") :].lower() if "." in name else ""
        if suffix in self._media_suffixes:
            if not with_videos:
                return
            if _holds(entry.is_file):
                self.videos.append(File.of(folder, name, len(suffix), remote))
            else:
                reason = "broken link" if entry.is_symlink() else "not a regular file"
                self.skipped.append(skip(entry.path, reason))
        elif suffix in CAPTION_SUFFIXES:
            if not _holds(entry.is_file):
                return
            if name.lower().endswith(".info.json"):
                self._infos[folder, composed(name[: -len(".info.json")])] = remote or Path(entry.path)
            elif not name.lower().endswith(_NOT_CAPTIONS):
                self.captions.append(File.of(folder, name, len(suffix), remote))
        elif with_videos and suffix == ".part" and Path(name[: -len(".part")]).suffix.lower() in self._media_suffixes:
            self.skipped.append(skip(entry.path, "unfinished download"))

    def _leave_out_leftovers(self) -> None:
        """Drop what yt-dlp leaves beside a merged video; a track that was never merged is used as its video."""
        whole = {(file.folder, file.stem) for file in self.videos}
        tracks: dict[tuple[str, str], int] = {}
        for file in self.videos:
            base = file.folder, _TRACK.sub("", file.stem)
            tracks[base] = tracks.get(base, 0) + 1
        kept = []
        for file in self.videos:
            track = _TRACK.search(file.stem)
            base_stem = _TRACK.sub("", file.stem)
            if file.stem.endswith(".temp"):
                self.skipped.append(skip(file.path, "left by a yt-dlp merge that did not finish"))
            elif track and (file.folder, base_stem) in whole:
                self.skipped.append(skip(file.path, "one track of a download whose merged file is here"))
            elif track and track[1] in _SOUND_ONLY and tracks[file.folder, base_stem] > 1:
                self.skipped.append(skip(file.path, "the sound track of a download that was not merged"))
            else:
                kept.append(file._replace(stem=base_stem) if youtube_id(base_stem) else file)
        self.videos = kept


def at_once(function: Callable[[Given], Result], things: Iterable[Given], *, remote: bool) -> Iterator[Result]:
    """The function of each thing, in order. `remote`: of many at the same time, since each waits for an answer."""
    if not remote:
        yield from map(function, things)
        return
    with ThreadPoolExecutor(_REQUESTS) as threads:
        yield from threads.map(function, things)


def _info_or_problem(path: Path) -> Info | ValueError:
    try:
        return read_info(path)
    except ValueError as problem:
        return problem


def read_info(path: Path) -> Info:
    """Id, title and caption languages from a yt-dlp info.json; ValueError says why it cannot be used."""
    try:
        text = read_start(path, _MAX_INFO_BYTES).decode("utf-8-sig", errors="replace")
        content = parse_json(text, dict, finite=False)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except InputError as error:
        if isinstance(error, Unreachable):
            raise
        raise ValueError(f"cannot be read: {error.cause}") from None
    languages = {}
    for key in ("subtitles", "automatic_captions"):
        listed = content.get(key)
        languages[key] = frozenset(listed) if isinstance(listed, dict) else frozenset[str]()
    video_id, title = content.get("id"), content.get("title")
    return Info(
        id=video_id if isinstance(video_id, str) and re.fullmatch(r"[\w.:-]{1,100}", video_id) else "",
        title=title.encode("utf-8", "replace").decode() if isinstance(title, str) else "",
        manual=languages["subtitles"],
        automatic=languages["automatic_captions"] - languages["subtitles"],
    )


def take_listed(index: MediaIndex, wanted: Container[str], taken: dict[str, File] | None = None) -> dict[str, File]:
    """The file of each listed video; a second file for the same id is reported in `index.skipped`."""
    taken = dict(taken or {})
    claimed = set(taken.values())
    for file in index.videos:
        video_id = dataset_id(file.stem, wanted)
        if video_id is None or file in claimed:
            continue
        if taken.setdefault(video_id, file) is not file:
            index.skipped.append(skip(file.path, f"same video id as {one_line(taken[video_id].path)}"))
    return taken
