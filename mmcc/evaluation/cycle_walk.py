"""Cycles to look at: walked from every node of a video, with the weights of all edges.

The walk is the one used in training and scoring (`mmcc.objectives.cycle`), over segments cut as in validation: every
edge sees every node, and states combine both modalities unless the model was trained without that. In a segment
without speech, cycles use frames alone.

Shapes: S starts, which are all nodes of a modality in a segment; N nodes of the modality that an edge runs over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.corpus import Video
from mmcc.data.config import DataConfig
from mmcc.data.segments import Cutter, Indices, NodeTimes, Segment
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.anchors import OTHER
from mmcc.objectives.config import CycleConfig, CyclePath
from mmcc.objectives.cycle import cycle_back
from mmcc.objectives.losses import Dynamics
from mmcc.objectives.starts import Starts, concreteness, start_candidates

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class SegmentWalks:
    """The cycles of a segment that start in one modality, one from each node."""

    modality: str
    ahead: str  # the modality of the forward edge
    start: float  # of the segment, seconds
    end: float
    frames: Indices  # the video's frames that the segment shows
    utterances: Indices
    can_start: NDArray[np.bool_]  # [S] has a later node
    concreteness: Floats  # [S]
    counterpart: Floats  # [S, N] weights over the other modality
    future: Floats  # [S, N] over `ahead`
    future_counterpart: Floats  # [S, N] over the modality other than `ahead`
    back: Floats  # [S, N = S]
    back_hard: Indices  # [S] the best node back if the walk continues from the best future node, not the mixture


@torch.inference_mode()
def walk_video(
    model: Dynamics, embedded: EmbeddedVideo, video: Video, fps: float, data: DataConfig, cycle: CycleConfig
) -> Iterator[SegmentWalks]:
    """Segment by segment, for each modality that a cycle can start in."""
    cutter = Cutter(fps, data)
    if len(embedded.times) < 2:
        return
    for segment in cutter.consecutive(NodeTimes.of(video), data.validation_rate):
        if len(segment.frames) < 2:
            continue
        nodes = _nodes(embedded, segment)
        for modality in (VISION, TEXT):
            if nodes[modality].valid.any() and start_candidates(nodes, modality, cycle.path).any():
                yield _walks(model, nodes, segment, modality, cycle)


def _walks(
    model: Dynamics, nodes: Mapping[str, Nodes], segment: Segment, modality: str, config: CycleConfig
) -> SegmentWalks:
    own, other = nodes[modality], nodes[OTHER[modality]]
    index = torch.arange(own.valid.shape[1])[None]
    can_start = start_candidates(nodes, modality, config.path)
    alone = config.p_unimodal == 1 or not bool(other.valid.any())
    starts = Starts(modality, index, valid=torch.ones_like(can_start), unimodal=torch.full_like(can_start, alone))
    soft, hard = (
        cycle_back(model, nodes, starts, hard=hard, path=config.path, temperature=config.temperature)
        for hard in (False, True)
    )
    count = {VISION: len(segment.frames), TEXT: len(segment.utterances)}
    ahead = soft.future.modality
    return SegmentWalks(
        modality=modality,
        ahead=ahead,
        start=segment.start,
        end=segment.end,
        frames=segment.frames,
        utterances=segment.utterances,
        can_start=can_start[0].numpy(),
        concreteness=_numbers(concreteness(own, other))[0],
        counterpart=_numbers(soft.start_edge)[0, :, : count[OTHER[modality]]],
        future=_numbers(soft.future_edge)[0],
        future_counterpart=_numbers(soft.future_counterpart_edge)[0, :, : count[OTHER[ahead]]],
        back=_numbers(soft.return_scores.exp())[0],
        back_hard=hard.return_scores.argmax(dim=-1)[0].numpy(),
    )


@dataclass(frozen=True)
class VideoWalk:
    """One cycle over all nodes of a video. Edges that the walk cannot take are missing: to a modality without nodes,
    and, with the max-index constraint, from a node with nothing after it."""

    ahead: str  # the modality of the edge to the future
    weights: dict[str, Floats]  # [N] by edge: counterpart, future, future_counterpart, back


@torch.inference_mode()
def whole_video(video: EmbeddedVideo, *, backward: bool = False) -> dict[str, Nodes]:
    """All nodes of a video as one segment; `backward`: of the video played in reverse."""
    said = video.utterances or Embedding(*(part[:0] for part in video.frames))
    every = {VISION: (video.frames, video.times), TEXT: (said, video.text_times)}
    nodes = {name: _one_segment(each, np.arange(len(times)), times) for name, (each, times) in every.items()}
    return {name: _reversed(each) for name, each in nodes.items()} if backward else nodes


@torch.inference_mode()
def walk_from(
    model: Dynamics,
    nodes: Mapping[str, Nodes],
    modality: str,
    node: int,
    *,
    path: CyclePath = "within",
    temperature: float = 0.1,
    unimodal: bool = False,
    constrain: bool = False,
    backward: bool = False,
) -> VideoWalk:
    """The cycle from one node over the nodes of `whole_video`.

    `backward`: to the past and back. It is the cycle of the video played in reverse, with the two predictors exchanged,
    so every setting has the same meaning; nodes and weights are numbered as in the video.
    """
    own, other = nodes[modality], nodes[OTHER[modality]]
    index = torch.tensor([[own.valid.shape[1] - 1 - node if backward else node]])
    alone = unimodal or not bool(other.valid.any())
    starts = Starts(modality, index, torch.ones(1, 1, dtype=torch.bool), torch.tensor([[alone]]))
    walker = _Reversed(model) if backward else model
    cycle = cycle_back(walker, nodes, starts, constrain=constrain, path=path, temperature=temperature)
    ahead = cycle.future.modality
    edges = {
        "counterpart": (OTHER[modality], cycle.start_edge),
        "future": (ahead, cycle.future_edge),
        "future_counterpart": (OTHER[ahead], cycle.future_counterpart_edge),
        "back": (modality, cycle.return_scores.exp()),
    }
    weights: dict[str, Floats] = {}
    for name, (of, edge) in edges.items():
        if name != "counterpart" and not bool(cycle.future_edge.any()):
            break  # nothing lies ahead
        if bool(nodes[of].valid.any()) and bool(edge.any()):
            weights[name] = _numbers(edge.flip(-1) if backward else edge)[0, 0]
    return VideoWalk(ahead, weights)


class _Reversed:
    """A model of the same world in which time runs backwards."""

    def __init__(self, model: Dynamics) -> None:
        self.future, self.past = model.past, model.future
        self.combine, self.project = model.combine, model.project


def _reversed(nodes: Nodes) -> Nodes:
    return Nodes(nodes.z.flip(1), nodes.pi.flip(1), nodes.valid.flip(1), -nodes.times.flip(1))


def _nodes(video: EmbeddedVideo, segment: Segment) -> dict[str, Nodes]:
    said = video.utterances or Embedding(*(part[:0] for part in video.frames))
    return {
        VISION: _one_segment(video.frames, segment.frames, segment.frame_times),
        TEXT: _one_segment(said, segment.utterances, segment.text_times),
    }


def _one_segment(nodes: Embedding, index: Indices, times: NDArray[np.float64]) -> Nodes:
    """A batch of one; without nodes it holds one that is masked as padding."""
    if not len(index):
        nothing = nodes.z.new_zeros(1, 1, nodes.z.shape[-1])
        return Nodes(nothing, nothing, torch.zeros(1, 1, dtype=torch.bool), torch.zeros(1, 1))
    chosen = torch.from_numpy(index)
    valid = torch.ones(1, len(index), dtype=torch.bool)
    return Nodes(nodes.z[chosen][None], nodes.pi[chosen][None], valid, torch.tensor(times).float()[None])


def _numbers(tensor: Tensor) -> Floats:
    return tensor.float().numpy()
