"""mmcc unshuffle"""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated, Literal

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED
from mmcc.text import one_line


def unshuffle(
    run: Annotated[str, Arg("a run, a checkpoint's folder, or the model that comes with mmcc: kitchen")],
    images: Annotated[list[Path], Arg("photos, folders of photos, videos, or a corpus's video as CORPUS:ID")],
    /,
    *,
    by: Annotated[
        Literal["pairs", "path"],
        Arg("what the order must agree with: which of every two comes first, or the step from each to the next"),
    ] = "pairs",
    clips: Annotated[int, Arg("number of clips to cut an unlabelled video into", metavar="N", least=2, most=1000)] = 8,
    sheet: Annotated[Path | None, Arg("draw the order, with the probability of each link", metavar="PNG")] = None,
    copy_to: Annotated[Path | None, Arg("write numbered copies of the photos to a new folder", metavar="DIR")] = None,
    json: Annotated[bool, Arg("print it as JSON")] = False,
) -> int:
    """Put photos, or the clips of a video, in the order in which things happened.

    Photos named one by one are put in one order; each folder and each video has its own. JPEG, PNG and WebP are
    read, HEIC with the package pillow-heif.

    examples:
      mmcc unshuffle kitchen ~/Pictures/noodles --sheet noodles.png
      mmcc unshuffle kitchen a.jpg b.jpg c.jpg --copy-to ordered
      mmcc unshuffle runs/kitchen kitchen.corpus:VIDEO-ID --by path --json
    """
    from mmcc.progress import bar, file_progress
    from mmcc.report.unshuffle import check_place, copy_numbered, draw, render, to_json
    from mmcc.tools.cache import Cache
    from mmcc.tools.model import open_model
    from mmcc.tools.unshuffle import unshuffle as put_in_order

    if copy_to:
        check_place(copy_to)
    with file_progress("read") as begin:
        outcome = put_in_order(
            open_model(run), images, Cache.default(), by=by, stretches=clips, begin=begin, progress=bar("photos")
        )
    for line in [*outcome.warnings, *(f"skipped {each.path}: {each.reason}" for each in outcome.skipped)]:
        print(one_line(line), file=sys.stderr)
    if copy_to:
        print(f"{copy_numbered(outcome, copy_to)} copies: {one_line(copy_to)}", file=sys.stderr)
    if sheet:
        draw(outcome, sheet)
        print(f"sheet: {one_line(sheet)}", file=sys.stderr)
    print(json_module.dumps(to_json(outcome), ensure_ascii=False) if json else render(outcome))
    return EXIT_SKIPPED if outcome.skipped else EXIT_OK
