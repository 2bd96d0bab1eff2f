"""`mmcc search`: what comes after this?"""

from __future__ import annotations

import json as json_module
import shutil
import sys
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED
from mmcc.errors import UsageError
from mmcc.text import one_line


def search(
    run: Annotated[str, Arg("a run, a checkpoint, or a model that comes with mmcc: kitchen")],
    corpus: Annotated[Path, Arg("a corpus, a folder of videos, or a video file")],
    /,
    *,
    after: Annotated[
        str | None, Arg("what comes after this: a photo, or VIDEO@1:23 of a file or of the corpus", metavar="FRAME")
    ] = None,
    before: Annotated[str | None, Arg("what came before this", metavar="FRAME")] = None,
    change: Annotated[
        tuple[str, str] | None, Arg("what changes from the one into the other, later in the same video", metavar="TEXT")
    ] = None,
    text: Annotated[str | None, Arg("what shows this", metavar="TEXT")] = None,
    top: Annotated[int, Arg("how many moments", metavar="N", least=1, most=1000)] = 10,
    window: Annotated[
        float, Arg("a moment within so many seconds of a better one is left out", metavar="SECONDS", least=0)
    ] = 10.0,
    sheet: Annotated[Path | None, Arg("draw the moments, each with what is said", metavar="PNG")] = None,
    index: Annotated[Path | None, Arg("where the index is kept (default: in the cache)", metavar="DIR")] = None,
    rebuild: Annotated[bool, Arg("make the index anew")] = False,
    json: Annotated[bool, Arg("print the moments as JSON")] = False,
) -> int:
    """Find moments in a corpus: what comes after a frame, what came before it, or what turns into what.

    The first question builds an index of the corpus for this model; later ones use it.

    examples:
      mmcc search kitchen cooking.corpus --after soup.jpg --sheet after.png
      mmcc search kitchen cooking.corpus --before k0007@1:23
      mmcc search kitchen cooking.corpus --change "raw egg" "fried egg"
      mmcc search kitchen cooking.corpus --text "pour the batter"
    """
    from mmcc.progress import bar, file_progress
    from mmcc.tools.cache import Cache
    from mmcc.tools.model import open_model
    from mmcc.tools.search import Searcher, draw, render
    from mmcc.tools.search_index import open_index, open_library

    if sum(each is not None for each in (after, before, change, text)) != 1:
        raise UsageError("ask one thing: --after, --before, --change or --text.")
    model, cache = open_model(run), Cache.default()
    with file_progress("read") as progress:
        library = open_library(model, corpus, cache, progress)
    opened = open_index(model, library, cache, folder=index, rebuild=rebuild, progress=bar("index"))
    searcher = Searcher(model, library, opened, cache)
    if change is not None:
        found = searcher.change(*change, top, window)
    elif text is not None:
        found = searcher.text(text, top, window)
    else:
        found = searcher.after(after, top, window) if after else searcher.before(before or "", top, window)
    terminal = shutil.get_terminal_size((140, 24)).columns
    print(json_module.dumps(found.to_json(), ensure_ascii=False) if json else render(found, terminal))
    for line in [*found.warnings, *(f"skipped {each.path}: {each.reason}" for each in found.skipped)]:
        print(one_line(line), file=sys.stderr)
    if sheet:
        draw(sheet, found)
        print(f"sheet: {one_line(sheet)}", file=sys.stderr)
    return EXIT_SKIPPED if found.skipped else EXIT_OK
