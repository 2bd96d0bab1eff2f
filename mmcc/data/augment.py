"""Light augmentation: the same crop, flip and colours for all frames of a segment, so that only the world moves.

uint8 in and out; N frames of H x W pixels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from mmcc.data.config import DataConfig
from mmcc.data.rng import Use, generator


def augment(frames_NHW3: NDArray[np.uint8], config: DataConfig, seed: int, sample: int) -> NDArray[np.uint8]:
    """A new array of the same shape; its randomness is decided by (seed, sample)."""
    rng = generator(seed, Use.AUGMENTATION, sample)
    height, width = frames_NHW3.shape[1:3]
    side = np.sqrt(config.crop_smallest + rng.random() * (1 - config.crop_smallest))
    crop_height, crop_width = max(1, round(height * side)), max(1, round(width * side))
    top = int(rng.random() * (height - crop_height + 1))
    left = int(rng.random() * (width - crop_width + 1))
    cropped = torch.from_numpy(frames_NHW3[:, top : top + crop_height, left : left + crop_width])
    if rng.random() < config.flip:
        cropped = cropped.flip(2)
    gains = _gains(rng, config.colour)
    planes = cropped.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
    resized = F.interpolate(planes, size=(height, width), mode="bilinear", align_corners=False)
    return _lit(resized.permute(0, 2, 3, 1).numpy(), gains)


def _gains(rng: np.random.Generator, strength: float) -> NDArray[np.uint16]:
    """The gain of each channel, in 64ths: one draw for the light's strength, one per channel for its colour."""
    draws = 1 + strength * (2 * rng.random(4) - 1)
    gains: NDArray[np.uint16] = np.rint(64 * draws[0] * draws[1:]).astype(np.uint16)
    return gains


def _lit(frames_NHW3: NDArray[Any], gains: NDArray[np.uint16]) -> NDArray[np.uint8]:
    """Levels times gains, rounded; 16 bits hold gains below 4 and take a third of the time of floats."""
    rows_NHX = frames_NHW3.reshape(*frames_NHW3.shape[:2], -1)
    levels = np.multiply(rows_NHX, np.tile(gains, frames_NHW3.shape[2]), dtype=np.uint16)
    levels += 32  # to round, not truncate
    levels >>= 6
    lit: NDArray[np.uint8] = np.minimum(levels, 255).astype(np.uint8)
    return lit.reshape(frames_NHW3.shape)
