"""A contact sheet: a few videos of a corpus, each a row of frames with what is said under them."""

from __future__ import annotations

import textwrap
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mmcc.corpus.corpus import Corpus, Video
from mmcc.errors import InputError
from mmcc.text import one_line

_ROWS, _COLUMNS = 6, 8
_DETAIL = 2  # drawn twice as large and then reduced: small letters keep their shapes and spaces
_CELL, _GAP, _MARGIN = 144 * _DETAIL, 8 * _DETAIL, 16 * _DETAIL
_HEADER, _TEXT = 26 * _DETAIL, 74 * _DETAIL
_INK, _SOFT, _PAPER, _MISSING = "#1d2430", "#6b7484", "#ffffff", "#e8ebf0"
_LINES, _CHARACTERS = 4, 21  # of text that fit under a frame, in the widest of the fonts
_FONTS = ("NotoSans-Regular.ttf", "DejaVuSans.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Arial Unicode.ttf")


def draw_sheet(corpus: Corpus, path: Path) -> None:
    """Draw videos spread over the corpus, and moments spread over each."""
    if corpus.manifest.encoding == "float32":
        raise InputError(corpus.path, "holds features, not pictures", "A sheet needs a corpus of frames.")
    videos = [corpus[video_id] for video_id in corpus.ids if len(corpus[video_id].times)]
    if not videos:
        raise InputError(corpus.path, "holds no frames to draw", "Ingest some video first.")
    chosen = [videos[place] for place in _spread(len(videos), _ROWS)]
    row_height = _HEADER + _CELL + _TEXT + _GAP
    width = 2 * _MARGIN + _COLUMNS * (_CELL + _GAP) - _GAP
    sheet = Image.new("RGB", (width, 2 * _MARGIN + row_height * len(chosen)), _PAPER)
    for place, video in enumerate(chosen):
        _draw_video(sheet, video, _MARGIN + place * row_height)
    try:
        sheet.reduce(_DETAIL).save(path, format="PNG", optimize=True)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or error})", "Choose another place.") from None


def _draw_video(sheet: Image.Image, video: Video, top: int) -> None:
    draw = ImageDraw.Draw(sheet)
    heading, small = _Pen(draw, 15), _Pen(draw, 11)
    facts = f"{video.duration:.0f} s · {len(video.times)} frames · {len(video.utterances)} utterances · {video.split}"
    heading.write(_MARGIN, top, one_line(video.title or video.id)[:80], _INK)
    small.write(sheet.width - _MARGIN, top + 3 * _DETAIL, facts, _SOFT, anchor="ra")
    moments = _spread(len(video.times), _COLUMNS)
    for column, moment in enumerate(moments):
        left, below = _MARGIN + column * (_CELL + _GAP), top + _HEADER + _CELL
        sheet.paste(_tile(video.frames(moment, moment + 1)[0]), (left, top + _HEADER))
        small.write(left, below + 3 * _DETAIL, f"{video.times[moment]:.2f} s", _SOFT)
        until = float(video.times[moments[column + 1]]) if column + 1 < len(moments) else float("inf")
        text = " ".join(u.text for u in video.utterances if video.times[moment] <= (u.start + u.end) / 2 < until)
        lines = textwrap.wrap(text, _CHARACTERS, max_lines=_LINES, placeholder=" …")
        small.write(left, below + 18 * _DETAIL, "\n".join(lines), _INK)


class _Pen:
    """Writes in a font of the system that knows many letters; without one, in Pillow's own, which knows ASCII."""

    def __init__(self, draw: ImageDraw.ImageDraw, size: int) -> None:
        self._draw, self._plain = draw, False
        for name in _FONTS:
            with suppress(OSError):
                self._font: ImageFont.FreeTypeFont | ImageFont.ImageFont = ImageFont.truetype(name, size * _DETAIL)
                return
        self._font, self._plain = ImageFont.load_default(size * _DETAIL), True

    def write(self, left: int, top: int, text: str, colour: str, anchor: str = "la") -> None:
        if self._plain:  # "schälen" as "schalen" can be read; boxes cannot
            text = unicodedata.normalize("NFKD", text.replace("·", "|").replace("…", "..."))
            text = "".join(c for c in text if not unicodedata.combining(c)).encode("ascii", "replace").decode()
        self._draw.text((left, top), text, colour, self._font, anchor, spacing=2 * _DETAIL)


def _tile(pixels: NDArray[Any]) -> Image.Image:
    tile = Image.new("RGB", (_CELL, _CELL), _MISSING)
    picture = Image.fromarray(pixels)
    scale = _CELL / max(picture.size)
    picture = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    tile.paste(picture, ((_CELL - picture.width) // 2, (_CELL - picture.height) // 2))
    return tile


def _spread(count: int, wanted: int) -> list[int]:
    """Up to `wanted` places spread evenly over `count`."""
    return [round(place) for place in np.linspace(0, count - 1, min(count, wanted)).tolist()]
