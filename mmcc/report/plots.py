"""Plots as inline SVG: bars with intervals, and curves. Colours are classes, which a page sets for light and dark.

Colour is never the only difference: bars are labelled, each curve has its own dashes and is named at the side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mmcc.report.html import Markup, element

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8f7700", "#56b4e9")  # distinct for colour-blind people too
_DASHES = (None, "7 3", "2 3", "8 3 2 3", "12 4", "4 4", "1 2", "10 2 4 2")
_MARKS = (("dashed", "5 4"), ("dotted", "1.5 4"))
_BAR, _GAP = 18, 8
_LEFT, _RIGHT, _TOP, _BOTTOM = 210, 110, 8, 42
_WIDTH = 720


@dataclass(frozen=True)
class Bar:
    """A figure and its interval."""

    label: str
    mean: float
    low: float | None = None
    high: float | None = None
    ours: bool = False


@dataclass(frozen=True)
class Mark:
    """A reference figure: chance, a ceiling, a paper's."""

    label: str
    at: float


@dataclass(frozen=True)
class Curve:
    """A line through points in order of x."""

    label: str
    points: tuple[tuple[float, float], ...]
    style: int = 0  # which colour and dashes: the same thing looks the same in every plot


def bars(title: str, shown: Sequence[Bar], axis: str, *, marks: Sequence[Mark] = (), digits: int = 1) -> Markup:
    """Horizontal bars from zero, intervals as whiskers, marks as dashed lines."""
    ends = [value for bar in shown for value in (bar.mean, bar.low, bar.high) if value is not None]
    scale = _Scale.over([0.0, *ends, *(mark.at for mark in marks)], _LEFT, _WIDTH - _RIGHT)
    height = _TOP + len(shown) * (_BAR + _GAP) + _BOTTOM + 16 * bool(marks)
    bottom = float(_TOP + len(shown) * (_BAR + _GAP))
    drawn = [_vertical(scale(tick), _TOP, bottom, "grid") for tick in scale.ticks()]
    for place, bar in enumerate(shown):
        drawn += _bar(bar, scale, float(_TOP + place * (_BAR + _GAP)), digits)
    styles = [_MARKS[place % len(_MARKS)] for place in range(len(marks))]
    for mark, (_, dash) in zip(marks, styles, strict=True):
        drawn.append(_vertical(scale(mark.at), _TOP, bottom, "mark", dash=dash))
    drawn += [_text(tick_text(tick), scale(tick), bottom + 16, "middle") for tick in scale.ticks()]
    drawn.append(_text(axis, (_LEFT + _WIDTH - _RIGHT) / 2, bottom + 34, "middle"))
    named = zip(marks, styles, strict=True)
    legend = " · ".join(f"{style}: {mark.label} {mark.at:.{digits}f}" for mark, (style, _) in named)
    if legend:
        drawn.append(_text(legend, (_LEFT + _WIDTH - _RIGHT) / 2, bottom + 52, "middle", "faint"))
    return _svg(title, _WIDTH, height, drawn)


def curves(title: str, shown: Sequence[Curve], x_axis: str, y_axis: str) -> Markup:
    """Lines over a common x, their names at the side in the order of their last values."""
    points = [point for curve in shown for point in curve.points]
    left, right, bottom = 62, _WIDTH - 170, 300.0
    across = _Scale.over([x for x, _ in points], left, right)
    up = _Scale.over([y for _, y in points], bottom, _TOP)
    drawn = [_horizontal(up(tick), left, right, "grid") for tick in up.ticks()]
    drawn += [_text(tick_text(tick), left - 8, up(tick) + 4, "end") for tick in up.ticks()]
    drawn += [_text(tick_text(tick), across(tick), bottom + 18, "middle") for tick in across.ticks()]
    for curve in shown:
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in curve.points)
        drawn.append(element("polyline", points=path, fill="none", **_line(curve.style)))
    drawn += _legend(shown, right + 14)
    drawn.append(_text(x_axis, (left + right) / 2, bottom + 36, "middle"))
    drawn.append(
        element("text", y_axis, transform=f"translate(14 {(bottom + _TOP) / 2:.0f}) rotate(-90)", text_anchor="middle")
    )
    return _svg(title, _WIDTH, bottom + 44, drawn)


def tick_text(value: float) -> str:
    return f"{value:,.10g}"


def _bar(bar: Bar, scale: _Scale, top: float, digits: int) -> list[Markup]:
    middle = top + _BAR / 2
    begin, end = sorted((scale(0.0), scale(bar.mean)))
    number = 1 if bar.ours else 0
    drawn = [
        _text(bar.label, _LEFT - 10, middle + 4, "end"),
        element(
            "rect",
            x=begin,
            y=top,
            width=max(end - begin, 1.0),
            height=float(_BAR),
            class_=f"series-{number}",
            fill=COLOURS[number],
        ),
    ]
    if bar.low is not None and bar.high is not None:
        low, high = scale(bar.low), scale(bar.high)
        drawn += [_horizontal(middle, low, high, "whisker")]
        drawn += [_vertical(at, middle - 4, middle + 4, "whisker") for at in (low, high)]
    return [*drawn, _text(f"{bar.mean:.{digits}f}", _WIDTH - _RIGHT + 56, middle + 4, "end")]


def _legend(shown: Sequence[Curve], left: float) -> list[Markup]:
    """Highest last value first, so that names are about level with the lines' ends."""
    drawn = []
    for place, curve in enumerate(sorted(shown, key=lambda each: -each.points[-1][1] if each.points else 0.0)):
        y = _TOP + 10.0 + 20 * place
        drawn.append(element("line", x1=left, x2=left + 26, y1=y, y2=y, **_line(curve.style)))
        drawn.append(_text(curve.label, left + 33, y + 4, "start"))
    return drawn


def _line(number: int) -> dict[str, str | float | None]:
    colour = number % len(COLOURS)
    return {
        "class_": f"line-{colour}",
        "stroke": COLOURS[colour],
        "stroke_width": 2.0,
        "stroke_dasharray": _DASHES[number % len(_DASHES)],
    }


@dataclass(frozen=True)
class _Scale:
    """Maps values to pixels, over a range that begins and ends at ticks."""

    low: float
    high: float
    step: float
    begin: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], begin: float, end: float) -> _Scale:
        finite = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(finite), max(finite)
        if high - low < 1e-9 * max(1.0, abs(low), abs(high)):  # a single value
            low, high = low - 0.5, high + 0.5
        step = _round_step((high - low) / 5)
        return cls(math.floor(low / step) * step, math.ceil(high / step) * step, step, begin, end)

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[float]:
        count = round((self.high - self.low) / self.step)
        return [round(self.low + at * self.step, 10) for at in range(count + 1)]


def _round_step(wanted: float) -> float:
    """1, 2, 2.5 or 5 times a power of ten, at least `wanted`."""
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= wanted * (1 - 1e-9))


def _svg(title: str, width: float, height: float, drawn: Sequence[Markup]) -> Markup:
    return element(
        "svg",
        element("title", title),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_label=title,
        font_family="system-ui, sans-serif",
        font_size="13",
        fill="currentColor",
    )


def _text(text: str, x: float, y: float, anchor: str, kind: str | None = None) -> Markup:
    return element("text", text, x=float(x), y=float(y), text_anchor=anchor, class_=kind)


def _vertical(x: float, top: float, bottom: float, kind: str, dash: str | None = None) -> Markup:
    return element("line", x1=x, x2=x, y1=top, y2=bottom, class_=kind, stroke="currentColor", stroke_dasharray=dash)


def _horizontal(y: float, left: float, right: float, kind: str) -> Markup:
    return element("line", x1=left, x2=right, y1=y, y2=y, class_=kind, stroke="currentColor")
