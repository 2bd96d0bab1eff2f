"""Encoders, projections, predictors and soft attention: tensors in, tensors out, without any notion of time."""

from mmcc.models.anticipator import Anticipator
from mmcc.models.attention import log_attention, soft_attention
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import register_frame_encoder
from mmcc.models.memdpc import MemDPC
from mmcc.models.model import MMCC
from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.models.registry import Model, load_model, register_model
from mmcc.models.weights import WeightsError

__all__ = [
    "MMCC",
    "TEXT",
    "VISION",
    "Anticipator",
    "BatchLike",
    "MemDPC",
    "Model",
    "ModelConfig",
    "Nodes",
    "WeightsError",
    "load_model",
    "log_attention",
    "register_frame_encoder",
    "register_model",
    "soft_attention",
]
