"""Which adapter reads a source: told from what lies there."""

from pathlib import Path

from mmcc.corpus.crosstask import is_crosstask, read_crosstask
from mmcc.corpus.folder import VIDEO_SUFFIXES, read_folder
from mmcc.corpus.howto100m import is_howto100m, read_howto100m
from mmcc.corpus.source import Source
from mmcc.errors import InputError

FEATURE_SUFFIXES = frozenset({".npy"})


def find_source(
    src: Path,
    *,
    videos: Path | None = None,
    captions: Path | None = None,
    category: str | None = None,
    features: bool = False,
    language: str = "en",
) -> Source:
    """Read a CrossTask release, a HowTo100M index, or a folder (or file) of narrated video."""
    for place in (src, videos, captions):
        if place is not None and not place.exists():
            web = str(place).startswith(("http:", "https:"))
            remedy = "Download it first, with captions, e.g. with yt-dlp." if web else "Check the path."
            raise InputError(place, "no such file or folder", remedy)
    suffixes = FEATURE_SUFFIXES if features else VIDEO_SUFFIXES
    if is_howto100m(src):
        return read_howto100m(
            src, videos=videos, captions=captions, category=category, media_suffixes=suffixes, language=language
        )
    if src.suffix.lower() == ".csv" and src.is_file():
        raise InputError(src, "names no column video_id or video_path", "A HowTo100M index begins with such a line.")
    if category is not None:
        raise InputError(src, "has no categories", "--category is for a HowTo100M index (a .csv with video_id).")
    if is_crosstask(src):
        source = read_crosstask(src, videos=videos, captions=captions, media_suffixes=suffixes, language=language)
        if not features and not any(item.media for item in source.items) and any(src.glob("features/*.npy")):
            raise InputError(src, "holds features and no video", "Run again with --features RATE, vectors a second.")
        return source
    if videos is not None:
        raise InputError(src, "is a plain folder", "--videos is for a CrossTask release or a HowTo100M index.")
    return read_folder(src, captions=captions, media_suffixes=suffixes, language=language)
