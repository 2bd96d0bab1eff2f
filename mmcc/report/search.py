"""Search results for people: a table in the terminal, a sheet of moments."""

from __future__ import annotations

from pathlib import Path

from mmcc.media.photo_worker import read_to_show
from mmcc.report.sheets import Tile, draw_sheet
from mmcc.text import clock, counted, one_line
from mmcc.tools.search import FrameHit, SearchResult

_PER_ROW = 5  # tiles
_LARGEST = 512  # pixels on a photo's longer side: more than a tile shows


def render(found: SearchResult, width: int = 140) -> str:
    """A table with a line per hit, none longer than `width`."""
    lines = [f"{counted(len(found.hits), 'moment')} {one_line(found.question)}:", ""]
    names = max((len(one_line(hit.moments[0].footage.name)) for hit in found.hits), default=0)
    for place, hit in enumerate(found.hits, 1):
        when = " → ".join(f"{clock(moment.time):>7}" for moment in hit.moments)
        said = " → ".join(one_line(moment.text) or "–" for moment in hit.moments)
        line = f"{place:>3}  {hit.score:6.3f}  {one_line(hit.moments[0].footage.name):<{names}}  {when}  {said}"
        lines.append(line if len(line) <= width else line[: width - 1] + "…")
    return "\n".join(lines)


def draw(path: Path, found: SearchResult) -> None:
    """Hits as tiles, after the frame they were searched with; changes as pairs."""
    if any(len(hit.moments) > 1 for hit in found.hits):
        rows = [[_tile(moment) for moment in hit.moments] for hit in found.hits]
        draw_sheet(path, found.question, rows, arrows=True, warnings=found.warnings, columns=2)
        return
    tiles = [_tile(hit.moments[0]) for hit in found.hits]
    rows = [tiles[first : first + _PER_ROW] for first in range(0, len(tiles), _PER_ROW)]
    asked = [[_asked_with(found.asked_with)]] if found.asked_with else []
    draw_sheet(path, found.question, [*asked, *rows], warnings=found.warnings)


def _asked_with(shown: FrameHit | Path) -> Tile:
    if isinstance(shown, Path):
        return Tile(read_to_show(shown, _LARGEST), "searched with", shown.name)
    where = f"{one_line(shown.footage.name)} {clock(shown.time)}"
    return Tile(shown.footage.still(shown.frame), "searched with", f"{where}: {shown.text}" if shown.text else where)


def _tile(moment: FrameHit) -> Tile:
    name = one_line(moment.footage.name)
    caption = f"{name}: {moment.text}" if moment.text else name
    return Tile(moment.footage.still(moment.frame), clock(moment.time), caption)
