"""MemDPC (Han et al., 2020) on frame embeddings: the future as a convex combination of learned memories.

    c_t = GRU(x_1, …, x_t),   w = softmax(MLP(c_t)),   ẑ_{t+1} = Σ_k w_k m_k,   x = √D · z / |z|

and further ahead with ẑ instead of z: c_{t+1} = GRU(ẑ_{t+1}, c_t). Each direction of time has its own GRU and MLP; the
memory m is shared. Everything is compared in the space of unit-norm z. Vision only: a batch's words are ignored.

Shapes: B segments, N nodes, P packed (valid) nodes, M memory slots, D dims.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from mmcc.models.config import ModelConfig
from mmcc.models.encoders import build_frame_encoder
from mmcc.models.mlp import full_precision, mlp, unit_norm
from mmcc.models.model import MMCC, nodes_of
from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.models.registry import Network, register_network

Direction = Literal["future", "past"]


@register_network
class MemDPC(Network):
    """Embeds frames, aggregates them in order of time, and predicts what comes next, or what came before."""

    model_type = "memdpc"
    sizes = ("slots",)

    def __init__(self, config: ModelConfig, slots: int = 1024) -> None:
        super().__init__()
        self.config, self.slots = config, slots
        dims = config.dims
        self.frame_encoder = build_frame_encoder(config.frame_encoder, dims)
        self.aggregators = nn.ModuleDict({way: nn.GRU(dims, dims, batch_first=True) for way in ("future", "past")})
        self.addresses = nn.ModuleDict({way: mlp(dims, dims, slots) for way in ("future", "past")})
        self.memory = nn.Parameter(torch.randn(slots, dims))

    def embed_frames(self, frames: Tensor) -> Tensor:
        """Φ_V: packed frames [P, H, W, 3] uint8, or features [P, F] → z [P, D]."""
        z_PD: Tensor = self.frame_encoder(frames)
        return z_PD

    def frame_nodes(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """z and π of packed frames, [P, D] each."""
        z_PD = full_precision(self.embed_frames(frames))
        return z_PD, self.project(z_PD)

    def project(self, z: Tensor, modality: str = VISION) -> Tensor:
        """The space of predictions is that of z itself, at unit norm."""
        return unit_norm(z)

    def aggregate(self, z_BND: Tensor, way: Direction) -> Tensor:
        """c after each node, aggregated from the first one on [B, N, D]; for the past, pass the nodes in reverse."""
        gathered_BND: Tensor = self.aggregators[way](self._inputs(z_BND))[0]
        return gathered_BND

    def advance(self, c: Tensor, prediction: Tensor, way: Direction) -> Tensor:
        """c one node further [..., D], with a prediction as the observation."""
        inputs = self._inputs(prediction).reshape(-1, 1, self.config.dims)
        gathered: Tensor = self.aggregators[way](inputs, c.reshape(1, -1, self.config.dims))[0]
        return gathered.reshape(c.shape)

    def address(self, c: Tensor, way: Direction) -> Tensor:
        """Weights of the memories [..., M], which sum to one."""
        weights: Tensor = self.addresses[way](c).softmax(dim=-1)
        return weights

    def predict(self, c: Tensor, way: Direction) -> Tensor:
        """ẑ at unit norm [..., D]."""
        return unit_norm(self.address(c, way) @ self.memory)

    def future(self, z: Tensor) -> Tensor:
        """From a single node as the whole past: z [..., D] → the unit-norm z of what comes next [..., D]."""
        return self._from_one(z, "future")

    def past(self, z: Tensor) -> Tensor:
        """The same for what came before."""
        return self._from_one(z, "past")

    def combine(self, z_vision: Tensor, z_text: Tensor) -> Tensor:
        """It ignores words: the state is vision's alone."""
        return z_vision

    def start_from(self, other: Network) -> None:
        """Take over the frame encoder of an MMCC model, or all weights of a MemDPC."""
        if isinstance(other, MMCC):
            self.frame_encoder.load_state_dict(other.frame_encoder.state_dict())
        else:
            super().start_from(other)

    def forward(self, batch: BatchLike) -> dict[str, Nodes]:
        """Frames as nodes whose π is the unit-norm z, and no text nodes."""
        z_PD, pi_PD = self.frame_nodes(batch.frames)
        nothing_BKD = z_PD.new_zeros(*batch.text_valid.shape, z_PD.shape[-1])
        return {
            VISION: nodes_of(z_PD, pi_PD, batch.frame_valid, batch.frame_times),
            TEXT: Nodes(nothing_BKD, nothing_BKD, torch.zeros_like(batch.text_valid), batch.text_times),
        }

    def _from_one(self, z: Tensor, way: Direction) -> Tensor:
        alone = z.reshape(-1, 1, z.shape[-1])
        return self.predict(self.aggregate(alone, way), way).reshape(z.shape)

    def _inputs(self, z: Tensor) -> Tensor:
        """Entries of about 1, for which a GRU is initialized; the norm of a prediction has no meaning anyway."""
        return unit_norm(z) * math.sqrt(z.shape[-1])
