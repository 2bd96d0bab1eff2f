"""The objective of the paper, and of MMCC+.

    L = λ1 L_cycle + λ2 L_cross-modal + λ3 L_sim (+ λ4 L_direction)                     (Eq. 9)

    λ1(s) = ε^(1 - p) · λ1^p  with p = min(1, s / ramp steps);   λ2 constant;   λ3 = r3 · λ1(s);   λ4 = r4 · λ1(s)

(the cycle itself has weight r1 · λ1(s), with r1 = 1 except in ablations)

Shapes: B segments, N nodes, S starts, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import torch
import torch.nn.functional as F

from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.objectives.config import CrossModalConfig, CycleConfig, DirectionConfig, above, within
from mmcc.objectives.correspondence import cross_modal_loss
from mmcc.objectives.cycle import cycle_back, cycle_loss, single_candidate_share
from mmcc.objectives.direction import direction_loss
from mmcc.objectives.distribution import SumCount, means_over_processes
from mmcc.objectives.log_sums import batch_keys
from mmcc.objectives.losses import Dynamics, Losses, TwoWayDynamics, Weights
from mmcc.objectives.pairs import pair_loss
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.similarity import similarity_loss
from mmcc.objectives.spec import (
    COMBINE,
    MEMORY,
    Identity,
    ObjectiveConfig,
    ObjectiveSpec,
    TrainingTime,
    register_objective,
)
from mmcc.objectives.starts import sample_starts
from mmcc.settings import EitherOr

DIRECTION = "direction"


@dataclass(frozen=True)
class MMCCConfig(ObjectiveConfig, EitherOr):
    """MMCC's whole objective. Every ablation of the paper's Table 1 is a setting."""

    either_or: ClassVar = (("ramp_share", "ramp_epochs"),)

    name: str = "mmcc"
    cycle: CycleConfig = field(default_factory=CycleConfig)
    cross_modal: CrossModalConfig = field(default_factory=CrossModalConfig)
    direction: DirectionConfig = field(default_factory=DirectionConfig)
    fine_tune: bool = True  # Table 1: 93.6, against 67.5 if only the cross-modal loss trains the embeddings z

    lambda1: float = 1.0  # the cycle's final weight; the paper: 0.5 to 2
    lambda1_start: float = 0.01  # the paper's "small value ε": correspondence must be learned first
    ramp_epochs: float | None = 30.0  # over which lambda1 grows exponentially, as in the paper
    ramp_share: float | None = None  # instead of ramp_epochs: a share of all training steps, for short runs
    lambda2: float = 1.0  # cross-modal, constant, as in the paper
    cycle_ratio: float = 1.0  # the cycle's weight relative to lambda1; 0 keeps the other ramped terms, as an ablation
    similarity_ratio: float = 3.0  # λ3 = 3 λ1, as in the paper
    direction_ratio: float = 3.0  # λ4 = 3 λ1; on vectors 10 is better (docs/training.md), and mmcc_plus.yaml has it

    def __post_init__(self) -> None:
        self.check_pairs()
        above("lambda1_start", self.lambda1_start, 0)
        for name in ("lambda1", "lambda2", "cycle_ratio", "similarity_ratio", "direction_ratio"):
            within(name, getattr(self, name), 0, float("inf"))
        if self.ramp_epochs is not None:
            within("ramp_epochs", self.ramp_epochs, 0, float("inf"))
        if self.ramp_share is not None:
            within("ramp_share", self.ramp_share, 0, 1)


def mmcc_weights(config: MMCCConfig, time: TrainingTime) -> dict[str, float]:
    """λ1 to λ4 at a training step."""
    if config.ramp_share is not None:
        ramp_steps = config.ramp_share * time.steps
    else:
        assert config.ramp_epochs is not None
        ramp_steps = config.ramp_epochs * time.steps_per_epoch
    lambda1 = config.lambda1
    if time.step < ramp_steps and lambda1 > 0:
        lambda1 = config.lambda1_start * (lambda1 / config.lambda1_start) ** (time.step / ramp_steps)
    return {
        "cycle": config.cycle_ratio * lambda1,
        "cross_modal": config.lambda2,
        "similarity": config.similarity_ratio * lambda1,
        DIRECTION: config.direction_ratio * lambda1,
    }


class MMCCObjective:
    """Cycles from both modalities, correspondence, and the losses that prevent collapse."""

    def __init__(self, config: MMCCConfig) -> None:
        self.config = config

    def __call__(
        self, model: TwoWayDynamics, nodes: Mapping[str, Nodes], batch: BatchLike, weights: Weights, rng: SampleRng
    ) -> Losses:
        means, logged = means_over_processes(self.sum_counts(model, nodes, rng))
        parts = {f"{DIRECTION}/{part}": weight for part, weight in self._direction_parts.items()}
        weight_of = {**weights, **{part: weights[DIRECTION] * weight for part, weight in parts.items()}}
        weighted = [weight * means[name] for name, weight in weight_of.items() if name in means]
        logged["lambda1"] = logged["cycle"].new_tensor(weights["cycle"])
        if parts:
            logged[DIRECTION] = torch.stack([weight * logged[part] for part, weight in parts.items()]).sum()
        return Losses(torch.stack(weighted).sum(), logged)

    @property
    def _direction_parts(self) -> dict[str, float]:
        direction = self.config.direction
        return {**direction.parts, **({"pairs": 1.0} if direction.pairs else {})}

    def sum_counts(self, model: TwoWayDynamics, nodes: Mapping[str, Nodes], rng: SampleRng) -> dict[str, SumCount]:
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
            if config.direction.parts:
                parts = direction_loss(model, nodes, keys, modality, rng, cycling, config.direction)
                terms |= {f"{DIRECTION}/{part}": sum_count for part, sum_count in parts.items()}
            if config.direction.pairs:
                terms[f"{DIRECTION}/pairs"] = pair_loss(model, nodes[modality], config.direction.temperature)
            for name, sum_count in terms.items():
                sum_counts[name] = sum_counts[name] + sum_count if name in sum_counts else sum_count
        return sum_counts


def _never_empty(nodes: Nodes) -> Nodes:
    """A batch may have no node of a modality; one place of padding keeps every index valid."""
    if nodes.valid.shape[1]:
        return nodes
    return Nodes(
        F.pad(nodes.z, (0, 0, 0, 1)),
        F.pad(nodes.pi, (0, 0, 0, 1)),
        F.pad(nodes.valid, (0, 1)),
        F.pad(nodes.times, (0, 1)),
    )


def _frozen(model: Dynamics, nodes: Nodes, modality: str) -> Nodes:
    """The same nodes with z detached: the cycle trains Π, f and g, but not the encoders."""
    z = nodes.z.detach()
    pi = model.project(z, modality).masked_fill(~nodes.valid[..., None], 0)
    return Nodes(z, pi, nodes.valid, nodes.times)


def _plus(config: MMCCConfig) -> Identity | None:
    """With the direction loss, the objective is MMCC+."""
    return Identity("mmcc+", "MMCC+") if config.direction.on else None


def _untrained(config: MMCCConfig) -> frozenset[str]:
    """If every cycle is unimodal, f is not trained; without the direction loss, h is not."""
    no_state = {COMBINE} if config.cycle.p_unimodal == 1 else set()
    no_memory = set() if config.direction.parts and config.direction.p_memory else {MEMORY}
    return frozenset(no_state | no_memory)


def _cycle(config: MMCCConfig) -> CycleConfig:
    return config.cycle


def _temperature(config: MMCCConfig) -> float:
    return config.cycle.temperature


register_objective(
    ObjectiveSpec(
        MMCCConfig,
        label="MMCC",
        purpose="to go from a moment to its future and back, through what is seen and what is said",
        loss=MMCCObjective,
        weights=mmcc_weights,
        terms=("cycle", "cross_modal", "similarity", DIRECTION),
        variant=_plus,
        untrained=_untrained,
        cycle=_cycle,
        temperature=_temperature,
    )
)
