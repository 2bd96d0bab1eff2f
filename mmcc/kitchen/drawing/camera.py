"""From a drawn picture to a frame: where the camera points, its lens, the light and its sensor.

Pixel arithmetic uses integers, so that a frame is the same on any machine. Nothing has a direction in time:
a motion and its reverse are equally likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from mmcc.kitchen.drawing.look import Look
from mmcc.kitchen.rng import Rng

MARGIN = 0.2  # the drawn canvas is this share wider than the view of a still camera

_MOST_ZOOM = 0.05  # these three are shares of the view, and together stay within the margin
_MOST_DRIFT = 0.05
_MOST_SHAKE = 0.02
_FLICKER_STEPS = 64  # per unit of brightness: each step has its table


@dataclass(frozen=True)
class Motion:
    """How the camera moves in one shot; lengths are shares of a still camera's view."""

    drift: tuple[float, float] = (0.0, 0.0)  # x and y from the middle of the shot to its end
    zoom: float = 0.0  # how much wider the view is at the end than in the middle
    shake: float = 0.0
    flicker: float = 0.0  # of the exposure
    phases: tuple[tuple[float, float], ...] = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0))  # of x, y and the exposure

    def reversed(self) -> Motion:
        """The same motion backwards; shake and flicker look the same in both directions."""
        return Motion((-self.drift[0], -self.drift[1]), -self.zoom, self.shake, self.flicker, self.phases)

    def seen(self, side: int, seconds: float, length: float) -> tuple[float, float, float, float]:
        """The visible box of a canvas of `side` pixels: left, top, right, bottom."""
        course = min(1.0, max(-1.0, 2 * seconds / length - 1)) if length > 0 else 0.0
        rest = side / (1 + MARGIN)
        half = rest * (1 + self.zoom * course) / 2
        x, y = (
            side / 2 + rest * (drift * course + self.shake * sway(seconds, phases))
            for drift, phases in zip(self.drift, self.phases[:2], strict=True)
        )
        # 1/64 pixel: rougher than the last digit of a sine, finer than visible
        left, top, right, bottom = (
            math.floor(edge * 64 + 0.5) / 64 for edge in (x - half, y - half, x + half, y + half)
        )
        return left, top, right, bottom

    def exposure(self, seconds: float) -> float:
        return 1.0 + self.flicker * sway(seconds, self.phases[2])


def sway(seconds: float, phases: tuple[float, float]) -> float:
    """Between -1 and 1. With random phases, all times look the same, and so do forwards and backwards."""
    return 0.6 * math.sin(2.3 * seconds + phases[0]) + 0.4 * math.sin(5.7 * seconds + phases[1])


def draw_phases(rng: Rng) -> tuple[float, float]:
    return rng.uniform(0, math.tau), rng.uniform(0, math.tau)


def draw_motion(rng: Rng) -> Motion:
    """A tripod, a slow pan or zoom, or a hand."""
    kind = rng.weighted({"tripod": 4, "pan": 2, "zoom": 2, "hand": 2})
    drift = _MOST_DRIFT if kind in ("pan", "hand") else 0.0
    return Motion(
        drift=(rng.uniform(-drift, drift), rng.uniform(-drift, drift)),
        zoom=rng.uniform(-_MOST_ZOOM, _MOST_ZOOM) if kind in ("zoom", "hand") else 0.0,
        shake=rng.uniform(0.004, _MOST_SHAKE) if kind == "hand" else 0.0,
        flicker=rng.uniform(0.0, 0.04) if rng.chance(0.4) else 0.0,
        phases=(draw_phases(rng), draw_phases(rng), draw_phases(rng)),
    )


def expose(
    image: Image.Image, size: int, look: Look, motion: Motion, seconds: float, length: float, noise: int
) -> NDArray[np.uint8]:
    """A frame of `size` pixels at a time of a shot; `noise` is a random number, different for each frame."""
    box = motion.seen(image.width, seconds, length)
    frame = image.resize((size, size), Image.Resampling.BILINEAR, box=box)
    if look.blur > 0:
        frame = frame.filter(ImageFilter.BoxBlur(look.blur * size / 96))
    steps = math.floor(motion.exposure(seconds) * _FLICKER_STEPS + 0.5)
    lit = np.asarray(frame.point(_light(look.gains, look.brightness, look.contrast, steps)))
    if look.vignette <= 0 and look.noise <= 0:
        return lit.copy()
    values = lit.astype(np.int32)
    values *= _vignette(size, look.vignette)
    if look.noise > 0:
        pool = _noise_pool(look.seed, size, look.noise)
        start = _scrambled(noise) % (len(pool) - values.size)
        values += pool[start : start + values.size].reshape(values.shape)
    values += 128
    values >>= 8
    return values.clip(0, 255, out=values).astype(np.uint8)


def _scrambled(number: int) -> int:
    """Map neighbouring numbers far apart: noise that advanced by one step per frame would count the frames."""
    number &= 0xFFFFFFFF
    for factor in (0x45D9F3B, 0x2C1B3C6D):
        number = ((number >> 16) ^ number) * factor & 0xFFFFFFFF
    return (number >> 16) ^ number


@lru_cache(maxsize=64)
def _light(gains: tuple[float, float, float], brightness: float, contrast: float, steps: int) -> list[int]:
    """A lookup table for red, green and blue."""
    exposed = brightness * steps / _FLICKER_STEPS
    return [
        min(255, max(0, math.floor((value * gain * exposed - 128) * contrast + 128.5)))
        for gain in gains
        for value in range(256)
    ]


@lru_cache(maxsize=4)
def _vignette(size: int, strength: float) -> NDArray[np.int32]:
    """How much light arrives, in 1/256: all of it in the middle, `strength` less in the corners."""
    distance = 2 * np.arange(size, dtype=np.int64) - (size - 1)
    square = distance**2
    share = square[:, None] + square[None, :]
    dimming = math.floor(strength * 256 + 0.5)
    dimmed: NDArray[np.int32] = (256 - share * dimming // (2 * size * size)).astype(np.int32)
    return dimmed[..., None]


@lru_cache(maxsize=4)
def _noise_pool(seed: str, size: int, level: float) -> NDArray[np.int32]:
    """Noise for a few frames, in 1/256 grey levels: each frame reads it from another place."""
    count = 3 * size * size * 3
    name = math.floor(Rng(seed, "sensor").uniform(0, 2**48))
    # four bytes summed are nearly normal, and only a generator's raw stream is guaranteed to stay the same
    bytes_ = np.random.PCG64(name).random_raw((count + 1) // 2).astype("<u8").view(np.uint8)[: 4 * count]
    summed = bytes_.reshape(count, 4).sum(axis=1, dtype=np.int32) * 2 - 4 * 255
    scale = math.floor(level * 256 / _DEVIATION * 4096 + 0.5)
    pool: NDArray[np.int32] = ((summed.astype(np.int64) * scale) >> 12).astype(np.int32)
    return pool


_DEVIATION = 2 * math.sqrt(4 * (256**2 - 1) / 12)  # of twice the sum of four bytes
