"""A model's input and output: a batch of segments, and the embedded nodes of one modality.

Shapes: B segments, N nodes (frames or utterances), K utterances, P valid frames, U valid utterances, W words,
D dims, F feature dims.
"""

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

VISION, TEXT = "vision", "text"


@dataclass(frozen=True)
class Nodes:
    """One modality of a batch of segments, embedded. Valid nodes come first, in order of time; padding follows."""

    z: Tensor  # [B, N, D] embedding space; zeros at padding
    pi: Tensor  # [B, N, D] shared unit-norm space; zeros at padding
    valid: Tensor  # [B, N] bool
    times: Tensor  # [B, N] float32 seconds: a frame's time, an utterance's centre


class BatchLike(Protocol):
    """The part of a batch that a model reads. Packed rows are the valid nodes in order of (segment, time)."""

    frames: Tensor  # packed: [P, H, W, 3] uint8, or [P, F] float32
    frame_valid: Tensor  # [B, N] bool
    frame_times: Tensor  # [B, N] float32
    words: Tensor  # packed: [U, W] int64 word ids, 0 = padding; or [U, F] float32 vectors of a pretrained text encoder
    text_valid: Tensor  # [B, K] bool
    text_times: Tensor  # [B, K] float32
