"""Representation anticipation (RA; Vondrick et al., 2016): a node predicts what comes right after it.

    L = -cos(f(Φ_M(M_i)), Ψ_M(M_j))                                                        (Eq. 10)

In vision M_j is the frame one second after M_i, whatever the frame rate: the one nearest that moment, if it is within
a quarter of a second of it. In text it is the next utterance. A node that has no M_j is left out. Across modalities
M_j is, of the nodes after M_i, the one nearest to one second after it.

Shapes: B segments, N nodes, K nodes to choose from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mmcc.models.nodes import VISION, Nodes
from mmcc.objectives.anticipation import Anticipation, AnticipationConfig, anticipator, edge_temperature, later_nodes
from mmcc.objectives.config import above, within
from mmcc.objectives.cross_modal import CROSS_MODAL
from mmcc.objectives.spec import FUTURE, TEXT_SKILL, ObjectiveSpec, register_objective


@dataclass(frozen=True)
class RAConfig(AnticipationConfig):
    """RA."""

    name: str = "representation_anticipation"
    seconds: float = 1.0  # how far ahead the target frame lies; the paper's
    tolerance: float = 0.25  # how far off that moment it may be; more, and 2 fps would take the wrong frame

    def __post_init__(self) -> None:
        super().__post_init__()
        above("seconds", self.seconds, 0)
        within("tolerance", self.tolerance, 0, self.seconds)


class RepresentationAnticipation(Anticipation[RAConfig]):
    """Eq. 10 over the nodes of both modalities."""

    def targets(self, nodes: Mapping[str, Nodes], modality: str, ahead: str) -> Tensor:
        later = later_nodes(nodes, modality, ahead)
        if modality != ahead:
            return _nearest(nodes[modality].times, nodes[ahead].times, later, self.config)
        if modality == VISION:
            return frame_ahead(nodes[modality].times, later, self.config)
        return later & ~later.roll(1, dims=-1)  # later nodes lie side by side: the first has none before it


def frame_ahead(times_BN: Tensor, later_BNN: Tensor, config: RAConfig) -> Tensor:
    """[B, N, N]: of the later frames, the one nearest to `seconds` ahead, where it is near enough."""
    off = (times_BN[:, None] - times_BN[..., None] - config.seconds).abs()
    return _nearest(times_BN, times_BN, later_BNN, config) & (off <= config.tolerance)


def no_frame_ahead(config: RAConfig, times_N: Tensor) -> str:
    """What is missing in frames at these times; empty if a single one has a target."""
    later = times_N[None, None] > times_N[None, :, None]
    if frame_ahead(times_N[None], later, config).any():
        return ""
    return f"no frame has another {config.seconds:g} s (± {config.tolerance:g}) after it, which RA learns to predict"


def _nearest(times_BN: Tensor, others_BK: Tensor, allowed_BNK: Tensor, config: RAConfig) -> Tensor:
    """[B, N, K]: of the allowed nodes, the one nearest to `seconds` ahead."""
    off = (others_BK[:, None] - times_BN[..., None] - config.seconds).abs().masked_fill(~allowed_BNK, torch.inf)
    nearest = torch.zeros_like(allowed_BNK).scatter(-1, off.argmin(dim=-1, keepdim=True), True)
    return nearest & allowed_BNK


register_objective(
    ObjectiveSpec(
        RAConfig,
        label="Repr. Ant.",
        short="ra",
        purpose="to predict the frame a fixed time ahead, and the next utterance",
        loss=RepresentationAnticipation,
        model=anticipator,
        skills=frozenset({TEXT_SKILL, FUTURE}),
        temperature=edge_temperature,
        starts_from=CROSS_MODAL,
        misses=no_frame_ahead,
    )
)
