"""Cycles for people: as text, as a sheet like the paper's Figures 2 and 4, as a card on a page.

Shapes: N nodes of the modality that an edge runs over, G cells of a strip.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmcc.report.gallery import Lane, Thumbnail, card, row, timeline
from mmcc.report.html import Markup
from mmcc.report.sheets import Strip, Tile, draw_sheet, written
from mmcc.text import clock, one_line
from mmcc.tools.cycles import TEXT, VISION, FoundCycles, VideoCycles, Walk

_NAMES = {  # of a station, in each modality
    "start": {VISION: "start", TEXT: "start"},
    "counterpart": {VISION: "its picture", TEXT: "its words"},
    "future": {VISION: "future", TEXT: "future"},
    "future_counterpart": {VISION: "its picture", TEXT: "its words"},
    "back": {VISION: "back at", TEXT: "back at"},
}
_STRIPS = {
    "counterpart": "1  {} for the start",
    "future": "2  {} of the future",
    "future_counterpart": "3  {} for the future",
    "back": "4  {} back",
}
_NOUNS = {VISION: "pictures", TEXT: "words"}
_CELLS = 96  # per strip: less than a second each in a 64 s segment


def render(walks: Sequence[Walk], found: FoundCycles) -> str:
    """How often cycles return, and the stations of the given ones."""
    summaries = "\n".join(_summary(video) for video in found.videos)
    return "\n\n".join([summaries, *(_as_text(number, walk) for number, walk in enumerate(walks, 1))])


def _summary(video: VideoCycles) -> str:
    count = video.count
    chance = f"{count.by_chance:.1f} by chance"
    return (
        f"{one_line(video.footage.name)}: {count.returned} of {count.cycles} cycles return to where they began "
        f"({chance}), {count.forward} go forward"
    )


def _as_text(number: int, walk: Walk) -> str:
    lines = [f"{number}. {one_line(walk.footage.name)}: {verdict(walk)}"]
    for name, station in walk.stations.items():
        word = _NAMES[name][station.modality]
        share = "" if name == "start" else f"{100 * station.weight:.0f} %"
        said = one_line(station.text)
        text = f"“{said}”" if station.modality == TEXT else f"picture; said then: “{said}”" if said else "picture"
        lines.append(f"     {word:<11}  {clock(station.time):>7}  {share:>5}  {text}")
    return "\n".join(lines)


def verdict(walk: Walk) -> str:
    """Whether a cycle returns, and how far it goes."""
    start, future, back = (walk.stations[name].time for name in ("start", "future", "back"))
    if abs(future - start) < 1e-6:
        way = "stays in place"
    else:
        way = f"goes {abs(future - start):.0f} s {'ahead' if future > start else 'back'}"
    if not walk.returns:
        side = "after" if back > start else "before"
        return f"{way} and does not return: it ends {abs(back - start):.0f} s {side} its start"
    return f"{way} and returns" + ("" if walk.returns_hard else ", though not from the one future node alone")


def draw(path: Path, title: str, walks: Sequence[Walk], warnings: Sequence[str] = ()) -> None:
    """A row of stations per cycle, and under it what each edge attends to over the segment."""
    rows = [[_tile(walk, name) for name in walk.stations] for walk in walks]
    legend = (
        "Strips: attention over the segment, from beginning to end; ▾ marks the start and the node with most weight."
    )
    draw_sheet(
        path, title, rows, arrows=True, strips=[_strips(walk) for walk in walks], notes=[legend], warnings=warnings
    )


def _tile(walk: Walk, name: str) -> Tile:
    station = walk.stations[name]
    share = "" if name == "start" else f" · {100 * station.weight:.0f} %"
    picture = written(station.text) if station.modality == TEXT else walk.footage.still(station.node)
    caption = {"start": walk.footage.name, "back": verdict(walk)}.get(name, "")
    mark = ("good" if walk.returns else "bad") if name == "back" else ""
    return Tile(picture, f"{_NAMES[name][station.modality]} {clock(station.time)}{share}", caption, mark)


def _strips(walk: Walk) -> list[Strip]:
    """All on one timeline: an utterance fills the time that is nearer to it than to any other."""
    first, last = walk.segment
    grid_G = np.linspace(first, last, _CELLS, endpoint=False) + (last - first) / _CELLS / 2
    strips = []
    for name, edge in walk.edges.items():
        nearest_G = np.abs(grid_G[:, None] - np.array(edge.times)).argmin(axis=1)
        pointed = {_cell(grid_G, walk.stations[each].time) for each in ("start", name)}
        strips.append(Strip(_STRIPS[name].format(_NOUNS[edge.modality]), edge.weights[nearest_G], sorted(pointed)))
    return strips


def _cell(grid_G: NDArray[np.float64], time: float) -> int:
    return int(np.abs(grid_G - time).argmin())


def cycle_card(walk: Walk) -> Markup:
    """One cycle on a page."""
    lanes = [
        Lane(_STRIPS[name].format(_NOUNS[edge.modality]), np.array(edge.times), edge.weights)
        for name, edge in walk.edges.items()
    ]
    attention = timeline(f"Attention over {walk.footage.name}", lanes, *walk.segment)
    tiles = [_thumbnail(walk, name) for name in walk.stations]
    return card(f"{walk.footage.name} {verdict(walk)}", row(tiles, arrows=True), attention)


def _thumbnail(walk: Walk, name: str) -> Thumbnail:
    station = walk.stations[name]
    title = f"{_NAMES[name][station.modality]} {clock(station.time)}"
    mark = ("good" if walk.returns else "bad") if name == "back" else ""
    if station.modality == TEXT:
        return Thumbnail(None, title, f"“{station.text}”", mark)
    pixels = walk.footage.still(station.node)
    return Thumbnail(pixels, title, "" if pixels is not None else f"frame {station.node}", mark)
