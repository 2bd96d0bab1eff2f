"""Batches of segments: nodes are packed for the encoders and padded for the objectives.

Shapes: B segments, N frames, K utterances, W words; P and U frames and utterances of all segments together. N, K and
W are those of the longest segment and utterance of the batch, so that padding is minimal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.errors import InputError


class Sample(NamedTuple):
    """One segment, read from the corpus."""

    number: int  # the sample's
    video: str
    frames: NDArray[Any]  # [N, H, W, 3] uint8, or [N, F] float32
    frame_times: NDArray[np.float64]  # [N]
    words: NDArray[Any]  # [K, W] int64, or [K, F] float32
    text_times: NDArray[np.float64]  # [K]


@dataclass
class Batch:
    """Segments ready for a model."""

    frames: Tensor  # [P, H, W, 3] uint8, or [P, F] float32: the valid frames, segment by segment, in order of time
    frame_valid: Tensor  # [B, N] bool
    frame_times: Tensor  # [B, N] float32 seconds; 0 at padding
    # The valid utterances in the same order: [U, W] int64, 0 is padding and 1 an unknown word; or [U, F] float32.
    words: Tensor
    text_valid: Tensor  # [B, K] bool
    text_times: Tensor  # [B, K] float32: an utterance's centre; 0 at padding
    videos: list[str]  # [B]
    samples: Tensor  # [B] int64: the samples' numbers, from which everything random is derived

    def __len__(self) -> int:
        return len(self.videos)

    def to(self, device: torch.device | str) -> Batch:
        return self._with_each(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> Batch:
        return self._with_each(lambda tensor: tensor.pin_memory())

    def _with_each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        tensors = [field.name for field in dataclasses.fields(self) if field.name != "videos"]
        changed: dict[str, Any] = {name: change(getattr(self, name)) for name in tensors}
        return dataclasses.replace(self, **changed)


def collate(samples: Sequence[Sample]) -> Batch:
    frame_valid, frame_times = _padded([sample.frame_times for sample in samples])
    text_valid, text_times = _padded([sample.text_times for sample in samples])
    words = np.concatenate([sample.words for sample in samples])
    if words.dtype == np.int64:
        words = words[:, : int(words.any(axis=0).sum())]  # padding is at the end, so the first columns are in use
    return Batch(
        frames=torch.from_numpy(_packed_frames(samples)),
        frame_valid=frame_valid,
        frame_times=frame_times,
        words=torch.from_numpy(np.ascontiguousarray(words)),
        text_valid=text_valid,
        text_times=text_times,
        videos=[sample.video for sample in samples],
        samples=torch.tensor([sample.number for sample in samples], dtype=torch.int64),
    )


def _packed_frames(samples: Sequence[Sample]) -> NDArray[Any]:
    shapes = {sample.frames.shape[1:]: sample.video for sample in samples}
    if len(shapes) > 1:
        (one, other), (here, there) = list(shapes)[:2], list(shapes.values())[:2]
        raise InputError(
            there,
            f"its frames are {_size(other)} pixels, those of {here} {_size(one)}",
            "The frames of a batch must have one size: ingest with --fit crop or --fit letterbox.",
        )
    return np.concatenate([sample.frames for sample in samples])


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(str(side) for side in reversed(shape[:2]))


def _padded(times: Sequence[NDArray[np.float64]]) -> tuple[Tensor, Tensor]:
    """Which entries are valid, and the times, both [B, longest]; at least one place, so that every index is valid."""
    lengths = np.array([len(each) for each in times])
    valid = np.arange(max(1, lengths.max()))[None, :] < lengths[:, None]
    padded = np.zeros(valid.shape, np.float32)
    padded[valid] = np.concatenate(times)  # row by row, like the mask
    return torch.from_numpy(valid), torch.from_numpy(padded)
