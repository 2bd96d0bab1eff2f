"""How probable it is that one thing of a set leads to another: log P(u → v) of each pair, by Eq. 12.

For three things or more it is the evaluation's. With two, each can only lead to the other, and Eq. 12 says nothing:
there the similarity in one direction is compared with that in the other.

    P(u → v) = e^{s(u, v)} / (e^{s(u, v)} + e^{s(v, u)}),  s(u, v) = (g_fwd(u) · π_v + g_back(v) · π_u) / τ

Shapes: n things in a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mmcc.tools.model import ToolModel

if TYPE_CHECKING:
    from torch import Tensor

    from mmcc.evaluation.adapter import Embedding, ModelAdapter

Floats = NDArray[np.float64]
_AT_ONCE = 64  # pictures embedded together


def score_pictures(model: ToolModel, pictures: Sequence[NDArray[Any]]) -> Floats:
    """[n, n] of pictures, or of their vectors. Photos have no narration, so all are equally concrete."""
    import torch

    from mmcc.evaluation.adapter import Embedding

    alike = len({picture.shape for picture in pictures}) == 1
    at_once = _AT_ONCE if alike else 1
    with torch.inference_mode():
        parts = [
            model.adapter.embed_frames(torch.from_numpy(np.stack(pictures[first : first + at_once])))
            for first in range(0, len(pictures), at_once)
        ]
        nodes = Embedding(*(torch.cat(side) for side in zip(*parts, strict=True)))
        return np.asarray(log_scores(model.adapter, nodes).numpy() - 2 * np.log(len(pictures)), np.float64)


def log_scores(adapter: ModelAdapter, nodes: Embedding) -> Tensor:
    """[n, n] of nodes."""
    from torch.nn.functional import logsigmoid

    from mmcc.evaluation.adapter import finite
    from mmcc.evaluation.unshuffling import log_transitions

    if len(nodes.pi) > 2:
        return log_transitions(adapter, nodes)
    likeness = adapter.future(nodes) @ nodes.pi.T
    if adapter.past is not None:
        likeness = likeness + (adapter.past(nodes) @ nodes.pi.T).T
    scores = likeness.double() / adapter.temperature
    return finite(logsigmoid(scores - scores.T), adapter)
