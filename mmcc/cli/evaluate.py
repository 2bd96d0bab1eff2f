"""`mmcc evaluate`: measure a model on test videos."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_SKIPPED
from mmcc.cli.output import answer
from mmcc.errors import UsageError


def evaluate(
    run: Annotated[str, Arg("a run, a checkpoint's folder, or a model by name: kitchen, random, imagenet")],
    /,
    *,
    corpus: Annotated[Path, Arg("a corpus, whose test videos are used", metavar="CORPUS", remote=True)],
    tasks: Annotated[
        str | None,
        Arg(
            "comma-separated: cycle, anticipation, unshuffling, arrow, transitions, neurons, transfer (default: all)",
            metavar="LIST",
        ),
    ] = None,
    checkpoint: Annotated[str, Arg("of a run: best, last, or a training step", metavar="WHICH")] = "best",
    on: Annotated[
        Literal["test", "validation", "all"],
        Arg(
            "measure on test videos; on validation videos, to choose settings; or on all, if the model saw none of them"
        ),
    ] = "test",
    imagenet: Annotated[
        Path | None,
        Arg("ImageNet weights of torchvision's ResNet-18, .safetensors (default: the extra encoders)", metavar="FILE"),
    ] = None,
    output: Annotated[Path | None, Arg("write the results to a file, as JSON", short="-o", metavar="FILE")] = None,
    json: Annotated[bool, Arg("print the results as JSON")] = False,
) -> int:
    """Measure what a model has learned, on videos it has not seen.

    Every figure comes with its 95 % interval over videos, if there are 20 or more, and with chance. "transfer" repeats
    anticipation and unshuffling on how-to tasks that no training video shows. Tasks that a corpus or a model does not
    support are skipped, with the reason.

    examples:
      mmcc evaluate runs/kitchen --corpus kitchen.corpus
      mmcc evaluate runs/kitchen --corpus kitchen.corpus --tasks anticipation,unshuffling -o results.json
      mmcc evaluate random --corpus kitchen.corpus --tasks arrow
    """
    from mmcc.evaluation.evaluate import IMAGENET, find_tasks
    from mmcc.evaluation.evaluate import evaluate as run_evaluation
    from mmcc.files import replace_text
    from mmcc.progress import bar
    from mmcc.report.evaluation import render_evaluation
    from mmcc.text import strict_json

    asked = None if tasks is None else [task.strip() for task in tasks.split(",")]
    find_tasks(asked)  # before anything is opened
    if output and not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {output.parent}.")
    if imagenet and run != IMAGENET:
        raise UsageError(f"--imagenet is for the model {IMAGENET}, not for {run}.")
    which = int(checkpoint) if checkpoint.isdecimal() else checkpoint
    found = run_evaluation(run, corpus, tasks=asked, checkpoint=which, on=on, bars=bar, imagenet=imagenet)
    if output:
        replace_text(output, strict_json(found.to_json(), indent=1) + "\n")
    code = answer(found.to_json(), render_evaluation(found), as_json=json, indent=1)
    return EXIT_SKIPPED if asked and found.skipped else code
