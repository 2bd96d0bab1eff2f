"""A contact sheet: a few videos of a corpus, each a row of frames with the narration below them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mmcc.corpus.corpus import Corpus, Video
from mmcc.errors import InputError
from mmcc.report.sheets import Heading, Tile, draw_sheet
from mmcc.text import one_line

_ROWS, _COLUMNS = 6, 8


def draw(corpus: Corpus, path: Path) -> None:
    """Draw videos spread over the corpus, and moments spread over each."""
    if corpus.manifest.encoding == "float32":
        raise InputError(corpus.path, "contains features, not images", "A sheet needs a corpus of frames.")
    videos = [corpus[video_id] for video_id in corpus.ids if len(corpus[video_id].times)]
    if not videos:
        raise InputError(corpus.path, "contains no frames to draw", "Ingest some video first.")
    chosen = [videos[place] for place in _spread(len(videos), _ROWS)]
    headings = [Heading(one_line(video.title or video.id), _facts(video)) for video in chosen]
    draw_sheet(path, "", [_row(video) for video in chosen], headings=headings)


def _facts(video: Video) -> str:
    return f"{video.duration:.0f} s · {len(video.times)} frames · {len(video.utterances)} utterances · {video.split}"


def _row(video: Video) -> list[Tile]:
    """Each frame with what is said from it to the next."""
    moments = _spread(len(video.times), _COLUMNS)
    ends = [*(float(video.times[moment]) for moment in moments[1:]), float("inf")]
    tiles = []
    for moment, end in zip(moments, ends, strict=True):
        time = float(video.times[moment])
        said = " ".join(u.text for u in video.utterances if time <= (u.start + u.end) / 2 < end)
        tiles.append(Tile(video.frames(moment, moment + 1)[0], f"{time:.2f} s", said))
    return tiles


def _spread(count: int, wanted: int) -> list[int]:
    """Up to `wanted` places spread evenly over `count`."""
    return [round(place) for place in np.linspace(0, count - 1, min(count, wanted)).tolist()]
