"""What came before a node, as part of its state (MMCC+ with `model.memory`).

    m_i = mean of z_j over the nodes j before i        state_i ← h(state_i, m_i)

for futures, and for pasts the same with time reversed: the nodes after i. Both run over i's segment and modality. A
single moment rarely shows what has been done so far, which is what decides what is still to do. Only a share of the
anchors remember, so that a model can also be asked with one clip alone, or with photos in no order.

Shapes: B segments, N nodes, D dims.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mmcc.models.nodes import Nodes
from mmcc.objectives.losses import TwoWayDynamics


def future_and_past_with_memory(
    model: TwoWayDynamics, nodes: Nodes, state_BND: Tensor, remembers_BN: Tensor
) -> tuple[Tensor, Tensor]:
    """g_fwd and g_back [B, N, D] of the states, some of which remember; nothing lies before a segment's first node."""
    before_BND, after_BND = means_around(nodes)
    place_N = torch.arange(nodes.valid.shape[1], device=nodes.valid.device)
    last_B1 = nodes.valid.sum(dim=1, keepdim=True) - 1
    remembers_BN = remembers_BN & nodes.valid
    from_before = _remembering(model, state_BND, before_BND, remembers_BN & (place_N > 0))
    from_after = _remembering(model, state_BND, after_BND, remembers_BN & (place_N < last_B1))
    return model.future(from_before), model.past(from_after)


def means_around(nodes: Nodes) -> tuple[Tensor, Tensor]:
    """The mean z of the valid nodes before each node, and of those after it [B, N, D]; zeros where there are none."""
    z_BND = nodes.z.masked_fill(~nodes.valid[..., None], 0)
    so_far_BND = z_BND.cumsum(dim=1)
    place_N1 = torch.arange(nodes.valid.shape[1], device=nodes.z.device)[:, None]
    left_BN1 = (nodes.valid.sum(dim=1)[:, None, None] - 1 - place_N1).clamp(min=1)
    before_BND = (so_far_BND - z_BND) / place_N1.clamp(min=1)
    after_BND = (so_far_BND[:, -1:] - so_far_BND) / left_BN1
    return before_BND, after_BND


def _remembering(model: TwoWayDynamics, state_BND: Tensor, mean_BND: Tensor, which_BN: Tensor) -> Tensor:
    remembered_PD = model.remember(state_BND[which_BN], mean_BND[which_BN])
    return state_BND.masked_scatter(which_BN[..., None], remembered_PD)
