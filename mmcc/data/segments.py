"""Which segments of which videos are used: a pure function of the seed and the sample's number.

A segment is a time span of one video at one frame rate. If it would have more frames or utterances than a batch has
room for, it ends earlier, at the same time for both modalities: otherwise words would refer to missing frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus import Corpus, Video
from mmcc.corpus.thinning import thin
from mmcc.corpus.vectors import stored_manifest
from mmcc.data.config import DataConfig
from mmcc.data.rng import Use, generator
from mmcc.data.splits import some_of, videos_for, why_none_for
from mmcc.data.usable import certainly_usable
from mmcc.errors import InputError
from mmcc.text import has_words

Times = NDArray[np.float64]
Indices = NDArray[np.int64]


class NodeTimes(NamedTuple):
    """The times of a video's nodes: its frames, and the centres of its utterances that have words."""

    video: str
    frames: Times  # ascending
    centres: Times  # ascending
    texts: list[str]  # of each centre
    places: Indices  # of each centre: which of the video's utterances it is

    @classmethod
    def of(cls, video: Video) -> NodeTimes:
        said = [
            ((each.start + each.end) / 2, each.text, place)
            for place, each in enumerate(video.utterances)
            if has_words(each.text)
        ]
        said.sort(key=itemgetter(0))  # when utterances overlap, the first to start may be the last to end
        centres, texts, places = zip(*said, strict=True) if said else ((), (), ())
        return cls(video.id, video.times, np.array(centres, float), list(texts), np.array(places, np.int64))


class Segment(NamedTuple):
    """A stretch of one video: which of its nodes are used."""

    nodes: NodeTimes
    start: float
    end: float  # not included
    rate: float  # frames per second
    frames: Indices  # into nodes.frames
    utterances: Indices  # into nodes.centres

    @property
    def frame_times(self) -> Times:
        return self.nodes.frames[self.frames]

    @property
    def text_times(self) -> Times:
        return self.nodes.centres[self.utterances]

    @property
    def texts(self) -> list[str]:
        return [self.nodes.texts[each] for each in self.utterances]


class Cutter:
    """Cuts segments out of videos."""

    def __init__(self, corpus_rate: float, config: DataConfig) -> None:
        self._corpus_rate, self._config = corpus_rate, config
        self.rates = tuple(rate for rate in config.frame_rates if rate <= corpus_rate) or (corpus_rate,)

    def cut(self, nodes: NodeTimes, start: float, rate: float) -> Segment:
        """From `start` for the maximum length of a segment, or until it has too many frames or utterances."""
        config = self._config
        end = start + config.segment_seconds
        frames = _between(nodes.frames, start, end)
        if rate < self._corpus_rate:
            frames = frames[thin(nodes.frames[frames], start, rate)]
        utterances = _between(nodes.centres, start, end)
        if len(frames) > config.max_frames:
            end = float(nodes.frames[frames[config.max_frames]])
        if len(utterances) > config.max_utterances:
            end = min(end, float(nodes.centres[utterances[config.max_utterances]]))
        frames = frames[: np.searchsorted(nodes.frames[frames], end)]
        utterances = utterances[: np.searchsorted(nodes.centres[utterances], end)]
        return Segment(nodes, start, end, rate, frames, utterances)

    def suffices(self, segment: Segment) -> bool:
        enough_frames = len(segment.frames) >= self._config.min_frames
        return enough_frames and len(segment.utterances) >= self._config.min_utterances

    def draw(self, nodes: NodeTimes, rng: np.random.Generator) -> Segment:
        """A random segment of a usable video: if no draw gives enough nodes, one is searched for."""
        first, last = self.bounds(nodes)
        for _ in range(self._config.tries):
            rate = self.rates[int(rng.random() * len(self.rates))]
            # Starts before the first frame shift the phase of thinning, so that all frames of a short video are used.
            earliest = first - 1 / rate
            latest = last - min(self._config.segment_seconds, self._config.max_frames / rate)
            start = earliest + rng.random() * (max(latest, first) - earliest)
            segment = self.cut(nodes, start, rate)
            if self.suffices(segment):
                return segment
        found = self.find(nodes, from_share=rng.random())
        assert found is not None, f"{nodes.video} has no segment: it should not have been drawn"
        return found

    def find(self, nodes: NodeTimes, from_share: float = 0.0) -> Segment | None:
        """A segment with enough nodes, if any: tries nodes as starts, from `from_share` of the way on."""
        starts = np.unique(np.concatenate([nodes.frames, nodes.centres]))
        ends = starts + self._config.segment_seconds
        seen = np.searchsorted(nodes.frames, ends) - np.searchsorted(nodes.frames, starts)
        said = np.searchsorted(nodes.centres, ends) - np.searchsorted(nodes.centres, starts)
        starts = starts[(seen >= self._config.min_frames) & (said >= self._config.min_utterances)]
        for start in np.roll(starts, -int(from_share * len(starts))).tolist():
            for rate in sorted(self.rates, reverse=True):
                segment = self.cut(nodes, start, rate)
                if self.suffices(segment):
                    return segment
        return None

    def consecutive(self, nodes: NodeTimes, rate: float) -> Iterator[Segment]:
        """The whole video in consecutive segments, including those with too few nodes."""
        start, last = self.bounds(nodes)
        while start < last:
            segment = self.cut(nodes, start, min(rate, self._corpus_rate))
            yield segment
            # Too many utterances at a single time end a segment where it starts: skip it.
            start = segment.end if segment.end > start else start + self._config.segment_seconds

    def unusable(self, nodes: NodeTimes) -> str:
        """Why a video has no usable segment; empty if it has one."""
        config = self._config
        if not len(nodes.centres):
            return "no captions"
        if len(nodes.centres) < config.min_utterances:
            return f"fewer than {config.min_utterances} utterances"
        if len(nodes.frames) < config.min_frames:
            return f"fewer than {config.min_frames} frames"
        if self.find(nodes) is None:
            wanted = f"{config.min_frames} frames and {config.min_utterances} utterances"
            return f"no segment of {config.segment_seconds:g} s has {wanted}"
        return ""

    def bounds(self, nodes: NodeTimes) -> tuple[float, float]:
        """From the first frame to the end of the last, which lasts one sampling interval. Captions may continue for
        hours after a video, by mistake: no segment is looked for where there are no frames, unless there are none."""
        times = nodes.frames if len(nodes.frames) else nodes.centres
        return float(times[0]), float(times[-1]) + 1 / self._corpus_rate


class UsableVideos:
    """The videos of a split (train, validation, test), or those given, that are usable; and why others are not."""

    def __init__(self, corpus: Corpus, purpose: str, config: DataConfig, ids: Sequence[str] | None = None) -> None:
        self.corpus, self.config = corpus, config
        self.cutter = Cutter(corpus.manifest.fps, config)
        videos = videos_for(corpus, purpose, config.held_out, config.fold) if ids is None else ids
        if purpose == "train":
            videos = some_of(list(videos), config.videos)
        self.unusable = {each: reason for each in self._doubtful(videos) if (reason := self._why_not(each))}
        self.ids = [each for each in dict.fromkeys(videos) if each not in self.unusable]
        if self.ids:
            return
        reasons = self.unusable
        if not len(corpus):
            raise InputError(corpus.path, "has no videos", "Add some with: mmcc ingest SRC -o CORPUS")
        if not reasons:
            cause = why_none_for(corpus, purpose)
            raise InputError(corpus.path, cause, "Ingest more videos.")
        has_sound = stored_manifest(corpus).encoding != "float32"
        hear = ", or ingest with --transcribe" if has_sound else ""
        remedy = f"Put caption files beside the videos and ingest again{hear}."
        if set(reasons.values()) == {"no captions"}:
            raise InputError(corpus.path, f"none of its {len(reasons)} {purpose} videos has captions", remedy)
        cause = f"none of its {len(reasons)} {purpose} videos is usable: {self.why_unusable()}"
        raise InputError(corpus.path, cause, remedy)

    def _doubtful(self, videos: Sequence[str]) -> Iterator[str]:
        """Those that the table of contents does not prove to be usable."""
        if self.corpus.manifest.fps > max(self.cutter.rates):  # some of their frames are left out
            return iter(videos)
        certain = certainly_usable(*self.corpus.counts(videos), self.config)
        return compress(videos, ~certain)

    def _why_not(self, video: str) -> str:
        return self.cutter.unusable(NodeTimes.of(self.corpus[video]))

    def why_unusable(self) -> str:
        """The reasons, each with its number of videos; empty if all are usable."""
        counts = Counter(self.unusable.values()).most_common()
        return ", ".join(f"{reason} ({count})" for reason, count in counts)


class SegmentSampler:
    """Maps sample numbers to segments. An epoch has as many samples as there are videos, and uses every video once."""

    def __init__(self, videos: UsableVideos, seed: int) -> None:
        self.videos, self.seed = videos, seed
        self._epoch, self._order = -1, np.empty(0, np.int64)

    def __len__(self) -> int:
        """Samples in an epoch."""
        return len(self.videos.ids)

    def segment(self, number: int) -> Segment:
        epoch, place = divmod(number, len(self))
        video = self.videos.ids[self._order_of(epoch)[place]]
        rng = generator(self.seed, Use.SEGMENT, number)
        return self.videos.cutter.draw(NodeTimes.of(self.videos.corpus[video]), rng)

    def _order_of(self, epoch: int) -> Indices:
        if epoch != self._epoch:
            self._order = np.argsort(generator(self.seed, Use.ORDER, epoch).random(len(self)), kind="stable")
            self._epoch = epoch
        return self._order


def consecutive_segments(videos: UsableVideos, limit: int | None = None) -> list[Segment]:
    """All usable consecutive segments of the videos; at most `limit` of them, evenly spread."""
    cutter, rate = videos.cutter, videos.config.validation_rate
    segments = [
        segment
        for video in videos.ids
        for segment in cutter.consecutive(NodeTimes.of(videos.corpus[video]), rate)
        if cutter.suffices(segment)
    ]
    if limit is None or len(segments) <= limit:
        return segments
    return [segments[place * len(segments) // limit] for place in range(limit)]


def _between(times: Times, start: float, end: float) -> Indices:
    first, last = np.searchsorted(times, (start, end))
    return np.arange(first, last)
