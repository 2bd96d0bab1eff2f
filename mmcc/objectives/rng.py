"""Random numbers that belong to a sample, not to a process.

Every number is a hash of (seed, step, sample number, name, place), so a sample's numbers do not depend on its batch,
worker or process, on padding, or on resuming.

Shapes: B segments.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

# Multipliers and shifts of SplitMix64's finalizer (Steele et al., 2014), as signed 64-bit numbers.
_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
_FIRST = 0xBF58476D1CE4E5B9 - (1 << 64)
_SECOND = 0x94D049BB133111EB - (1 << 64)
_BITS = 23  # of a uniform number: with half a unit added it is exact in float32, and neither 0 nor 1


@dataclass(frozen=True)
class SampleRng:
    """The random numbers of one batch."""

    seed: int
    samples: Tensor  # [B] int64, the global sample numbers
    step: int = 0  # distinguishes visits of one sample where sample numbers repeat, as in validation

    def uniform(self, name: str, *shape: int) -> Tensor:
        """Numbers in (0, 1), [B, *shape]; a place's number does not depend on the size of the shape."""
        hashed = _mix(self.samples + _key(self.seed, self.step, name))
        for size in shape:
            place = torch.arange(size, device=hashed.device)
            hashed = _mix(hashed[..., None] + (place + 1) * _GOLDEN)
        return (_shift_right(hashed, 64 - _BITS).float() + 0.5) * 2.0**-_BITS

    def gumbel(self, name: str, *shape: int) -> Tensor:
        """Standard Gumbel numbers: the largest of log p_i + gumbel_i is at i with probability p_i."""
        return -(-self.uniform(name, *shape).log()).log()


def _key(seed: int, step: int, name: str) -> int:
    digest = hashlib.blake2b(f"{seed}/{step}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _mix(x: Tensor) -> Tensor:
    x = x * _GOLDEN
    x = (x ^ _shift_right(x, 30)) * _FIRST
    x = (x ^ _shift_right(x, 27)) * _SECOND
    return x ^ _shift_right(x, 31)


def _shift_right(x: Tensor, bits: int) -> Tensor:
    """Torch's >> copies the sign bit; a hash needs zeros."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)
