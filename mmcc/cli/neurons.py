"""`mmcc neurons`: what single neurons respond to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_SKIPPED
from mmcc.cli.models import MODEL
from mmcc.cli.output import answer, wrote
from mmcc.errors import UsageError


def neurons(
    run: Annotated[str, MODEL],
    corpus: Annotated[Path, Arg("a corpus folder; its test videos are used, or all if it has none", remote=True)],
    /,
    *,
    output: Annotated[Path | None, Arg("write a page with pictures", short="-o", metavar="HTML")] = None,
    words: Annotated[
        str | None,
        Arg("only these words, separated by commas (default: verbs and nouns of the corpus's steps)", metavar="LIST"),
    ] = None,
    top: Annotated[int, Arg("how many verbs and how many nouns to show", metavar="N", least=1)] = 6,
    json: Annotated[bool, Arg("print them as JSON")] = False,
) -> int:
    """Show which neurons respond to which words, with the images (and regions) that activate them most.

    examples:
      mmcc neurons runs/kitchen kitchen.corpus -o neurons.html
      mmcc neurons runs/kitchen kitchen.corpus --words pan,pour,eggs --json
    """
    from mmcc.corpus import Corpus
    from mmcc.files import replace_text
    from mmcc.progress import bar
    from mmcc.report.neurons import neurons_page, render
    from mmcc.tools.cache import Cache
    from mmcc.tools.model import open_model
    from mmcc.tools.neurons import find_neurons

    if output and not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {output.parent}.")
    model, opened = open_model(run, progress=bar("embed")), Corpus.open(corpus)
    asked = words.split(",") if words is not None else []
    found = find_neurons(model, opened, Cache.default(), words=asked, each=top, progress=bar("neurons"))
    code = answer(found.to_json(), render(found), as_json=json, warnings=found.warnings)
    if output:
        replace_text(output, neurons_page(found, model.name, opened.path.name))
        wrote("page", output)
    return EXIT_SKIPPED if found.left_out else code
