"""Direction (MMCC+): what g_fwd predicts should lie in the future, what g_back predicts in the past.

With p = softmax(g_fwd(z_α) · π_i / τ) over all nodes of the segment, and q the same for g_back(z_β):

    within the modality of the anchor    -log Σ_{i > i_α} p_i            -log Σ_{i < index(β)} q_i
    across, in the other modality        -log Σ_{t_i > t_α + gap} p_i    -log Σ_{t_i < t_β - gap} q_i

The max-index constraint only hides the past from the forward edge; this loss teaches the edge to avoid it. Across, the
denominators may run over the nodes of the whole batch. Anchors without a node on the wanted side are dropped.

Shapes: B segments, S starts, N nodes, P packed nodes of the batch, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from mmcc.models.nodes import Nodes
from mmcc.objectives.anchors import OTHER, after, before
from mmcc.objectives.config import DirectionConfig
from mmcc.objectives.cycle import Cycle
from mmcc.objectives.distribution import SumCount
from mmcc.objectives.log_sums import log_sum, log_sum_where


def direction_loss(
    nodes: Mapping[str, Nodes], keys_PD: Mapping[str, Tensor], cycle: Cycle, config: DirectionConfig
) -> dict[str, SumCount]:
    """The enabled parts, each with its own mean; the loss is their sum. `keys_PD`: see `batch_keys`."""
    parts = {}
    for name, query, anchors, wanted_side in (
        ("future", cycle.future_query, cycle.start, after),
        ("past", cycle.past_query, cycle.future, before),
    ):
        own, other = anchors.modality, OTHER[anchors.modality]
        valid_starts = cycle.starts.valid
        if config.within:
            wanted = wanted_side(anchors, nodes, own) & valid_starts[..., None]
            parts[f"{name}_within"] = _wrong_way(query, nodes[own], wanted, None, config.temperature)
        if config.across:
            wanted = wanted_side(anchors, nodes, other, config.gap) & valid_starts[..., None]
            keys = keys_PD[other] if config.batch_nodes else None
            parts[f"{name}_across"] = _wrong_way(query, nodes[other], wanted, keys, config.temperature)
    return parts


def _wrong_way(
    query_BSD: Tensor, nodes: Nodes, wanted_BSN: Tensor, keys_PD: Tensor | None, temperature: float
) -> SumCount:
    """-log of the probability of the wanted nodes, against the segment's nodes or the given keys."""
    scores = query_BSD @ nodes.pi.mT / temperature
    if keys_PD is None:
        everything = log_sum_where(scores, nodes.valid[:, None].expand_as(scores))
    else:
        everything = log_sum(query_BSD @ keys_PD.mT / temperature)
    return SumCount.of(everything - log_sum_where(scores, wanted_BSN), wanted_BSN.any(dim=-1))
