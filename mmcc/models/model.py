"""The whole model: encoders Φ, projections Π, the state f, its memory h, the predictors g. It never sees times.

Shapes: B segments, N nodes, P packed (valid) nodes, W words, D dims.
"""

import torch
from torch import Tensor, nn

from mmcc.models.config import ModelConfig
from mmcc.models.encoders import build_frame_encoder
from mmcc.models.mlp import TemporalPredictors, full_precision, mlp, unit_norm
from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.models.registry import Network, register_network
from mmcc.models.text import build_text_encoder


@register_network
class MMCC(Network):
    """Embeds a batch of segments as nodes, and provides the functions that cycles use."""

    model_type = "mmcc"

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.config, self.vocabulary_size = config, vocabulary_size
        dims = config.dims
        self.frame_encoder = build_frame_encoder(config.frame_encoder, dims)
        self.text_encoder = build_text_encoder(config.text_encoder, dims, vocabulary_size)
        self.projections = nn.ModuleDict({VISION: mlp(dims, dims), TEXT: mlp(dims, dims)})
        self.state = mlp(2 * dims, dims)
        self.memory = mlp(2 * dims, dims) if config.memory else None
        self.predictors = TemporalPredictors(dims, config.predictor_rank)

    def embed_frames(self, frames: Tensor) -> Tensor:
        """Φ_V: packed frames [P, H, W, 3] uint8, or features [P, F] → z [P, D]."""
        z_PD: Tensor = self.frame_encoder(frames)
        return z_PD

    def embed_words(self, words_PW: Tensor) -> Tensor:
        """Φ_T: packed utterances as word ids [P, W], 0 = padding → z [P, D]."""
        z_PD: Tensor = self.text_encoder(words_PW)
        return z_PD

    def frame_nodes(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """z and π of packed frames, [P, D] each."""
        z_PD = self.embed_frames(frames)
        return full_precision(z_PD), self.project(z_PD, VISION)

    def text_nodes(self, words_PW: Tensor) -> tuple[Tensor, Tensor]:
        """z and π of packed utterances, [P, D] each."""
        z_PD = self.embed_words(words_PW)
        return full_precision(z_PD), self.project(z_PD, TEXT)

    def project(self, z: Tensor, modality: str) -> Tensor:
        """Π_M: z [..., D] → unit-norm π [..., D], the space both modalities share."""
        return unit_norm(self.projections[modality](z))

    def combine(self, z_vision: Tensor, z_text: Tensor) -> Tensor:
        """f: the state from both modalities, vision first whatever the cycle's start; [..., D]."""
        state: Tensor = self.state(torch.cat([z_vision, z_text], dim=-1))
        return state

    @property
    def remembers(self) -> bool:
        """Whether it has h."""
        return self.memory is not None

    def remember(self, z: Tensor, before: Tensor) -> Tensor:
        """h: a state, and the mean z of what came before it (for pasts: of what came after); [..., D]."""
        assert self.memory is not None, "model.memory is false"
        state: Tensor = self.memory(torch.cat([z, before], dim=-1))
        return state

    def future(self, z: Tensor) -> Tensor:
        """g_fwd: a state [..., D] → the unit-norm π of its future [..., D]."""
        return self.predictors.future(z)

    def past(self, z: Tensor) -> Tensor:
        """g_back: a state [..., D] → the unit-norm π of its past [..., D]."""
        return self.predictors.past(z)

    def future_and_past(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Both for the same states, at three quarters of the cost."""
        return self.predictors.future_and_past(z)

    def forward(self, batch: BatchLike) -> dict[str, Nodes]:
        """Both modalities of a batch. Only valid nodes are computed: padding is free and does not enter batch norm."""
        return {
            VISION: nodes_of(*self.frame_nodes(batch.frames), batch.frame_valid, batch.frame_times),
            TEXT: nodes_of(*self.text_nodes(batch.words), batch.text_valid, batch.text_times),
        }


def nodes_of(z_PD: Tensor, pi_PD: Tensor, valid_BN: Tensor, times_BN: Tensor) -> Nodes:
    """Packed rows as padded nodes."""
    return Nodes(padded(z_PD, valid_BN), padded(pi_PD, valid_BN), valid_BN, times_BN)


def padded(packed_PD: Tensor, valid_BN: Tensor) -> Tensor:
    """Packed rows in their places, zeros elsewhere: [B, N, D]."""
    padded_BND = packed_PD.new_zeros(*valid_BN.shape, packed_PD.shape[-1])
    padded_BND[valid_BN] = packed_PD
    return padded_BND
