"""Time-agnostic prediction (TAP; Jayaraman et al., 2019): a node predicts whichever later node is easiest.

    L = min_{i < i' ≤ N_M} -cos(f(Φ_M(M_i)), Ψ_M(M_i'))                                    (Eq. 11)

A segment's last node, which has none after it, is left out. Across modalities "after" is by time.

Shapes: B segments, N nodes, K nodes to choose from.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from mmcc.models.nodes import Nodes
from mmcc.objectives.anticipation import Anticipation, later_nodes


class TimeAgnosticPrediction(Anticipation):
    """Eq. 11 over the nodes of both modalities."""

    def targets(self, nodes: Mapping[str, Nodes], modality: str, ahead: str) -> Tensor:
        return later_nodes(nodes, modality, ahead)
