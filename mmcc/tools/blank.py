"""Frames that show nothing: blank ones, fades from or to a blank one, and text on a plain background.

A plain background is one that a smooth surface explains: of each colour channel a quadratic function of the place,
fitted robustly, so that gradients and vignettes count as plain.

    residual r = max over channels of |frame - surface|,   foreground = {r > TOLERANCE}

blank   the foreground covers next to nothing.
title   the foreground is text: it covers a small part, keeps away from the sides, and consists of many thin strokes,
        that is, little of it remains after a morphological opening, and rows cross its edges often.
fade    between a blank frame of colour c and a picture p, a frame is (1 - a) p + a c: it resembles its other neighbour,
        and is nearer to c. A video may also begin or end in the middle of a fade to black or white.

Shapes: n frames, H × W pixels, Q terms of the surface.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 0.07  # of the range of a channel: more than the noise of compression and the grain of paper
_LARGEST = 160  # pixels a side that are looked at: enough for small print, and a few ms a frame
_FITS = 4  # of the surface, each without the foreground of the one before
_FITTED_ON = 48  # pixels a side: more do not change a surface this smooth
_START = 0.3  # tolerance of the first fit: gradients are not foreground yet
_SPECKS = 0.002  # share of foreground that a blank frame may have
_TEXT = 0.30  # largest share of foreground on a title
_BORDER = 0.04  # share of the left and right border that text may touch; credits roll across the others
_THICK = 0.15  # share of a title's foreground that may remain after the opening
_STROKE = 1 / 9  # of the picture's height: thicker is no stroke of a letter
_CROSSINGS = 0.12  # edges per pixel of foreground, across: strokes have many, objects few
_SMALL = 24  # side of the pictures that fades are recognized by
_FADED = 0.75  # share of a picture's distance to the blank colour that is left in a fade
_ALIKE = 0.8  # correlation of a fading picture with its neighbour

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]
Pictures = NDArray[np.uint8]


def blank_frames(parts: Iterable[Pictures]) -> Bools:
    """Which frames of a video [n] show nothing; the frames [·, H, W, 3] are given in order, some at a time."""
    seen = []
    for part in parts:
        pictures = _reduced(part, _LARGEST)
        seen.append((*uniform_or_text(pictures), _resized(pictures, min(_SMALL, *pictures.shape[1:3]))))
    if not seen:
        return np.zeros(0, bool)
    uniform, text, small = (np.concatenate(each) for each in zip(*seen, strict=True))
    return np.asarray(uniform | text | fades(small, uniform), bool)


def uniform_or_text(frames_nHWC: Floats) -> tuple[Bools, Bools]:
    """Which frames (of values from 0 to 1) are blank, and which are text on a plain background: [n] each."""
    foreground = _residual(frames_nHWC) > TOLERANCE
    share = foreground.mean(axis=(1, 2))
    uniform = share <= _SPECKS
    text = ~uniform & (share <= _TEXT)
    for at in np.flatnonzero(text):
        text[at] = _is_text(foreground[at])
    return uniform, text


def _residual(frames_nHWC: Floats) -> Floats:
    """[n, H, W]: how far each pixel is from the smooth surface that explains most of them."""
    count, height, width, channels = frames_nHWC.shape
    sparse = slice(0, None, max(1, height // _FITTED_ON)), slice(0, None, max(1, width // _FITTED_ON))
    terms = _terms(height, width)
    some_terms = terms[sparse].reshape(-1, 6)
    products = (some_terms[:, :, None] * some_terms[:, None]).reshape(-1, 36)
    some = frames_nHWC[:, *sparse].reshape(count, -1, channels)
    apart = np.abs(some - np.median(some, axis=1, keepdims=True)).max(axis=2)
    for tolerance in np.geomspace(_START, TOLERANCE, _FITS):
        plain = (apart < tolerance).astype(np.float32)
        matrix = (plain @ products).reshape(count, 6, 6) + 1e-3 * np.eye(6)
        fitted_nQC = np.linalg.solve(matrix, some_terms.T @ (plain[..., None] * some)).astype(np.float32)
        apart = np.abs(some - some_terms @ fitted_nQC).max(axis=2)
    apart = np.abs(frames_nHWC.reshape(count, -1, channels) - terms.reshape(-1, 6) @ fitted_nQC).max(axis=2)
    residual: Floats = apart.reshape(count, height, width)
    return residual


def _terms(height: int, width: int) -> Floats:
    """[H, W, Q]: the terms of a quadratic surface."""
    y, x = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    terms: Floats = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1).astype(np.float32)
    return terms


def _is_text(foreground_HW: Bools) -> bool:
    if foreground_HW[:, [0, -1]].mean() > _BORDER:
        return False
    area = int(foreground_HW.sum())
    side = max(3, round(len(foreground_HW) * _STROKE))
    if _opened(foreground_HW, side).sum() > _THICK * area:
        return False
    return bool(np.diff(foreground_HW.astype(np.int8), axis=1).astype(bool).sum() >= _CROSSINGS * area)


def _opened(mask_HW: Bools, side: int) -> Bools:
    """Without what is thinner than a square of this side: eroded, then dilated by it."""
    whole = _box_sums(np.pad(mask_HW, side - 1), side) == side * side
    return np.asarray(_box_sums(whole, side) > 0)


def _box_sums(mask_HW: Bools, side: int) -> NDArray[np.int64]:
    """How many are set in the square of this side that begins at each place where it fits."""
    sums = np.pad(mask_HW.astype(np.int64).cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    return np.asarray(sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side])


def fades(small_nHWC: Floats, blank_n: Bools) -> Bools:
    """Which frames lie in a fade: walked from every blank frame, and from both ends of the video, inwards."""
    faded = np.zeros(len(small_nHWC), bool)
    for step in (1, -1):
        colour: Floats | None = None  # of the blank frame that the walk came from
        order = range(len(small_nHWC))[::step]
        for at in order:
            if blank_n[at]:
                colour = np.median(small_nHWC[at].reshape(-1, 3), axis=0)
                continue
            following = at + step
            inside = 0 <= following < len(small_nHWC) and not blank_n[following]
            came_from = [] if colour is None else [colour]
            # A fade may have begun before the video.
            colours = [np.zeros(3), np.ones(3)] if at == order[0] else came_from
            fading = [c for c in colours if inside and _is_blend(small_nHWC[at], small_nHWC[following], c)]
            faded[at] |= bool(fading)
            colour = fading[0] if fading else None
    return faded


def _is_blend(frame_HWC: Floats, picture_HWC: Floats, colour_C: Floats) -> bool:
    """Whether a frame is a picture blended with a colour."""
    from_frame, from_picture = (np.abs(each - colour_C).mean() for each in (frame_HWC, picture_HWC))
    if from_frame > _FADED * from_picture:
        return False
    a, b = (each - each.mean() for each in (frame_HWC.mean(axis=2), picture_HWC.mean(axis=2)))
    return bool((a * b).sum() >= _ALIKE * np.sqrt((a * a).sum() * (b * b).sum()))


def _reduced(frames_nHWC: Pictures, largest: int) -> Floats:
    """Values from 0 to 1, averaged over blocks until no side is larger."""
    block = -(-max(frames_nHWC.shape[1:3]) // largest)
    values = frames_nHWC.astype(np.float32) / 255
    if block == 1:
        return values
    count, height, width, channels = values.shape
    rows, columns = height // block, width // block
    blocks = values[:, : rows * block, : columns * block].reshape(count, rows, block, columns, block, channels)
    averaged: Floats = blocks.mean(axis=(2, 4))
    return averaged


def _resized(frames_nHWC: Floats, side: int) -> Floats:
    """Averaged to side × side."""
    rows, columns = (np.linspace(0, size, side + 1).astype(int)[:-1] for size in frames_nHWC.shape[1:3])
    sums = np.add.reduceat(np.add.reduceat(frames_nHWC, rows, axis=1), columns, axis=2)
    counts = np.outer(np.diff([*rows, frames_nHWC.shape[1]]), np.diff([*columns, frames_nHWC.shape[2]]))
    averaged: Floats = sums / counts[..., None]
    return averaged
