"""A start in closed form for heads on frozen encoders: what regressions can learn is there before the first step.

With few videos, gradient descent from random weights learns them by heart before it learns anything general. The best
linear heads are known, though. Every space has D = d + 3 dims: d of content, then

    late       where in a video such a node lies, 0 to 1: ridge regression of position
    constant   one bias for all, so that unit norm leaves room for differences in length
    null       nothing of π; predictors put there what they do not know, which lowers their confidence

    content of an utterance   its first d components
    content of a frame        ridge regression to the content of its utterance
    Π, f                      the identity, and the mean of both modalities
    g_fwd, g_back             the late axis, forwards and backwards: what comes next looks later

Positions of frames are taught by those of all utterances, too: the target is partly the position that the text's own
regression gives to a frame's utterance, since text has many more examples. Training then improves all of it by the
objective. No label is used: positions, and what is said when, are facts of narrated video.

Shapes: P frames or utterances, C components, D dims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from mmcc.data.loader import read_frames
from mmcc.data.segments import NodeTimes, UsableVideos
from mmcc.errors import InputError
from mmcc.models.model import MMCC
from mmcc.models.nodes import TEXT, VISION
from mmcc.models.pretrained_encoders import VectorHead
from mmcc.models.registry import Network

EXTRA = 3  # dims besides content
# All chosen by cross-validation on YouCook2 (docs/real.md). Strengths of ridge are shares of the mean squared norm.
CONTENT_RIDGE, POSITION_RIDGE = 0.01, 0.01  # from frames
TEXT_RIDGE = 0.3  # of the mean eigenvalue, from utterances to position
TAUGHT = 0.3  # share of the text's own regression in the position that frames are fitted to
SEEN_LATE, SAID_LATE = 0.15, 0.25  # lengths, where content has length 1: a frame tells less of its position
CONSTANT = 0.5  # the same, of the bias
CONFIDENCE = 0.5  # of the predictors in the late axis; the rest is null
NEAR = 5.0  # seconds between a frame and the centre of its utterance, at most
_FRAMES = 64  # of a video: neighbouring frames say the same
_MOST = 40_000  # frames or utterances to fit on


def start_in_closed_form(model: Network, videos: UsableVideos) -> None:
    """Set every weight of a model whose encoders are linear heads on stored vectors; its whitening must be fitted."""
    heads = {name: getattr(getattr(model, f"{name}_encoder", None), "head", None) for name in ("frame", "text")}
    linear = all(isinstance(head, VectorHead) and len(head.layers) == 1 for head in heads.values())
    if not isinstance(model, MMCC) or not linear or not model.config.predictor_rank:
        cause = "closed_form is for linear heads on pretrained encoders, and predictors with a rank"
        remedy = "Use --config real, or set train.start to random."
        raise InputError("train.start", cause, remedy)
    if model.config.dims <= EXTRA:
        raise InputError("model.dims", f"is {model.config.dims}", f"A start in closed form needs more than {EXTRA}.")
    frame_head, text_head = cast(VectorHead, heads["frame"]), cast(VectorHead, heads["text"])
    with torch.no_grad():
        _set(model, _Nodes.of(videos, frame_head, text_head), frame_head, text_head)


@dataclass(frozen=True)
class _Nodes:
    """The training videos' nodes as the heads see them, in double precision."""

    said: Tensor  # [P, C] components of all utterances
    said_place: Tensor  # [P] 0 for a video's first, 1 for its last
    seen: Tensor  # [P', C'] components of frames with an utterance near
    seen_place: Tensor  # [P']
    seen_said: Tensor  # [P'] which utterance is theirs

    @classmethod
    def of(cls, videos: UsableVideos, frame_head: VectorHead, text_head: VectorHead) -> _Nodes:
        said, said_place, seen, seen_place, seen_said = [], [], [], [], []
        before = frames = 0
        for each in np.random.default_rng(0).permutation(len(videos.ids)):
            video = videos.corpus[videos.ids[each]]
            nodes, vectors = NodeTimes.of(video), video.text_vectors
            if vectors is None or len(nodes.centres) < 2 or before > _MOST:
                continue
            place = np.arange(len(nodes.centres)) / (len(nodes.centres) - 1)
            said.append(vectors[nodes.places])
            said_place.append(place)
            own = np.abs(nodes.frames[:, None] - nodes.centres).argmin(axis=1)
            near = np.flatnonzero(np.abs(nodes.frames - nodes.centres[own]) <= NEAR)
            near = near[np.unique(np.linspace(0, len(near) - 1, min(_FRAMES, len(near))).astype(int))]
            if len(near) and frames <= _MOST:
                seen.append(read_frames(video, near))
                seen_place.append(np.interp(nodes.frames[near], nodes.centres, place))
                seen_said.append(before + own[near])
                frames += len(near)
            before += len(place)
        if not seen:
            raise InputError(
                videos.corpus.path, f"no frame has an utterance within {NEAR:g} s", "Set train.start random."
            )
        whitened = (
            head.double().whitened(torch.from_numpy(np.concatenate(part)).double())
            for head, part in ((text_head, said), (frame_head, seen))
        )
        text, vision = (part.clone() for part in whitened)
        for head in (frame_head, text_head):
            head.float()
        places = (torch.from_numpy(np.concatenate(part)) for part in (said_place, seen_place))
        return cls(text, next(places), vision, next(places), torch.from_numpy(np.concatenate(seen_said)))


def _set(model: MMCC, nodes: _Nodes, frame_head: VectorHead, text_head: VectorHead) -> None:
    dims = model.config.dims
    content, late, constant, null = dims - EXTRA, dims - 3, dims - 2, dims - 1
    position = _text_position(nodes, text_head)
    told = 1.5 * (nodes.said[nodes.seen_said] @ position)  # ridge shrinks: 1.5 restores the spread
    target = (1 - TAUGHT) * (nodes.seen_place - nodes.seen_place.mean()) + TAUGHT * (told - told.mean())
    words = nodes.said[:, :content] / nodes.said.square().sum(dim=1).mean().sqrt()
    seen_content = _ridge(nodes.seen, words[nodes.seen_said], CONTENT_RIDGE)
    seen_late = _ridge(nodes.seen, target[:, None], POSITION_RIDGE)[:, 0]

    layers = {VISION: cast(nn.Linear, frame_head.layers[0]), TEXT: cast(nn.Linear, text_head.layers[0])}
    for layer in layers.values():
        layer.weight.zero_()
        layer.bias.zero_()
        layer.bias[constant] = CONSTANT
    kept = words.shape[1]  # the text may have fewer components than there is room for
    layers[VISION].weight[:kept] = (seen_content / _length(nodes.seen @ seen_content)).T
    layers[TEXT].weight[:kept, :kept] = torch.eye(kept).double() / nodes.said.square().sum(dim=1).mean().sqrt()
    layers[VISION].weight[late] = SEEN_LATE * seen_late / (nodes.seen @ seen_late).std()
    layers[TEXT].weight[late] = SAID_LATE * position / (nodes.said @ position).std()
    identity = torch.eye(dims)
    identity[null, null] = 0
    for projection in model.projections.values():
        cast(nn.Linear, projection[0]).weight.copy_(identity)  # type: ignore[index]
        cast(nn.Linear, projection[0]).bias.zero_()  # type: ignore[index]
    state = cast(nn.Linear, model.state[0])
    state.weight.copy_(torch.cat([torch.eye(dims), torch.eye(dims)], dim=1) / 2)
    state.bias.zero_()
    for head, way in ((model.predictors.forward_head, 1), (model.predictors.backward_head, -1)):
        last = cast(nn.Linear, head[1])
        last.weight.zero_()
        last.bias.zero_()
        last.bias[late] = way * CONFIDENCE
        last.bias[null] = (1 - CONFIDENCE**2) ** 0.5


def _text_position(nodes: _Nodes, head: VectorHead) -> Tensor:
    """[C]: position from the components of an utterance. The ridge is of the vectors themselves, before whitening,
    so that components of little variance count as little as they should."""
    back = torch.linalg.pinv(head.directions.double())  # components → vectors
    vectors = nodes.said @ back
    weight = TEXT_RIDGE * vectors.square().sum() / vectors.shape[1]
    identity = torch.eye(vectors.shape[1], dtype=torch.float64)
    place = nodes.said_place - nodes.said_place.mean()
    weights: Tensor = back @ torch.linalg.solve(vectors.T @ vectors + weight * identity, vectors.T @ place)
    return weights


def _ridge(x_PC: Tensor, y_PK: Tensor, strength: float) -> Tensor:
    """[C, K]: weights of a ridge regression to y, centred."""
    weight = strength * x_PC.square().sum()
    identity = torch.eye(x_PC.shape[1], dtype=torch.float64)
    weights: Tensor = torch.linalg.solve(x_PC.T @ x_PC + weight * identity, x_PC.T @ (y_PK - y_PK.mean(dim=0)))
    return weights


def _length(x_PK: Tensor) -> Tensor:
    return x_PK.square().sum(dim=1).mean().sqrt()
