"""Encoders, projections, predictors and soft attention: tensors in, tensors out, without any notion of time."""

from mmcc.models.anticipator import Anticipator
from mmcc.models.attention import log_attention, soft_attention
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import register_frame_encoder
from mmcc.models.memdpc import MemDPC
from mmcc.models.model import MMCC
from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.models.pretrained_encoders import PretrainedFrameSettings, PretrainedTextSettings
from mmcc.models.registry import Network, load_network, register_network
from mmcc.models.weights import WeightsError

__all__ = [
    "MMCC",
    "TEXT",
    "VISION",
    "Anticipator",
    "BatchLike",
    "MemDPC",
    "ModelConfig",
    "Network",
    "Nodes",
    "PretrainedFrameSettings",
    "PretrainedTextSettings",
    "WeightsError",
    "load_network",
    "log_attention",
    "register_frame_encoder",
    "register_network",
    "soft_attention",
]
