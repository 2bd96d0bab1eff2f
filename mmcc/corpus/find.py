"""Choose the reader for a source by what the source contains. To add a data set:

    register_dataset(Dataset("my-set", matches=lambda path: (path / "my.json").is_file(), read=read_my_set))

`mmcc ingest FOLDER --import my.module` then reads every folder for which `matches` returns true.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mmcc.corpus.crosstask import is_crosstask, read_crosstask
from mmcc.corpus.folder import VIDEO_SUFFIXES, read_folder
from mmcc.corpus.howto100m import is_howto100m, read_howto100m
from mmcc.corpus.source import Source
from mmcc.corpus.youcook2 import is_youcook2, read_youcook2
from mmcc.errors import InputError
from mmcc.registry import Registry
from mmcc.storage import is_remote

FEATURE_SUFFIXES = frozenset({".npy"})


class SourceOptions(NamedTuple):
    """The options of `mmcc ingest` that readers use."""

    videos: Path | None  # where the media files are, if elsewhere
    captions: Path | None  # where the captions are, if elsewhere
    media_suffixes: frozenset[str]  # of video files, or of feature arrays
    language: str  # of the preferred captions
    category: str | None = None  # of an index that has categories


class Dataset(NamedTuple):
    """A kind of source and its reader."""

    name: str
    matches: Callable[[Path], bool]  # whether a file or folder is of this kind
    read: Callable[[Path, SourceOptions], Source]


_DATASETS: Registry[Dataset] = Registry("data set")


def register_dataset(dataset: Dataset) -> None:
    """Register a kind of source; it is tried before the built-in ones."""
    _DATASETS.add(dataset.name, dataset)


def find_source(
    src: Path,
    *,
    videos: Path | None = None,
    captions: Path | None = None,
    category: str | None = None,
    features: bool = False,
    language: str = "en",
) -> Source:
    """Read a CrossTask release, YouCook2's stills, a HowTo100M index, or a folder (or file) of narrated video."""
    for place in (src, videos, captions):
        if place is not None and not place.exists():
            web = str(place).startswith(("http:", "https:"))
            remedy = "Download it first, with captions, e.g. with yt-dlp." if web else "Check the path."
            raise InputError(place, "no such file or folder", remedy)
    suffixes = FEATURE_SUFFIXES if features else VIDEO_SUFFIXES
    for name in _DATASETS:
        dataset = _DATASETS.find(name)
        if dataset.matches(src):
            return dataset.read(src, SourceOptions(videos, captions, suffixes, language, category))
    if is_howto100m(src):
        return read_howto100m(
            src, videos=videos, captions=captions, category=category, media_suffixes=suffixes, language=language
        )
    if src.suffix.lower() == ".csv" and src.is_file():
        raise InputError(src, "has no column video_id or video_path", "A HowTo100M index starts with a header line.")
    if category is not None:
        raise InputError(src, "has no categories", "--category is for a HowTo100M index (a .csv with video_id).")
    if is_crosstask(src):
        source = read_crosstask(src, videos=videos, captions=captions, media_suffixes=suffixes, language=language)
        if not features and not any(item.media for item in source.items) and any(src.glob("features/*.npy")):
            cause = "has features but no videos"
            raise InputError(src, cause, "mmcc ingest --features RATE reads them, at RATE vectors per second.")
        return source
    if is_youcook2(src):
        if is_remote(src):
            cause = "is a data set of stills, which are read from this machine alone"
            raise InputError(src, cause, "Copy it here, and ingest the copy.")
        return read_youcook2(src, captions)
    if videos is not None:
        raise InputError(src, "is a plain folder", "--videos is for a CrossTask release or a HowTo100M index.")
    try:
        return read_folder(src, captions=captions, media_suffixes=suffixes, language=language)
    except InputError as error:
        arrays = src.suffix in FEATURE_SUFFIXES or (src.is_dir() and any(src.rglob("*.npy")))
        if features or not arrays:
            raise
        hint = "Feature arrays (.npy) are read by mmcc ingest --features RATE."
        raise InputError(error.path, error.cause, f"{error.remedy} {hint}") from None
