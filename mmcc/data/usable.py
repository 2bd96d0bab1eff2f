"""Which videos certainly have a usable segment, as the table of contents of a corpus tells: most, of a large one.

It has the number of frames and of utterances with words in each 8 seconds of a video. Take some consecutive spans that
are together no longer than a segment, and hold enough of both but not more than fit into a batch. A segment that begins
at their first node has all of their nodes: it is long enough, and neither modality ends it earlier. So the video is
usable. What is not proven so has to be looked at.

Shapes: V videos, T spans of all videos, one after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mmcc.corpus.contents import MOST, SPAN
from mmcc.data.config import DataConfig

_AT_ONCE = 10_000  # videos: half a million spans

Counts = NDArray[np.int64]


def certainly_usable(counts: pa.Table, config: DataConfig) -> NDArray[np.bool_]:
    """Of each video [V], from its counts (`seen`, `said`), if all of its frames may be used: see `Cutter.rates`."""
    parts = [_proven(counts.slice(first, _AT_ONCE), config) for first in range(0, counts.num_rows, _AT_ONCE)]
    return np.concatenate([np.zeros(0, bool), *parts])


def _proven(counts: pa.Table, config: DataConfig) -> NDArray[np.bool_]:
    proven = np.zeros(counts.num_rows, bool)
    spans = 1
    while spans * SPAN <= config.segment_seconds and not proven.all():
        left = np.flatnonzero(~proven)
        proven[left] = _have_window(counts.take(left), spans, config)
        spans *= 2
    return proven


def _have_window(counts: pa.Table, spans: int, config: DataConfig) -> NDArray[np.bool_]:
    """Whether each video has so many consecutive spans with enough nodes, and not too many."""
    seen, said = (_flat(counts.column(name)) for name in ("seen", "said"))
    lengths = np.minimum(seen[0], said[0])  # of the spans that both modalities have
    windows = np.maximum(lengths - spans + 1, 0)  # in each video
    video = np.repeat(np.arange(len(windows)), windows)
    within = np.arange(len(video)) - np.repeat(np.cumsum(windows) - windows, windows)
    good = np.ones(len(video), bool)
    limits = ((config.min_frames, config.max_frames), (config.min_utterances, config.max_utterances))
    for (length, values), (least, most) in zip((seen, said), limits, strict=True):
        first = (np.cumsum(length) - length)[video] + within
        total = np.concatenate([[0], np.cumsum(values)])
        many = np.concatenate([[0], np.cumsum(values == MOST)])  # "so many, or more"
        nodes = total[first + spans] - total[first]
        good &= (nodes >= least) & (nodes <= most) & (many[first + spans] == many[first])
    found: NDArray[np.bool_] = np.bincount(video[good], minlength=len(windows)) > 0
    return found


def _flat(column: pa.ChunkedArray) -> tuple[Counts, NDArray[Any]]:
    """The number of spans of each video [V], 0 where nobody has counted, and the counts of all of them [T]."""
    lists = column.combine_chunks()
    lists = pa.concat_arrays(lists.chunks) if isinstance(lists, pa.ChunkedArray) else lists
    lengths: Counts = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return lengths, lists.flatten().to_numpy(zero_copy_only=False).astype(np.int32)
