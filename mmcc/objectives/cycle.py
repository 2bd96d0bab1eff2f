"""The cycle: from a start to its future and back, by edges of soft attention.

    z_{M'α} = Attn(π_{Mα}, {π_{M'i}}, {z_{M'i}})           cross-modal edge at the start    (Eq. 2)
    z_α     = f(z_{Mα}, z_{M'α}), or z_{Mα} alone if the cycle is drawn as unimodal
    z_{Mβ}  = Attn(g_fwd(z_α), {π_{Mi}}, {z_{Mi}})         forward edge                     (Eq. 3)
    z_{M'β} = Attn(Π_M(z_{Mβ}), {π_{M'i}}, {z_{M'i}})      cross-modal edge at the future   (Eq. 4)
    p       = softmax(g_back(z_β) · π_{Mi} / τ)            backward edge                    (Eq. 5)
    L       = -log p at i_α                                                                 (Eq. 6)

With the max-index constraint the forward edge sees the nodes after α, and the backward edge those before
index(β) = argmax_i g_fwd(z_α) · π_{Mi}, taken over the nodes that the forward edge sees; so α is always among them.

Across modalities the forward edge runs over M' and the backward edge over M; "after" and "before" are then by time,
and a unimodal state is the z of the modality over which its outgoing edge runs.

Shapes: B segments, S starts, N nodes of the modality in question, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from mmcc.models.attention import log_attention, soft_attention
from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.anchors import OTHER, Anchors, after, anchors_at, before, take
from mmcc.objectives.config import CyclePath
from mmcc.objectives.distribution import SumCount
from mmcc.objectives.losses import Dynamics
from mmcc.objectives.starts import Starts


@dataclass(frozen=True)
class Cycle:
    """The stations of a batch's cycles and the edges between them."""

    starts: Starts
    start: Anchors  # α
    z_start: dict[str, Tensor]  # [B, S, D] of each modality, in unimodal cycles too
    start_edge: Tensor  # [B, S, N] weights of Eq. 2, over M'
    future_query: Tensor  # [B, S, D] g_fwd(z_α)
    future_edge: Tensor  # [B, S, N] weights of Eq. 3, over M (M' on the across path)
    future: Anchors  # index(β), detached
    z_future: dict[str, Tensor]  # [B, S, D] of each modality
    future_counterpart_edge: Tensor  # [B, S, N] weights of Eq. 4
    past_query: Tensor  # [B, S, D] g_back(z_β)
    return_scores: Tensor  # [B, S, N] log p of Eq. 5, over M; -inf at nodes that the edge may not see
    return_candidates: Tensor  # [B, S, N] bool: the nodes that it may see

    @property
    def with_choice(self) -> Tensor:
        """[B, S]: the cycles that can go wrong; with a single candidate there is nothing to learn."""
        return self.starts.valid & (self.return_candidates.sum(dim=-1) > 1)


def cycle_back(
    model: Dynamics,
    nodes: Mapping[str, Nodes],
    starts: Starts,
    hard: bool = False,
    constrain: bool = False,
    *,
    path: CyclePath = "within",
    temperature: float = 0.1,
) -> Cycle:
    """Walk the cycles from the given starts.

    `hard`: continue from the single node index(β), not from the mixture, which can leak the start's identity.
    `constrain`: the max-index constraint, for training.
    """
    own, other = starts.modality, OTHER[starts.modality]
    ahead = own if path == "within" else other
    beside = OTHER[ahead]
    start = anchors_at(nodes, own, starts.index)

    def cross_modal_edge(pi_BSD: Tensor, modality: str) -> tuple[Tensor, Tensor]:
        keys = nodes[modality]
        return soft_attention(pi_BSD, keys.pi, keys.z, _everything(keys, starts), temperature)

    z_counterpart, start_edge = cross_modal_edge(take(nodes[own].pi, starts.index), other)
    z_start = {own: take(nodes[own].z, starts.index), other: z_counterpart}

    future_query = model.future(_state(model, z_start, starts, ahead))
    future_candidates = after(start, nodes, ahead) if constrain else _everything(nodes[ahead], starts)
    z_ahead, future_edge = soft_attention(future_query, nodes[ahead].pi, nodes[ahead].z, future_candidates, temperature)
    future = anchors_at(nodes, ahead, future_edge.detach().argmax(dim=-1))
    if hard:
        z_ahead = take(nodes[ahead].z, future.index)
    z_beside, future_counterpart_edge = cross_modal_edge(model.project(z_ahead, ahead), beside)
    z_future = {ahead: z_ahead, beside: z_beside}

    past_query = model.past(_state(model, z_future, starts, own))
    return_candidates = before(future, nodes, own) if constrain else _everything(nodes[own], starts)
    return_scores = log_attention(past_query, nodes[own].pi, return_candidates, temperature)
    return Cycle(
        starts,
        start,
        z_start,
        start_edge,
        future_query,
        future_edge,
        future,
        z_future,
        future_counterpart_edge,
        past_query,
        return_scores,
        return_candidates,
    )


def cycle_loss(cycle: Cycle) -> SumCount:
    """Eq. 6 over the cycles with more than one candidate on the way back."""
    at_start = cycle.return_scores.gather(-1, cycle.starts.index[..., None]).squeeze(-1)
    return SumCount.of(-at_start, cycle.with_choice)


def single_candidate_share(cycle: Cycle) -> SumCount:
    """The share of cycles dropped because they had a single candidate on the way back."""
    return SumCount.of((~cycle.with_choice).to(cycle.return_scores.dtype), cycle.starts.valid)


def _state(model: Dynamics, z: Mapping[str, Tensor], starts: Starts, unimodal_modality: str) -> Tensor:
    """z of one modality, or f of both in the cycles that are not unimodal: only there, since f is costly (a fifth)."""
    both = ~starts.unimodal & starts.valid
    alone = z[unimodal_modality]
    return alone.masked_scatter(both[..., None], model.combine(z[VISION][both], z[TEXT][both]))


def _everything(nodes: Nodes, starts: Starts) -> Tensor:
    return nodes.valid[:, None].expand(-1, starts.index.shape[1], -1)
