"""Transitions for people: a table in the terminal, a sheet of pairs, a card on a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from mmcc.report.gallery import Thumbnail, card, row
from mmcc.report.html import Markup
from mmcc.report.sheets import Tile, draw_sheet
from mmcc.text import clock, one_line
from mmcc.tools.transitions import Change

_LONGEST_NAME = 30  # characters of a video's name in the table


def render(changes: Sequence[Change], width: int, *, several: bool = False) -> str:
    """A table about `width` characters wide; with the videos' names if there are several videos."""
    rows = [["", "before", "", "after", "apart", "× chance"]]
    for place, change in enumerate(changes, 1):
        apart = f"{abs(change.to_time - change.from_time):.0f} s"
        times = [clock(change.from_time), "→", clock(change.to_time)]
        rows.append([f"{place}", *times, apart, times_chance(change.score)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    figures = ["  ".join(cell.rjust(size) for cell, size in zip(row, widths, strict=True)) for row in rows]
    names = [one_line(change.footage.name) for change in changes]
    name_width = min(max(map(len, names)), _LONGEST_NAME) + 2 if several else 0
    room = max(12, (width - len(figures[0]) - name_width - 6) // 2)
    lines = [f"{figures[0]}   {'video':<{name_width}}" if several else f"{figures[0]}   "]
    lines[0] += f"{'narration before':<{room}}   narration after"
    for line, change, name in zip(figures[1:], changes, names, strict=True):
        before, after = (_cut(one_line(text) or "–", room) for text in (change.from_text, change.to_text))
        named = f"{_cut(name, _LONGEST_NAME):<{name_width}}" if several else ""
        lines.append(f"{line}   {named}{before:<{room}}   {after}")
    return "\n".join(line.rstrip() for line in lines)


def times_chance(score: float) -> str:
    """10^score as people read it: "1,600", "3 million", and powers of ten beyond."""
    if score < 6:
        value = 10**score
        digits = max(0, 1 - math.floor(math.log10(value))) if value < 100 else 1 - math.floor(math.log10(value))
        return f"{round(value, digits):,.{max(0, min(digits, 3))}f}"
    return f"{10 ** (score - 6):,.0f} million" if score < 9 else f"10^{score:.0f}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def draw(
    path: Path, title: str, changes: Sequence[Change], warnings: Sequence[str] = (), *, several: bool = False
) -> None:
    """The pairs, two to a line, each frame with its narration; with the videos' names if there are several videos."""
    rows = []
    for place, change in enumerate(changes, 1):
        before, after = clock(change.from_time), clock(change.to_time)
        titles = (f"{place}.  {before} → {after}", change.footage.name) if several else (f"{place}.  {before}", after)
        sides = ((change.from_frame, change.from_text), (change.to_frame, change.to_text))
        rows.append(
            [Tile(change.footage.still(frame), title, text) for (frame, text), title in zip(sides, titles, strict=True)]
        )
    draw_sheet(path, title, rows, arrows=True, warnings=warnings, columns=2)


def transition_card(change: Change) -> Markup:
    """One pair on a page."""
    tiles = [
        Thumbnail(change.footage.still(frame), clock(time), text)
        for frame, time, text in (
            (change.from_frame, change.from_time, change.from_text),
            (change.to_frame, change.to_time, change.to_text),
        )
    ]
    apart = change.to_time - change.from_time
    heading = f"{change.footage.name}: {abs(apart):.0f} s {'later' if apart > 0 else 'earlier'}"
    return card(heading, row(tiles, arrows=True), note=f"{times_chance(change.score)} × chance")
