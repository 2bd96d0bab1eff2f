"""`mmcc inspect`: summarize a corpus, or check what is on the disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import PICTURES, Arg
from mmcc.cli.exit_codes import EXIT_BAD_INPUT, EXIT_SKIPPED
from mmcc.cli.output import answer, wrote


def inspect(
    corpus: Annotated[Path, Arg("a corpus folder; with --verify also a run, a checkpoint, a model or a search index")],
    /,
    *,
    verify: Annotated[bool, Arg("read every file, compare it with its checksum, and list what is damaged")] = False,
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

    examples:
      mmcc inspect cooking.corpus --sheet cooking.png
      mmcc inspect runs/cooking --verify
    """
    from mmcc.corpus import Corpus
    from mmcc.corpus.summary import render_summary, summarize
    from mmcc.progress import bar
    from mmcc.report.contact_sheet import draw
    from mmcc.tools.verify import can_verify

    if verify and can_verify(corpus):
        return _verify(corpus, json)
    opened = Corpus.open(corpus)
    summary = summarize(opened, bar("inspect"))
    code = answer(dataclasses.asdict(summary), render_summary(summary), as_json=json)
    if sheet:
        draw(opened, sheet)
        wrote("contact sheet", sheet)
    return EXIT_SKIPPED if summary.failed else code


def _verify(source: Path, as_json: bool) -> int:
    from mmcc.tools.verify import render_verified
    from mmcc.tools.verify import verify as read_all

    found = read_all(source)
    code = answer(found.to_json(), render_verified(found), as_json=as_json, warnings=found.notes)
    return EXIT_BAD_INPUT if found.damaged else code
