"""The objective of the paper, and of MMCC+.

    L = λ1 L_cycle + λ2 L_cross-modal + λ3 L_sim (+ λ4 L_direction)                     (Eq. 9)

Shapes: B segments, N nodes, S starts, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F

from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.objectives.config import MMCCConfig
from mmcc.objectives.correspondence import cross_modal_loss
from mmcc.objectives.cycle import cycle_back, cycle_loss, single_candidate_share
from mmcc.objectives.direction import direction_loss
from mmcc.objectives.distribution import SumCount, means_over_processes
from mmcc.objectives.log_sums import batch_keys
from mmcc.objectives.losses import Dynamics, Losses, LossWeights
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.similarity import similarity_loss
from mmcc.objectives.starts import sample_starts

DIRECTION = "direction"


class MMCCObjective:
    """Cycles from both modalities, correspondence, and what keeps the cycles from collapsing."""

    def __init__(self, config: MMCCConfig) -> None:
        self.config = config

    def __call__(
        self, model: Dynamics, nodes: Mapping[str, Nodes], batch: BatchLike, weights: LossWeights, rng: SampleRng
    ) -> Losses:
        means, logged = means_over_processes(self.sum_counts(model, nodes, rng))
        weight_of = {"cycle": weights.cycle, "cross_modal": weights.cross_modal, "similarity": weights.similarity}
        direction_parts = [name for name in means if name.startswith(DIRECTION)]
        weight_of |= dict.fromkeys(direction_parts, weights.direction)
        weighted = [weight * means[name] for name, weight in weight_of.items() if name in means]
        if direction_parts:
            logged[DIRECTION] = torch.stack([logged[name] for name in direction_parts]).sum()
        return Losses(torch.stack(weighted).sum(), logged)

    def sum_counts(self, model: Dynamics, nodes: Mapping[str, Nodes], rng: SampleRng) -> dict[str, SumCount]:
        """Every term's local sum and count."""
        config, cycling = self.config, self.config.cycle
        nodes = {modality: _never_empty(side) for modality, side in nodes.items()}
        keys = batch_keys(nodes)
        sum_counts = {"cross_modal": cross_modal_loss(nodes, keys, config.cross_modal)}
        if not config.fine_tune:
            nodes = {modality: _frozen(model, side, modality) for modality, side in nodes.items()}
            keys = batch_keys(nodes)
        for modality in (VISION, TEXT):
            starts = sample_starts(nodes, modality, rng, cycling)
            cycle = cycle_back(
                model,
                nodes,
                starts,
                constrain=cycling.constrain,
                path=cycling.path,
                temperature=cycling.temperature,
            )
            terms = {"cycle": cycle_loss(cycle), "single_candidate_share": single_candidate_share(cycle)}
            if cycling.similarity:
                terms["similarity"] = similarity_loss(
                    model, nodes, cycle, margin=cycling.similarity_margin, temperature=cycling.temperature
                )
            for part, sum_count in direction_loss(nodes, keys, cycle, config.direction).items():
                terms[f"{DIRECTION}/{part}"] = sum_count
            for name, sum_count in terms.items():
                sum_counts[name] = sum_counts[name] + sum_count if name in sum_counts else sum_count
        return sum_counts


def _never_empty(nodes: Nodes) -> Nodes:
    """A batch may hold no node of a modality; one place of padding lets every index point somewhere."""
    if nodes.valid.shape[1]:
        return nodes
    return Nodes(
        F.pad(nodes.z, (0, 0, 0, 1)),
        F.pad(nodes.pi, (0, 0, 0, 1)),
        F.pad(nodes.valid, (0, 1)),
        F.pad(nodes.times, (0, 1)),
    )


def _frozen(model: Dynamics, nodes: Nodes, modality: str) -> Nodes:
    """The same nodes with z as given input: Π, f and g learn from the cycle, the encoders do not."""
    z = nodes.z.detach()
    pi = model.project(z, modality).masked_fill(~nodes.valid[..., None], 0)
    return Nodes(z, pi, nodes.valid, nodes.times)
