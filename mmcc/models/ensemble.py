"""Several models in one, trained side by side on the same batches (`model.members`).

    z = [z¹ … zᴹ]        π = [π¹ … πᴹ] / √M        g(z) = [g¹(z¹) … gᴹ(zᴹ)] / √M        and so Π and f

The cosine of two such vectors is the mean of the members' cosines. Each member starts from weights of its own and has
a loss of its own, so they err differently, and the mean errs less. An ensemble answers like any model, with M times
the dims; a frozen encoder sees each picture once.

Shapes: P packed (valid) nodes, D dims of a member, M members, F dims of an encoder's vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mmcc.models.config import ModelConfig
from mmcc.models.model import MMCC, nodes_of
from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.models.pretrained_encoders import PretrainedFrameEncoder
from mmcc.models.registry import Network, register_network


@register_network
class Ensemble(Network):
    """Its members are `MMCC` models with the same settings."""

    model_type = "ensemble"

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.config, self.vocabulary_size = config, vocabulary_size
        self.members = nn.ModuleList(MMCC(config, vocabulary_size) for _ in range(config.members))

    def embed_frames(self, frames: Tensor) -> Tensor:
        """Φ_V: packed frames [P, H, W, 3] uint8, or features [P, F] → z [P, MD]."""
        frames = self._seen(frames)
        return torch.cat([member.embed_frames(frames) for member in self._each], dim=-1)

    def frame_nodes(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """z and π of packed frames, [P, MD] each."""
        frames = self._seen(frames)
        return _joined([member.frame_nodes(frames) for member in self._each])

    def text_nodes(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """z and π of packed utterances, [P, MD] each."""
        return _joined([member.text_nodes(words) for member in self._each])

    def project(self, z: Tensor, modality: str) -> Tensor:
        """Π_M: z [..., MD] → unit-norm π [..., MD]."""
        return _unit([member.project(own, modality) for member, own in self._with(z)])

    def combine(self, z_vision: Tensor, z_text: Tensor) -> Tensor:
        """f: the state from both modalities [..., MD]."""
        said = self._parts(z_text)
        states = [member.combine(seen, said[at]) for at, (member, seen) in enumerate(self._with(z_vision))]
        return torch.cat(states, dim=-1)

    @property
    def remembers(self) -> bool:
        """Whether its members have h."""
        return self._each[0].remembers

    def remember(self, z: Tensor, before: Tensor) -> Tensor:
        """h: a state, and the mean z of what came before it; [..., MD]."""
        earlier = self._parts(before)
        states = [member.remember(own, earlier[at]) for at, (member, own) in enumerate(self._with(z))]
        return torch.cat(states, dim=-1)

    def future(self, z: Tensor) -> Tensor:
        """g_fwd: a state [..., MD] → the unit-norm π of its future [..., MD]."""
        return _unit([member.future(own) for member, own in self._with(z)])

    def past(self, z: Tensor) -> Tensor:
        """g_back: a state [..., MD] → the unit-norm π of its past [..., MD]."""
        return _unit([member.past(own) for member, own in self._with(z)])

    def future_and_past(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """Both for the same states, at three quarters of the cost."""
        futures, pasts = zip(*(member.future_and_past(own) for member, own in self._with(z)), strict=True)
        return _unit(futures), _unit(pasts)

    def forward(self, batch: BatchLike) -> dict[str, Nodes]:
        """Both modalities of a batch."""
        return {
            VISION: nodes_of(*self.frame_nodes(batch.frames), batch.frame_valid, batch.frame_times),
            TEXT: nodes_of(*self.text_nodes(batch.words), batch.text_valid, batch.text_times),
        }

    @property
    def _each(self) -> list[MMCC]:
        return [member for member in self.members if isinstance(member, MMCC)]

    def _parts(self, x: Tensor) -> Sequence[Tensor]:
        return x.chunk(len(self.members), dim=-1)

    def _with(self, z: Tensor) -> list[tuple[MMCC, Tensor]]:
        return list(zip(self._each, self._parts(z), strict=True))

    def _seen(self, frames: Tensor) -> Tensor:
        """What the members read: of pictures, a frozen encoder's vectors, which are the same for all of them."""
        encoder = self._each[0].frame_encoder
        if frames.is_floating_point() or not isinstance(encoder, PretrainedFrameEncoder) or not encoder.settings.frozen:
            return frames
        with torch.no_grad():
            return encoder.frozen_backbone(frames)


def members_of(model: Network) -> list[Network]:
    """The models that are trained each by its own loss: those of an ensemble, or the model itself."""
    return [*model.members] if isinstance(model, Ensemble) else [model]


def mmcc_model(config: ModelConfig, vocabulary_size: int) -> Network:
    """One model, or an ensemble of them, as the settings say."""
    return Ensemble(config, vocabulary_size) if config.members > 1 else MMCC(config, vocabulary_size)


def _joined(nodes: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    zs, pis = zip(*nodes, strict=True)
    return torch.cat(zs, dim=-1), _unit(pis)


def _unit(parts: Sequence[Tensor]) -> Tensor:
    """Unit-norm vectors side by side, as one."""
    return torch.cat(list(parts), dim=-1) / math.sqrt(len(parts))
