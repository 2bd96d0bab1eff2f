"""Feature vectors instead of pixels: a noisy, nonlinear view of the latent scene, for fast research runs.

    x = relu(Σ weight · v(token) · A) · B + noise

over the tokens of a moment (the kind of shot, the act, the contents of the vessel in view, the kitchen's look), each
with its own vector. Every number is a small integer stored in a float64, which any BLAS sums without rounding: the
vectors are the same on any machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mmcc.kitchen.script import Moment, Script
from mmcc.kitchen.shots import WORK

RATE = 1.0  # vectors per second
DIMS = 256
_LATENT, _HIDDEN = 128, 512
_NOISE = 0.27  # against a spread of 0.54 of the clean vectors: two views of one moment correlate at 0.8
_SCALE = 1 << 14  # brings the integers to about 1

Tokens = Iterator[tuple[str, int]]  # names and weights


def script_features(script: Script) -> NDArray[np.float32]:
    """[T, DIMS], one vector for each second of a video."""
    latent = np.stack([_latent(moment, script.seed) for moment in script.moments(RATE)])
    clean = np.maximum(latent @ _matrix("A", _LATENT, _HIDDEN), 0) @ _matrix("B", _HIDDEN, DIMS)
    noise = _bell(script.seed, clean.shape) * (_NOISE * _SCALE / 256)
    return ((clean + np.rint(noise)) / _SCALE).astype(np.float32)


def tokens(moment: Moment, video: str) -> Tokens:
    """What a moment shows, as named tokens."""
    yield f"look {video}", 2
    shot = moment.shot
    yield shot.kind, 3
    if shot.kind != WORK:
        yield f"detail {shot.seed}", 4
        return
    yield f"at {shot.focus}", 2
    step = moment.acting
    if step is not None:
        yield f"act {step.act}", 3
        for word in step.item.split():
            yield f"item {word}", 3
    for name, vessel in moment.scene.vessels:
        weight = 2 if name == shot.focus else 1
        for portion in vessel.portions:
            yield f"{name} holds {portion.item}", weight
            yield f"{portion.item} is {portion.form}", weight
            if portion.cooked >= 0.5:
                yield f"{name} cooked", weight
        for portion in vessel.mixed:
            yield f"{portion.item} is mixed", weight
        for portion in vessel.stain:
            yield f"{name} held {portion.item}", weight
        if vessel.covered:
            yield f"{name} covered", weight
        if vessel.in_oven:
            yield f"{name} in the oven", weight


def _latent(moment: Moment, video: str) -> NDArray[np.float64]:
    total = np.zeros(_LATENT)
    for token, weight in tokens(moment, video):
        total += weight * _vector(token)
    return total


@cache
def _matrix(name: str, rows: int, columns: int) -> NDArray[np.float64]:
    return np.rint(_bell(f"matrix {name}", (rows, columns)) * (2 / 256))


def _vector(token: str) -> NDArray[np.float64]:
    if token.startswith(("look ", "detail ")):  # specific to one video: not worth caching
        return _draw_vector(token)
    return _kept_vector(token)


def _draw_vector(token: str) -> NDArray[np.float64]:
    return np.rint(_bell(f"token {token}", (_LATENT,)) * (2 / 256))


_kept_vector = cache(_draw_vector)


def _bell(name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Integers, nearly normal with a deviation of 256: sums of six 16-bit numbers. NumPy keeps raw bits stable only."""
    seed = int.from_bytes(hashlib.sha256(f"mmcc kitchen features {name}".encode()).digest()[:8], "big")
    count = int(np.prod(shape))
    raw = np.random.PCG64(seed).random_raw((count * 6 + 3) // 4).astype("<u8").view("<u2")[: count * 6]
    uniform = raw.reshape(count, 6).astype(np.float64)
    return np.asarray(np.rint((uniform.sum(axis=1) - 3 * 65535) / (65536 / 256) * (2.0**0.5)).reshape(shape))
