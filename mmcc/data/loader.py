"""Batches in order: the same for any number of workers and processes, and from any training step on.

Training step s of a run with global batch size G uses samples sG … sG + G − 1, divided among the processes. A worker
makes a whole batch at a time; batches arrive in the order of training steps.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset

from mmcc.corpus import Video
from mmcc.data.augment import augment
from mmcc.data.batch import Batch, Sample, collate
from mmcc.data.segments import Indices, Segment, SegmentSampler, UsableVideos, consecutive_segments
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError

_PREFETCHED = 4  # batches a worker prepares ahead, so that one slow read does not delay a training step


def training_batches(
    sampler: SegmentSampler,
    vocabulary: Vocabulary | None,
    *,
    start_step: int,
    steps: int,
    batch_size: int,
    rank: int = 0,
    world_size: int = 1,
    workers: int = 0,
    pin_memory: bool = False,
) -> Iterator[Batch]:
    """The batches of training steps start_step … start_step + steps − 1; `batch_size` is over all processes.

    Without a vocabulary, utterances are the vectors stored in the corpus, which must have been opened with them.
    """
    if batch_size % world_size:
        raise ValueError(f"batch_size {batch_size} cannot be shared equally by {world_size} processes")
    share = batch_size // world_size
    firsts = (step * batch_size + rank * share for step in range(start_step, start_step + steps))
    dataset = _Batches(sampler.videos, vocabulary, sampler.segment, sampler.seed)
    return _load(dataset, (range(first, first + share) for first in firsts), workers, pin_memory)


def validation_batches(
    videos: UsableVideos,
    vocabulary: Vocabulary | None,
    *,
    batch_size: int,
    limit: int | None = None,
    rank: int = 0,
    world_size: int = 1,
    workers: int = 0,
    pin_memory: bool = False,
) -> Iterator[Batch]:
    """Fixed, consecutive segments, at most `limit` of them, without randomness or augmentation.

    Each process takes every `world_size`-th segment; `batch_size` is per process.
    """
    segments = consecutive_segments(videos, limit)
    ours = range(rank, len(segments), world_size)
    dataset = _Batches(videos, vocabulary, segments.__getitem__, augmentation_seed=None)
    numbers = (ours[first : first + batch_size] for first in range(0, len(ours), batch_size))
    return _load(dataset, numbers, workers, pin_memory)


class _Failure(NamedTuple):
    """An InputError sent from a worker: DataLoader would turn it into a RuntimeError with a traceback."""

    path: str
    cause: str
    remedy: str


class _Batches(Dataset[Batch | _Failure]):
    """Maps sample numbers to a batch."""

    def __init__(
        self,
        videos: UsableVideos,
        vocabulary: Vocabulary | None,
        segment_of: Callable[[int], Segment],
        augmentation_seed: int | None,
    ) -> None:
        self._corpus, self._config, self._vocabulary = videos.corpus, videos.config, vocabulary
        self._segment_of = segment_of
        shows_pixels = videos.corpus.manifest.encoding != "float32"
        self._augmentation_seed = augmentation_seed if videos.config.augment and shows_pixels else None

    def __getitem__(self, numbers: range) -> Batch | _Failure:
        try:
            return collate([self._sample(number) for number in numbers])
        except InputError as error:
            return _Failure(error.path, error.cause, error.remedy)

    def _sample(self, number: int) -> Sample:
        segment = self._segment_of(number)
        video = segment.nodes.video
        try:
            frames = read_frames(self._corpus[video], segment.frames)
        except ValueError as error:
            cause = f"frames of {video} are damaged ({error})"
            raise InputError(self._corpus.path, cause, "Ingest it again into a new folder.") from None
        if self._augmentation_seed is not None:
            frames = augment(frames, self._config, self._augmentation_seed, number)
        return Sample(number, video, frames, segment.frame_times, self._said(segment), segment.text_times)

    def _said(self, segment: Segment) -> NDArray[Any]:
        """The segment's utterances as the text encoder reads them."""
        if self._vocabulary is not None:
            return self._vocabulary.encode(segment.texts, self._config.max_words)
        vectors = self._corpus[segment.nodes.video].text_vectors
        assert vectors is not None, "a corpus without text vectors needs a vocabulary"
        return vectors[segment.nodes.places[segment.utterances]]


def read_frames(video: Video, wanted: Indices) -> NDArray[Any]:
    """Only the wanted frames, read in runs of equal stride: one run for an evenly sampled video."""
    steps = np.diff(wanted)
    runs = [] if len(wanted) else [video.frames(0, 0)]
    done = 0
    while done < len(wanted):
        step = int(steps[done]) if done < len(steps) else 1
        uneven = np.flatnonzero(steps[done:] != step)
        length = int(uneven[0]) + 1 if uneven.size else len(wanted) - done
        runs.append(video.frames(int(wanted[done]), int(wanted[done + length - 1]) + 1, step))
        done += length
    return runs[0] if len(runs) == 1 else np.concatenate(runs)


def _load(dataset: _Batches, numbers: Iterable[range], workers: int, pin_memory: bool) -> Iterator[Batch]:
    loader = DataLoader(
        dataset,
        batch_size=None,  # the dataset makes whole batches
        sampler=numbers,
        num_workers=workers,
        prefetch_factor=_PREFETCHED if workers else None,
        pin_memory=pin_memory,
        worker_init_fn=_begin_worker,
        generator=torch.Generator(),  # otherwise each loader draws from training's own generator
    )
    for batch in loader:
        if isinstance(batch, _Failure):
            raise InputError(*batch)
        yield batch


def _begin_worker(_: int) -> None:
    torch.set_num_threads(1)  # leave the other cores to the model
    for sign in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C and systemd reach every process of a group:
        signal.signal(sign, signal.SIG_IGN)  # the parent saves first, and ends its workers itself
    sys.excepthook = _show_unless_left


def _show_unless_left(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A parent stopped while it receives a batch closes the connection: not worth a traceback."""
    if not issubclass(kind, ConnectionError | EOFError):
        sys.__excepthook__(kind, error, trace)
