"""Encoders, projections, predictors and soft attention: tensors in, tensors out, and nothing that knows of time."""

from mmcc.models.attention import log_attention, soft_attention
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import register_frame_encoder
from mmcc.models.model import MMCC
from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.models.weights import WeightsError

__all__ = [
    "MMCC",
    "TEXT",
    "VISION",
    "BatchLike",
    "ModelConfig",
    "Nodes",
    "WeightsError",
    "log_attention",
    "register_frame_encoder",
    "soft_attention",
]
