"""`mmcc compare`: which of two models is better, and at what?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_SKIPPED
from mmcc.cli.output import answer


def compare(
    one: Annotated[str, Arg("a run, a checkpoint's folder, or a model by name", metavar="RUN")],
    other: Annotated[str, Arg("the model to compare it with", metavar="RUN")],
    /,
    *,
    corpus: Annotated[Path, Arg("a corpus, whose test videos are used", metavar="CORPUS", remote=True)],
    tasks: Annotated[str | None, Arg("comma-separated, as of mmcc evaluate (default: all)", metavar="LIST")] = None,
    on: Annotated[
        Literal["test", "validation", "all"],
        Arg("test videos; validation videos, to choose settings; or all, if the models saw none of them"),
    ] = "test",
    json: Annotated[bool, Arg("print the differences as JSON")] = False,
) -> int:
    """Compare two models on the same videos, for every figure of every evaluation task.

    A difference comes with its 95 % interval over videos, if there are 20 or more. It is paired: both models are
    measured on the same resampled videos, so what makes a video hard for both cancels.

    examples:
      mmcc compare runs/mine kitchen --corpus kitchen.corpus
      mmcc compare runs/a runs/b --corpus kitchen.corpus --tasks anticipation,unshuffling --json
    """
    from mmcc.evaluation.compare import compare as run_comparison
    from mmcc.evaluation.evaluate import find_tasks
    from mmcc.progress import bar
    from mmcc.report.compare import render_comparison

    asked = None if tasks is None else [task.strip() for task in tasks.split(",")]
    find_tasks(asked)  # before anything is opened
    found = run_comparison(one, other, corpus, tasks=asked, on=on, bars=bar)
    code = answer(found.to_json(), render_comparison(found), as_json=json, indent=1)
    return EXIT_SKIPPED if asked and found.skipped else code
