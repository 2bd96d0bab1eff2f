"""A folder of narrated videos as people have them: downloads by yt-dlp, or videos with captions of the same name.

A video's id is its YouTube id if it has one (from info.json, or else from an "[id]" at the end of the name); otherwise
its path under the folder without the suffix, so that ids survive moving the folder, and `a/01` and `b/01` differ.
"""

import os
import re
from pathlib import Path

from mmcc.corpus.disk import (
    CAPTION_SUFFIXES,
    VIDEO_SUFFIXES,
    File,
    MediaIndex,
    as_walked,
    at_once,
    composed,
    is_there,
    lies_in,
    require_folder,
    skip,
    youtube_id,
    youtube_title,
)
from mmcc.corpus.pairing import Match, Pairs, choose, looks_like_captions, pair, prefixes
from mmcc.corpus.source import CaptionFile, Item, Skipped, Source
from mmcc.errors import InputError
from mmcc.storage import RemotePath, spelled
from mmcc.text import one_line, storable

__all__ = ["CAPTION_SUFFIXES", "NO_VIDEOS", "VIDEO_SUFFIXES", "MediaIndex", "read_folder"]

NO_VIDEOS = "has no videos"
_BARE_ID = re.compile(r"[A-Za-z0-9_-]{11}\Z")


def read_folder(
    root: Path,
    *,
    media_suffixes: frozenset[str] = VIDEO_SUFFIXES,
    captions: Path | None = None,
    language: str = "en",
) -> Source:
    """Every video under `root` (or the one video that `root` is) with the captions that belong to it.

    `captions` names another folder of captions; a file there wins over an equally good one beside the video.
    Captions without a video are reported for `root` only: a separate folder may serve many collections.
    """
    single = _is_single_video(root, media_suffixes)
    folder = root.parent if single else root
    if captions is not None:
        require_folder(captions, "captions")
    index = MediaIndex([folder], [captions] if captions else [], media_suffixes=media_suffixes, recurse=not single)
    if single:
        _put_first(root, index)
    elif not index.videos:
        _refuse_without_videos(root, index, media_suffixes)

    walked = spelled(folder)
    chosen = as_walked(captions, folder) if captions else walked
    library = _Library(index, walked, chosen)
    pairs = pair(library.videos, index.captions, library.owner_elsewhere, chosen if chosen != walked else None)
    unclear = library.drop_unclear(pairs)
    source = Source(skipped=index.skipped)
    videos = [next(iter(library.videos.items()))] if single else list(library.videos.items())

    def captions_of(video: tuple[str, File]) -> tuple[CaptionFile | None, list[str]]:
        return choose(video[0], pairs.candidates.get(video[0], []), index, beside=video[1], language=language)

    chosen_captions = at_once(captions_of, videos, remote=index.remote)
    for (video_id, file), (found, lines) in zip(videos, chosen_captions, strict=True):
        source.choices += lines
        info = index.info(file.folder, file.stem)
        title = (info.title if info else "") or youtube_title(file.stem)
        source.items.append(Item(video_id, file.path, found, title))
    if single:
        source.skipped.clear()  # the user asked for one video, not for its neighbours
    else:
        source.skipped += unclear + library.report_orphans(pairs.orphans)
        source.skipped.sort()
    source.choices += index.notes
    return source


def _is_single_video(root: Path, media_suffixes: frozenset[str]) -> bool:
    if not is_there(root):
        raise InputError(root, "no such file or folder", "Check the path.")
    if root.is_dir():
        return False
    if root.suffix.lower() not in media_suffixes:
        raise InputError(root, "does not have the name of a video", _looked_for(media_suffixes))
    if not root.is_file():
        raise InputError(root, "is not a regular file", "Give a video or a folder of videos.")
    return True


def _put_first(video: Path, index: MediaIndex) -> None:
    """Put the requested video, whatever its name, before any neighbour that shares its id or captions."""
    known = next((file for file in index.videos if file.name == video.name), None)
    one = known or File.of(
        spelled(video.parent), video.name, len(video.suffix), video if isinstance(video, RemotePath) else None
    )
    index.videos = [one, *(file for file in index.videos if file.stem != one.stem)]


def _refuse_without_videos(root: Path, index: MediaIndex, media_suffixes: frozenset[str]) -> None:
    for path, reason in index.skipped:
        if path == storable(str(root)):
            raise InputError(root, reason, "Ask for permission to read it, or copy it elsewhere.")
    skipped = f"; {len(index.skipped)} skipped, e.g. {one_line(': '.join(index.skipped[0]))}" if index.skipped else ""
    raise InputError(root, f"{NO_VIDEOS}{skipped}", _looked_for(media_suffixes))


def _looked_for(media_suffixes: frozenset[str]) -> str:
    return f"Looked for files ending in {' '.join(sorted(media_suffixes))}."


class _Library:
    """The videos of a folder by id, and which of them a caption file in another folder belongs to."""

    def __init__(self, index: MediaIndex, root: str, captions: str) -> None:
        self.videos: dict[str, File] = {}
        self._index, self._root, self._captions = index, root, captions
        unnamed = self._take_given_ids()
        self._given = frozenset(self.videos)
        self._take_path_ids(unnamed)
        place = {file: number for number, file in enumerate(index.videos)}
        self.videos = dict(sorted(self.videos.items(), key=lambda video: place[video[1]]))
        self._by_stem: dict[str, str | None] = {}  # None: several videos have this name
        for video_id, file in self.videos.items():
            self._by_stem[file.stem] = None if file.stem in self._by_stem else video_id

    def _take_given_ids(self) -> list[File]:
        """Ids from info.json or "[id]" come first, so that no file that happens to be named like an id takes one."""
        unnamed = []
        for file in self._index.videos:
            info = self._index.info(file.folder, file.stem)
            given = (info.id if info else "") or youtube_id(file.stem)
            if not given:
                unnamed.append(file)
            elif self.videos.setdefault(given, file) is not file:
                first = one_line(self.videos[given].path)
                self._index.skipped.append(skip(file.path, f"same video id ({given}) as {first}"))
        return unnamed

    def _take_path_ids(self, unnamed: list[File]) -> None:
        for file in unnamed:
            video_id = self._path_id(self._root, file.folder, file.stem)
            if video_id in self.videos:
                video_id += composed(Path(file.name).suffix)
            while video_id in self.videos:  # names that differ only in bytes that are not text
                video_id += "~"
            self.videos[video_id] = file

    @staticmethod
    def _path_id(root: str, folder: str, stem: str) -> str:
        inner = composed(folder[len(root) :].replace(os.sep, "/")).strip("/")
        return f"{inner}/{stem}" if inner else stem

    def owner_elsewhere(self, file: File, stem: str) -> Match | None:
        """Match by id, by the same path within the captions folder, or by a name that only one video has."""
        named = youtube_id(stem) or stem
        if named in self._given:
            return Match(named)
        if lies_in(file.folder, self._captions):
            mirrored = self._path_id(self._captions, file.folder, stem)
            if "/" in mirrored and mirrored in self.videos:
                return Match(mirrored)
        owner = self._by_stem.get(stem)
        return Match(owner, by_stem=True) if owner else None

    def drop_unclear(self, pairs: Pairs) -> list[Skipped]:
        """Captions of one name in several folders cannot all belong to the one video of that name: drop them all."""
        dropped = []
        for video_id, candidates in pairs.candidates.items():
            if len({candidate.file.folder for candidate in candidates if candidate.by_stem}) > 1:
                dropped += [candidate.file for candidate in candidates if candidate.by_stem]
                pairs.candidates[video_id] = [candidate for candidate in candidates if not candidate.by_stem]
        return [skip(file.path, "captions of this name are in more than one folder") for file in dropped]

    def report_orphans(self, orphans: list[File]) -> list[Skipped]:
        """Why captions were skipped; unrelated .json and .csv files are not reported."""
        skipped = []
        for file in orphans:
            if not lies_in(file.folder, self._root):
                continue
            if not _BARE_ID.match(file.stem) and not looks_like_captions(file.path):
                continue
            shared = any(stem in self._by_stem for stem, _ in prefixes(file.stem))
            reason = "captions that match several videos" if shared else "captions without a video"
            skipped.append(skip(file.path, reason))
        return skipped
