"""A reliability plot: of what was called so probable, how much came true."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from mmcc.errors import InputError
from mmcc.evaluation.calibration import Bin, Calibration

_DETAIL = 2  # drawn twice as large and then reduced
_SIDE, _LEFT, _TOP, _BOTTOM, _MARGIN = (_DETAIL * part for part in (380, 64, 60, 132, 24))
_INK, _SOFT, _GRID, _PAPER = "#1d2430", "#6b7484", "#e0e4ea", "#ffffff"
_DRAWN = (  # by what; how it is told; its colour, and whether it is a dot or a ring: a colour never stands alone
    ("steps/before", "steps, uncalibrated", "#d55e00", False),
    ("steps/after", "steps, calibrated", "#0072b2", True),
    ("none/after", "none of these, calibrated", "#009e73", True),
)


def draw_reliability(path: Path, title: str, calibration: Calibration | None) -> None:
    """A PNG of probabilities against the shares that came true, in bins of equal mass."""
    if calibration is None or not calibration.reliability:
        raise InputError(path, "there is nothing to plot: no test video measured the calibration", "Leave out --plot.")
    width = _LEFT + _SIDE + _MARGIN
    image = Image.new("RGB", (width, _TOP + _SIDE + _BOTTOM), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.text((_MARGIN, 12 * _DETAIL), title[:60], _INK, _font(15))
    _axes(draw)
    for line, (name, label, colour, filled) in enumerate(_DRAWN):
        if bins := calibration.reliability.get(name):
            _points(draw, bins, colour, filled)
            error = calibration.figures.get(f"ece/{name}")
            told = label if error is None else f"{label}: expected calibration error {100 * error:.1f} %"
            top = _TOP + _SIDE + (58 + 20 * line) * _DETAIL
            _dot(draw, _LEFT, top + 7 * _DETAIL, colour, filled)
            draw.text((_LEFT + 14 * _DETAIL, top), told, _INK, _font(12))
    try:
        image.reduce(_DETAIL).save(path, format="PNG", optimize=True)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or error})", "Choose another place.") from None


def _axes(draw: ImageDraw.ImageDraw) -> None:
    font = _font(12)
    for tenth in range(0, 11, 2):
        x, y = _place(tenth / 10, tenth / 10)
        draw.line((x, _TOP, x, _TOP + _SIDE), _GRID, _DETAIL)
        draw.line((_LEFT, y, _LEFT + _SIDE, y), _GRID, _DETAIL)
        draw.text((x, _TOP + _SIDE + 6 * _DETAIL), f"{10 * tenth} %", _INK, font, "ma")
        draw.text((_LEFT - 6 * _DETAIL, y), f"{10 * tenth} %", _INK, font, "rm")
    for dash in range(0, 50, 2):  # where a probability is what it says
        draw.line((*_place(dash / 50, dash / 50), *_place((dash + 1) / 50, (dash + 1) / 50)), _SOFT, 2 * _DETAIL)
    draw.text((_LEFT + _SIDE / 2, _TOP + _SIDE + 26 * _DETAIL), "probability told", _SOFT, font, "ma")
    draw.text((_LEFT, _TOP - 6 * _DETAIL), "share that came true", _SOFT, font, "ld")


def _points(draw: ImageDraw.ImageDraw, bins: Sequence[Bin], colour: str, filled: bool) -> None:
    places = [_place(each.probability, each.share) for each in bins]
    draw.line(places, colour, 2 * _DETAIL)
    for x, y in places:
        _dot(draw, x, y, colour, filled)


def _dot(draw: ImageDraw.ImageDraw, x: float, y: float, colour: str, filled: bool) -> None:
    r = 4 * _DETAIL
    draw.ellipse((x - r, y - r, x + r, y + r), colour if filled else _PAPER, colour, 2 * _DETAIL)


def _place(x: float, y: float) -> tuple[float, float]:
    return _LEFT + x * _SIDE, _TOP + (1 - y) * _SIDE


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size * _DETAIL)
