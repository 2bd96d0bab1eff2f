"""Φ_V and Φ_T from pretrained backbones: a frozen network's vectors, whitened, then a small head that is trained.

    z = head(dropout(Wᵀ (x − μ)))      x: the backbone's unit-norm vector; μ, W: mean, whitening of the training data

A few hundred videos cannot train a large head: it learns the videos by heart. So the C principal components of the
vectors come first, scaled towards equal variance, and by default a single linear layer follows. μ and W are computed
once from the training videos (`fit`) and stored as buffers.

A frozen backbone is not part of the model's weights. It is opened when the first picture comes: vectors that
`mmcc embed` stored need no backbone. Texts always come as vectors.

Shapes: P frames or texts, H × W pixels, F dims of a vector, C components, D dims.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from mmcc.backbones import FrameBackbone, embed_frames, open_frame_backbone
from mmcc.errors import InputError
from mmcc.models.encoders import FrameEncoderSettings, register_frame_encoder
from mmcc.models.mlp import mlp, unit_norm
from mmcc.models.text import TextEncoderSettings, register_text_encoder

_LEAST_VARIANCE = 1e-4  # of the largest: components below it are noise, which whitening would blow up


@dataclass(frozen=True)
class HeadSettings:
    """What follows the backbone."""

    components: int = 256  # principal components kept; 0: all dims, neither centred nor scaled
    whitening: float = 1.0  # 1: components of equal variance; 0: as they are, scaled by one number
    head: Literal["linear", "mlp"] = "linear"  # a hidden layer overfits before it is good (docs/real.md)
    dropout: float = 0.0  # share of components set to zero in training
    fixed: bool = False  # keep the head as it starts (in closed form): too few frames to improve it
    feature_dims: int = 0  # length of the backbone's vectors: a fact of it, which training fills in
    checksum: str = ""  # of the backbone that the head was trained on, which training fills in

    def __post_init__(self) -> None:
        for name in ("components", "feature_dims"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 0")
        for name in ("whitening", "dropout"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 0 to 1")


class VectorHead(nn.Module):
    """Vectors of a backbone → z."""

    mean: Tensor  # [F]
    directions: Tensor  # [F, C]

    def __init__(self, settings: HeadSettings, dims: int, name: str) -> None:
        super().__init__()
        if not settings.feature_dims:
            raise ValueError(f"the encoder {name} needs feature_dims, the length of its backbone's vectors")
        self.name, self.feature_dims, self.whitening = name, settings.feature_dims, settings.whitening
        inputs = min(settings.components, settings.feature_dims) or settings.feature_dims
        self.whitens = settings.components > 0
        if self.whitens:
            self.register_buffer("mean", torch.zeros(settings.feature_dims))
            self.register_buffer("directions", torch.eye(settings.feature_dims)[:, :inputs].clone())
        self.dropout = nn.Dropout(settings.dropout)
        self.layers = mlp(inputs, dims) if settings.head == "linear" else mlp(inputs, dims, dims)
        self.layers.requires_grad_(not settings.fixed)

    @torch.no_grad()
    def fit(self, vectors_PF: Tensor) -> None:
        """Mean and whitening of the training data: its principal components, each over its spread^whitening."""
        if not self.whitens:
            return
        vectors = unit_norm(vectors_PF.double())
        mean = vectors.mean(dim=0)
        covariance = torch.cov(vectors.T)
        variance, axes = torch.linalg.eigh(covariance)
        kept = self.directions.shape[1]
        variance, axes = variance.flip(0)[:kept].clamp(min=0), axes.flip(1)[:, :kept]
        largest = axes.gather(0, axes.abs().argmax(dim=0, keepdim=True))
        axes = axes * largest.sign()  # a solver may return either sign
        noise = variance < _LEAST_VARIANCE * variance[:1]
        scale = variance.clamp(min=1e-12) ** (-self.whitening / 2)
        scale = scale / (variance * scale**2).masked_fill(noise, 0).sum().sqrt()  # squared norm 1 on average
        self.mean.copy_(mean)
        self.directions.copy_(axes * scale.masked_fill(noise, 0))

    def forward(self, vectors_PF: Tensor) -> Tensor:
        if not vectors_PF.is_floating_point() or vectors_PF.shape[1:] != (self.feature_dims,):
            found = f"{list(vectors_PF.shape)} of {str(vectors_PF.dtype).removeprefix('torch.')}"
            raise ValueError(f"the encoder {self.name} takes vectors [P, {self.feature_dims}] of floats, not {found}")
        z_PD: Tensor = self.layers(self.dropout(self.whitened(vectors_PF)))
        return z_PD

    def whitened(self, vectors_PF: Tensor) -> Tensor:
        """The head's input: components [P, C] of the vectors at unit norm."""
        vectors_PF = unit_norm(vectors_PF)
        return (vectors_PF - self.mean) @ self.directions if self.whitens else vectors_PF


@dataclass(frozen=True)
class PretrainedFrameSettings(HeadSettings, FrameEncoderSettings):
    """`model.frame_encoder` of a pretrained backbone."""

    name: str = ""
    frozen: bool = True  # its vectors are computed once, by `mmcc embed`; false: its weights are trained too


class PretrainedFrameEncoder(nn.Module):
    """Pictures [P, H, W, 3] of uint8, or a backbone's vectors [P, F] → z."""

    def __init__(self, settings: PretrainedFrameSettings, dims: int) -> None:
        super().__init__()
        self.settings = settings
        self.head = VectorHead(settings, dims, settings.name)
        self._frozen: list[FrameBackbone] = []  # in a list, so that it is no submodule: its weights are not ours
        if not settings.frozen:
            backbone = self._open()
            if not backbone.trainable:
                remedy = "Set model.frame_encoder.frozen to true."
                raise InputError("model.frame_encoder", f"{settings.name} cannot be trained", remedy)
            self.backbone = copy.deepcopy(backbone).requires_grad_(True)

    def forward(self, frames: Tensor) -> Tensor:
        if frames.is_floating_point():
            z_PD: Tensor = self.head(frames)
            return z_PD
        if not self.settings.frozen:
            return self.head(self.backbone(frames))  # type: ignore[no-any-return]
        with torch.no_grad():
            vectors_PF = self.frozen_backbone(frames)
        return self.head(vectors_PF)  # type: ignore[no-any-return]

    def frozen_backbone(self, frames_PHWC: Tensor) -> Tensor:
        """The backbone's vectors of pictures, from the backbone that the head was trained on."""
        if not self._frozen:
            self._frozen.append(self._open())
        backbone = self._frozen[0].to(frames_PHWC.device)
        (vectors_PF,) = embed_frames(backbone, [frames_PHWC])
        return vectors_PF.clone()  # outside of inference mode, in which the backbone works

    def _open(self) -> FrameBackbone:
        backbone = open_frame_backbone(self.settings.name)
        require_same_backbone(self.settings.name, self.settings.checksum, backbone.checksum)
        return backbone


@dataclass(frozen=True)
class PretrainedTextSettings(HeadSettings, TextEncoderSettings):
    """`model.text_encoder` of a pretrained backbone, which is always frozen."""

    name: str = ""


class PretrainedTextEncoder(nn.Module):
    """A text backbone's vectors [P, F] → z. It needs no vocabulary."""

    def __init__(self, settings: PretrainedTextSettings, dims: int, vocabulary_size: int) -> None:
        super().__init__()
        self.head = VectorHead(settings, dims, settings.name)

    def forward(self, vectors_PF: Tensor) -> Tensor:
        z_PD: Tensor = self.head(vectors_PF)
        return z_PD


def require_same_backbone(name: str, trained_on: str, found: str) -> None:
    """InputError if a head was trained on another version of its backbone."""
    if trained_on and found != trained_on:
        cause = f"differs from the one that the model was trained on ({found[:12]} instead of {trained_on[:12]})"
        raise InputError(name, cause, "Install the version of it that the model was trained on, or train again.")


@dataclass(frozen=True)
class EfficientNetLite0Settings(PretrainedFrameSettings):
    name: str = "efficientnet-lite0"


@dataclass(frozen=True)
class EfficientNetLite1Settings(PretrainedFrameSettings):
    name: str = "efficientnet-lite1"


@dataclass(frozen=True)
class EfficientNetLite2Settings(PretrainedFrameSettings):
    name: str = "efficientnet-lite2"


@dataclass(frozen=True)
class OnnxFrameSettings(PretrainedFrameSettings):
    name: str = "onnx"  # given as onnx:FILE


@dataclass(frozen=True)
class MiniLmSettings(PretrainedTextSettings):
    name: str = "minilm"


@dataclass(frozen=True)
class OnnxTextSettings(PretrainedTextSettings):
    name: str = "onnx"  # given as onnx:FILE


_LITE = (EfficientNetLite0Settings, EfficientNetLite1Settings, EfficientNetLite2Settings)
for _frame_settings in (*_LITE, OnnxFrameSettings):
    register_frame_encoder(_frame_settings)(PretrainedFrameEncoder)
for _text_settings in (MiniLmSettings, OnnxTextSettings):
    register_text_encoder(_text_settings)(PretrainedTextEncoder)
