"""Whether there is enough to learn from: what a corpus has for training, said before anything is written.

>>> found = assess(UsableVideos(corpus, "train", config.data), None, vocabulary, config.train.batch_size)
>>> found.problems
('9 videos with captions (at least 10 are needed)', 'a vocabulary of 2 words (at least 50 are needed)')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mmcc.corpus.contents import said_in, seen_in
from mmcc.corpus.vectors import VectorCorpus, stored_manifest
from mmcc.data.segments import UsableVideos
from mmcc.data.splits import some_of
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError
from mmcc.text import counted

LEAST_VIDEOS = 10  # with 10, a model still orders the clips of other videos at chance: the curve in docs/training.md
ENOUGH_VIDEOS = 320  # up to here, twice the videos give a clearly better model: the same curve
LEAST_MINUTES = 10.0  # of video: a minute for each of the fewest videos
LEAST_UTTERANCES = 3.0  # per video, on average: two are one pair, and most pairs have nothing to do with each other
LEAST_WORDS = 50  # a quarter of what ten kitchen videos have (200); clips with little speech stay far below
LEAST_TEXTS = 50  # different captions: if they are all the same ("[Music]"), they say nothing about a frame
_COMPARED = 1000  # videos whose captions are compared with one another, so that memory stays bounded
_REMEDY = (
    'Add narrated videos (docs/training.md, "How many videos are enough"); mmcc train --anyway (in Python: '
    "anyway=True) trains all the same."
)


@dataclass(frozen=True)
class Readiness:
    """What there is to train on."""

    videos: int  # that can be used for training
    training_videos: int  # usable or not
    unusable: str  # why some cannot be used, each reason with its number of videos
    without_captions: int  # videos among these
    validation: int  # videos that select the checkpoint
    hours: float
    frames: int
    utterances: int
    texts: int  # different utterances, in at most _COMPARED videos
    vocabulary: int | None  # words; None if the text encoder has no vocabulary
    segments: int  # that the videos can be cut into without overlap
    batch_size: int  # segments per training step
    has_sound: bool = True  # feature vectors have none to recognize speech in

    @property
    def problems(self) -> tuple[str, ...]:
        """What is too little to learn anything from."""
        return tuple(self._problems())

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the result worse than it could be."""
        return tuple(self._warnings())

    def lines(self) -> list[str]:
        """The figures and warnings, for people."""
        words = [] if self.vocabulary is None else [f"a vocabulary of {counted(self.vocabulary, 'word')}"]
        amounts = [
            _duration(self.hours),
            counted(self.frames, "frame"),
            counted(self.utterances, "utterance"),
            *words,
        ]
        others = f" (not used: {self.unusable})" if self.unusable else ""
        return [
            f"training on {self.videos:,} of {counted(self.training_videos, 'video')}{others}",
            f"they have {', '.join(amounts)}",
            *([f"validation on {counted(self.validation, 'other video')}"] if self.validation else []),
            *(f"warning: {warning}" for warning in self.warnings),
        ]

    def _problems(self) -> Iterator[str]:
        needed = "(at least {:g} are needed)".format
        if self.videos < LEAST_VIDEOS:
            yield f"{counted(self.videos, 'video')} with captions {needed(LEAST_VIDEOS)}"
        if self.hours * 60 < LEAST_MINUTES:
            yield f"{_duration(self.hours)} of video {needed(LEAST_MINUTES)}"
        if self.utterances < LEAST_UTTERANCES * self.videos:
            yield f"{self.utterances / self.videos:.1f} utterances per video {needed(LEAST_UTTERANCES)}"
        if self.vocabulary is not None and self.vocabulary < LEAST_WORDS:
            yield f"a vocabulary of {counted(self.vocabulary, 'word')} {needed(LEAST_WORDS)}"
        if self.texts < LEAST_TEXTS:
            yield f"{counted(self.texts, 'different caption')} {needed(LEAST_TEXTS)}"
        if self.segments < self.batch_size:
            yield f"{counted(self.segments, 'segment')}, fewer than one batch (--train.batch_size {self.batch_size})"

    def _warnings(self) -> Iterator[str]:
        if LEAST_VIDEOS <= self.videos < ENOUGH_VIDEOS:
            section = '"How many videos are enough", docs/training.md'
            yield f"below {ENOUGH_VIDEOS} videos, more of them give a clearly better model: see {section}"
        if not self.validation:
            yield "no video is left for validation, so the last checkpoint counts as the best (see --data.held_out)"
        if 2 * self.without_captions > self.training_videos:
            hear = ", or ingest with --transcribe" if self.has_sound else ""
            yield f"most videos have no captions: add caption files and ingest again{hear}"


def assess(
    videos: UsableVideos, held_out: UsableVideos | None, vocabulary: Vocabulary | None, batch_size: int
) -> Readiness:
    """Count what the training videos have."""
    seen, said, texts = _nodes_of(videos)
    lasts = np.where(seen.count > 0, seen.last - seen.first, said.last - said.first) + 1 / videos.corpus.manifest.fps
    return Readiness(
        videos=len(videos.ids),
        training_videos=len(videos.ids) + len(videos.unusable),
        unusable=videos.why_unusable(),
        without_captions=list(videos.unusable.values()).count("no captions"),
        validation=len(held_out.ids) if held_out else 0,
        hours=float(lasts.sum()) / 3600,
        frames=int(seen.count.sum()),
        utterances=int(said.count.sum()),
        texts=len(texts),
        vocabulary=None if vocabulary is None else len(vocabulary) - len(Vocabulary([])),
        segments=int(np.ceil(lasts / videos.config.segment_seconds).sum()),
        batch_size=batch_size,
        has_sound=stored_manifest(videos.corpus).encoding != "float32",
    )


class _Nodes:
    """Of every video [V]: how many nodes it has, and when the first and the last are."""

    def __init__(self, videos: int) -> None:
        self.count = np.zeros(videos, np.int64)
        self.first, self.last = np.full(videos, np.inf), np.full(videos, -np.inf)

    def add(self, video: NDArray[np.int64], times: NDArray[np.float64]) -> None:
        """The video of each node, and its time."""
        np.add.at(self.count, video, 1)
        np.minimum.at(self.first, video, times)
        np.maximum.at(self.last, video, times)


def _nodes_of(videos: UsableVideos) -> tuple[_Nodes, _Nodes, set[str]]:
    """Frames, utterances with words, and what some of them say."""
    seen, said = _Nodes(len(videos.ids)), _Nodes(len(videos.ids))
    texts: set[str] = set()
    chosen = set(some_of(videos.ids, _COMPARED))
    compared = np.array([video in chosen for video in videos.ids], bool)
    columns = ["times", "utterances"]
    if isinstance(videos.corpus, VectorCorpus) and videos.corpus.frame_encoder:
        columns.remove("times")  # the frames are vectors, which have an index of their own
        for numbers, batch in videos.corpus.scan_vectors(videos.ids):
            _add_frames(seen, numbers, batch)
    for numbers, batch in videos.corpus.scan(videos.ids, *columns):
        if "times" in columns:
            _add_frames(seen, numbers, batch)
        utterances = said_in(batch)
        said.add(numbers[utterances.rows], utterances.times)
        assert utterances.texts is not None
        taken = utterances.texts.filter(pa.array(compared[numbers[utterances.rows]]))
        texts.update(text.lower() for text in taken.to_pylist())
    return seen, said, texts


def _add_frames(seen: _Nodes, numbers: NDArray[np.int64], batch: pa.RecordBatch) -> None:
    frames = seen_in(batch)
    seen.add(numbers[frames.rows], frames.times)


def check(found: Readiness, corpus: Path, *, anyway: bool, say: Callable[[str], None]) -> None:
    """Say what there is; refuse to train on too little, unless told to train anyway."""
    for line in found.lines():
        say(line)
    if not found.problems:
        return
    cause = f"too little to learn from: {', '.join(found.problems)}"
    if not anyway:
        raise InputError(corpus, cause, _REMEDY)
    say(f"{cause}; training anyway")


def _duration(hours: float) -> str:
    return f"{hours:,.1f} hours" if hours >= 1 else f"{hours * 60:.1f} minutes"
