"""Cycles of a trained model on held-out segments, one by one: where each went, and what came of it.

Cycles start at frames, drawn by concreteness; every edge sees every node, and goes on from its best one.

Shapes: B segments, S starts, N nodes of the modality in question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.corpus import Corpus
from mmcc.data.loader import validation_batches
from mmcc.data.segments import Segment, UsableVideos, consecutive_segments
from mmcc.evaluation.adapters import TrainedAdapter
from mmcc.models.nodes import TEXT, VISION
from mmcc.objectives.anchors import OTHER
from mmcc.objectives.cycle import Cycle, cycle_back
from mmcc.objectives.losses import Dynamics
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.scoring import scored_walk
from mmcc.objectives.spec import spec_of
from mmcc.objectives.starts import sample_starts
from mmcc.training.config import Config
from mmcc.training.run import CONFIG

SEGMENTS, STARTS = 96, 4  # as many as are looked at, spread over the videos, and cycles in each
FAR = 8.0  # seconds: what lies nearer to a start is much the same thing


class Station(NamedTuple):
    """A node that a cycle passes."""

    modality: str
    place: int  # of the frame in its video; of the utterance among those that have words
    time: float
    text: str  # "" of a frame


class Edge(NamedTuple):
    """How a step's weight was spread over the nodes of the segment."""

    label: str
    times: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Walk:
    """One cycle: the start, its counterpart, the future, its counterpart, and where the way back leads."""

    video: str
    stations: tuple[Station, ...]  # five of them
    edges: tuple[Edge, ...]  # to the future, and back
    confidence: float  # the probability of the last station

    @property
    def returns(self) -> bool:
        return self.stations[4][:2] == self.stations[0][:2]

    @property
    def away(self) -> float:
        """Seconds to the future; negative where it lies before the start."""
        return self.stations[2].time - self.stations[0].time

    @property
    def outcome(self) -> str:
        """In a word, as the report sorts them."""
        if abs(self.away) < FAR:
            return "stays"
        if not self.returns:
            return "lost"
        return "returns" if self.away > 0 else "backward"


@torch.inference_mode()
def walk(adapter: TrainedAdapter, checkpoint: Path, corpus: Corpus, ids: Sequence[str]) -> list[Walk]:
    """The cycles of segments spread over the given videos; InputError where none of them has a segment."""
    config = Config.from_yaml(checkpoint / CONFIG)
    assert adapter.words is not None
    videos = UsableVideos(corpus, "test", config.data, ids)
    segments = consecutive_segments(videos, SEGMENTS)
    settings = scored_walk(spec_of(config.objective).cycle(config.objective), STARTS)
    found: list[Walk] = []
    for batch in validation_batches(videos, adapter.words.vocabulary, batch_size=16, limit=SEGMENTS):
        nodes = adapter.model(batch)
        starts = sample_starts(nodes, VISION, SampleRng(0, batch.samples), settings)
        cycle = cycle_back(
            cast(Dynamics, adapter.model),
            nodes,
            starts,
            hard=True,
            path=settings.path,
            temperature=settings.temperature,
        )
        found += _walks(cycle, [segments[number] for number in batch.samples.tolist()])
    return found


def _walks(cycle: Cycle, segments: Sequence[Segment]) -> Iterator[Walk]:
    ahead = cycle.future.modality
    chosen = {
        "start": (cycle.start.modality, cycle.start.index),
        "counterpart": (OTHER[cycle.start.modality], cycle.start_edge.argmax(dim=-1)),
        "future": (ahead, cycle.future.index),
        "its counterpart": (OTHER[ahead], cycle.future_counterpart_edge.argmax(dim=-1)),
        "back": (cycle.start.modality, cycle.return_scores.argmax(dim=-1)),
    }
    back = cycle.return_scores.exp()
    for b, segment in enumerate(segments):
        for s in torch.nonzero(cycle.with_choice[b]).flatten().tolist():
            stations = tuple(_station(segment, modality, int(index[b, s])) for modality, index in chosen.values())
            edges = (
                _edge("to the future", segment, ahead, cycle.future_edge[b, s]),
                _edge("and back", segment, cycle.start.modality, back[b, s]),
            )
            yield Walk(segment.moments.video, stations, edges, float(back[b, s].max()))


def _station(segment: Segment, modality: str, index: int) -> Station:
    if modality == TEXT:
        place = int(segment.utterances[index])
        return Station(TEXT, place, float(segment.text_times[index]), segment.texts[index])
    return Station(VISION, int(segment.frames[index]), float(segment.frame_times[index]), "")


def _edge(label: str, segment: Segment, modality: str, weights_N: Tensor) -> Edge:
    times = segment.text_times if modality == TEXT else segment.frame_times
    return Edge(label, np.asarray(times, np.float64), weights_N[: len(times)].double().numpy())


def examples(walks: Sequence[Walk], outcome: str, count: int) -> list[Walk]:
    """Of one outcome the surest, at most one of each video."""
    seen: set[str] = set()
    chosen: list[Walk] = []
    for each in sorted(walks, key=lambda walk: -walk.confidence):
        if each.outcome == outcome and each.video not in seen and len(chosen) < count:
            seen.add(each.video)
            chosen.append(each)
    return chosen
