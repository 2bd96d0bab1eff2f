"""`mmcc cycles`: to the future and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from mmcc.cli.arguments import PICTURES, Arg
from mmcc.cli.models import MODEL
from mmcc.cli.output import answer, wrote
from mmcc.errors import UsageError
from mmcc.text import parse_clock


def cycles(
    run: Annotated[str, MODEL],
    videos: Annotated[list[Path], Arg("video files, folders of them, or corpora", metavar="VIDEO", remote=True)],
    /,
    *,
    start: Annotated[
        str | None, Arg("start at the node nearest to this moment (default: at the most concrete ones)", metavar="1:23")
    ] = None,
    modality: Annotated[Literal["vision", "text"], Arg("start at a frame, or at an utterance")] = "vision",
    top: Annotated[
        int, Arg("how many returning and how many non-returning cycles to show", metavar="N", least=1, most=100)
    ] = 3,
    sheet: Annotated[
        Path | None, Arg("draw the cycles, with attention over the timeline", metavar="PICTURE", endings=PICTURES)
    ] = None,
    json: Annotated[bool, Arg("print the cycles as JSON, with all weights")] = False,
) -> int:
    """Follow cycles: from a moment to its words, its future, that future's words, and back.

    Shows some that return to where they started and some that do not, or the one from --start.

    examples:
      mmcc cycles kitchen soup.mp4 --sheet cycles.png
      mmcc cycles kitchen soup.mp4 --start 1:23
    """
    from mmcc.progress import bar, file_progress
    from mmcc.report.cycles import draw, render
    from mmcc.tools.cache import Cache
    from mmcc.tools.cycles import find_cycles, to_json
    from mmcc.tools.familiar import domain_warnings
    from mmcc.tools.footage import open_footage
    from mmcc.tools.model import open_model

    try:
        moment = None if start is None else parse_clock(start)
    except ValueError as error:
        raise UsageError(f"--start: {error}") from None
    model, cache = open_model(run, progress=bar("embed")), Cache.default()
    with file_progress("read") as progress:
        opened = open_footage(model, videos, cache, progress=progress)
    found = find_cycles(model, opened.footage, cache, modality=modality, start=moment, progress=bar("cycles"))
    if moment is None:
        returned, failed = found.examples(top)
        walks = returned + failed
    else:
        walks = found.from_time(moment)
    warnings = [*opened.notes, *domain_warnings(model, opened.footage, cache)]
    skipped = [*opened.skipped, *found.skipped]
    content = to_json(walks, found, skipped, warnings)
    code = answer(content, render(walks, found), as_json=json, warnings=warnings, skipped=skipped)
    if sheet:
        draw(sheet, f"Cycles, as {Path(run).name} walks them", walks, warnings)
        wrote("sheet", sheet)
    return code
