"""Visual diversity: a temporal edge should lead to a frame that looks different.

    L_sim = max(cos(z_{Vα}, z_{Vβ}) - m, 0) + max(cos(z_{Vβ}, z_{Vα,back}) - m, 0)          (Eq. 8)

z_{Vα,back} is Eq. 5 with the z of the nodes as values. For text starts all three come through cross-modal edges, in
unimodal cycles too.

Shapes: B segments, S starts, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch.nn.functional as F
from torch import Tensor

from mmcc.models.attention import soft_attention
from mmcc.models.nodes import VISION, Nodes
from mmcc.objectives.cycle import Cycle
from mmcc.objectives.distribution import SumCount
from mmcc.objectives.losses import Dynamics


def visual_return(model: Dynamics, nodes: Mapping[str, Nodes], cycle: Cycle, temperature: float) -> Tensor:
    """z_{Vα,back} [B, S, D]: the visual embedding of where the cycle returns to."""
    own = cycle.starts.modality
    z_back = cycle.return_scores.exp() @ nodes[own].z
    if own == VISION:
        return z_back
    vision = nodes[VISION]
    allowed = vision.valid[:, None].expand(-1, z_back.shape[1], -1)
    return soft_attention(model.project(z_back, own), vision.pi, vision.z, allowed, temperature)[0]


def similarity_loss(
    model: Dynamics, nodes: Mapping[str, Nodes], cycle: Cycle, *, margin: float = 0.5, temperature: float = 0.1
) -> SumCount:
    """Eq. 8 over the cycles with more than one candidate on the way back, in segments that have frames."""
    z_future = cycle.z_future[VISION]
    there = F.cosine_similarity(cycle.z_start[VISION], z_future, dim=-1)
    back = F.cosine_similarity(z_future, visual_return(model, nodes, cycle, temperature), dim=-1)
    hinges = (there - margin).clamp(min=0) + (back - margin).clamp(min=0)
    return SumCount.of(hinges, cycle.with_choice & nodes[VISION].valid.any(dim=1, keepdim=True))
