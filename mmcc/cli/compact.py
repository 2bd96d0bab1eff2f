"""`mmcc compact`: a corpus without what replaced videos have left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.output import answer


def compact(
    corpus: Annotated[Path, Arg("a corpus folder")],
    /,
    *,
    dry_run: Annotated[bool, Arg("say what would be dropped, and drop nothing")] = False,
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
) -> int:
    """Drop frames and rows of videos that were ingested again, and what killed commands have left.

    Stop it at any time and run it again: the corpus is whole at every moment, and can be read meanwhile.

    examples:
      mmcc compact cooking.corpus --dry-run
      mmcc compact cooking.corpus
    """
    from mmcc.corpus.compact import compact as run
    from mmcc.corpus.compact import render_compact
    from mmcc.progress import bar

    report = run(corpus, dry_run=dry_run, watch=bar("compact"))
    return answer(report.to_json(), render_compact(report), as_json=json)
