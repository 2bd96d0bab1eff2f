"""Direction (MMCC+): every node should know what is still to come, and what is over.

Every node i of a segment is an anchor with the future query q_i = g_fwd(state of i). With s_ij = q_i · π_j / τ, sums
over the nodes of the whole batch, and P(j | i) = e^{s_ij} / Σ_k e^{s_ik}:

    leads      from an anchor to what comes later           -log Σ_{j after i} P(j | i)
    arrives    at a node from what came earlier             -log Σ_{i before j} e^{s_ij} / Σ_k e^{s_kj}
    contrast   the same node, expected before it and not    -log σ( log P(j | i) - log mean_{k after j} P(j | k) )
               after it, from anchors i before j

and the same with g_back and time reversed. Nodes j are of the anchor's modality and of the other one, where "after"
means by more than `gap` seconds. Within a modality, the sum of `leads` runs over the segment alone: against the frames
of other videos, being one of this video's suffices. What has no node on the wanted side is dropped; for the contrast,
on either side.

The max-index constraint only hides the past from the forward edge. `leads` teaches the edge to avoid it, but is
largely satisfied by a query that knows the task and prefers whatever looks late. `arrives` takes the preference for
late nodes away: it compares anchors, not nodes. In `contrast` the task cancels too, since both anchors are of one
video, and so does a preference of an anchor for all nodes: only what has happened in between can tell them apart.

Shapes: B segments, N anchors, K nodes, P packed anchors or nodes of the batch, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import torch
import torch.nn.functional as F
from torch import Tensor

from mmcc.models.attention import soft_attention
from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.anchors import OTHER, after, anchors_at, before
from mmcc.objectives.config import CycleConfig, DirectionConfig
from mmcc.objectives.distribution import SumCount, gather_with_gradient, world_size
from mmcc.objectives.log_sums import log_sum, log_sum_where
from mmcc.objectives.losses import Dynamics
from mmcc.objectives.rng import SampleRng

LEADS, ARRIVES, CONTRAST = "leads", "arrives", "contrast"


def direction_loss(
    model: Dynamics,
    nodes: Mapping[str, Nodes],
    keys_PD: Mapping[str, Tensor],
    modality: str,
    rng: SampleRng,
    cycling: CycleConfig,
    config: DirectionConfig,
) -> dict[str, SumCount]:
    """The enabled parts over all anchors of a modality: both directions of time, nodes of both modalities.

    `keys_PD`: see `batch_keys`. `cycling`: how a node's state is made.
    """
    own = nodes[modality]
    every_index = torch.arange(own.valid.shape[1], device=own.valid.device).expand_as(own.valid)
    anchors = anchors_at(nodes, modality, every_index)
    state_BND = _states(model, nodes, modality, rng, cycling)
    queries = model.future(state_BND), model.past(state_BND)
    found: list[dict[str, SumCount]] = []
    for target in (VISION, TEXT):
        later, earlier = (side(anchors, nodes, target, config.gap) & own.valid[..., None] for side in (after, before))
        for query_BND, ahead_BNK, behind_BNK in zip(queries, (later, earlier), (earlier, later), strict=True):
            scores_BNK = query_BND @ nodes[target].pi.mT / config.temperature
            from_BN, to_BK = _batch_sums(query_BND, own, nodes[target], keys_PD[target], config.temperature)
            lead_BN = _segment_sums(scores_BNK, own) if target == modality else from_BN
            found.append(_parts(scores_BNK, lead_BN, from_BN, to_BK, ahead_BNK, behind_BNK))
    return {part: reduce(SumCount.__add__, (each[part] for each in found)) for part in config.parts}


def _states(model: Dynamics, nodes: Mapping[str, Nodes], modality: str, rng: SampleRng, cycling: CycleConfig) -> Tensor:
    """[B, N, D]: a node's own z, or f of both modalities, drawn as for cycles but for each node."""
    own, other = nodes[modality], nodes[OTHER[modality]]
    both_BN = rng.uniform(f"direction/{modality}", own.valid.shape[1]) >= cycling.p_unimodal
    both_BN = both_BN & own.valid & other.valid.any(dim=1, keepdim=True)
    seen_BNK = other.valid[:, None].expand(-1, own.valid.shape[1], -1)
    beside_BND, _ = soft_attention(own.pi, other.pi, other.z, seen_BNK, cycling.temperature)
    z = {modality: own.z[both_BN], OTHER[modality]: beside_BND[both_BN]}
    return own.z.masked_scatter(both_BN[..., None], model.combine(z[VISION], z[TEXT]))


def _batch_sums(
    query_BND: Tensor, anchors: Nodes, targets: Nodes, keys_PD: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    """log Σ e^s of each anchor over all nodes of the batch [B, N], and of each node over all anchors [B, K]."""
    queries_PD = query_BND[anchors.valid]
    from_here = queries_PD @ keys_PD.mT / temperature
    if world_size() == 1:
        to_here = from_here.mT  # the same pairs
    else:
        to_here = targets.pi[targets.valid] @ gather_with_gradient(queries_PD).mT / temperature
    return _placed(log_sum(from_here), anchors), _placed(log_sum(to_here), targets)


def _segment_sums(scores_BNK: Tensor, nodes: Nodes) -> Tensor:
    """log Σ e^s of each anchor over the nodes of its segment [B, N]."""
    return log_sum_where(scores_BNK, nodes.valid[:, None].expand_as(scores_BNK))


def _placed(packed_P: Tensor, nodes: Nodes) -> Tensor:
    return packed_P.new_zeros(nodes.valid.shape).masked_scatter(nodes.valid, packed_P)


def _parts(
    scores_BNK: Tensor, lead_BN: Tensor, from_BN: Tensor, to_BK: Tensor, ahead_BNK: Tensor, behind_BNK: Tensor
) -> dict[str, SumCount]:
    """The parts for one direction of time and one modality of nodes, given the log-sums of their denominators.

    `ahead`: the node lies where the query should point, `behind`: on the other side of the anchor.
    """
    log_P_BNK = scores_BNK - from_BN[..., None]
    behind_BK = behind_BNK.sum(dim=1).clamp(min=1).to(scores_BNK.dtype)
    over_BK = log_sum_where(log_P_BNK.mT, behind_BNK.mT) - behind_BK.log()
    compared_BNK = ahead_BNK & behind_BNK.any(dim=1, keepdim=True)
    margin_BNK = torch.where(compared_BNK, log_P_BNK - over_BK[:, None], 0)
    count_BK = compared_BNK.sum(dim=1)
    contrast_BK = torch.where(compared_BNK, -F.logsigmoid(margin_BNK), 0).sum(dim=1) / count_BK.clamp(min=1)
    return {
        LEADS: SumCount.of(lead_BN - log_sum_where(scores_BNK, ahead_BNK), ahead_BNK.any(dim=-1)),
        ARRIVES: SumCount.of(to_BK - log_sum_where(scores_BNK.mT, ahead_BNK.mT), ahead_BNK.any(dim=1)),
        CONTRAST: SumCount.of(contrast_BK, count_BK > 0),
    }
