"""Cycles for people and scripts: as text, as JSON, and drawn as in the paper's Figures 2 and 4.

Shapes: N nodes of the modality that an edge runs over, G cells of a strip.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.source import Skipped
from mmcc.report.sheets import Strip, Tile, clock, draw_sheet, written
from mmcc.text import one_line
from mmcc.tools.cycles import EDGES, TEXT, VISION, FoundCycles, Station, VideoCycles, Walk

_WORDS = {  # for a station of each modality
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
_CELLS = 96  # of a strip: a 64 s segment then has one for less than a second


def render(walks: Sequence[Walk], found: FoundCycles) -> str:
    """How often cycles return, and the stations of some."""
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
        word = _WORDS[name][station.modality]
        share = "" if name == "start" else f"{100 * station.weight:.0f} %"
        said = one_line(station.text)
        text = f"“{said}”" if station.modality == TEXT else f"picture; said then: “{said}”" if said else "picture"
        lines.append(f"     {word:<11}  {clock(station.time):>7}  {share:>5}  {text}")
    return "\n".join(lines)


def verdict(walk: Walk) -> str:
    """Whether a cycle returned, and how far it went."""
    start, future, back = (walk.stations[name].time for name in ("start", "future", "back"))
    if abs(future - start) < 1e-6:
        way = "stays in place"
    else:
        way = f"goes {abs(future - start):.0f} s {'ahead' if future > start else 'back'}"
    if not walk.returns:
        side = "after" if back > start else "before"
        return f"{way} and does not return: it ends {abs(back - start):.0f} s {side} its start"
    return f"{way} and returns" + ("" if walk.returns_hard else ", though not from the one future node alone")


def to_json(
    walks: Sequence[Walk], found: FoundCycles, skipped: Sequence[Skipped], warnings: Sequence[str]
) -> dict[str, Any]:
    return {
        "schema": 1,
        "videos": [
            {
                "video": video.footage.name,
                "start_modality": video.modality,
                "cycles": video.count.cycles,
                "returned": video.count.returned,
                "returned_by_chance": video.count.by_chance,
                "forward": video.count.forward,
            }
            for video in found.videos
        ],
        "cycles": [_walk_json(walk) for walk in walks],
        "skipped": [{"path": each.path, "reason": each.reason} for each in skipped],
        "warnings": list(warnings),
    }


def _walk_json(walk: Walk) -> dict[str, Any]:
    return {
        "video": walk.footage.name,
        "segment": list(walk.segment),
        **{name: _station_json(walk.stations.get(name)) for name in ("start", *EDGES)},
        "returns": walk.returns,
        "returns_hard": walk.returns_hard,
        "goes_forward": walk.goes_forward,
        "concreteness": walk.concreteness,
        "attention": {
            name: {"modality": edge.modality, "times": edge.times, "weights": edge.weights.tolist()}
            for name, edge in walk.edges.items()
        },
    }


def _station_json(station: Station | None) -> dict[str, Any] | None:
    if station is None:
        return None
    return {"modality": station.modality, "time": station.time, "text": station.text, "weight": station.weight}


def draw(path: Path, title: str, walks: Sequence[Walk], notes: Sequence[str] = ()) -> None:
    """A row of stations for each cycle, and under it what every edge attends to over the segment."""
    rows = [[_tile(walk, name) for name in walk.stations] for walk in walks]
    legend = (
        "Strips: attention over the segment, from its first moment to its last; ▾ marks the start and the best node."
    )
    draw_sheet(path, title, rows, arrows=True, strips=[_strips(walk) for walk in walks], notes=[legend, *notes])


def _tile(walk: Walk, name: str) -> Tile:
    station = walk.stations[name]
    share = "" if name == "start" else f" · {100 * station.weight:.0f} %"
    picture = written(station.text) if station.modality == TEXT else walk.footage.still(station.node)
    caption = {"start": walk.footage.name, "back": verdict(walk)}.get(name, "")
    mark = ("good" if walk.returns else "bad") if name == "back" else ""
    return Tile(picture, f"{_WORDS[name][station.modality]} {clock(station.time)}{share}", caption, mark)


def _strips(walk: Walk) -> list[Strip]:
    """All on one timeline: an utterance takes up the time that is nearer to it than to another."""
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
