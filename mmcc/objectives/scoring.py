"""How well a model does what the objectives train, segment by segment: cycles, direction, correspondence.

Every edge sees every node of its segment. Validation sums these over a batch, evaluation over a video.

    cycle_rank, exact_return      where the start ranks among the nodes on the way back, and how often it is first
    …_hard                        the same when continuing from the single node index(β): a mixture can leak the start
    future_rank                   100 · P(g_fwd scores a later node above an earlier one)
    goes_forward, stays_in_place  share of forward edges whose best node is later than the start, or the start itself
    travelled_rank                the hard cycle rank, where a cycle that stays in place counts 50
    cross_modal_rank              where the other modality's nearest node in time ranks; …_steps: while a step is shown
    cross_modal_rank_batch        the same among the nodes of all segments of the batch, so it depends on these; the
                                  others depend on nothing but their segment

On the path across modalities "later" is by time, and a start's place in the other modality is its nearest node there.

Shapes: B segments, S starts, N nodes, J annotated steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.anchors import OTHER, after, before
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.cycle import Cycle, cycle_back
from mmcc.objectives.distribution import SumCount
from mmcc.objectives.losses import Dynamics
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.spec import FUTURE, PAST, TEXT_SKILL
from mmcc.objectives.starts import sample_starts

MODALITIES = (VISION, TEXT)
SKILL_OF = {  # the skill a model must have been trained in for a figure to mean anything
    **dict.fromkeys(("cycle_rank", "exact_return", "cycle_rank_hard", "exact_return_hard"), PAST),
    **dict.fromkeys(("exact_return_chance", "travelled_rank"), PAST),
    **dict.fromkeys(("future_rank", "goes_forward", "goes_forward_chance", "stays_in_place"), FUTURE),
    **dict.fromkeys(("cross_modal_rank", "cross_modal_rank_steps", "cross_modal_rank_batch"), TEXT_SKILL),
}


class Scores(NamedTuple):
    """One figure for every cycle or node of a batch."""

    values: Tensor  # [B, S] or [B, N]; arbitrary where `counts` is false
    counts: Tensor  # bool, same shape

    def sum_count(self) -> SumCount:
        return SumCount.of(*self)

    def by_segment(self) -> tuple[Tensor, Tensor]:
        """Sums and counts [B]."""
        totals = torch.where(self.counts, self.values, 0).double().sum(dim=1)
        return totals, self.counts.sum(dim=1)


def scored_walk(config: CycleConfig, starts: int) -> CycleConfig:
    """How to walk cycles for scoring: from concrete nodes, with both modalities unless the model never trained that."""
    alone = 1.0 if config.p_unimodal == 1 else 0.0
    return replace(config, starts="concreteness", starts_per_segment=starts, p_unimodal=alone)


def trained_scores(
    model: Any,
    nodes: Mapping[str, Nodes],
    samples_B: Tensor,
    spans_BJ2: Tensor,
    config: CycleConfig,
    skills: frozenset[str],
) -> dict[str, Scores]:
    """The figures of cycles and correspondence that a model's skills were trained for; none of any untrained part."""
    found = correspondence_scores(nodes, spans_BJ2) if TEXT_SKILL in skills else {}
    return {**found, **trained_cycle_scores(model, nodes, samples_B, config, skills)}


def trained_cycle_scores(
    model: Any, nodes: Mapping[str, Nodes], samples_B: Tensor, config: CycleConfig, skills: frozenset[str]
) -> dict[str, Scores]:
    """The same of cycles alone. `config` is that of `ObjectiveSpec.walk_of`, which knows whether states are trained."""
    if FUTURE not in skills:
        return {}
    found = cycle_scores(model if PAST in skills else _OneWay(model), nodes, samples_B, config)
    read = MODALITIES if TEXT_SKILL in skills else (VISION,)
    return {
        name: scores
        for name, scores in found.items()
        for modality, figure in (name.split("/"),)
        if modality in read and SKILL_OF[figure] in skills
    }


@dataclass(frozen=True)
class _OneWay:
    """A model without g_back, for walking cycles: figures of the way back are meaningless and not kept."""

    model: Any

    def project(self, z: Tensor, modality: str, /) -> Tensor:
        return z

    def combine(self, z_vision: Tensor, z_text: Tensor, /) -> Tensor:
        return z_vision

    def future(self, z: Tensor, /) -> Tensor:
        future: Tensor = self.model.future(z)
        return future

    def past(self, z: Tensor, /) -> Tensor:
        return torch.zeros_like(z)


def cycle_scores(
    model: Dynamics, nodes: Mapping[str, Nodes], samples_B: Tensor, config: CycleConfig
) -> dict[str, Scores]:
    """The figures of cycles, for each modality: "vision/cycle_rank", …; every model gets the same random numbers."""
    found: dict[str, Scores] = {}
    rng = SampleRng(0, samples_B.to(nodes[VISION].z.device))
    for modality in MODALITIES:
        starts = sample_starts(nodes, modality, rng, config)
        soft, hard = (
            cycle_back(model, nodes, starts, hard=hard, path=config.path, temperature=config.temperature)
            for hard in (False, True)
        )
        figures = {
            **return_scores(soft),
            **{f"{name}_hard": scores for name, scores in return_scores(hard).items()},
            **direction_scores(hard, nodes),
        }
        found |= {f"{modality}/{name}": scores for name, scores in figures.items()}
    return found


def return_scores(cycle: Cycle) -> dict[str, Scores]:
    """Where the way back puts the start: its percentile rank, and whether it is first (ties share)."""
    scores, seen, start = cycle.return_scores, cycle.return_candidates, cycle.starts.index
    return {
        "cycle_rank": Scores(percentile_rank(scores, start, seen), cycle.with_choice),
        "exact_return": Scores(share_of_first(scores, start, seen), cycle.with_choice),
    }


def direction_scores(cycle: Cycle, nodes: Mapping[str, Nodes]) -> dict[str, Scores]:
    """Which way the forward edges of hard cycles go, and how well those that move return."""
    ahead, valid, future = cycle.future.modality, cycle.starts.valid, cycle.future.index[..., None]
    later, earlier = after(cycle.start, nodes, ahead), before(cycle.start, nodes, ahead)
    stays = cycle.future.index == _place_ahead(cycle, nodes)
    rank = percentile_rank(cycle.return_scores, cycle.start.index, cycle.return_candidates)
    scores = torch.einsum("bsd,bnd->bsn", cycle.future_query, nodes[ahead].pi)
    return {
        "future_rank": Scores(above_share(scores, later, earlier) * 100, valid & later.any(-1) & earlier.any(-1)),
        "goes_forward": Scores(later.gather(-1, future).squeeze(-1).double(), valid),
        "goes_forward_chance": Scores(later.sum(dim=-1) / _count(nodes[ahead]), valid),
        "stays_in_place": Scores(stays.double(), valid),
        "exact_return_chance": Scores((1 / _count(nodes[cycle.start.modality])).expand_as(valid), valid),
        "travelled_rank": Scores(torch.where(stays, 50.0, rank), cycle.with_choice),
    }


def correspondence_scores(nodes: Mapping[str, Nodes], spans_BJ2: Tensor) -> dict[str, Scores]:
    """The figures of correspondence, for each modality: "vision/cross_modal_rank", …"""
    return {
        f"{modality}/{name}": scores
        for modality in MODALITIES
        for name, scores in cross_modal_scores(nodes[modality], nodes[OTHER[modality]], spans_BJ2).items()
    }


def cross_modal_scores(own: Nodes, other: Nodes, spans_BJ2: Tensor) -> dict[str, Scores]:
    """Where each node's nearest node in the other modality ranks: for all nodes, for those during a step, and among
    the nodes of the whole batch."""
    away = (own.times[:, :, None] - other.times[:, None]).abs().masked_fill(~other.valid[:, None], torch.inf)
    nearest, seen = away.argmin(dim=-1), other.valid[:, None].expand_as(away)
    rank = percentile_rank(own.pi @ other.pi.mT, nearest, seen)
    counts = own.valid & (other.valid.sum(dim=1, keepdim=True) > 1)
    segments, width = other.valid.shape
    everywhere = other.valid.flatten().expand(*own.valid.shape, -1)
    place = nearest + width * torch.arange(segments, device=nearest.device)[:, None]
    rank_of_all = percentile_rank(own.pi @ other.pi.flatten(0, 1).T, place, everywhere)
    has_target = other.valid.any(dim=1, keepdim=True) & (other.valid.sum() > 1)
    return {
        "cross_modal_rank": Scores(rank, counts),
        "cross_modal_rank_steps": Scores(rank, counts & within_spans(own.times, spans_BJ2)),
        "cross_modal_rank_batch": Scores(rank_of_all, own.valid & has_target),
    }


def percentile_rank(scores: Tensor, target: Tensor, seen: Tensor) -> Tensor:
    """`mmcc.metrics.percentile_rank` with varying numbers of candidates: [..., N], [...], [..., N] -> [...]."""
    own = scores.gather(-1, target[..., None])
    below = ((scores < own) & seen).sum(dim=-1)
    tied = ((scores == own) & seen).sum(dim=-1) - 1  # without the target itself
    return 100 * (below + tied / 2) / (seen.sum(dim=-1) - 1).clamp(min=1)


def share_of_first(scores: Tensor, target: Tensor, seen: Tensor) -> Tensor:
    """1 where the target alone scores best, 1/k where k tie for best, 0 elsewhere."""
    best = scores.masked_fill(~seen, -torch.inf).amax(dim=-1, keepdim=True)
    first = (scores == best) & seen
    return first.gather(-1, target[..., None]).squeeze(-1) / first.sum(dim=-1).clamp(min=1)


def above_share(scores: Tensor, upper: Tensor, lower: Tensor) -> Tensor:
    """P(a node of `upper` scores above one of `lower`), ties half: [..., N] each -> [...]."""
    pairs = upper[..., :, None] & lower[..., None, :]
    wins = (scores[..., :, None] > scores[..., None, :]).float() + 0.5 * (scores[..., :, None] == scores[..., None, :])
    return (wins * pairs).sum(dim=(-1, -2)) / pairs.sum(dim=(-1, -2)).clamp(min=1)


def within_spans(times_BN: Tensor, spans_BJ2: Tensor) -> Tensor:
    """[B, N]: whether a step is shown at each time."""
    times = times_BN[:, :, None]
    return ((spans_BJ2[:, None, :, 0] <= times) & (times <= spans_BJ2[:, None, :, 1])).any(dim=-1)


def padded_spans(spans: Sequence[Sequence[tuple[float, float]]]) -> Tensor:
    """[B, J, 2]: start and end of each step shown in the segment's video, padded with empty spans."""
    longest = max(map(len, spans), default=0)
    padding = (math.inf, -math.inf)
    padded = [[*each, *[padding] * (longest - len(each))] for each in spans]
    return torch.tensor(padded, dtype=torch.float32).reshape(len(spans), longest, 2)


def _place_ahead(cycle: Cycle, nodes: Mapping[str, Nodes]) -> Tensor:
    """[B, S]: the start itself, or across modalities the other modality's node nearest in time."""
    if cycle.future.modality == cycle.start.modality:
        return cycle.start.index
    ahead = nodes[cycle.future.modality]
    away = (ahead.times[:, None] - cycle.start.time[..., None]).abs()
    return away.masked_fill(~ahead.valid[:, None], torch.inf).argmin(dim=-1)


def _count(nodes: Nodes) -> Tensor:
    return nodes.valid.sum(dim=1, keepdim=True).clamp(min=1)
