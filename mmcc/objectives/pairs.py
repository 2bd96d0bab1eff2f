"""Direction by pairs (MMCC+): of any two nodes of a segment, the earlier should lead to the later.

    log P(u → v) = log softmax_{m ≠ u}(g_fwd(u) · π_m / τ)[v] + log softmax_{m ≠ v}(g_back(v) · π_m / τ)[u]   (Eq. 12)

    L = mean over pairs i < j of  -log σ(log P(i → j) - log P(j → i))

This is the quantity by which `mmcc unshuffle` orders a set, without the prior, which cancels. Constant preferences for
"late" nodes count, but so does every pair that they get wrong. Each segment counts once, whatever its number of nodes;
segments with fewer than two are dropped.

Shapes: B segments, N nodes.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from mmcc.models.nodes import Nodes
from mmcc.objectives.distribution import SumCount
from mmcc.objectives.losses import TwoWayDynamics


def pair_loss(model: TwoWayDynamics, nodes: Nodes, temperature: float) -> SumCount:
    """The loss above over the segments of one modality."""
    margin_BNN = log_transitions(model, nodes, temperature)
    margin_BNN = margin_BNN - margin_BNN.mT
    pairs_BNN = (nodes.valid[:, :, None] & nodes.valid[:, None]).triu(1)  # nodes are in order of time
    costs_BNN = torch.where(pairs_BNN, F.softplus(-margin_BNN), 0)
    count_B = pairs_BNN.sum(dim=(1, 2))
    return SumCount.of(costs_BNN.sum(dim=(1, 2)) / count_B.clamp(min=1), count_B > 0)


def log_transitions(model: TwoWayDynamics, nodes: Nodes, temperature: float) -> Tensor:
    """log P_fwd(v | u) + log P_back(u | v) of each u and v of a segment [B, N, N]; anything at padding and at u = v."""
    itself = torch.eye(nodes.valid.shape[1], dtype=torch.bool, device=nodes.valid.device)
    hidden_BNN = itself | ~nodes.valid[:, None]

    def retrieval(query_BND: Tensor) -> Tensor:
        scores = query_BND @ nodes.pi.mT / temperature
        return scores.masked_fill(hidden_BNN, torch.finfo(scores.dtype).min).log_softmax(dim=-1)

    future_BND, past_BND = model.future_and_past(nodes.z)
    log_P = retrieval(future_BND) + retrieval(past_BND).mT
    return log_P.masked_fill(hidden_BNN | hidden_BNN.mT, 0)
