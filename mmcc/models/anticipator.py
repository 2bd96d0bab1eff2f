"""The model of RA and TAP: it predicts, from Φ, the frozen features Ψ of a cross-modal model.

    prediction = f(Φ_M(M_i)),    target = Ψ_M(M_j) = π_{M_j} of the cross-modal model           (Eq. 10, 11)

Φ and Ψ are initialized with the same cross-modal model. Φ and f are trained, Ψ is not; f has the architecture of g_fwd
and is shared by the modalities. The model has no past predictor, and no state of both modalities.

Shapes: B segments, N nodes, P packed (valid) nodes, D dims.
"""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

from mmcc.models.config import ModelConfig
from mmcc.models.mlp import full_precision
from mmcc.models.model import MMCC, nodes_of
from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.models.registry import Network, register_network


@register_network
class Anticipator(Network):
    """The used parts of `model` (Φ and f) are trained; `target` is Ψ, always in evaluation mode."""

    model_type = "anticipator"

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.config, self.vocabulary_size = config, vocabulary_size
        self.model, self.target = (MMCC(config, vocabulary_size) for _ in range(2))
        for idle in (self.model.projections, self.model.state, self.model.predictors.backward_head, self.target):
            idle.requires_grad_(False)
        self.target.eval()

    def start_from(self, other: Network) -> None:
        """Initialize both halves with one cross-modal model; f starts from its g_fwd, which is untrained."""
        if not isinstance(other, MMCC):
            super().start_from(other)
            return
        for half in (self.model, self.target):
            half.start_from(other)

    def train(self, mode: bool = True) -> Self:
        super().train(mode)
        self.target.eval()  # batch norm too stays as the cross-modal model left it
        return self

    def embed_frames(self, frames: Tensor) -> Tensor:
        """Φ_V: packed frames [P, H, W, 3] uint8, or features [P, F] → z [P, D]."""
        return self.model.embed_frames(frames)

    def frame_nodes(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """z of Φ, from which to predict, and π of Ψ, the targets of predictions."""
        with torch.no_grad():
            pi_PD = self.target.frame_nodes(frames)[1]
        return full_precision(self.model.embed_frames(frames)), pi_PD

    def text_nodes(self, words_PW: Tensor) -> tuple[Tensor, Tensor]:
        """The same for utterances."""
        with torch.no_grad():
            pi_PD = self.target.text_nodes(words_PW)[1]
        return full_precision(self.model.embed_words(words_PW)), pi_PD

    def future(self, z: Tensor) -> Tensor:
        """f: z of Φ [..., D] → the unit-norm Ψ of its future [..., D]."""
        return self.model.future(z)

    def forward(self, batch: BatchLike) -> dict[str, Nodes]:
        """Nodes with z of Φ and π of Ψ."""
        return {
            VISION: nodes_of(*self.frame_nodes(batch.frames), batch.frame_valid, batch.frame_times),
            TEXT: nodes_of(*self.text_nodes(batch.words), batch.text_valid, batch.text_times),
        }
