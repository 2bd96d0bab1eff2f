"""Sheets: pictures with rows of tiles, each a frame with text above and below it, and strips of weights over time.

Other drawings use its fonts, colours and text blocks, and are saved like a sheet.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mmcc.errors import InputError
from mmcc.files import replacing

DETAIL = 2  # drawn twice as large and then reduced: small letters keep their shapes and spaces
INK, SOFT, PAPER = "#1d2430", "#6b7484", "#ffffff"
_TILE, _GAP, _ARROW, _MARGIN, _FRAME = (part * DETAIL for part in (176, 12, 40, 24, 4))
_BETWEEN, _APART = 22 * DETAIL, 56 * DETAIL  # between rows; between columns, which must not look like one row
_STRIP, _LABEL = 14 * DETAIL, 168 * DETAIL
_PER_LINE = 8  # tiles; a longer row continues below
_CAPTION_LINES, _TITLE_LINES, _NOTE_LINES, _PICTURE_LINES = 5, 2, 4, 8
_MISSING, _HEAT, _WARNING = "#e8ebf0", "#c2410c", "#b42318"
_WORDS = "#e7eefb"  # the background of text shown as a picture
_MARKS = {"good": "#15803d", "bad": "#c62828"}
_REGULAR = ("NotoSans-Regular.ttf", "DejaVuSans.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Arial Unicode.ttf")
_BOLD = ("NotoSans-Bold.ttf", "DejaVuSans-Bold.ttf", "LiberationSans-Bold.ttf", "Arial Bold.ttf")
_QUALITY = 90  # of JPEG and WebP
_KINDS = {"": "PNG", ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
_PLAIN = str.maketrans({"·": "|", "…": "...", "→": "->", "—": "-", "\N{EN DASH}": "-", "α": "a", "β": "b"})


_Part = TypeVar("_Part")


class Tile(NamedTuple):
    """A frame, the text above and below it, and whether it is right: "good", "bad" or ""."""

    picture: NDArray[np.uint8] | None
    title: str = ""
    caption: str = ""
    mark: str = ""


class Strip(NamedTuple):
    """Weights along a row's timeline, a cell each, and the cells to point at."""

    label: str
    weights: NDArray[np.float64]  # [N], not negative; the largest is drawn darkest
    pointed: Sequence[int] = ()


class Heading(NamedTuple):
    """Above a row: its name, and facts about it."""

    name: str
    facts: str = ""


def draw_sheet(path: Path, title: str, rows: Sequence[Sequence[Tile]], **options: Any) -> None:
    """Write a sheet as a PNG, JPEG or WebP file; the options are those of `sheet_image`."""
    save(sheet_image(title, rows, **options), path)


def sheet_image(
    title: str,
    rows: Sequence[Sequence[Tile]],
    *,
    arrows: bool = False,
    notes: Sequence[str] = (),
    warnings: Sequence[str] = (),
    columns: int = 1,
    strips: Sequence[Sequence[Strip]] = (),
    headings: Sequence[Heading] = (),
) -> Image.Image:
    """A title, warnings, the rows (with arrows from tile to tile), and notes below them, `DETAIL` times as large as it
    is shown.

    `columns`: how many rows stand side by side, read across. `strips`: those of each row, drawn below it. `headings`:
    one per row, drawn above it.
    """
    blocks = [
        _block(row, arrows, _at(strips, place, ()), _at(headings, place, Heading("")))
        for place, row in enumerate(rows)
        if row
    ]
    lines = [blocks[first : first + columns] for first in range(0, len(blocks), columns)]
    body = _stack([_beside(line) for line in lines], _BETWEEN)
    width = max(body.width, 2 * _TILE)
    heading = _text_block(title, font(18, bold=True), INK, width, _TITLE_LINES)
    warned = [_text_block(line, font(13, bold=True), _WARNING, width, _NOTE_LINES) for line in warnings]
    parts = [heading, *warned, body, *(_text_block(note, font(12), SOFT, width, _NOTE_LINES) for note in notes)]
    content = _stack([part for part in parts if part.height], _GAP)
    sheet = Image.new("RGB", (content.width + 2 * _MARGIN, content.height + 2 * _MARGIN), PAPER)
    sheet.paste(content, (_MARGIN, _MARGIN))
    return sheet


def save(drawing: Image.Image, path: Path, *, quality: int = _QUALITY) -> None:
    """Reduce a drawing to the size it is shown at and write it as its name says; without an ending, as a PNG."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise InputError(path, f"pictures are not written as {path.suffix}", "Name it .png, .jpg or .webp.")
    options: dict[str, Any] = {"optimize": True} if kind == "PNG" else {"quality": quality}
    options["format"] = kind
    try:
        with replacing(path, durable=False) as draft:
            drawing.reduce(DETAIL).save(draft, **options)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or error})", "Choose another place.") from None


def written(text: str) -> NDArray[np.uint8]:
    """Text as a picture, for a tile of its own."""
    page = Image.new("RGB", (_TILE, _TILE), _WORDS)
    block = _text_block(text, font(14), INK, _TILE - 2 * _GAP, _PICTURE_LINES, _WORDS)
    page.paste(block, (_GAP, (_TILE - block.height) // 2))
    return np.asarray(page)


def _at(parts: Sequence[_Part], place: int, default: _Part) -> _Part:
    return parts[place] if place < len(parts) else default


def _block(row: Sequence[Tile], arrows: bool, strips: Sequence[Strip], heading: Heading) -> Image.Image:
    lines = [
        _tile_line(row[first : first + _PER_LINE], arrows, continues=first + _PER_LINE < len(row))
        for first in range(0, len(row), _PER_LINE)
    ]
    width = max(line.width for line in lines)
    above = [_heading_block(heading, width)] if heading.name else []
    return _stack([*above, *lines, *([_strip_block(strips, width)] if strips else [])], _GAP)


def _heading_block(heading: Heading, width: int) -> Image.Image:
    """The name on the left, the facts on the right; or below it, if there is no room for both."""
    large, small = font(15, bold=True), font(12)
    length = round(small.getlength(known(heading.facts)))
    if large.getlength(known(heading.name)) + length + _GAP > width:
        parts = [_text_block(heading.name, large, INK, width, 2), _text_block(heading.facts, small, SOFT, width, 2)]
        return _stack(parts, 0)
    block = _text_block(heading.name, large, INK, width, 1)
    ImageDraw.Draw(block).text((width - length, block.height // 5), known(heading.facts), SOFT, small)
    return block


def _tile_line(tiles: Sequence[Tile], arrows: bool, continues: bool) -> Image.Image:
    """Tiles in a line, pictures at one height; an arrow at the end if the row continues below."""
    between = _ARROW if arrows else _GAP
    over = [_text_block(tile.title, font(13, bold=True), INK, _TILE, 1) for tile in tiles]
    under = [_text_block(tile.caption, font(12), INK, _TILE, _CAPTION_LINES) for tile in tiles]
    top = max(text.height for text in over) + _GAP // 3
    bottom = top + _TILE + _GAP // 2
    trailing = between if arrows and continues else 0
    width = len(tiles) * (_TILE + between) - between + trailing
    line = Image.new("RGB", (width, bottom + max(text.height for text in under)), PAPER)
    draw = ImageDraw.Draw(line)
    for place, tile in enumerate(tiles):
        left = place * (_TILE + between)
        line.paste(over[place], (left, 0))
        line.paste(_picture(tile), (left, top))
        line.paste(under[place], (left, bottom))
        if arrows and (place + 1 < len(tiles) or continues):
            _arrow(draw, left + _TILE, top + _TILE // 2, between)
    return line


def _arrow(draw: ImageDraw.ImageDraw, left: int, middle: int, room: int) -> None:
    """A drawn one: not every font has arrows."""
    start, tip, head = left + room // 5, left + room - room // 5, room // 6
    draw.line((start, middle, tip - head, middle), SOFT, 2 * DETAIL)
    draw.polygon([(tip, middle), (tip - 2 * head, middle - head), (tip - 2 * head, middle + head)], SOFT)


def _picture(tile: Tile) -> Image.Image:
    """The whole frame in a square; its mark is a border around it, which hides nothing."""
    square = Image.new("RGB", (_TILE, _TILE), _MARKS.get(tile.mark, _MISSING))
    room = _TILE - 2 * _FRAME if tile.mark in _MARKS else _TILE
    inner = Image.new("RGB", (room, room), _MISSING)
    if tile.picture is not None and tile.picture.size:
        picture = Image.fromarray(np.ascontiguousarray(tile.picture))
        scale = room / max(picture.size)
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        inner.paste(picture.resize(size, Image.Resampling.LANCZOS), ((room - size[0]) // 2, (room - size[1]) // 2))
    else:
        ImageDraw.Draw(inner).text((room // 2, room // 2), known("no picture"), SOFT, font(12), "mm")
    square.paste(inner, ((_TILE - room) // 2, (_TILE - room) // 2))
    return square


def _strip_block(strips: Sequence[Strip], width: int) -> Image.Image:
    """A heat strip per line with its label on the left; a small triangle above each cell to point at."""
    point = 5 * DETAIL
    step = _STRIP + point + 3 * DETAIL
    block = Image.new("RGB", (width, step * len(strips)), PAPER)
    draw = ImageDraw.Draw(block)
    for place, strip in enumerate(strips):
        top = place * step + point
        block.paste(_text_block(strip.label, font(11), INK, _LABEL - _GAP, 1), (0, top - DETAIL))
        if not len(strip.weights):
            continue
        edges = np.linspace(_LABEL, width - 1, len(strip.weights) + 1)
        heat = strip.weights / max(float(strip.weights.max()), 1e-12)
        for cell, share in enumerate(heat.tolist()):
            draw.rectangle((edges[cell], top, edges[cell + 1], top + _STRIP), _mix(_MISSING, _HEAT, share))
        for cell in strip.pointed:
            middle = (edges[cell] + edges[cell + 1]) / 2
            draw.polygon([(middle, top), (middle - point, top - point), (middle + point, top - point)], INK)
    return block


def _mix(low: str, high: str, share: float) -> tuple[int, ...]:
    ends = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (low, high)]
    return tuple(round(a + (b - a) * share) for a, b in zip(*ends, strict=True))


def _text_block(text: str, font: Any, colour: str, width: int, lines: int, paper: str = PAPER) -> Image.Image:
    """Text wrapped to a width in pixels, cut with an ellipsis; of no height without text."""
    wrapped = wrap(known(" ".join(text.split())), font, width, lines)
    height = round(font.size * 1.3)
    block = Image.new("RGB", (width, height * len(wrapped)), paper)
    draw = ImageDraw.Draw(block)
    for place, line in enumerate(wrapped):
        draw.text((0, place * height), line, colour, font)
    return block


def wrap(text: str, font: Any, width: float, lines: int) -> list[str]:
    """At most `lines` lines, none wider than `width`; words are kept whole if they fit at all."""
    wrapped: list[str] = []
    rest = text
    while rest:
        fitting = _fitting(rest, font, width)
        if len(wrapped) == lines - 1 and fitting < len(rest):
            ellipsis = known("…")
            return [*wrapped, rest[: _fitting(rest, font, width - font.getlength(ellipsis))].rstrip() + ellipsis]
        broken = rest.rfind(" ", 0, fitting + 1) if fitting < len(rest) else fitting
        end = broken if broken > 0 else fitting
        wrapped.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return wrapped


def _fitting(text: str, font: Any, width: float) -> int:
    """How many leading characters fit in a width; at least one."""
    low, high = 1, min(len(text), 400)  # no line holds more; measuring a whole book would take long
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if font.getlength(text[:middle]) <= width else (low, middle - 1)
    return low


def known(text: str) -> str:
    """Text in letters that the font has: Pillow's own has ASCII only, so "schälen" becomes "schalen"."""
    text = "".join(c if c.isprintable() else " " for c in text.encode("utf-8", "replace").decode())
    if _system_font(bold=False):
        return text
    text = unicodedata.normalize("NFKD", text.translate(_PLAIN))
    return "".join(c for c in text if not unicodedata.combining(c)).encode("ascii", "replace").decode()


@cache
def font(size: int, bold: bool = False) -> Any:
    name = _system_font(bold)
    return ImageFont.truetype(name, size * DETAIL) if name else ImageFont.load_default(size * DETAIL)


@cache
def _system_font(bold: bool) -> str:
    """A system font with many letters, if there is one."""
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
    whole = Image.new("RGB", (wide, long) if downwards else (long, wide), PAPER)
    place = 0
    for part, length in zip(parts, along, strict=True):
        whole.paste(part, (0, place) if downwards else (place, 0))
        place += length + gap
    return whole
