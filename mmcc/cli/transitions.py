"""`mmcc transitions`: what becomes what."""

from __future__ import annotations

import json as json_module
import shutil
import sys
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED
from mmcc.text import one_line


def transitions(
    run: Annotated[str, Arg("a run, a checkpoint, or a model that comes with mmcc: kitchen")],
    videos: Annotated[list[Path], Arg("video files, folders of them, or corpora", metavar="VIDEO")],
    /,
    *,
    top: Annotated[int, Arg("how many pairs, over all videos", metavar="N", least=1, most=10_000)] = 10,
    per_video: Annotated[int | None, Arg("at most so many of each video", metavar="N", least=1)] = None,
    window: Annotated[
        float, Arg("pairs that begin and end within so many seconds of a better one are left out", least=0)
    ] = 10.0,
    any_direction: Annotated[
        bool, Arg("also pairs whose second frame is the earlier one, as where a dish is shown before it is made")
    ] = False,
    sheet: Annotated[Path | None, Arg("draw the pairs, each frame with what is said", metavar="PNG")] = None,
    export: Annotated[
        Path | None,
        Arg("write chapters (WebVTT, ffmetadata, YouTube) and a step guide (HTML, Markdown)", metavar="DIR"),
    ] = None,
    json: Annotated[bool, Arg("print the pairs as JSON")] = False,
) -> int:
    """Find the clearest before → after pairs of videos: when, how far apart, and what is said.

    examples:
      mmcc transitions kitchen soup.mp4 --sheet soup.png
      mmcc transitions kitchen ~/Videos/cooking --per-video 1 --sheet best.png
      mmcc transitions runs/mine soup.mp4 --export soup
    """
    from mmcc.progress import bar, file_progress
    from mmcc.tools.cache import Cache
    from mmcc.tools.domain import domain_warnings
    from mmcc.tools.footage import open_footage
    from mmcc.tools.model import open_model
    from mmcc.tools.transitions import draw, find_changes, render, to_json

    model, cache = open_model(run), Cache.default()
    with file_progress("read") as progress:
        opened = open_footage(model, videos, cache, progress=progress)
    found = find_changes(
        model, opened.footage, cache, top=top, window=window, any_direction=any_direction, progress=bar("transitions")
    )
    warnings = [*opened.notes, *found.notes, *domain_warnings(model, opened.footage, cache)]
    skipped = [*opened.skipped, *found.skipped]
    best, several = found.best(top, per_video), len(opened.footage) > 1
    terminal = shutil.get_terminal_size((140, 24)).columns
    told = to_json(best, skipped, warnings)
    print(json_module.dumps(told, ensure_ascii=False) if json else render(best, terminal, several=several))
    for line in [*warnings, *(f"skipped {each.path}: {each.reason}" for each in skipped)]:
        print(one_line(line), file=sys.stderr)
    if sheet:
        draw(sheet, f"Before and after, as {Path(run).name} sees it", best, warnings, several=several)
        print(f"sheet: {one_line(sheet)}", file=sys.stderr)
    if export:
        from mmcc.report.export import write_exports

        for line in [*write_exports(export, found.videos, top), f"chapters and guide: {export}"]:
            print(one_line(line), file=sys.stderr)
    return EXIT_SKIPPED if skipped else EXIT_OK
