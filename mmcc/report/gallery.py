"""Pictures and text on a page: frames embedded as JPEG, in rows that wrap on a phone.

>>> row([Thumbnail(pixels, "0:12", "crack the eggs"), Thumbnail(None, "0:40", "whisk them", mark="good")], arrows=True)
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcc.media.jpeg import encode_jpeg
from mmcc.metrics import Interval
from mmcc.report.html import Markup, element, joined, quoted

_QUALITY = 85
_LARGEST = 192  # pixels a side: a tile is about 120 wide, and a page holds hundreds
_MARKS = {"good": "✓", "bad": "✗"}  # as not everybody sees the colours
_WARM = np.array([255.0, 60.0, 0.0])


class Thumbnail(NamedTuple):
    """A picture, or text in its place, with a title and a caption."""

    pixels: NDArray[np.uint8] | None  # [H, W, 3]; None: the caption is shown instead
    title: str = ""
    caption: str = ""
    mark: str = ""  # "good", "bad" or neither
    below: NDArray[np.uint8] | None = None  # a second picture, of the same thing


def row(tiles: Sequence[Thumbnail], *, arrows: bool = False) -> Markup:
    """Tiles side by side, with arrows between them if one leads to the next."""
    between = element("span", "→", class_="arrow", aria_hidden="true")
    parts: list[Markup] = []
    for place, shown in enumerate(tiles):
        parts += [between] if arrows and place else []
        parts.append(tile(shown))
    return element("div", *parts, class_="row")


def tile(shown: Thumbnail) -> Markup:
    sign = _MARKS.get(shown.mark, "")
    sign_mark = element("span", sign, class_=shown.mark or None)
    title = element("span", f"{shown.title} ", sign_mark, class_="place", dir="auto")
    if shown.pixels is None:
        content: list[str] = [quoted("blockquote", shown.caption or "…"), title]
    else:
        below = [quoted("div", shown.caption)] if shown.caption else []
        again = [] if shown.below is None else [picture(shown.below, "")]
        content = [picture(shown.pixels, shown.caption or shown.title), *again, title, *below]
    return element("figure", *content, class_=f"tile {shown.mark}".strip())


def card(title: str, *content: Markup, note: str = "") -> Markup:
    """A box with a heading."""
    said = [element("p", note, class_="note")] if note else []
    return element("div", element("h3", title, dir="auto"), *content, *said, class_="card")


def cards(made: Sequence[Markup]) -> Markup:
    """Boxes side by side, as far as there is room."""
    return element("div", *made, class_="cards")


def folded(summary: str, content: Markup) -> Markup:
    """Details that only some readers want."""
    return element("details", element("summary", summary), content)


def picture(pixels: NDArray[np.uint8], alt: str) -> Markup:
    data = b64encode(encode_jpeg(np.ascontiguousarray(_reduced(pixels)), _QUALITY)).decode()
    return element("img", src=f"data:image/jpeg;base64,{data}", alt=alt)


def heated(pixels: NDArray[np.uint8], map_HW: NDArray[np.float32]) -> NDArray[np.uint8]:
    """A picture with a map laid over it: greyer where the map is low, red where it is high; a constant map counts as
    low everywhere."""
    grey = np.repeat(pixels.mean(axis=2, keepdims=True), 3, axis=2)
    low, high = float(map_HW.min()), float(map_HW.max())
    warmth = ((map_HW - low) / (high - low) if high > low else np.zeros_like(map_HW))[..., None]
    mixed = (1 - warmth) * (0.6 * grey + 0.4 * pixels) + warmth * (0.55 * _WARM + 0.45 * pixels)
    return mixed.round().clip(0, 255).astype(np.uint8)


class Gauge(NamedTuple):
    """A figure of one or several models, between chance and a ceiling."""

    label: str
    values: Sequence[Interval | None]  # of each model
    chance: float | None = None
    ceiling: float | None = None
    digits: int = 1


def gauges(shown: Sequence[Gauge], models: Sequence[str], low: float, high: float) -> Markup:
    """Dots with their intervals on tracks of one scale; chance dotted, the ceiling a line."""
    keys = [joined([element("span", class_=f"key of-{at}"), name]) for at, name in enumerate(models)]
    if any(gauge.chance is not None for gauge in shown):
        keys.append(Markup("&emsp;┊ chance"))
    if any(gauge.ceiling is not None for gauge in shown):
        keys.append(Markup("&emsp;│ with every step known"))
    legend = element("p", *keys, class_="note")
    return element("div", legend, *(_gauge(gauge, low, high) for gauge in shown), class_="gauges")


def _gauge(gauge: Gauge, low: float, high: float) -> Markup:
    def at(value: float) -> str:
        return f"{100 * min(max((value - low) / (high - low), 0.0), 1.0):.2f}%"

    marks = [("mark chance", gauge.chance), ("mark ceiling", gauge.ceiling)]
    drawn = [element("i", class_=kind, style=f"left:{at(value)}") for kind, value in marks if value is not None]
    texts: list[str] = []
    for number, value in enumerate(gauge.values):
        if value is None:
            continue
        top = f"top:{100 * (number + 1) / (len(gauge.values) + 1):.1f}%"
        if value.low is not None and value.high is not None:
            style = f"left:{at(value.low)};right:calc(100% - {at(value.high)});{top}"
            drawn.append(element("i", class_=f"span of-{number}", style=style))
        drawn.append(element("i", class_=f"dot of-{number}", style=f"left:{at(value.mean)};{top}"))
        texts += [element("br")] * bool(texts) + [value.text(gauge.digits)]
    chance = "" if gauge.chance is None else f"chance {gauge.chance:.{gauge.digits}f}"
    track = element("span", *drawn, class_="track", title=chance or None)
    return element("div", element("span", gauge.label), track, element("span", *texts, class_="value"), class_="gauge")


class Lane(NamedTuple):
    """Weights over moments of a timeline."""

    label: str
    times: NDArray[np.float64]  # [N]
    weights: NDArray[np.float64]  # [N]


def timeline(title: str, lanes: Sequence[Lane], start: float, end: float) -> Markup:
    """What a model attends to: a lane per edge, darker where the weight is larger."""
    width, height, left = 720.0, 20.0, 168.0
    drawn: list[Markup] = []
    for place, lane in enumerate(lanes):
        top = 4 + place * (height + 6)
        drawn.append(element("text", lane.label, x=left - 10, y=top + 14, text_anchor="end"))
        across = (width - left) / max(len(lane.times), 1)
        strongest = float(lane.weights.max()) if len(lane.weights) else 1.0
        for time, weight in zip(lane.times.tolist(), lane.weights.tolist(), strict=True):
            x = left + (time - start) / max(end - start, 1e-9) * (width - left - across)
            share = f"{weight / strongest if strongest > 0 else 0.0:.3f}"
            box = {"x": x, "y": top, "width": max(across * 0.9, 1.0), "height": height}
            drawn.append(element("rect", **box, class_="series-1", fill_opacity=share))
    return _svg_of(title, width, 4 + len(lanes) * (height + 6), drawn)


def _svg_of(title: str, width: float, height: float, drawn: Sequence[Markup]) -> Markup:
    attributes: dict[str, Any] = {"viewBox": f"0 0 {width:.0f} {height:.0f}", "role": "img", "aria_label": title}
    made = element("svg", element("title", title), *drawn, **attributes, font_size="13", fill="currentColor")
    return element("div", made, class_="scroll")


def _reduced(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Blocks of pixels averaged so that the longer side is small enough."""
    by = -(-max(pixels.shape[:2]) // _LARGEST)
    if by == 1:
        return pixels
    height, width = pixels.shape[0] // by * by, pixels.shape[1] // by * by
    blocks = pixels[:height, :width].reshape(height // by, by, width // by, by, 3)
    return np.asarray(blocks.mean(axis=(1, 3)).round(), np.uint8)
