"""Models that were not trained on video: an untrained network, and networks trained on ImageNet.

They read no text and predict nothing: the future looks like the present, and a step like its pictures.

Shapes: P frames, C channels, H × W pixels, D dims.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mmcc.backbones import open_frame_backbone
from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding, register_adapter
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import (
    FeatureSettings,
    FrameEncoderSettings,
    FrameResNetSettings,
    build_frame_encoder,
    load_published_weights,
)
from mmcc.models.nodes import VISION
from mmcc.models.weights import WeightsError

PIXELS = 96  # side that smaller frames are enlarged to: trained at 224, a network sees little in 48; 160 is 5 x slower
_BACKBONE = "efficientnet-lite0"


class FeaturesAdapter:
    """Whatever maps frames to vectors."""

    modalities = (VISION,)
    temperature = 0.1  # they have none of their own: that of the trained models
    past = None
    combine = None

    def __init__(self, name: str, features: Callable[[Tensor], Tensor]) -> None:
        self.name, self._features = name, features

    @torch.inference_mode()
    def embed_frames(self, frames: Tensor) -> Embedding:
        return Embedding.of(self._features(frames))

    def future(self, node: Embedding) -> Tensor:
        return node.pi


def random_adapter(corpus: Corpus, *, width: int = 64, dims: int = 512, seed: int = 0) -> FeaturesAdapter:
    """The frame encoder that the corpus needs, as it is before training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = build_frame_encoder(encoder_for(corpus, width), dims).eval()
    return FeaturesAdapter("random", encoder)


def encoder_for(corpus: Corpus, width: int) -> FrameEncoderSettings:
    """The frame encoder that reads a corpus: vectors, or pictures with a ResNet of that width."""
    if corpus.manifest.encoding == "float32":
        return FeatureSettings(feature_dims=corpus.manifest.size)
    return FrameResNetSettings(width=width)


def imagenet_adapter(corpus: Corpus, *, weights: Path | None = None, pixels: int = PIXELS) -> FeaturesAdapter:
    """torchvision's ResNet-18 from a local .safetensors; without one, the EfficientNet-Lite0 of extra `encoders`."""
    if corpus.manifest.encoding == "float32":
        remedy = "Ingest the videos themselves, or leave this model out."
        raise InputError(corpus.path, "contains feature vectors, but ImageNet networks expect images", remedy)
    # Frames are not resized to what the network was trained at: `encode` takes them as they are.
    network = open_frame_backbone(_BACKBONE).encode if weights is None else _resnet(weights)

    def features(frames_PHWC: Tensor) -> Tensor:
        features_PD: Tensor = network(enlarge(frames_PHWC, pixels))
        return features_PD

    return FeaturesAdapter("imagenet", features)


def encoder_adapter(name: str) -> FeaturesAdapter:
    """A pretrained encoder's vectors as they are, for a corpus that was opened with them."""
    return FeaturesAdapter(name, nn.Identity())


def enlarge(frames_PHWC: Tensor, pixels: int) -> Tensor:
    """uint8 frames whose shorter side is at least `pixels`; those that are large enough stay as they are."""
    shorter = min(frames_PHWC.shape[1:3])
    if shorter >= pixels:
        return frames_PHWC
    frames = frames_PHWC.permute(0, 3, 1, 2).float()
    frames = F.interpolate(frames, scale_factor=pixels / shorter, mode="bilinear")
    return frames.round_().byte().permute(0, 2, 3, 1)


def _resnet(weights: Path) -> nn.Module:
    encoder = build_frame_encoder(FrameResNetSettings(), ModelConfig.dims)
    try:
        load_published_weights(encoder, weights)
    except WeightsError as error:
        raise InputError(error.path, error.cause, error.remedy) from None
    encoder.head = nn.Identity()  # the pooled features: the file has no head
    return encoder.eval()


register_adapter("random", random_adapter)
register_adapter("imagenet", imagenet_adapter)
