"""How good a model is on held-out segments, without labels and without the constraint, for any objective.

Cycles start at concrete nodes of each modality, use both modalities if the model was trained to, and every edge sees
every node; `mmcc.objectives.scoring` defines the figures. Each is the mean over the two modalities. The score that
selects the best checkpoint is

    score = (cross_modal_rank + future_rank + travelled_rank) / 3

where travelled_rank is the hard cycle rank in which a cycle that stays in place counts 50. Each part is 50 at chance
and for a collapsed model (mid-ranks; looping in place, which would otherwise return perfectly, counts as chance), and
100 at best. The parts measure what the objectives train: correspondence, direction, and futures that can be undone.
Parts that an objective does not train count as chance, so checkpoints of any runs can be compared: figures of
untrained skills (see `mmcc.objectives.spec`) are None, and count 50. If the state of both modalities is untrained,
edges start from the node itself.

Shapes: B segments, J annotated steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor

from mmcc.corpus import Corpus
from mmcc.data.batch import Batch
from mmcc.models.registry import Network
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.distribution import SumCount
from mmcc.objectives.scoring import MODALITIES, SKILL_OF, padded_spans, scored_walk, trained_scores
from mmcc.objectives.spec import SKILLS
from mmcc.training.processes import ProcessGroup

SCORE_PARTS = ("cross_modal_rank", "future_rank", "travelled_rank")
COLLAPSED = 0.5  # a share of forward edges that stay in place this high is a collapse; chance is 1/N
FIGURES = tuple(SKILL_OF)


def validate(
    model: Network,
    batches: Iterable[Batch],
    corpus: Corpus,
    config: CycleConfig,
    *,
    starts: int,
    world: ProcessGroup,
    skills: frozenset[str] = SKILLS,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, float | None] | None:
    """The figures over all processes' batches; None if `stopped` returned true."""
    walk = scored_walk(config, starts)
    sum_counts: dict[str, SumCount] = {}
    stop = False
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            for batch in batches:
                nodes = model(batch.to(world.device))
                spans = step_spans(corpus, batch.videos).to(world.device)
                for name, scores in trained_scores(model, nodes, batch.samples, spans, walk, skills).items():
                    sum_count = scores.sum_count()
                    sum_counts[name] = sum_counts[name] + sum_count if name in sum_counts else sum_count
                if stop := stopped():
                    break
    finally:
        model.train(was_training)
    return _over_processes(sum_counts, stop, world)


def step_spans(corpus: Corpus, videos: list[str]) -> Tensor:
    """[B, J, 2]: start and end of each step shown in the videos."""
    return padded_spans([[(step.start, step.end) for step in corpus[video].steps] for video in videos])


def summary_line(step: int, figures: Mapping[str, float | None]) -> str:
    """A validation as one line; a collapse is reported as such."""
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
    collapsed = stays is not None and stays >= COLLAPSED and shown["cycle_rank"] is not None  # only cycles can collapse
    return line + (f" · COLLAPSED: {share['stays_in_place']} stay in place" if collapsed else "")


def _over_processes(
    sum_counts: Mapping[str, SumCount], stop: bool, world: ProcessGroup
) -> dict[str, float | None] | None:
    """Means over all processes; None where the count is 0. Sends all names, since a process may have no batch."""
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
