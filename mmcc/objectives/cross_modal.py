"""Cross-modal correspondence: a moment's frame and its narration should find each other.

An anchor is a node M_i with its moment M'_j, the node of the other modality nearest in time. With
s(a, b) = π_a · π_b / τ over pairs of a node of M and one of M', the anchor's row is all pairs of M_i, its column all
pairs of M'_j:

    L = -log  Σ_{(a, b) ∈ P} w(t_a - t_b) e^{s(a, b)}  /  Σ_{(a, b) ∈ row ∪ column} e^{s(a, b)}
                                                            (Eq. 13 with the three changes of the appendix)

P: the pairs (M_i, b) with b within k nodes of M'_j, and the pairs (a, M'_j) with a within k nodes of the moment of
M'_j in M; w(t) = exp(-t² / 2σ²). Rows and columns run over the whole batch: the same video, other videos, and the
other processes' videos. Where row and column cross, the pair counts once, above and below. An anchor whose nearest
node is too far off to be a positive has no moment, and is dropped. Frames and utterances are anchors alike.

Shapes: B segments, N nodes of one modality, K nodes of the other, P packed nodes of the batch, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.config import CrossModalConfig
from mmcc.objectives.distribution import Tally, world_size
from mmcc.objectives.log_sums import log_sum, log_sum_where, log_union


@dataclass(frozen=True)
class _Side:
    """One modality's nodes against the other's."""

    scores: Tensor  # [B, N, K] s within the segment
    log_weights: Tensor  # [B, N, K] log w
    moment: Tensor  # [B, N] index of the nearest node
    positives: Tensor  # [B, N, K] bool: the nodes around it that are near enough
    positive_sum: Tensor  # [B, N] log Σ w e^s over the positives
    batch_sum: Tensor  # [B, N] log Σ e^s over the whole batch


def cross_modal_loss(nodes: Mapping[str, Nodes], keys_PD: Mapping[str, Tensor], config: CrossModalConfig) -> Tally:
    """The loss above over all anchors of both modalities; `keys_PD` is `batch_keys` of the nodes."""
    vision, text = nodes[VISION], nodes[TEXT]
    vision_scores = vision.pi[vision.valid] @ keys_PD[TEXT].mT / config.temperature
    if world_size() == 1:
        text_scores = vision_scores.mT  # the same pairs
    else:
        text_scores = text.pi[text.valid] @ keys_PD[VISION].mT / config.temperature
    vision_side = _side(vision, text, vision_scores, config)
    text_side = _side(text, vision, text_scores, config)
    return _anchors(vision_side, text_side) + _anchors(text_side, vision_side)


def _anchors(rows: _Side, columns: _Side) -> Tally:
    """The anchors in the modality of `rows`."""
    moment = rows.moment
    has_moment = rows.positives.any(dim=-1)
    crossing = torch.where(has_moment, _pick(rows.scores, moment), -torch.inf)
    positive_in_column = _pick(columns.positives.mT, moment)
    positive_crossing = torch.where(positive_in_column, crossing + _pick(rows.log_weights, moment), -torch.inf)
    numerator = log_union(rows.positive_sum, columns.positive_sum.gather(1, moment), positive_crossing)
    denominator = log_union(rows.batch_sum, columns.batch_sum.gather(1, moment), crossing)
    return Tally.of(denominator - numerator, has_moment)


def _side(own: Nodes, others: Nodes, batch_scores: Tensor, config: CrossModalConfig) -> _Side:
    scores = own.pi @ others.pi.mT / config.temperature
    lag = (own.times.to(scores.dtype)[..., None] - others.times[:, None]).abs()
    log_weights = -(lag**2) / (2 * config.sigma**2)
    moment = lag.masked_fill(~others.valid[:, None], torch.inf).argmin(dim=-1)
    places = torch.arange(others.valid.shape[1], device=moment.device)
    around = (places - moment[..., None]).abs() <= config.window
    near = log_weights.exp() >= config.least_weight
    positives = around & near & own.valid[..., None] & others.valid[:, None]
    return _Side(
        scores,
        log_weights,
        moment,
        positives,
        positive_sum=log_sum_where(scores + log_weights, positives),
        batch_sum=torch.zeros_like(scores[..., 0]).masked_scatter(own.valid, log_sum(batch_scores)),
    )


def _pick(tensor_BNK: Tensor, index_BN: Tensor) -> Tensor:
    return tensor_BNK.gather(-1, index_BN[..., None]).squeeze(-1)
