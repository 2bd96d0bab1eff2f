"""Φ_V: frame encoders by name.

A frame encoder is any module that maps packed frames, [P, H, W, 3] uint8 or [P, F] float, to z [P, D]. Yours:

    @register_frame_encoder("average-colour")
    def average_colour(config: ModelConfig) -> nn.Module:
        return AverageColour(config.dims)

Shapes: P frames, H × W pixels, F feature dims, D dims.
"""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from mmcc.models.config import ModelConfig
from mmcc.models.mlp import mlp
from mmcc.models.resnet import PUBLISHED_WIDTH, ResNet18
from mmcc.models.weights import WeightsError, load_weights

IMAGENET_MEAN = (0.485, 0.456, 0.406)  # of RGB in [0, 1]: what the published weights were trained with
IMAGENET_STD = (0.229, 0.224, 0.225)

FrameEncoderFactory = Callable[[ModelConfig], nn.Module]
_FACTORIES: dict[str, FrameEncoderFactory] = {}


def register_frame_encoder(name: str) -> Callable[[FrameEncoderFactory], FrameEncoderFactory]:
    """Make a frame encoder known as `model.frame_encoder: name`; a name belongs to one factory."""

    def register(factory: FrameEncoderFactory) -> FrameEncoderFactory:
        if _FACTORIES.setdefault(name, factory) is not factory:
            raise ValueError(f"a frame encoder named {name!r} is registered already")
        return factory

    return register


def build_frame_encoder(config: ModelConfig) -> nn.Module:
    """The encoder that the configuration names."""
    if config.frame_encoder not in _FACTORIES:
        known = ", ".join(sorted(_FACTORIES))
        raise ValueError(
            f"model.frame_encoder: no encoder is named {config.frame_encoder!r} (known: {known}).\n"
            "Import the module that registers it first."
        )
    return _FACTORIES[config.frame_encoder](config)


@register_frame_encoder("resnet18")
class ResNetEncoder(nn.Module):
    """uint8 pixels → ResNet-18 → linear: the pooled features alone are non-negative, so all their cosines are high."""

    mean: Tensor
    std: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.resnet = ResNet18(config.width)
        self.head = nn.Linear(self.resnet.out_features, config.dims)
        for name, values in (("mean", IMAGENET_MEAN), ("std", IMAGENET_STD)):
            self.register_buffer(name, 255 * torch.tensor(values)[:, None, None], persistent=False)

    def forward(self, frames_PHWC: Tensor) -> Tensor:
        if frames_PHWC.dtype != torch.uint8 or frames_PHWC.ndim != 4:
            raise ValueError(
                f"the resnet18 encoder takes frames [P, H, W, 3] of uint8, not {_describe(frames_PHWC)}.\n"
                "A corpus of feature vectors needs model.frame_encoder: features."
            )
        # The view costs nothing: channels come last in memory, which is the layout convolutions run fastest in.
        pixels = frames_PHWC.permute(0, 3, 1, 2).to(self.mean.dtype).sub_(self.mean).div_(self.std)
        z_PD: Tensor = self.head(self.resnet(pixels))
        return z_PD


@register_frame_encoder("features")
class FeatureEncoder(nn.Module):
    """Vectors that another network computed → linear, ReLU, LayerNorm, linear."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        if not config.feature_dims:
            raise ValueError("the features encoder needs model.feature_dims, the length of the corpus's vectors")
        self.feature_dims = config.feature_dims
        self.layers = mlp(config.feature_dims, config.dims, config.dims)

    def forward(self, features_PF: Tensor) -> Tensor:
        if not features_PF.is_floating_point() or features_PF.shape[1:] != (self.feature_dims,):
            raise ValueError(
                f"the features encoder takes floats [P, {self.feature_dims}], not {_describe(features_PF)}.\n"
                "A corpus of frames needs model.frame_encoder: resnet18; model.feature_dims is the vectors' length."
            )
        z_PD: Tensor = self.layers(features_PF)
        return z_PD


def load_published_weights(encoder: nn.Module, path: Path) -> None:
    """Start from torchvision's ResNet-18, saved as .safetensors; its classifier (fc) is left out."""
    if not isinstance(encoder, ResNetEncoder):
        raise WeightsError(path, "published weights are for model.frame_encoder: resnet18")
    width = encoder.resnet.width
    if width != PUBLISHED_WIDTH:
        raise WeightsError(path, f"the published ResNet-18 has width {PUBLISHED_WIDTH}, but model.width is {width}")
    load_weights(encoder.resnet, path, ignore=lambda name: name.startswith("fc."))


def _describe(tensor: Tensor) -> str:
    return f"{list(tensor.shape)} of {str(tensor.dtype).removeprefix('torch.')}"
