"""`mmcc merge`: the corpora of many machines become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.output import answer


def merge(
    parts: Annotated[list[Path], Arg("corpus folders, such as mmcc ingest --part writes", metavar="PART")],
    /,
    *,
    output: Annotated[Path, Arg("corpus folder to create", short="-o", metavar="CORPUS")],
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
) -> int:
    """Join corpora into one, without decoding anything.

    Frames are hard-linked where the parts are on the same file system, and copied elsewhere. Embeddings come along.
    Stop it at any time and run it again: there is no corpus until it is whole.

    examples:
      mmcc merge parts/*.corpus -o cooking.corpus
    """
    from mmcc.corpus.merge import merge as run
    from mmcc.corpus.merge import render_merge
    from mmcc.progress import bar

    report = run(parts, output, bar("merge"))
    return answer(report.to_json(), render_merge(report), as_json=json)
