"""What RA and TAP share: a node's prediction is held against frozen features of nodes that come after it.

    L_i = min over targets j of -cos(f(Φ_M(M_i)), Ψ(M_j))                                  (Eq. 10, 11)

over the nodes M_i that have a target: in RA one, in TAP many. The nodes carry z of Φ and π of Ψ (see `Anticipator`).
With `across` the same is asked of the other modality's nodes, as a term of its own: in one minimum with
those of its own modality, which are always nearer, they would hardly ever count.

Shapes: B segments, N nodes, K nodes to choose from, D dims.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor

from mmcc.models.anticipator import Anticipator
from mmcc.models.config import ModelConfig
from mmcc.models.nodes import BatchLike, Nodes
from mmcc.objectives.anchors import OTHER, after, anchors_at
from mmcc.objectives.config import above
from mmcc.objectives.distribution import SumCount, means_over_processes
from mmcc.objectives.losses import Losses, Weights
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.spec import ObjectiveConfig

WITHIN, ACROSS = "anticipation", "anticipation_across"


@dataclass(frozen=True)
class AnticipationConfig(ObjectiveConfig):
    """What a node's prediction is compared with."""

    across: bool = False  # nodes of the other modality as well; the paper's baselines have their own modality only
    temperature: float = 0.1  # of edges, in evaluation alone: the cross-modal model's own

    def __post_init__(self) -> None:
        above("temperature", self.temperature, 0)


Config = TypeVar("Config", bound=AnticipationConfig)


def anticipator(model: ModelConfig, objective: Any, vocabulary_size: int) -> Anticipator:
    """The model of both baselines."""
    return Anticipator(model, vocabulary_size)


def edge_temperature(objective: AnticipationConfig) -> float:
    return objective.temperature


class Predictor(Protocol):
    """What the loss asks of a model."""

    def future(self, z: Tensor, /) -> Tensor: ...


class Anticipation(ABC, Generic[Config]):
    """The loss above; a baseline says what the targets are."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @abstractmethod
    def targets(self, nodes: Mapping[str, Nodes], modality: str, ahead: str) -> Tensor:
        """[B, N, K]: for each node of `modality`, the nodes of `ahead` that it may predict."""

    def __call__(
        self, model: Predictor, nodes: Mapping[str, Nodes], batch: BatchLike, weights: Weights, rng: SampleRng
    ) -> Losses:
        means, logged = means_over_processes(self.sum_counts(model, nodes))
        return Losses(torch.stack([means[name] for name in (WITHIN, ACROSS) if name in means]).sum(), logged)

    def sum_counts(self, model: Predictor, nodes: Mapping[str, Nodes]) -> dict[str, SumCount]:
        """Each term's local sum and count; to log, the share of nodes that have a target in their modality."""
        sum_counts: dict[str, SumCount] = {}
        for modality, own in nodes.items():
            prediction = model.future(own.z)
            for name, ahead in ((WITHIN, modality), (ACROSS, OTHER[modality]))[: 1 + self.config.across]:
                targets = self.targets(nodes, modality, ahead)
                sum_count = _to_nearest(prediction, nodes[ahead], targets)
                sum_counts[name] = sum_counts[name] + sum_count if name in sum_counts else sum_count
                if name == WITHIN:
                    found = targets.any(dim=-1)
                    sum_counts[f"target_share/{modality}"] = SumCount.of(found.to(own.z.dtype), own.valid)
        return sum_counts


def later_nodes(nodes: Mapping[str, Nodes], modality: str, ahead: str) -> Tensor:
    """[B, N, K]: the nodes of `ahead` that come after each valid node of `modality`; within one by index, else by
    time."""
    own = nodes[modality]
    every_index = torch.arange(own.valid.shape[1], device=own.valid.device).expand_as(own.valid)
    return after(anchors_at(nodes, modality, every_index), nodes, ahead) & own.valid[..., None]


def _to_nearest(prediction_BND: Tensor, others: Nodes, targets_BNK: Tensor) -> SumCount:
    cosine_BNK = prediction_BND @ others.pi.detach().mT  # both are unit vectors
    nearest_BN = cosine_BNK.masked_fill(~targets_BNK, -torch.inf).max(dim=-1).values
    return SumCount.of(-nearest_BN, targets_BNK.any(dim=-1))
