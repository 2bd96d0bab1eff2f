"""A reliability plot: predicted probabilities against how often they came true."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

from mmcc.errors import InputError
from mmcc.evaluation.calibration import Bin, Calibration
from mmcc.report.sheets import DETAIL, INK, PAPER, SOFT, font, known, save, wrap

_SIDE, _LEFT, _TOP, _BOTTOM, _MARGIN = (DETAIL * part for part in (380, 64, 60, 144, 24))
_GRID, _BAD = "#e0e4ea", "#b42318"
_DRAWN = (  # which bins; label; colour, and dot or ring: colour is never the only difference
    ("steps/before", "steps, uncalibrated", "#d55e00", False),
    ("steps/after", "steps, calibrated", "#0072b2", True),
    ("none/after", "none of these, calibrated", "#009e73", True),
)


def draw_reliability(path: Path, title: str, calibration: Calibration | None, note: str = "") -> None:
    """A PNG of probabilities against the shares that came true, in bins of equal mass; `note`: what else to know."""
    if calibration is None or not calibration.reliability:
        raise InputError(
            path, "nothing to plot: the calibration was not measured on any test video", "Leave out --plot."
        )
    width = _LEFT + _SIDE + _MARGIN
    image = Image.new("RGB", (width, _TOP + _SIDE + _BOTTOM), PAPER)
    draw = ImageDraw.Draw(image)
    heading = font(15, bold=True)
    draw.text((_MARGIN, 12 * DETAIL), "".join(wrap(known(title), heading, width - 2 * _MARGIN, 1)), INK, heading)
    _axes(draw)
    for line, (name, label, colour, filled) in enumerate(_DRAWN):
        if bins := calibration.reliability.get(name):
            _points(draw, bins, colour, filled)
            error = calibration.figures.get(f"ece/{name}")
            text = label if error is None else f"{label}: expected calibration error {100 * error:.1f} %"
            top = _TOP + _SIDE + (58 + 20 * line) * DETAIL
            _dot(draw, _LEFT, top + 7 * DETAIL, colour, filled)
            draw.text((_LEFT + 14 * DETAIL, top), text, INK, font(12))
    small = font(11)
    line_of_note = "".join(wrap(known(note), small, width - 2 * _MARGIN, 1))
    draw.text((_MARGIN, _TOP + _SIDE + 120 * DETAIL), line_of_note, _BAD, small)
    save(image, path)


def _axes(draw: ImageDraw.ImageDraw) -> None:
    small = font(12)
    for tenth in range(0, 11, 2):
        x, y = _place(tenth / 10, tenth / 10)
        draw.line((x, _TOP, x, _TOP + _SIDE), _GRID, DETAIL)
        draw.line((_LEFT, y, _LEFT + _SIDE, y), _GRID, DETAIL)
        draw.text((x, _TOP + _SIDE + 6 * DETAIL), f"{10 * tenth} %", INK, small, "ma")
        draw.text((_LEFT - 6 * DETAIL, y), f"{10 * tenth} %", INK, small, "rm")
    for dash in range(0, 50, 2):  # where predictions are perfectly calibrated
        draw.line((*_place(dash / 50, dash / 50), *_place((dash + 1) / 50, (dash + 1) / 50)), SOFT, 2 * DETAIL)
    draw.text((_LEFT + _SIDE / 2, _TOP + _SIDE + 26 * DETAIL), "predicted probability", SOFT, small, "ma")
    draw.text((_LEFT, _TOP - 6 * DETAIL), "share that came true", SOFT, small, "ld")


def _points(draw: ImageDraw.ImageDraw, bins: Sequence[Bin], colour: str, filled: bool) -> None:
    places = [_place(each.probability, each.share) for each in bins]
    draw.line(places, colour, 2 * DETAIL)
    for x, y in places:
        _dot(draw, x, y, colour, filled)


def _dot(draw: ImageDraw.ImageDraw, x: float, y: float, colour: str, filled: bool) -> None:
    r = 4 * DETAIL
    draw.ellipse((x - r, y - r, x + r, y + r), colour if filled else PAPER, colour, 2 * DETAIL)


def _place(x: float, y: float) -> tuple[float, float]:
    return _LEFT + x * _SIDE, _TOP + (1 - y) * _SIDE
