"""How good a model is on held-out segments, without labels and without the constraint, for any objective.

Cycles start at concrete nodes of each modality, see both modalities where the model learnt to, and every edge sees
every node; `mmcc.objectives.scoring` says what the figures are. Each is the mean of its two modalities' figures. The
score that picks the best checkpoint is

    score = (cross_modal_rank + future_rank + travelled_rank) / 3

with travelled_rank the hard cycle rank in which a cycle that stays in place counts 50. Each part is 50 by chance and
for a collapsed model (mid-ranks; looping in place, which would otherwise return perfectly, counts as chance), 100 at
best, and asks for what the objectives are for: correspondence, direction, and futures that can be undone. An
objective that does not train a part has chance there, whatever it does, so checkpoints of any run compare: figures of
skills that it does not teach (see `mmcc.objectives.spec`) are None, and count 50. Where it teaches no state of both
modalities, edges start from the node itself.

Shapes: B segments, J annotated steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor

from mmcc.corpus import Corpus
from mmcc.data.batch import Batch
from mmcc.models.nodes import Nodes
from mmcc.models.registry import Model
from mmcc.objectives.anticipation import Predictor
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.distribution import SumCount
from mmcc.objectives.losses import Dynamics
from mmcc.objectives.scoring import MODALITIES, correspondence_scores, cycle_scores, padded_spans, scored_walk
from mmcc.objectives.spec import COMBINE, FUTURE, PAST, SKILLS, TEXT_SKILL
from mmcc.training.processes import ProcessGroup

SCORE_PARTS = ("cross_modal_rank", "future_rank", "travelled_rank")
COLLAPSED = 0.5  # share of forward edges in place from which on it is called collapse; by chance it is 1/N
SKILL_OF = {  # what a model must have been taught for a figure to mean anything
    **dict.fromkeys(("cycle_rank", "exact_return", "cycle_rank_hard", "exact_return_hard"), PAST),
    **dict.fromkeys(("exact_return_chance", "travelled_rank"), PAST),
    **dict.fromkeys(("future_rank", "goes_forward", "goes_forward_chance", "stays_in_place"), FUTURE),
    **dict.fromkeys(("cross_modal_rank", "cross_modal_rank_steps"), TEXT_SKILL),
}
FIGURES = tuple(SKILL_OF)


def validate(
    model: Model,
    batches: Iterable[Batch],
    corpus: Corpus,
    config: CycleConfig,
    *,
    starts: int,
    world: ProcessGroup,
    skills: frozenset[str] = SKILLS,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, float | None] | None:
    """The figures over all processes' batches; None if `stopped` said to leave off."""
    walk = scored_walk(config if COMBINE in skills else replace(config, p_unimodal=1.0), starts)
    sum_counts: dict[str, SumCount] = {}
    stop = False
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            for batch in batches:
                nodes = model(batch.to(world.device))
                spans = step_spans(corpus, batch.videos).to(world.device)
                for name, sum_count in batch_sum_counts(model, nodes, batch, spans, walk, skills).items():
                    sum_counts[name] = sum_counts[name] + sum_count if name in sum_counts else sum_count
                if stop := stopped():
                    break
    finally:
        model.train(was_training)
    return _over_processes(sum_counts, stop, world)


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


def batch_sum_counts(
    model: Model,
    nodes: Mapping[str, Nodes],
    batch: Batch,
    spans_BJ2: Tensor,
    config: CycleConfig,
    skills: frozenset[str] = SKILLS,
) -> dict[str, SumCount]:
    """The sum and count of every figure the model can have, for each modality: "vision/cycle_rank", …"""
    found = correspondence_scores(nodes, spans_BJ2)
    if FUTURE in skills:
        walker = cast(Dynamics, model) if PAST in skills else _OneWay(cast(Predictor, model))
        found |= cycle_scores(walker, nodes, batch.samples, config)
    return {name: scores.sum_count() for name, scores in found.items() if SKILL_OF[name.split("/")[1]] in skills}


def step_spans(corpus: Corpus, videos: list[str]) -> Tensor:
    """[B, J, 2]: from when to when each video shows a step."""
    return padded_spans([[(step.start, step.end) for step in corpus[video].steps] for video in videos])


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


def _over_processes(
    sum_counts: Mapping[str, SumCount], stop: bool, world: ProcessGroup
) -> dict[str, float | None] | None:
    """Means over everything counted anywhere; None where nothing was. All names, since a process may have no batch."""
    names = [f"{modality}/{name}" for modality in MODALITIES for name in FIGURES]
    totals = torch.zeros(len(names) + 1, 2, dtype=torch.float64, device=world.device)
    totals[-1, 0] = stop
    for row, name in enumerate(names):
        if name in sum_counts:
            totals[row, 0], totals[row, 1] = sum_counts[name].total, sum_counts[name].count
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
