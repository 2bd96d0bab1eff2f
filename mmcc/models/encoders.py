"""Φ_V: frame encoders by name.

A frame encoder is any module that maps packed frames, [P, H, W, 3] uint8 or [P, F] float, to z [P, D]. To add one:

    @dataclass(frozen=True)
    class AverageColourSettings(FrameEncoderSettings):
        name: str = "average-colour"
        power: float = 1.0

    @register_frame_encoder(AverageColourSettings)
    def average_colour(settings: AverageColourSettings, dims: int) -> nn.Module:
        return AverageColour(settings.power, dims)

`--model.frame_encoder average-colour --model.frame_encoder.power 2` then trains with it.

Shapes: P frames, H × W pixels, F feature dims, D dims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from mmcc.models.mlp import mlp
from mmcc.models.resnet import PUBLISHED_WIDTH, ResNet18
from mmcc.models.weights import WeightsError, load_weights
from mmcc.registry import Registry
from mmcc.settings import NamedSettings

IMAGENET_MEAN = (0.485, 0.456, 0.406)  # of RGB in [0, 1]: what the published weights were trained with
IMAGENET_STD = (0.229, 0.224, 0.225)

FrameEncoderFactory = Callable[[Any, int], nn.Module]  # its settings, and the dims of z


class FrameEncoderEntry(NamedTuple):
    """An encoder's settings and factory."""

    settings: type[FrameEncoderSettings]
    build: FrameEncoderFactory


FRAME_ENCODERS: Registry[FrameEncoderEntry] = Registry("frame encoder")


@dataclass(frozen=True)
class FrameEncoderSettings(NamedSettings):
    """`model.frame_encoder`. Each encoder has a subclass with its settings; the default name is the encoder's."""

    registry: ClassVar[Registry[Any]] = FRAME_ENCODERS
    name: str = "resnet18"  # the paper's
    reads_features: ClassVar[bool] = False  # vectors of a feature corpus, not pictures


def register_frame_encoder(
    settings: type[FrameEncoderSettings],
) -> Callable[[FrameEncoderFactory], FrameEncoderFactory]:
    """Register a frame encoder under its settings' name; names must be unique."""

    def register(factory: FrameEncoderFactory) -> FrameEncoderFactory:
        FRAME_ENCODERS.add(settings.own_name(), FrameEncoderEntry(settings, factory))
        return factory

    return register


def build_frame_encoder(settings: FrameEncoderSettings, dims: int) -> nn.Module:
    """The encoder named in the settings."""
    return FRAME_ENCODERS.find(settings.entry_name(settings.name)).build(settings, dims)


@dataclass(frozen=True)
class FrameResNetSettings(FrameEncoderSettings):
    """ResNet-18, trained from scratch unless train.frame_weights is set."""

    name: str = "resnet18"
    width: int = PUBLISHED_WIDTH  # channels of the first stage: 64 is the published net, 16 is 10 times faster on a CPU

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width is {self.width}; it must be at least 1")


@register_frame_encoder(FrameResNetSettings)
class ResNetEncoder(nn.Module):
    """uint8 pixels → ResNet-18 → linear: pooled features are non-negative, so without it all cosines would be high."""

    mean: Tensor
    std: Tensor

    def __init__(self, settings: FrameResNetSettings, dims: int) -> None:
        super().__init__()
        self.resnet = ResNet18(settings.width)
        self.head = nn.Linear(self.resnet.out_features, dims)
        for name, values in (("mean", IMAGENET_MEAN), ("std", IMAGENET_STD)):
            self.register_buffer(name, 255 * torch.tensor(values)[:, None, None], persistent=False)

    def forward(self, frames_PHWC: Tensor) -> Tensor:
        if frames_PHWC.dtype != torch.uint8 or frames_PHWC.ndim != 4:
            raise ValueError(
                f"the resnet18 encoder takes frames [P, H, W, 3] of uint8, not {_describe(frames_PHWC)}.\n"
                "A corpus of feature vectors needs model.frame_encoder: features."
            )
        # The view is free: channels stay last in memory, the fastest layout for convolutions.
        pixels = frames_PHWC.permute(0, 3, 1, 2).to(self.mean.dtype).sub_(self.mean).div_(self.std)
        z_PD: Tensor = self.head(self.resnet(pixels))
        return z_PD


@dataclass(frozen=True)
class FeatureSettings(FrameEncoderSettings):
    """For a corpus of precomputed feature vectors."""

    reads_features: ClassVar[bool] = True
    name: str = "features"
    feature_dims: int = 0  # length of the vectors: a fact of the corpus, which training fills in

    def __post_init__(self) -> None:
        if self.feature_dims < 0:
            raise ValueError(f"feature_dims is {self.feature_dims}; it must be at least 0")


@register_frame_encoder(FeatureSettings)
class FeatureEncoder(nn.Module):
    """Precomputed feature vectors → linear, ReLU, LayerNorm, linear."""

    def __init__(self, settings: FeatureSettings, dims: int) -> None:
        super().__init__()
        if not settings.feature_dims:
            raise ValueError(
                "the features encoder needs frame_encoder.feature_dims, the length of the corpus's vectors"
            )
        self.feature_dims = settings.feature_dims
        self.layers = mlp(settings.feature_dims, dims, dims)

    def forward(self, features_PF: Tensor) -> Tensor:
        if not features_PF.is_floating_point() or features_PF.shape[1:] != (self.feature_dims,):
            raise ValueError(
                f"the features encoder takes floats [P, {self.feature_dims}], not {_describe(features_PF)}.\n"
                "A corpus of frames needs model.frame_encoder: resnet18; feature_dims is the vectors' length."
            )
        z_PD: Tensor = self.layers(features_PF)
        return z_PD


def load_published_weights(encoder: nn.Module, path: Path) -> None:
    """Start from torchvision's ResNet-18, saved as .safetensors; its classifier (fc) is ignored."""
    if not isinstance(encoder, ResNetEncoder):
        raise WeightsError(path, "published weights are for model.frame_encoder: resnet18")
    width = encoder.resnet.width
    if width != PUBLISHED_WIDTH:
        raise WeightsError(
            path, f"the published ResNet-18 has width {PUBLISHED_WIDTH}, but model.frame_encoder.width is {width}"
        )
    load_weights(encoder.resnet, path, ignore=lambda name: name.startswith("fc."))


def _describe(tensor: Tensor) -> str:
    return f"{list(tensor.shape)} of {str(tensor.dtype).removeprefix('torch.')}"
