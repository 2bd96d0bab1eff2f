"""`mmcc report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK
from mmcc.errors import UsageError


def report(
    run: Annotated[str, Arg("a run, a checkpoint's folder, or kitchen, the model that comes with mmcc")],
    /,
    *,
    output: Annotated[Path, Arg("the page", short="-o", metavar="HTML")],
    corpus: Annotated[
        Path | None, Arg("show it on this corpus (default: the one it was trained on)", metavar="CORPUS")
    ] = None,
    results: Annotated[
        Path | None, Arg("figures that mmcc evaluate -o wrote (default: measure them)", metavar="JSON")
    ] = None,
    checkpoint: Annotated[str, Arg("of a run: best, last, or a step", metavar="WHICH")] = "best",
) -> int:
    """Write one page of all there is to know of a model: data, curves, figures, and what it makes of videos.

    The page holds everything it needs: send it, print it, open it without a network.

    examples:
      mmcc report runs/kitchen -o report.html
      mmcc report runs/kitchen -o report.html --corpus other.corpus --results results.json
    """
    from mmcc.evaluation.evaluate import evaluate
    from mmcc.files import replace_text
    from mmcc.progress import bar
    from mmcc.report.model_report import find_corpus, model_report, read_results
    from mmcc.tools.cache import Cache
    from mmcc.tools.model import open_model

    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {output.parent}.")
    model = open_model(run, int(checkpoint) if checkpoint.isdecimal() else checkpoint)
    opened = find_corpus(model, corpus)
    found = read_results(results) if results else evaluate(str(model.folder), opened.path, bars=bar).to_json()
    replace_text(output, model_report(model, opened, [found], cache=Cache.default(), bars=bar))
    print(output, file=sys.stdout)
    return EXIT_OK
