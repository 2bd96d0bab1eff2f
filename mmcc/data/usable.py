"""Which videos certainly have a usable segment, as the table of contents of a corpus tells: most, of a large one.

It has the number of frames and of utterances with words in each 8 seconds of a video. Take some consecutive spans that
are together no longer than a segment, and hold enough of both but not more than fit into a batch. A segment that begins
at their first node has all of their nodes: it is long enough, and neither modality ends it earlier. So the video is
usable. What is not proven so has to be looked at.

Shapes: V videos, T spans of all videos, one after the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.contents import MOST, SPAN, SpanCounts
from mmcc.data.config import DataConfig

_AT_ONCE = 10_000  # videos: half a million spans
_LOOKED_AT = 4  # spans at the beginning of a video: nearly all are proven there, without a look at the others


def certainly_usable(seen: SpanCounts, said: SpanCounts, config: DataConfig) -> NDArray[np.bool_]:
    """Of each video [V], from its frames and utterances, if all of its frames may be used: see `Cutter.rates`."""
    proven = np.zeros(len(seen.lengths), bool)
    sizes = [spans for spans in (1 << power for power in range(32)) if spans * SPAN <= config.segment_seconds]
    for spans in sizes[:2]:
        for first in range(_LOOKED_AT):
            left = np.flatnonzero(~proven)
            proven[left] = _are_window(seen.some(left), said.some(left), first, spans, config)
    for spans in sizes:
        left = np.flatnonzero(~proven)
        for some in np.split(left, range(_AT_ONCE, len(left), _AT_ONCE)):
            proven[some] = _have_window(seen.some(some), said.some(some), spans, config)
    return proven


def _are_window(seen: SpanCounts, said: SpanCounts, first: int, spans: int, config: DataConfig) -> NDArray[np.bool_]:
    """Whether these few consecutive spans of each video have enough nodes, and not too many."""
    good: NDArray[np.bool_] = np.minimum(seen.lengths, said.lengths) >= first + spans
    having = np.flatnonzero(good)
    for counts, (least, most) in zip((seen, said), _limits(config), strict=True):
        places = counts.starts[having, None] + np.arange(first, first + spans)
        found = counts.values[places].astype(np.int64)
        nodes = found.sum(1)
        good[having] &= (nodes >= least) & (nodes <= most) & (found < MOST).all(1)  # MOST: "so many, or more"
    return good


def _have_window(seen: SpanCounts, said: SpanCounts, spans: int, config: DataConfig) -> NDArray[np.bool_]:
    """Whether each video has so many consecutive spans with enough nodes, and not too many."""
    lengths = np.minimum(seen.lengths, said.lengths)  # of the spans that both modalities have
    windows = np.maximum(lengths - spans + 1, 0)  # in each video
    video = np.repeat(np.arange(len(windows)), windows)
    within = _within(windows)
    good = np.ones(len(video), bool)
    for counts, (least, most) in zip((seen, said), _limits(config), strict=True):
        values = counts.values[np.repeat(counts.starts, counts.lengths) + _within(counts.lengths)].astype(np.int64)
        first = (np.cumsum(counts.lengths) - counts.lengths)[video] + within
        total = np.concatenate([[0], np.cumsum(values)])
        many = np.concatenate([[0], np.cumsum(values == MOST)])
        nodes = total[first + spans] - total[first]
        good &= (nodes >= least) & (nodes <= most) & (many[first + spans] == many[first])
    found: NDArray[np.bool_] = np.bincount(video[good], minlength=len(windows)) > 0
    return found


def _limits(config: DataConfig) -> tuple[tuple[int, int], tuple[int, int]]:
    """The fewest and the most frames, and utterances."""
    return (config.min_frames, config.max_frames), (config.min_utterances, config.max_utterances)


def _within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … in each video."""
    return np.asarray(np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths), np.int64)
