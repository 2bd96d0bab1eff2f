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

Shapes: B segments, N anchors, T directions of time (future, past), K nodes, P packed anchors and Q packed nodes of the
batch, D dims.
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
from mmcc.objectives.log_sums import log_sum, log_sum_where, log_sums
from mmcc.objectives.losses import TwoWayDynamics
from mmcc.objectives.memory import future_and_past_with_memory
from mmcc.objectives.rng import SampleRng

LEADS, ARRIVES, CONTRAST = "leads", "arrives", "contrast"


def direction_loss(
    model: TwoWayDynamics,
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
    query_BNTD = torch.stack(_predicted(model, own, modality, state_BND, rng, config), dim=2) / config.temperature
    found: list[dict[str, SumCount]] = []
    for target in (VISION, TEXT):
        later, earlier = (side(anchors, nodes, target, config.gap) & own.valid[..., None] for side in (after, before))
        ahead_BNTK = torch.stack([later, earlier], dim=2)
        scores_BNTK = (query_BNTD.flatten(1, 2) @ nodes[target].pi.mT).view(*ahead_BNTK.shape)
        from_BNT, to_BTK = _batch_sums(query_BNTD, own, nodes[target], keys_PD[target])
        lead_BNT = _segment_sums(scores_BNTK, own) if target == modality else from_BNT
        found.append(_parts(scores_BNTK, lead_BNT, from_BNT, to_BTK, ahead_BNTK))
    return {part: reduce(SumCount.__add__, (each[part] for each in found)) for part in config.parts}


def _states(
    model: TwoWayDynamics, nodes: Mapping[str, Nodes], modality: str, rng: SampleRng, cycling: CycleConfig
) -> Tensor:
    """[B, N, D]: a node's own z, or f of both modalities, drawn as for cycles but for each node."""
    own, other = nodes[modality], nodes[OTHER[modality]]
    both_BN = rng.uniform(f"direction/{modality}", own.valid.shape[1]) >= cycling.p_unimodal
    both_BN = both_BN & own.valid & other.valid.any(dim=1, keepdim=True)
    seen_BNK = other.valid[:, None].expand(-1, own.valid.shape[1], -1)
    beside_BND, _ = soft_attention(own.pi, other.pi, other.z, seen_BNK, cycling.temperature)
    z = {modality: own.z[both_BN], OTHER[modality]: beside_BND[both_BN]}
    return own.z.masked_scatter(both_BN[..., None], model.combine(z[VISION], z[TEXT]))


def _predicted(
    model: TwoWayDynamics, own: Nodes, modality: str, state_BND: Tensor, rng: SampleRng, config: DirectionConfig
) -> tuple[Tensor, Tensor]:
    """Future and past [B, N, D] of every state; of some with what came before it, where the model has a memory."""
    if not model.remembers:
        return model.future_and_past(state_BND)
    remembers_BN = rng.uniform(f"memory/{modality}", own.valid.shape[1]) < config.p_memory
    return future_and_past_with_memory(model, own, state_BND, remembers_BN)


def _batch_sums(query_BNTD: Tensor, anchors: Nodes, targets: Nodes, keys_QD: Tensor) -> tuple[Tensor, Tensor]:
    """log Σ e^s of each anchor over all nodes of the batch [B, N, T], and of each node over all anchors [B, T, K]."""
    queries_PTD = query_BNTD[anchors.valid]
    scores_PTQ = queries_PTD @ keys_QD.mT
    if world_size() == 1:
        from_PT, to_TQ = log_sums(scores_PTQ, -1, 0)
    else:  # nodes of this process, anchors of all of them
        everyone_PTD = gather_with_gradient(queries_PTD.flatten(1)).view(-1, *queries_PTD.shape[1:])
        from_PT, to_TQ = log_sum(scores_PTQ), log_sum(everyone_PTD @ targets.pi[targets.valid].mT, 0)
    return _placed(from_PT, anchors), _placed(to_TQ.mT, targets).mT


def _segment_sums(scores_BNTK: Tensor, nodes: Nodes) -> Tensor:
    """log Σ e^s of each anchor over the nodes of its segment [B, N, T]."""
    return log_sum_where(scores_BNTK, nodes.valid[:, None, None].expand_as(scores_BNTK))


def _placed(packed_PT: Tensor, nodes: Nodes) -> Tensor:
    places_BN1 = nodes.valid[..., None]
    return packed_PT.new_zeros(*nodes.valid.shape, packed_PT.shape[-1]).masked_scatter(places_BN1, packed_PT)


def _parts(
    scores_BNTK: Tensor, lead_BNT: Tensor, from_BNT: Tensor, to_BTK: Tensor, ahead_BNTK: Tensor
) -> dict[str, SumCount]:
    """The parts for one modality of nodes, given the log-sums of their denominators.

    `ahead`: the node lies where the query should point.
    """
    behind_BNTK = ahead_BNTK.flip(2)  # on the other side of the anchor, where the other query should point
    ahead_BTK, behind_BTK = ahead_BNTK.sum(dim=1), behind_BNTK.sum(dim=1)
    log_P_BNTK = scores_BNTK - from_BNT[..., None]
    over_BTK = log_sum_where(log_P_BNTK, behind_BNTK, dim=1) - behind_BTK.clamp(min=1).to(log_P_BNTK.dtype).log()
    costs_BNTK = F.softplus(over_BTK[:, None] - log_P_BNTK)
    contrast_BTK = torch.where(ahead_BNTK, costs_BNTK, 0).sum(dim=1) / ahead_BTK.clamp(min=1)
    return {
        LEADS: SumCount.of(lead_BNT - log_sum_where(scores_BNTK, ahead_BNTK), ahead_BNTK.any(dim=-1)),
        ARRIVES: SumCount.of(to_BTK - log_sum_where(scores_BNTK, ahead_BNTK, dim=1), ahead_BTK > 0),
        CONTRAST: SumCount.of(contrast_BTK, (ahead_BTK > 0) & (behind_BTK > 0)),
    }
