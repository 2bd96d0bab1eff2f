"""Cross-modal correspondence alone: the baseline that predicts nothing, and the Ψ that RA and TAP predict.

L = L_cross-modal                                          (Eq. 13, in the form named by `cross_modal.form`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mmcc.models.nodes import BatchLike, Nodes
from mmcc.models.registry import Network
from mmcc.objectives.config import CrossModalConfig
from mmcc.objectives.correspondence import cross_modal_loss
from mmcc.objectives.distribution import means_over_processes
from mmcc.objectives.log_sums import batch_keys
from mmcc.objectives.losses import Losses, Weights
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.spec import TEXT_SKILL, ObjectiveConfig, ObjectiveSpec, register_objective

CROSS_MODAL = "cross_modal"


@dataclass(frozen=True)
class CrossModalObjectiveConfig(ObjectiveConfig):
    """Correspondence and nothing else."""

    name: str = CROSS_MODAL
    cross_modal: CrossModalConfig = field(default_factory=CrossModalConfig)


class CrossModalObjective:
    """A frame and the words spoken with it should retrieve each other; g and f stay untrained."""

    def __init__(self, config: CrossModalObjectiveConfig) -> None:
        self.config = config

    def __call__(
        self, model: Network, nodes: Mapping[str, Nodes], batch: BatchLike, weights: Weights, rng: SampleRng
    ) -> Losses:
        sum_count = cross_modal_loss(nodes, batch_keys(nodes), self.config.cross_modal)
        means, logged = means_over_processes({"cross_modal": sum_count})
        return Losses(means["cross_modal"], logged)


def _temperature(config: CrossModalObjectiveConfig) -> float:
    return config.cross_modal.temperature


register_objective(
    ObjectiveSpec(
        CrossModalObjectiveConfig,
        label="Cross-modal",
        purpose="to match each frame with the words spoken with it",
        loss=CrossModalObjective,
        skills=frozenset({TEXT_SKILL}),
        terms=("cross_modal",),
        temperature=_temperature,
    )
)
