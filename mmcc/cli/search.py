"""`mmcc search`: what comes after this?"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import PICTURES, Arg
from mmcc.cli.engines import Address, EngineName, opened, require_engine
from mmcc.cli.models import MODEL
from mmcc.cli.output import answer, wrote
from mmcc.errors import UsageError


def search(
    run: Annotated[str, MODEL],
    corpus: Annotated[Path, Arg("a corpus, a folder of videos, or a video file", remote=True)],
    /,
    *,
    after: Annotated[
        str | None,
        Arg("find what comes after this: a photo, or VIDEO@1:23 of a file or of the corpus", metavar="FRAME"),
    ] = None,
    before: Annotated[str | None, Arg("find what came before this", metavar="FRAME")] = None,
    change: Annotated[
        tuple[str, str] | None,
        Arg("find what changes from the first into the second, later in the same video", metavar="TEXT"),
    ] = None,
    text: Annotated[str | None, Arg("find moments that match this text", metavar="TEXT")] = None,
    top: Annotated[int, Arg("how many moments", metavar="N", least=1, most=1000)] = 10,
    window: Annotated[
        float, Arg("leave out moments within this many seconds of a better one", metavar="SECONDS", least=0)
    ] = 10.0,
    sheet: Annotated[
        Path | None, Arg("draw the moments, each with its narration", metavar="PICTURE", endings=PICTURES)
    ] = None,
    index: Annotated[Path | None, Arg("folder of the index (default: in the cache)", metavar="DIR")] = None,
    rebuild: Annotated[bool, Arg("build the index again")] = False,
    workers: Annotated[
        int | None, Arg("with --engine ray: shards to compress at once (default: one per core)", metavar="N", least=1)
    ] = None,
    engine: EngineName = "local",
    address: Address = None,
    json: Annotated[bool, Arg("print the moments as JSON")] = False,
) -> int:
    """Find moments in a corpus: what comes after a frame, what came before it, or what turns into what.

    The first query builds an index of the corpus for this model; later ones use it. Above a million frames, --engine
    ray builds its shards on many machines.

    examples:
      mmcc search kitchen cooking.corpus --after soup.jpg --sheet after.png
      mmcc search kitchen cooking.corpus --before k0007@1:23
      mmcc search kitchen cooking.corpus --change "raw egg" "fried egg"
      mmcc search kitchen cooking.corpus --text "pour the batter"
      mmcc search kitchen big.corpus --text "pour it" --index /shared/big.index --engine ray --address 10.0.0.1:6379
    """
    from mmcc.progress import bar, file_progress
    from mmcc.report.search import draw, render
    from mmcc.tools.cache import Cache
    from mmcc.tools.model import open_model
    from mmcc.tools.search import Searcher
    from mmcc.tools.search_index import open_index, open_library

    if sum(each is not None for each in (after, before, change, text)) != 1:
        raise UsageError("give exactly one of --after, --before, --change and --text.")
    require_engine(engine, address)
    if workers is not None and engine != "ray":
        raise UsageError("--workers needs --engine ray: on one machine, an index is built on all cores.")
    if address is not None and index is None:
        cause = "--address needs --index DIR: the nodes of a cluster do not see the cache of this machine."
        raise UsageError(cause, "Name a folder that all nodes have at the same path.")
    model, cache = open_model(run, progress=bar("embed")), Cache.default()
    with file_progress("read") as progress:
        library = open_library(model, corpus, cache, progress)
    begin = partial(opened, engine, address, workers) if engine == "ray" else None
    whole = open_index(model, library, cache, folder=index, rebuild=rebuild, progress=bar("index"), engine=begin)
    searcher = Searcher(model, library, whole, cache)
    if change is not None:
        found = searcher.change(*change, top, window)
    elif text is not None:
        found = searcher.text(text, top, window)
    else:
        found = searcher.after(after, top, window) if after else searcher.before(before or "", top, window)
    terminal = shutil.get_terminal_size((140, 24)).columns
    code = answer(
        found.to_json(), render(found, terminal), as_json=json, warnings=found.warnings, skipped=found.skipped
    )
    if sheet:
        draw(sheet, found)
        wrote("sheet", sheet)
    return code
