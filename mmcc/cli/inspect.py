"""`mmcc inspect`: summarise a corpus."""

from __future__ import annotations

import dataclasses
import json as json_module
import sys
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED


def inspect(
    corpus: Annotated[Path, Arg("a corpus folder")],
    /,
    *,
    json: Annotated[bool, Arg("print the summary as JSON")] = False,
    sheet: Annotated[
        Path | None, Arg("draw a contact sheet of a few videos, with utterances under the frames", metavar="PNG")
    ] = None,
) -> int:
    """Summarise a corpus: counts, coverage, and what is missing or could not be read.

    example:
      mmcc inspect cooking.corpus --sheet cooking.png
    """
    from mmcc.corpus import Corpus
    from mmcc.corpus.summary import render_summary, summarise
    from mmcc.progress import bar
    from mmcc.report.contact_sheet import draw_sheet

    opened = Corpus.open(corpus)
    summary = summarise(opened, bar("inspect"))
    print(json_module.dumps(dataclasses.asdict(summary), ensure_ascii=False) if json else render_summary(summary))
    if sheet:
        draw_sheet(opened, sheet)
        print(f"contact sheet: {sheet}", file=sys.stderr)
    return EXIT_SKIPPED if summary.failed else EXIT_OK
