"""`mmcc inspect`: summarize a corpus."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import PICTURES, Arg
from mmcc.cli.exit_codes import EXIT_SKIPPED
from mmcc.cli.output import answer, wrote


def inspect(
    corpus: Annotated[Path, Arg("a corpus folder")],
    /,
    *,
    json: Annotated[bool, Arg("print the summary as JSON")] = False,
    sheet: Annotated[
        Path | None,
        Arg(
            "draw a contact sheet: a few videos, with the narration under the frames",
            metavar="PICTURE",
            endings=PICTURES,
        ),
    ] = None,
) -> int:
    """Summarize a corpus: counts, coverage, and what is missing or could not be read.

    example:
      mmcc inspect cooking.corpus --sheet cooking.png
    """
    from mmcc.corpus import Corpus
    from mmcc.corpus.summary import render_summary, summarize
    from mmcc.progress import bar
    from mmcc.report.contact_sheet import draw

    opened = Corpus.open(corpus)
    summary = summarize(opened, bar("inspect"))
    code = answer(dataclasses.asdict(summary), render_summary(summary), as_json=json)
    if sheet:
        draw(opened, sheet)
        wrote("contact sheet", sheet)
    return EXIT_SKIPPED if summary.failed else code
