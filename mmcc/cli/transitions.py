"""`mmcc transitions`: what becomes what."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import PICTURES, Arg
from mmcc.cli.models import MODEL
from mmcc.cli.output import answer, wrote
from mmcc.terminal import note


def transitions(
    run: Annotated[str, MODEL],
    videos: Annotated[list[Path], Arg("video files, folders of them, or corpora", metavar="VIDEO", remote=True)],
    /,
    *,
    top: Annotated[int, Arg("how many pairs, across all videos", metavar="N", least=1, most=10_000)] = 10,
    per_video: Annotated[int | None, Arg("at most this many per video", metavar="N", least=1)] = None,
    window: Annotated[
        float,
        Arg("leave out pairs that begin and end within this many seconds of a better one", metavar="SECONDS", least=0),
    ] = 10.0,
    gap: Annotated[float, Arg("at least this many seconds between before and after", metavar="SECONDS", least=0)] = 3.0,
    any_direction: Annotated[
        bool, Arg("also find pairs whose second frame comes earlier, as when a dish is shown before it is made")
    ] = False,
    keep_blank: Annotated[bool, Arg("also consider blank frames, fades and titles")] = False,
    sheet: Annotated[
        Path | None, Arg("draw the pairs, each frame with its narration", metavar="PICTURE", endings=PICTURES)
    ] = None,
    export: Annotated[
        Path | None,
        Arg("write chapters (WebVTT, ffmetadata, YouTube) and a step guide (HTML, Markdown)", metavar="DIR"),
    ] = None,
    json: Annotated[bool, Arg("print the pairs as JSON")] = False,
) -> int:
    """Find the clearest before → after pairs in videos: when, how far apart, and what is said.

    examples:
      mmcc transitions kitchen soup.mp4 --sheet soup.png
      mmcc transitions kitchen ~/Videos/cooking --per-video 1 --sheet best.png
      mmcc transitions runs/mine soup.mp4 --export soup
    """
    from mmcc.progress import bar, file_progress
    from mmcc.report.export import write_exports
    from mmcc.report.transitions import draw, render
    from mmcc.tools.cache import Cache
    from mmcc.tools.familiar import domain_warnings, warnings_about
    from mmcc.tools.footage import open_footage
    from mmcc.tools.model import open_model
    from mmcc.tools.transitions import find_changes, to_json

    model, cache = open_model(run, progress=bar("embed")), Cache.default()
    with file_progress("read") as progress:
        opened = open_footage(model, videos, cache, progress=progress)
    found = find_changes(
        model,
        opened.footage,
        cache,
        top=top,
        window=window,
        gap=gap,
        any_direction=any_direction,
        keep_blank=keep_blank,
        progress=bar("transitions"),
    )
    shared = [*found.notes, *domain_warnings(model, opened.footage, cache)]  # also on what people pass on
    warnings = [*opened.notes, *shared, *found.left_out]
    skipped = [*opened.skipped, *found.skipped]
    best, several = found.best(top, per_video), len(opened.footage) > 1
    terminal = shutil.get_terminal_size((140, 24)).columns
    code = answer(
        to_json(best, skipped, warnings),
        render(best, terminal, several=several),
        as_json=json,
        warnings=warnings,
        skipped=skipped,
    )
    if sheet:
        draw(sheet, f"Before and after, as {Path(run).name} sees it", best, shared, several=several)
        wrote("sheet", sheet)
    if export:
        warned = {each.name: warnings_about(model, each, cache) for each in opened.footage}
        note(*write_exports(export, found.videos, top, warned))
        wrote("chapters and guide", export)
    return code
