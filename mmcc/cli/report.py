"""`mmcc report`: a model on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK
from mmcc.cli.models import MODEL
from mmcc.errors import UsageError
from mmcc.terminal import show


def report(
    run: Annotated[str, MODEL],
    /,
    *,
    output: Annotated[Path, Arg("the page", short="-o", metavar="HTML")],
    corpus: Annotated[
        Path | None,
        Arg("show the model on this corpus (default: the one it was trained on)", metavar="CORPUS", remote=True),
    ] = None,
    results: Annotated[
        Path | None, Arg("results written by mmcc evaluate -o (default: measure them)", metavar="JSON")
    ] = None,
    checkpoint: Annotated[
        str, Arg("which checkpoint of a run: best, last, or a training step", metavar="WHICH")
    ] = "best",
) -> int:
    """Write a page about a model: its data, training curves, figures, and what the tools answer on held-out videos.

    The page is self-contained: send it, print it, open it without a network.

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
    model = open_model(run, int(checkpoint) if checkpoint.isdecimal() else checkpoint, progress=bar("embed"))
    opened = find_corpus(model, corpus)
    found = read_results(results) if results else evaluate(str(model.folder), opened.path, bars=bar).to_json()
    replace_text(output, model_report(model, opened, [found], cache=Cache.default(), bars=bar))
    show(str(output))
    return EXIT_OK
