"""Answers as pictures: rows of tiles, each a frame with words over and under it, and strips of weights over time."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mmcc.errors import InputError

_DETAIL = 2  # drawn twice as large and then reduced: small letters keep their shapes and spaces
_TILE, _GAP, _ARROW, _MARGIN, _FRAME = (part * _DETAIL for part in (176, 12, 40, 24, 4))
_BETWEEN, _APART = 22 * _DETAIL, 56 * _DETAIL  # rows; columns of rows, which must be told from tiles of one row
_STRIP, _LABEL = 14 * _DETAIL, 168 * _DETAIL
_PER_LINE = 8  # tiles; a longer row goes on below
_CAPTION_LINES, _TITLE_LINES, _NOTE_LINES, _PICTURE_LINES = 5, 2, 4, 8
_INK, _SOFT, _PAPER, _MISSING, _HEAT = "#1d2430", "#6b7484", "#ffffff", "#e8ebf0", "#c2410c"
_WORDS = "#e7eefb"  # paper of what is said
_MARKS = {"good": "#15803d", "bad": "#c62828"}
_REGULAR = ("NotoSans-Regular.ttf", "DejaVuSans.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Arial Unicode.ttf")
_BOLD = ("NotoSans-Bold.ttf", "DejaVuSans-Bold.ttf", "LiberationSans-Bold.ttf", "Arial Bold.ttf")
_PLAIN = str.maketrans({"·": "|", "…": "...", "→": "->", "—": "-", "\N{EN DASH}": "-", "α": "a", "β": "b"})


class Tile(NamedTuple):
    """A frame, what stands over and under it, and whether it is right: "good", "bad" or ""."""

    picture: NDArray[np.uint8] | None
    title: str = ""
    caption: str = ""
    mark: str = ""


class Strip(NamedTuple):
    """Weights along a row's timeline, one cell each, and the cells to point at."""

    label: str
    weights: NDArray[np.float64]  # [N], not negative; the largest is drawn darkest
    pointed: Sequence[int] = ()


def draw_sheet(
    path: Path,
    title: str,
    rows: Sequence[Sequence[Tile]],
    *,
    arrows: bool = False,
    notes: Sequence[str] = (),
    columns: int = 1,
    strips: Sequence[Sequence[Strip]] = (),
) -> None:
    """Draw a PNG: a heading, the rows (with arrows from tile to tile), what is to be noted under them.

    `columns`: rows that stand side by side, read across. `strips`: those of each row, drawn under it.
    """
    blocks = [
        _block(row, arrows, strips[place] if place < len(strips) else ()) for place, row in enumerate(rows) if row
    ]
    lines = [blocks[first : first + columns] for first in range(0, len(blocks), columns)]
    body = _stack([_beside(line) for line in lines], _BETWEEN)
    width = max(body.width, 2 * _TILE)
    heading = _text_block(title, _font(18, bold=True), _INK, width, _TITLE_LINES)
    parts = [heading, body, *(_text_block(note, _font(12), _SOFT, width, _NOTE_LINES) for note in notes)]
    content = _stack([part for part in parts if part.height], _GAP)
    sheet = Image.new("RGB", (content.width + 2 * _MARGIN, content.height + 2 * _MARGIN), _PAPER)
    sheet.paste(content, (_MARGIN, _MARGIN))
    try:
        sheet.reduce(_DETAIL).save(path, format="PNG", optimize=True)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or error})", "Choose another place.") from None


def written(text: str) -> NDArray[np.uint8]:
    """Words as a picture, for a tile of their own."""
    page = Image.new("RGB", (_TILE, _TILE), _WORDS)
    block = _text_block(text, _font(14), _INK, _TILE - 2 * _GAP, _PICTURE_LINES, _WORDS)
    page.paste(block, (_GAP, (_TILE - block.height) // 2))
    return np.asarray(page)


def clock(seconds: float) -> str:
    """As players show it: "1:23", "1:02:03"; parts of a second are dropped."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def parse_clock(text: str) -> float:
    """Seconds of "1:23", "1:02:03", "83" or "83.5"; ValueError for anything else."""
    parts = text.strip().split(":")
    plain = all(part and part.isascii() and part.replace(".", "", 1).isdigit() for part in parts)
    if not plain or len(parts) > 3 or any("." in part for part in parts[:-1]):
        raise ValueError(f"{text!r} is no time: write 1:23, 1:02:03 or 83.5")
    if any(float(part) >= 60 for part in parts[1:]):
        raise ValueError(f"{text!r} is no time: minutes and seconds after a colon go up to 59")
    seconds = 0.0
    for part in parts:
        seconds = 60 * seconds + float(part)
    return seconds


def _block(row: Sequence[Tile], arrows: bool, strips: Sequence[Strip]) -> Image.Image:
    lines = [
        _tile_line(row[first : first + _PER_LINE], arrows, goes_on=first + _PER_LINE < len(row))
        for first in range(0, len(row), _PER_LINE)
    ]
    width = max(line.width for line in lines)
    return _stack([*lines, *([_strip_block(strips, width)] if strips else [])], _GAP)


def _tile_line(tiles: Sequence[Tile], arrows: bool, goes_on: bool) -> Image.Image:
    """Tiles in a line, pictures at one height; an arrow at the end where the row goes on below."""
    between = _ARROW if arrows else _GAP
    over = [_text_block(tile.title, _font(13, bold=True), _INK, _TILE, 1) for tile in tiles]
    under = [_text_block(tile.caption, _font(12), _INK, _TILE, _CAPTION_LINES) for tile in tiles]
    top = max(text.height for text in over) + _GAP // 3
    bottom = top + _TILE + _GAP // 2
    trailing = between if arrows and goes_on else 0
    width = len(tiles) * (_TILE + between) - between + trailing
    line = Image.new("RGB", (width, bottom + max(text.height for text in under)), _PAPER)
    draw = ImageDraw.Draw(line)
    for place, tile in enumerate(tiles):
        left = place * (_TILE + between)
        line.paste(over[place], (left, 0))
        line.paste(_picture(tile), (left, top))
        line.paste(under[place], (left, bottom))
        if arrows and (place + 1 < len(tiles) or goes_on):
            _arrow(draw, left + _TILE, top + _TILE // 2, between)
    return line


def _arrow(draw: ImageDraw.ImageDraw, left: int, middle: int, room: int) -> None:
    """Drawn, not written: not every font has one."""
    start, tip, head = left + room // 5, left + room - room // 5, room // 6
    draw.line((start, middle, tip - head, middle), _SOFT, 2 * _DETAIL)
    draw.polygon([(tip, middle), (tip - 2 * head, middle - head), (tip - 2 * head, middle + head)], _SOFT)


def _picture(tile: Tile) -> Image.Image:
    """The frame, whole, in a square; its mark as a border of its own, so that nothing of the frame is hidden."""
    square = Image.new("RGB", (_TILE, _TILE), _MARKS.get(tile.mark, _MISSING))
    room = _TILE - 2 * _FRAME if tile.mark in _MARKS else _TILE
    inner = Image.new("RGB", (room, room), _MISSING)
    if tile.picture is not None and tile.picture.size:
        picture = Image.fromarray(np.ascontiguousarray(tile.picture))
        scale = room / max(picture.size)
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        inner.paste(picture.resize(size, Image.Resampling.LANCZOS), ((room - size[0]) // 2, (room - size[1]) // 2))
    else:
        ImageDraw.Draw(inner).text((room // 2, room // 2), _known("no picture"), _SOFT, _font(12), "mm")
    square.paste(inner, ((_TILE - room) // 2, (_TILE - room) // 2))
    return square


def _strip_block(strips: Sequence[Strip], width: int) -> Image.Image:
    """A heat strip per line, its label left of it; what is pointed at has a small triangle over it."""
    point = 5 * _DETAIL
    step = _STRIP + point + 3 * _DETAIL
    block = Image.new("RGB", (width, step * len(strips)), _PAPER)
    draw = ImageDraw.Draw(block)
    for place, strip in enumerate(strips):
        top = place * step + point
        block.paste(_text_block(strip.label, _font(11), _INK, _LABEL - _GAP, 1), (0, top - _DETAIL))
        if not len(strip.weights):
            continue
        edges = np.linspace(_LABEL, width - 1, len(strip.weights) + 1)
        heat = strip.weights / max(float(strip.weights.max()), 1e-12)
        for cell, share in enumerate(heat.tolist()):
            draw.rectangle((edges[cell], top, edges[cell + 1], top + _STRIP), _mix(_MISSING, _HEAT, share))
        for cell in strip.pointed:
            middle = (edges[cell] + edges[cell + 1]) / 2
            draw.polygon([(middle, top), (middle - point, top - point), (middle + point, top - point)], _INK)
    return block


def _mix(low: str, high: str, share: float) -> tuple[int, ...]:
    ends = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (low, high)]
    return tuple(round(a + (b - a) * share) for a, b in zip(*ends, strict=True))


def _text_block(text: str, font: Any, colour: str, width: int, lines: int, paper: str = _PAPER) -> Image.Image:
    """Text wrapped to a width in pixels, cut with an ellipsis; without text, of no height."""
    wrapped = wrap(_known(" ".join(text.split())), font, width, lines)
    height = round(font.size * 1.3)
    block = Image.new("RGB", (width, height * len(wrapped)), paper)
    draw = ImageDraw.Draw(block)
    for place, line in enumerate(wrapped):
        draw.text((0, place * height), line, colour, font)
    return block


def wrap(text: str, font: Any, width: float, lines: int) -> list[str]:
    """At most so many lines, none wider; words are kept whole where they fit at all."""
    wrapped: list[str] = []
    rest = text
    while rest:
        fitting = _fitting(rest, font, width)
        if len(wrapped) == lines - 1 and fitting < len(rest):
            ellipsis = _known("…")
            return [*wrapped, rest[: _fitting(rest, font, width - font.getlength(ellipsis))].rstrip() + ellipsis]
        broken = rest.rfind(" ", 0, fitting + 1) if fitting < len(rest) else fitting
        end = broken if broken > 0 else fitting
        wrapped.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return wrapped


def _fitting(text: str, font: Any, width: float) -> int:
    """How many characters from the first fit in a width; at least one."""
    low, high = 1, min(len(text), 400)  # no line holds more, and a whole book would be measured for nothing
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if font.getlength(text[:middle]) <= width else (low, middle - 1)
    return low


def _known(text: str) -> str:
    """Text as our font can show it: with Pillow's own, which knows ASCII, "schälen" is written "schalen"."""
    text = "".join(c if c.isprintable() else " " for c in text.encode("utf-8", "replace").decode())
    if _system_font(bold=False):
        return text
    text = unicodedata.normalize("NFKD", text.translate(_PLAIN))
    return "".join(c for c in text if not unicodedata.combining(c)).encode("ascii", "replace").decode()


@cache
def _font(size: int, bold: bool = False) -> Any:
    name = _system_font(bold)
    return ImageFont.truetype(name, size * _DETAIL) if name else ImageFont.load_default(size * _DETAIL)


@cache
def _system_font(bold: bool) -> str:
    """A font of the system that knows many letters, if there is one."""
    for name in _BOLD if bold else _REGULAR:
        with suppress(OSError):
            ImageFont.truetype(name, 10)
            return name
    return ""


def _stack(parts: Sequence[Image.Image], gap: int) -> Image.Image:
    return _paste(parts, gap, downwards=True)


def _beside(parts: Sequence[Image.Image]) -> Image.Image:
    return _paste(parts, _APART, downwards=False)


def _paste(parts: Sequence[Image.Image], gap: int, downwards: bool) -> Image.Image:
    heights, widths = [part.height for part in parts], [part.width for part in parts]
    along, across = (heights, widths) if downwards else (widths, heights)
    long, wide = sum(along) + gap * max(len(parts) - 1, 0), max(across, default=0)
    whole = Image.new("RGB", (wide, long) if downwards else (long, wide), _PAPER)
    place = 0
    for part, length in zip(parts, along, strict=True):
        whole.paste(part, (0, place) if downwards else (place, 0))
        place += length + gap
    return whole
