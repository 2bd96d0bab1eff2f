"""HowTo100M: an index of 1.2 million YouTube videos and their speech recognition; people have some of the videos.

The index is read in one pass, and only videos with a file or captions on this disk become items. The summary counts
the others.
"""

import csv
import os
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from mmcc.corpus.disk import (
    VIDEO_SUFFIXES,
    File,
    MediaIndex,
    composed,
    dataset_id,
    require_folder,
    skip,
    take_listed,
    youtube_id,
    youtube_title,
)
from mmcc.corpus.pairing import Candidate, Match, choose, pair
from mmcc.corpus.source import CaptionFile, Item, Skipped, Source, Task
from mmcc.errors import InputError
from mmcc.media.transcripts import index_caption_json
from mmcc.storage import spelled
from mmcc.storage.listing import as_listed, kept_copy

_ID, _PATH, _TASK, _CATEGORIES = "video_id", "video_path", "task_id", ("category_1", "category_2")
_REMEDY = f"The first line names the columns: {_ID},category_1,category_2,rank,{_TASK}, or {_PATH} instead of {_ID}."
_CAPTION_FILES = ("raw_caption.json", "caption.json")  # the second lacks stop words
_MAX_HEADER = 65536
_MAX_LINE = 1 << 20
_MAX_NAMED = 200  # categories in a message


@dataclass
class _Index:
    """The requested rows."""

    tasks: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by video id
    paths: dict[str, str] = field(default_factory=dict)  # path under the folder of videos -> id
    skipped: list[Skipped] = field(default_factory=list)


def is_howto100m(path: Path) -> bool:
    """Whether a file is a .csv whose header names videos."""
    try:
        if path.suffix.lower() != ".csv" or not path.is_file():
            return False
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            columns = _columns(file.readline(_MAX_HEADER).split(","))
    except OSError:
        return False
    return _ID in columns or _PATH in columns


def read_howto100m(
    index: Path,
    *,
    videos: Path | None = None,
    captions: Path | None = None,
    category: str | None = None,
    media_suffixes: frozenset[str] = VIDEO_SUFFIXES,
    language: str = "en",
) -> Source:
    """The listed videos that have a file or captions here, optionally of one category (part of either category's name).

    `videos` and `captions` default to the folder of the index. `captions` may also be the release's one JSON file;
    a folder that contains that file is first searched for captions of single videos.
    """
    if videos is not None:
        require_folder(videos, "videos")
    one_file = _caption_file(captions or index.parent)
    caption_folder = None if captions is not None and captions == one_file else captions or index.parent
    if caption_folder is not None:
        require_folder(caption_folder, "captions")
    listed = _read_index(index, category)

    media = MediaIndex(
        [videos or index.parent], [caption_folder] if caption_folder else [], media_suffixes=media_suffixes
    )
    found = take_listed(media, listed.tasks, _at_their_paths(media, listed.paths, spelled(videos or index.parent)))
    pairs = pair(
        found, media.captions, lambda _, stem: _match(stem, listed.tasks), spelled(captions) if captions else None
    )
    wanted = listed.tasks.keys() - pairs.candidates.keys()
    spans = _spans(one_file, wanted) if one_file else {}

    source = Source(skipped=listed.skipped + media.skipped)
    for video_id, tasks in listed.tasks.items():
        file = found.get(video_id)
        chosen = _captions(video_id, pairs.candidates.get(video_id), one_file, spans, media, language, source)
        if file is None and chosen is None:
            continue
        title = youtube_title(file.stem) if file and file.stem.endswith(f"[{video_id}]") else ""
        source.items.append(Item(video_id, file and file.path, chosen, title, tasks))
        for task in tasks:
            if task not in source.tasks:  # the index gives no title and no steps
                source.tasks[task] = Task(task, "", (), primary=False)
    source.summary = _summary(source, len(listed.tasks), category)
    return source


def _caption_file(captions: Path) -> Path | None:
    if captions.is_file():
        if captions.suffix.lower() != ".json":
            raise InputError(captions, "is neither a folder nor a .json file", f"Give a folder or {_CAPTION_FILES[0]}.")
        return as_listed(captions)
    found = next((captions / name for name in _CAPTION_FILES if (captions / name).is_file()), None)
    return found and as_listed(found)


def _spans(one_file: Path, wanted: Container[str]) -> dict[str, tuple[int, int]]:
    try:
        return index_caption_json(kept_copy(one_file), wanted)
    except InputError as error:  # it may have named the copy
        raise InputError(one_file, error.cause, error.remedy) from None


def _columns(header: list[str]) -> dict[str, int]:
    return {name.strip().strip('"').lower(): number for number, name in enumerate(header)}


def _rows(path: Path) -> Iterator[tuple[int, list[str] | None]]:
    """Rows with the number of their last line; None for a row that is not valid CSV, e.g. an unclosed field."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            reader = csv.reader(_lines(path, file))
            while True:
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except csv.Error:
                    yield reader.line_num, None
                else:
                    if row:
                        yield reader.line_num, row
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", "Give the index of HowTo100M.") from None


def _lines(path: Path, file: TextIO) -> Iterator[str]:
    """One by one, and none that would fill the memory."""
    while line := file.readline(_MAX_LINE + 1):
        if len(line) > _MAX_LINE:
            raise InputError(path, f"has a line of more than {_MAX_LINE:,} letters", _REMEDY)
        yield line


def _read_index(path: Path, category: str | None) -> _Index:
    rows = _rows(path)
    _, header = next(rows, (0, None))
    columns = _columns(header or [])
    if _ID not in columns and _PATH not in columns:
        raise InputError(path, f"its first line names neither {_ID} nor {_PATH}", _REMEDY)
    id_column, path_column, task_column = columns.get(_ID), columns.get(_PATH), columns.get(_TASK)
    needed = 1 + max(columns[name] for name in (_ID, _PATH) if name in columns)
    wanted = _Categories(path, category, columns)
    listed = _Index()
    for number, row in rows:
        if row is None or len(row) < needed:
            listed.skipped.append(skip(f"{path}:{number}", "is not a row of this table"))
            continue
        if not wanted.has(row):
            continue
        video_path = row[path_column].strip() if path_column is not None else ""
        video_id = row[id_column].strip() if id_column is not None else _id_of_path(video_path, listed)
        if not video_id or not video_id.isprintable():
            listed.skipped.append(skip(f"{path}:{number}", "does not name a video"))
            continue
        if video_path:
            listed.paths.setdefault(_plain(video_path), video_id)
        task = row[task_column].strip() if task_column is not None and task_column < len(row) else ""
        known = listed.tasks.get(video_id, ())
        listed.tasks[video_id] = (*known, task) if task and task not in known else known
    wanted.require_some()
    if not listed.tasks:
        raise InputError(path, "lists no videos", _REMEDY)
    return listed


class _Categories:
    """Which rows belong to the requested category, decided once per pair of categories."""

    def __init__(self, path: Path, category: str | None, columns: dict[str, int]) -> None:
        self._path, self._asked = path, (category or "").strip()
        self._columns = [columns[name] for name in _CATEGORIES if name in columns]
        self._known: dict[tuple[str, ...], bool] = {}
        if self._asked and not self._columns:
            raise InputError(path, f"has no column {' or '.join(_CATEGORIES)} to find {self._asked!r} in", _REMEDY)

    def has(self, row: list[str]) -> bool:
        if not self._asked:
            return True
        names = tuple([row[column].strip() for column in self._columns if column < len(row)])
        if names not in self._known:
            self._known[names] = any(self._asked.casefold() in name.casefold() for name in names)
        return self._known[names]

    def require_some(self) -> None:
        if self._asked and not any(self._known.values()):
            names = sorted({name for pair_of_names in self._known for name in pair_of_names if name})
            more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
            listed = ", ".join(names[:_MAX_NAMED]) + more
            raise InputError(self._path, f"has no category like {self._asked!r}", f"It has: {listed or 'none'}.")


def _plain(video_path: str) -> str:
    """A path of the index with "/" and without "./"; "../" stays, and so matches nothing under the folder."""
    return composed(os.path.normpath(video_path.replace("\\", "/")).replace(os.sep, "/"))


def _id_of_path(video_path: str, listed: _Index) -> str:
    """The name without its suffix, or the whole path where another video already has that name."""
    if not video_path:
        return ""
    path = Path(_plain(video_path))
    if known := listed.paths.get(str(path)):
        return known
    for video_id in (youtube_id(path.stem) or path.stem, str(path.with_suffix("")), str(path)):
        if video_id not in listed.tasks:
            break
    return video_id


def _at_their_paths(media: MediaIndex, paths: dict[str, str], root: str) -> dict[str, File]:
    """Files exactly where the index says, or there with another suffix (features instead of video)."""
    if not paths:
        return {}
    ends = dict(paths)
    for path, video_id in paths.items():
        ends.setdefault(str(Path(path).with_suffix("")), video_id)
    found: dict[str, File] = {}
    for exact in (True, False):
        for file in media.videos:
            inner = composed(file.folder[len(root) :].replace(os.sep, "/")).strip("/")
            name = composed(file.name) if exact else file.stem
            listed = ends.get(f"{inner}/{name}" if inner else name)
            if listed:
                found.setdefault(listed, file)
    return found


def _match(stem: str, listed: dict[str, tuple[str, ...]]) -> Match | None:
    video_id = dataset_id(stem, listed)
    return Match(video_id) if video_id else None


def _captions(
    video_id: str,
    candidates: list[Candidate] | None,
    one_file: Path | None,
    spans: dict[str, tuple[int, int]],
    media: MediaIndex,
    language: str,
    source: Source,
) -> CaptionFile | None:
    """HowTo100M's captions are all speech recognition, so no file is opened to find out."""
    if candidates:
        chosen, lines = choose(video_id, candidates, media, language=language, kind="automatic")
        source.choices += lines
        return chosen
    return CaptionFile(one_file, "automatic", spans[video_id]) if one_file and video_id in spans else None


def _summary(source: Source, total: int, category: str | None) -> list[str]:
    videos = sum(item.media is not None for item in source.items)
    captions = sum(item.captions is not None for item in source.items)
    what = f"videos of category {category!r}" if category else "videos"
    lines = [f"{what} found  {videos:,}/{total:,}", f"with captions  {captions:,}/{total:,}"]
    if left := total - len(source.items):
        lines.append(f"neither found  {left:,} (skipped)")
    return lines
