"""What is counted of every video of an index, column by column: a corpus may have a million of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mmcc.corpus.format import READABLE

_DETAILS = ["id", "status", "reason", "split", "tasks", "source", "captions", "caption_kind", "caption_error", "mode"]
_DETAILS += ["duration", "decoded"]
COLUMNS = (*_DETAILS, "times", "utterances", "steps")  # of the index


class VideoFigures(NamedTuple):
    """What is counted of a video."""

    number: int  # of the video, as it is given
    details: dict[str, Any]  # the small columns
    seconds: float  # its length; for captions alone, the end of the last utterance
    frames: int
    utterances: int
    words: int
    spoken: float  # seconds
    steps: int
    shown: float  # seconds in which a step is shown

    @property
    def readable(self) -> bool:
        return self.details["status"] in READABLE


def figures_of(numbers: NDArray[np.int64], batch: pa.RecordBatch) -> Iterator[VideoFigures]:
    """Of rows of an index, with COLUMNS."""
    details = batch.select(_DETAILS).to_pylist()
    frames = pc.fill_null(pc.list_value_length(batch.column("times")), 0).to_pylist()
    said, shown = (_Spans.of(batch.column(name)) for name in ("utterances", "steps"))
    texts = batch.column("utterances").flatten().field("text").to_pylist()
    counts = said.lengths.tolist()
    ends = np.cumsum(said.lengths).tolist()
    words = [len(" ".join(texts[end - count : end]).split()) for end, count in zip(ends, counts, strict=True)]
    lasts = [float(said.end[end - 1]) if count else 0.0 for end, count in zip(ends, counts, strict=True)]
    seconds = [row["duration"] or last for row, last in zip(details, lasts, strict=True)]
    spoken, seen = (each.covered(seconds).tolist() for each in (said, shown))
    steps = shown.lengths.tolist()
    return map(VideoFigures, numbers.tolist(), details, seconds, frames, counts, words, spoken, steps, seen)


class _Spans(NamedTuple):
    """Stretches of time of several videos, one video after the other."""

    lengths: NDArray[np.int64]  # how many each video has
    start: NDArray[np.float64]
    end: NDArray[np.float64]

    @classmethod
    def of(cls, lists: pa.ListArray) -> _Spans:
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        spans = lists.flatten()
        return cls(lengths, *(spans.field(name).to_numpy(zero_copy_only=False) for name in ("start", "end")))

    def covered(self, seconds: Sequence[float]) -> NDArray[np.float64]:
        """Of each video: seconds covered by at least one span, within the video. The first spans of all videos are
        added together, then the second ones, and so on: each video's sum has the order of its spans."""
        video = np.repeat(np.arange(len(self.lengths)), self.lengths)
        order = np.lexsort((self.end, self.start, video))
        start, end = self.start[order], np.minimum(self.end[order], np.asarray(seconds)[video])
        firsts = np.cumsum(self.lengths) - self.lengths
        covered, reached = np.zeros((2, len(self.lengths)))
        for place in range(int(self.lengths.max(initial=0))):
            having = np.flatnonzero(self.lengths > place)
            at = firsts[having] + place
            covered[having] += np.maximum(0.0, end[at] - np.maximum(start[at], reached[having]))
            reached[having] = np.maximum(reached[having], end[at])
        return covered
