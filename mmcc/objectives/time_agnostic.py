"""Time-agnostic prediction (TAP; Jayaraman et al., 2019): a node predicts whichever later node is easiest.

    L = min_{i < i' ≤ N_M} -cos(f(Φ_M(M_i)), Ψ_M(M_i'))                                    (Eq. 11)

A segment's last node, which has none after it, is left out. Across modalities "after" is by time.

Shapes: B segments, N nodes, K nodes to choose from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from mmcc.models.nodes import Nodes
from mmcc.objectives.anticipation import Anticipation, AnticipationConfig, anticipator, edge_temperature, later_nodes
from mmcc.objectives.cross_modal import CROSS_MODAL
from mmcc.objectives.spec import FUTURE, TEXT_SKILL, ObjectiveSpec, register_objective


@dataclass(frozen=True)
class TAPConfig(AnticipationConfig):
    """TAP."""

    name: str = "time_agnostic"


class TimeAgnosticPrediction(Anticipation[TAPConfig]):
    """Eq. 11 over the nodes of both modalities."""

    def targets(self, nodes: Mapping[str, Nodes], modality: str, ahead: str) -> Tensor:
        return later_nodes(nodes, modality, ahead)


register_objective(
    ObjectiveSpec(
        TAPConfig,
        label="TAP",
        short="tap",
        purpose="to predict some later moment, whichever is easiest",
        loss=TimeAgnosticPrediction,
        model=anticipator,
        skills=frozenset({TEXT_SKILL, FUTURE}),
        temperature=edge_temperature,
        starts_from=CROSS_MODAL,
    )
)
