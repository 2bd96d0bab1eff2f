"""One cycle at a time, over a whole video and with settings to play with: what an explorer shows of a model.

`mmcc.tools.cycles` has all cycles of a video, walked as in training: within segments, at the model's own settings.

Shapes: N nodes of the modality that an edge runs over: all frames of the video, or all its utterances.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.errors import InputError, UsageError
from mmcc.tools.cache import Cache
from mmcc.tools.cycles import OTHER, TEXT, VISION, require_cycles
from mmcc.tools.footage import Footage
from mmcc.tools.model import ToolModel

if TYPE_CHECKING:
    from mmcc.evaluation.embedding import EmbeddedVideo
    from mmcc.models.nodes import Nodes
    from mmcc.objectives.config import CycleConfig
    from mmcc.objectives.losses import Dynamics

COLDEST, HOTTEST = 1e-3, 10.0  # temperatures: beyond them all weight is on one node, or on all alike
_TRAINED: dict[str, CycleConfig] = {}  # by a model's checksum


@dataclass(frozen=True)
class SeenVideo:
    """A video as a model sees it, in memory."""

    footage: Footage
    embedded: EmbeddedVideo

    @property
    def bytes(self) -> int:
        """How much memory it takes, with both ways to walk it."""
        sides = [self.embedded.frames, *([self.embedded.utterances] if self.embedded.utterances else [])]
        return 3 * sum(int(part.nbytes) for side in sides for part in side)

    @cached_property
    def nodes(self) -> tuple[dict[str, Nodes], dict[str, Nodes]]:
        """Forwards, and backwards, as walks take them."""
        from mmcc.evaluation.cycle_walk import whole_video

        return whole_video(self.embedded), whole_video(self.embedded, backward=True)

    @cached_property
    def utterance_of(self) -> NDArray[np.int64]:
        """[k] of the nodes of text: which of the video's utterances each is. Those without words are none."""
        from mmcc.data.segments import NodeTimes

        return NodeTimes.of(self.footage.video).places


@dataclass(frozen=True)
class WalkSettings:
    """How a cycle is walked; None: as the model was trained."""

    temperature: float | None = None  # of every edge: the lower, the sharper
    unimodal: bool | None = None  # states of one modality alone, not of a node and its counterpart
    constrain: bool = False  # the future lies after the start, and the way back before it, as in training
    backward: bool = False  # to the past, and back from there


@dataclass(frozen=True)
class WalkStation:
    """A node on the way: the one to which an edge gives most weight."""

    role: str  # start, counterpart, future, future_counterpart, back
    modality: str
    index: int  # of the video's frames, or of its utterances
    time: float
    end: float | None  # of an utterance
    text: str  # the utterance; at a frame, what is said then


@dataclass(frozen=True)
class WalkEdge:
    """What an edge attends to, along the whole video."""

    role: str  # that of the station it leads to
    modality: str
    weights: NDArray[np.float32]  # [N], sum 1; 0 at utterances without words


@dataclass(frozen=True)
class FreeWalk:
    """One cycle. It is short where there is no counterpart, or nothing ahead."""

    stations: list[WalkStation]
    edges: list[WalkEdge]
    returns: bool
    temperature: float  # as it was walked
    unimodal: bool


def see(model: ToolModel, footage: Footage, cache: Cache) -> SeenVideo:
    """Embed a video, or read what was embedded earlier. Loads torch."""
    return SeenVideo(footage, footage.embedded(model, cache))


def walk(
    model: ToolModel, seen: SeenVideo, cache: Cache, modality: str, index: int, settings: WalkSettings | None = None
) -> FreeWalk:
    """The cycle from a frame, or from an utterance. InputError for a model that follows no cycles, and for a node that
    there is not; UsageError for a temperature that is out of range."""
    from mmcc.evaluation.cycle_walk import walk_from

    asked, own = settings or WalkSettings(), _as_trained(model, cache)
    node = _node(seen, modality, index)
    temperature = own.temperature if asked.temperature is None else asked.temperature
    if asked.temperature is not None and not COLDEST <= temperature <= HOTTEST:
        raise UsageError(f"temperature: choose one from {COLDEST:g} to {HOTTEST:g}, not {temperature:g}.")
    unimodal = own.p_unimodal == 1 if asked.unimodal is None else asked.unimodal or own.p_unimodal == 1
    found = walk_from(
        cast("Dynamics", cast(Any, model.adapter).model),
        seen.nodes[asked.backward],
        modality,
        node,
        path=own.path,
        temperature=temperature,
        unimodal=unimodal,
        constrain=asked.constrain,
        backward=asked.backward,
    )
    over = {"counterpart": OTHER[modality], "future": found.ahead, "future_counterpart": OTHER[found.ahead]}
    stations, edges = [_station(seen, "start", modality, node)], []
    for role, weights in found.weights.items():
        of = over.get(role, modality)
        edges.append(WalkEdge(role, of, _spread(seen, of, weights)))
        stations.append(_station(seen, role, of, int(weights.argmax())))
    back = found.weights.get("back")
    returns = back is not None and int(back.argmax()) == node
    return FreeWalk(stations, edges, returns, temperature, unimodal)


def _as_trained(model: ToolModel, cache: Cache) -> CycleConfig:
    """How a model was trained to walk. Its files take longer to read than a walk takes, so they are read once."""
    from mmcc.objectives.spec import spec_of
    from mmcc.training.config import Config

    if model.checksum not in _TRAINED:
        require_cycles(model, cache)
        objective = Config.from_yaml(model.folder / "config.yaml").objective
        _TRAINED[model.checksum] = spec_of(objective).walk_of(objective)
    return _TRAINED[model.checksum]


def _node(seen: SeenVideo, modality: str, index: int) -> int:
    footage = seen.footage
    if modality == VISION:
        if not 0 <= index < len(footage.video.times):
            count = len(footage.video.times)
            raise InputError(footage.name, f"has {count} frames, numbered from 0, and no frame {index}", "")
        return index
    if not 0 <= index < len(footage.video.utterances):
        count = len(footage.video.utterances)
        raise InputError(footage.name, f"has {count} utterances, numbered from 0, and no utterance {index}", "")
    found = np.flatnonzero(seen.utterance_of == index)
    if not len(found) or seen.embedded.utterances is None:
        raise InputError(footage.name, f"has no words in utterance {index} that a model could read", "Choose another.")
    return int(found[0])


def _station(seen: SeenVideo, role: str, modality: str, node: int) -> WalkStation:
    footage = seen.footage
    if modality == VISION:
        time = float(footage.video.times[node])
        return WalkStation(role, VISION, node, time, None, footage.said_at(time))
    place = int(seen.utterance_of[node])
    said = footage.video.utterances[place]
    return WalkStation(role, TEXT, place, said.start, said.end, said.text)


def _spread(seen: SeenVideo, modality: str, weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """From the nodes of text to all utterances."""
    if modality == VISION:
        return weights
    spread = np.zeros(len(seen.footage.video.utterances), np.float32)
    spread[seen.utterance_of] = weights
    return spread
