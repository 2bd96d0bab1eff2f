"""`mmcc neurons`."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED
from mmcc.errors import UsageError


def neurons(
    run: Annotated[str, Arg("a run, a checkpoint's folder, or kitchen, the model that comes with mmcc")],
    corpus: Annotated[Path, Arg("a corpus folder; its test videos are used, or all")],
    /,
    *,
    output: Annotated[Path | None, Arg("draw them as a page", short="-o", metavar="HTML")] = None,
    words: Annotated[
        str | None, Arg("by commas: only these (default: verbs and nouns of the corpus's steps)", metavar="LIST")
    ] = None,
    top: Annotated[int, Arg("verbs, and nouns, to show", metavar="N", least=1)] = 6,
    json: Annotated[bool, Arg("print them as JSON")] = False,
) -> int:
    """Show which neurons of a model stand for which words, with the pictures that excite them and where.

    examples:
      mmcc neurons runs/kitchen kitchen.corpus -o neurons.html
      mmcc neurons runs/kitchen kitchen.corpus --words pan,pour,eggs --json
    """
    from mmcc.corpus import Corpus
    from mmcc.files import replace_text
    from mmcc.progress import bar
    from mmcc.tools.cache import Cache
    from mmcc.tools.model import open_model
    from mmcc.tools.neurons import find_neurons, neurons_page, render_neurons

    if output and not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {output.parent}.")
    model, opened = open_model(run), Corpus.open(corpus)
    asked = words.split(",") if words is not None else []
    found = find_neurons(model, opened, Cache.default(), words=asked, each=top, progress=bar("neurons"))
    if output:
        replace_text(output, neurons_page(found, model.name, opened.path.name))
        print(f"page: {output}", file=sys.stderr)
    for warning in found.warnings:
        print(warning, file=sys.stderr)
    print(json_module.dumps(found.to_json(), ensure_ascii=False) if json else render_neurons(found))
    return EXIT_SKIPPED if found.left_out else EXIT_OK
