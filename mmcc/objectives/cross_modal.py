"""Cross-modal correspondence alone: the baseline that predicts nothing, and the Ψ that RA and TAP predict.

L = λ2 L_cross-modal                                       (Eq. 13, in the form that `cross_modal.form` names)
"""

from __future__ import annotations

from collections.abc import Mapping

from mmcc.models.nodes import BatchLike, Nodes
from mmcc.models.registry import Model
from mmcc.objectives.config import ObjectiveConfig
from mmcc.objectives.correspondence import cross_modal_loss
from mmcc.objectives.distribution import means_over_processes
from mmcc.objectives.log_sums import batch_keys
from mmcc.objectives.losses import Losses, LossWeights
from mmcc.objectives.rng import SampleRng


class CrossModalObjective:
    """A moment's frame and its narration should find each other; g and f learn nothing."""

    def __init__(self, config: ObjectiveConfig) -> None:
        self.config = config

    def __call__(
        self, model: Model, nodes: Mapping[str, Nodes], batch: BatchLike, weights: LossWeights, rng: SampleRng
    ) -> Losses:
        sum_count = cross_modal_loss(nodes, batch_keys(nodes), self.config.cross_modal)
        means, logged = means_over_processes({"cross_modal": sum_count})
        return Losses(weights.cross_modal * means["cross_modal"], logged)
