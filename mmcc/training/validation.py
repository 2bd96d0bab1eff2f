"""How good a model is on held-out segments, without labels and without the constraint, for any objective.

Cycles start at concrete nodes of each modality, see both modalities, and every edge sees every node:

    cycle_rank, exact_return      where the start ranks among the nodes on the way back, and how often it is first
    …_hard                        the same when going on from the one node index(β): a mixture can smuggle the start
    future_rank                   100 · P(g_fwd scores a later node above an earlier one)
    goes_forward, stays_in_place  share of forward edges whose best node is later than the start, or the start itself
    cross_modal_rank              where the other modality's nearest node in time ranks; …_steps: where a step is shown

A figure is the mean of its two modalities' figures. The score that picks the best checkpoint is

    score = (cross_modal_rank + future_rank + travelled_rank) / 3

with travelled_rank the hard cycle rank in which a cycle that stays in place counts 50. Each part is 50 by chance and
for a collapsed model (mid-ranks; looping in place, which would otherwise return perfectly, counts as chance), 100 at
best, and asks for what the objectives are for: correspondence, direction, and futures that can be undone. An
objective that does not train a part has chance there, whatever it does, so checkpoints of any run compare: figures of
skills that it does not teach (see `mmcc.objectives.registry`) are None, and count 50. Where it teaches no state of both
modalities, edges start from the node itself.

Shapes: B segments, S starts, N nodes, J annotated steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor

from mmcc.corpus import Corpus
from mmcc.data.batch import Batch
from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.models.registry import Model
from mmcc.objectives.anticipation import Predictor
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.cycle import Cycle, cycle_back
from mmcc.objectives.distribution import Tally
from mmcc.objectives.draws import Draws
from mmcc.objectives.losses import Dynamics
from mmcc.objectives.moments import OTHER, after, before
from mmcc.objectives.registry import ALL_SKILLS, CORRESPONDENCE, FUTURE, PAST, STATE
from mmcc.objectives.starts import sample_starts
from mmcc.training.processes import World

MODALITIES = (VISION, TEXT)
SCORE_PARTS = ("cross_modal_rank", "future_rank", "travelled_rank")
COLLAPSED = 0.5  # share of forward edges in place from which on it is called collapse; by chance it is 1/N
SKILL_OF = {  # what a model must have been taught for a figure to mean anything
    **dict.fromkeys(("cycle_rank", "exact_return", "cycle_rank_hard", "exact_return_hard"), PAST),
    **dict.fromkeys(("exact_return_chance", "travelled_rank"), PAST),
    **dict.fromkeys(("future_rank", "goes_forward", "goes_forward_chance", "stays_in_place"), FUTURE),
    **dict.fromkeys(("cross_modal_rank", "cross_modal_rank_steps"), CORRESPONDENCE),
}
FIGURES = tuple(SKILL_OF)


def validate(
    model: Model,
    batches: Iterable[Batch],
    corpus: Corpus,
    config: CycleConfig,
    *,
    starts: int,
    world: World,
    skills: frozenset[str] = ALL_SKILLS,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, float | None] | None:
    """The figures over all processes' batches; None if `stopped` said to leave off."""
    alone = 0.0 if STATE in skills else 1.0
    walk = replace(config, path="within", starts="concreteness", starts_per_segment=starts, p_unimodal=alone)
    tallies: dict[str, Tally] = {}
    stop = False
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            for batch in batches:
                nodes = model(batch.to(world.device))
                spans = step_spans(corpus, batch.videos).to(world.device)
                for name, tally in batch_tallies(model, nodes, batch, spans, walk, skills).items():
                    tallies[name] = tallies[name] + tally if name in tallies else tally
                if stop := stopped():
                    break
    finally:
        model.train(was_training)
    return _over_processes(tallies, stop, world)


@dataclass(frozen=True)
class _OneWay:
    """A model without g_back, as a cycle sees it: there is no way back, and none of its figures is kept."""

    model: Predictor

    def project(self, z: Tensor, modality: str, /) -> Tensor:
        return z

    def combine(self, z_vision: Tensor, z_text: Tensor, /) -> Tensor:
        return z_vision

    def future(self, z: Tensor, /) -> Tensor:
        return self.model.future(z)

    def past(self, z: Tensor, /) -> Tensor:
        return torch.zeros_like(z)


def batch_tallies(
    model: Model,
    nodes: Mapping[str, Nodes],
    batch: Batch,
    spans_BJ2: Tensor,
    config: CycleConfig,
    skills: frozenset[str] = ALL_SKILLS,
) -> dict[str, Tally]:
    """The sum and count of every figure the model can have, for each modality: "vision/cycle_rank", …"""
    tallies: dict[str, Tally] = {}
    walker = cast(Dynamics, model) if PAST in skills else _OneWay(cast(Predictor, model))
    draws = Draws(0, batch.samples.to(nodes[VISION].z.device))  # one seed for all runs: the same dice for every model
    for modality in MODALITIES:
        found = cross_modal_tallies(nodes[modality], nodes[OTHER[modality]], spans_BJ2)
        if FUTURE in skills:
            starts = sample_starts(nodes, modality, draws, config)
            soft, hard = (
                cycle_back(walker, nodes, starts, hard=hard, temperature=config.temperature) for hard in (False, True)
            )
            found |= cycle_tallies(soft) | {f"{name}_hard": tally for name, tally in cycle_tallies(hard).items()}
            found |= direction_tallies(hard, nodes)
        tallies |= {f"{modality}/{name}": tally for name, tally in found.items() if SKILL_OF[name] in skills}
    return tallies


def cycle_tallies(cycle: Cycle) -> dict[str, Tally]:
    """Where the way back puts the start: its percentile rank, and whether it is first (ties share)."""
    scores, seen, start = cycle.return_scores, cycle.return_candidates, cycle.starts.index
    return {
        "cycle_rank": Tally.of(percentile_rank(scores, start, seen), cycle.with_choice),
        "exact_return": Tally.of(share_of_first(scores, start, seen), cycle.with_choice),
    }


def direction_tallies(cycle: Cycle, nodes: Mapping[str, Nodes]) -> dict[str, Tally]:
    """Which way the forward edges of hard cycles go, and what comes of those that go anywhere."""
    modality, valid = cycle.starts.modality, cycle.starts.valid
    later, earlier = after(cycle.start, nodes, modality), before(cycle.start, nodes, modality)
    count = nodes[modality].valid.sum(dim=1, keepdim=True).clamp(min=1)
    stays = cycle.future.index == cycle.start.index
    rank = percentile_rank(cycle.return_scores, cycle.start.index, cycle.return_candidates)
    scores = torch.einsum("bsd,bnd->bsn", cycle.future_query, nodes[modality].pi)
    return {
        "future_rank": Tally.of(above_share(scores, later, earlier) * 100, valid & later.any(-1) & earlier.any(-1)),
        "goes_forward": Tally.of((cycle.future.index > cycle.start.index).double(), valid),
        "goes_forward_chance": Tally.of(later.sum(dim=-1) / count, valid),
        "stays_in_place": Tally.of(stays.double(), valid),
        "exact_return_chance": Tally.of((1 / count).expand_as(valid), valid),
        "travelled_rank": Tally.of(torch.where(stays, 50.0, rank), cycle.with_choice),
    }


def cross_modal_tallies(own: Nodes, other: Nodes, spans_BJ2: Tensor) -> dict[str, Tally]:
    """Where each node's moment in the other modality ranks: at all nodes, and at those where a step is shown."""
    away = (own.times[:, :, None] - other.times[:, None]).abs().masked_fill(~other.valid[:, None], torch.inf)
    seen = other.valid[:, None].expand_as(away)
    rank = percentile_rank(own.pi @ other.pi.mT, away.argmin(dim=-1), seen)
    counts = own.valid & (other.valid.sum(dim=1, keepdim=True) > 1)
    return {
        "cross_modal_rank": Tally.of(rank, counts),
        "cross_modal_rank_steps": Tally.of(rank, counts & within_spans(own.times, spans_BJ2)),
    }


def percentile_rank(scores: Tensor, target: Tensor, seen: Tensor) -> Tensor:
    """`mmcc.metrics.percentile_rank` with candidates of different number: [..., N], [...], [..., N] -> [...]."""
    own = scores.gather(-1, target[..., None])
    below = ((scores < own) & seen).sum(dim=-1)
    alike = ((scores == own) & seen).sum(dim=-1) - 1  # without the target itself
    return 100 * (below + alike / 2) / (seen.sum(dim=-1) - 1).clamp(min=1)


def share_of_first(scores: Tensor, target: Tensor, seen: Tensor) -> Tensor:
    """1 where the target scores best alone, 1/k where k score so, else 0."""
    best = scores.masked_fill(~seen, -torch.inf).amax(dim=-1, keepdim=True)
    first = (scores == best) & seen
    return first.gather(-1, target[..., None]).squeeze(-1) / first.sum(dim=-1).clamp(min=1)


def above_share(scores: Tensor, upper: Tensor, lower: Tensor) -> Tensor:
    """P(a node of `upper` scores above one of `lower`), ties half: [..., N] each -> [...]."""
    pairs = upper[..., :, None] & lower[..., None, :]
    wins = (scores[..., :, None] > scores[..., None, :]).float() + 0.5 * (scores[..., :, None] == scores[..., None, :])
    return (wins * pairs).sum(dim=(-1, -2)) / pairs.sum(dim=(-1, -2)).clamp(min=1)


def within_spans(times_BN: Tensor, spans_BJ2: Tensor) -> Tensor:
    """[B, N]: the moments at which a step is shown."""
    times = times_BN[:, :, None]
    return ((spans_BJ2[:, None, :, 0] <= times) & (times <= spans_BJ2[:, None, :, 1])).any(dim=-1)


def step_spans(corpus: Corpus, videos: list[str]) -> Tensor:
    """[B, J, 2]: from when to when each video shows a step, padded with spans that hold no moment."""
    spans = [[(step.start, step.end) for step in corpus[video].steps] for video in videos]
    longest = max(map(len, spans), default=0)
    padding = (math.inf, -math.inf)
    padded = [each + [padding] * (longest - len(each)) for each in spans]
    return torch.tensor(padded, dtype=torch.float32).reshape(len(videos), longest, 2)


def summary_line(step: int, figures: Mapping[str, float | None]) -> str:
    """What a person wants to see of a validation; collapse is called by its name."""
    shown = {name: figures.get(name) for name in ("score", *FIGURES)}
    text = {name: "–" if value is None else f"{value:.1f}" for name, value in shown.items()}
    share = {name: "–" if value is None else f"{100 * value:.0f} %" for name, value in shown.items()}
    line = (
        f"step {step}: score {text['score']} · cycle rank {text['cycle_rank']} (hard {text['cycle_rank_hard']}), "
        f"returns {share['exact_return']} (hard {share['exact_return_hard']}, chance {share['exact_return_chance']}) · "
        f"cross-modal rank {text['cross_modal_rank']} · future rank {text['future_rank']}, "
        f"forward {share['goes_forward']} (chance {share['goes_forward_chance']})"
    )
    stays = shown["stays_in_place"]
    collapsed = stays is not None and stays >= COLLAPSED and shown["cycle_rank"] is not None  # without cycles, none can
    return line + (f" · COLLAPSED: {share['stays_in_place']} stay in place" if collapsed else "")


def _over_processes(tallies: Mapping[str, Tally], stop: bool, world: World) -> dict[str, float | None] | None:
    """Means over everything counted anywhere; None where nothing was. All names, since a process may have no batch."""
    names = [f"{modality}/{name}" for modality in MODALITIES for name in FIGURES]
    totals = torch.zeros(len(names) + 1, 2, dtype=torch.float64, device=world.device)
    totals[-1, 0] = stop
    for row, name in enumerate(names):
        if name in tallies:
            totals[row, 0], totals[row, 1] = tallies[name].total, tallies[name].count
    summed = world.add(totals).tolist()
    if summed.pop()[0]:
        return None
    by_modality = {name: total / count if count else None for name, (total, count) in zip(names, summed, strict=True)}
    figures: dict[str, float | None] = {}
    for name in FIGURES:
        known = [value for modality in MODALITIES if (value := by_modality[f"{modality}/{name}"]) is not None]
        figures[name] = sum(known) / len(known) if known else None
    parts = [50.0 if (value := figures[name]) is None else value for name in SCORE_PARTS]
    return {"score": sum(parts) / len(parts), **figures, **by_modality}
