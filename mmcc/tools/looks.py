"""How pictures look: colours, contrasts and textures as figures, without any network.

A picture is looked at with 48 pixels on its shorter side, whatever its own size, so that figures of different sources
compare. `photographs` has the looks of real cooking: 675 frames of 225 YouCook2 videos, as a mean and a covariance.

Shapes: P frames, H × W pixels, K figures.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcc.checksums import damage_of
from mmcc.errors import InputError
from mmcc.pretrained import SHIPPED

LOOKED_AT = 48  # pixels on the shorter side
VERSION = "3"  # of the figures
PHOTOGRAPHS = SHIPPED / "photographs" / "looks.npz"  # scripts/photographs.py writes it

Floats = NDArray[np.floating[Any]]


class Photographs(NamedTuple):
    """How photographs look."""

    mean: Floats  # [K]
    covariance: Floats  # [K, K]


@cache
def photographs() -> Photographs:
    """Those that come with the package."""
    if problem := damage_of(PHOTOGRAPHS.parent):
        raise InputError(PHOTOGRAPHS.parent / problem.name, f"{problem.cause}: it is damaged", "Install mmcc again.")
    try:
        with np.load(PHOTOGRAPHS, allow_pickle=False) as stored:
            return Photographs(stored["mean"].astype(np.float64), stored["covariance"].astype(np.float64))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(PHOTOGRAPHS, f"cannot be read ({error})", "Install mmcc again.") from None


def looks_of(pictures_PHWC: NDArray[np.uint8]) -> Floats:
    """[P, K] of pictures of any size."""
    import torch

    from mmcc.tools.footage import at_size

    return looks(at_size(torch.from_numpy(pictures_PHWC), LOOKED_AT).numpy())


def looks(frames_PHWC: NDArray[np.uint8]) -> Floats:
    """Colours, contrasts and textures of each frame [P, K]: what distinguishes a drawing from a photo or a slide."""
    rgb = frames_PHWC.astype(np.float32) / 255
    grey = rgb.mean(axis=3)
    figures = [rgb.mean(axis=(1, 2)), rgb.std(axis=(1, 2)), (rgb.max(axis=3) - rgb.min(axis=3)).mean(axis=(1, 2))]
    for scale in (1, 2, 4):
        for steps in _steps(_averaged(grey, scale)):
            figures += [_log(steps.mean(axis=1)), _log(np.median(steps, axis=1))]
    across, _ = _steps(grey)
    figures += [(across < flat).mean(axis=1) for flat in (0.004, 0.012, 0.03)]
    figures += list(np.quantile(across, (0.9, 0.98), axis=1))
    figures += [_log(each) for each in np.quantile(_curvature(grey), (0.25, 0.5, 0.75, 0.95), axis=1)]
    for tint in (rgb[..., 0] - rgb[..., 1], (rgb[..., 0] + rgb[..., 1]) / 2 - rgb[..., 2]):
        figures += [tint.mean(axis=(1, 2)), tint.std(axis=(1, 2)), _log(_steps(tint)[0].mean(axis=1))]
    shade = np.minimum(grey * 8, 7).astype(np.uint8)
    figures += [np.sqrt((shade == each).mean(axis=(1, 2))) for each in range(8)]
    return np.column_stack(figures)


def _averaged(grey_PHW: Floats, scale: int) -> Floats:
    count, height, width = grey_PHW.shape
    rows, columns = height // scale, width // scale
    blocks = grey_PHW[:, : rows * scale, : columns * scale].reshape(count, rows, scale, columns, scale)
    averaged: Floats = blocks.mean(axis=(2, 4))
    return averaged


def _steps(grey_PHW: Floats) -> tuple[Floats, Floats]:
    """Differences between neighbouring pixels, across and down: [P, …] each."""
    across, down = np.diff(grey_PHW, axis=2), np.diff(grey_PHW, axis=1)
    return np.abs(across).reshape(len(grey_PHW), -1), np.abs(down).reshape(len(grey_PHW), -1)


def _curvature(grey_PHW: Floats) -> Floats:
    around = grey_PHW[:, :-2, 1:-1] + grey_PHW[:, 2:, 1:-1] + grey_PHW[:, 1:-1, :-2] + grey_PHW[:, 1:-1, 2:]
    return np.abs(4 * grey_PHW[:, 1:-1, 1:-1] - around).reshape(len(grey_PHW), -1)


def _log(value: Floats) -> Floats:
    logarithm: Floats = np.log(1e-3 + value)  # 1e-3: a quarter of a step of 8 bits
    return logarithm
