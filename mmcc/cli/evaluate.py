"""`mmcc evaluate`: what a model has learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED
from mmcc.errors import UsageError


def evaluate(
    run: Annotated[str, Arg("a run, a checkpoint's folder, or a learner by name: random, imagenet")],
    /,
    *,
    corpus: Annotated[Path, Arg("a corpus folder; its test videos are used", metavar="CORPUS")],
    tasks: Annotated[
        str | None,
        Arg(
            "by commas: cycle, anticipation, unshuffling, arrow, transitions, neurons, transfer (default: all)",
            metavar="LIST",
        ),
    ] = None,
    checkpoint: Annotated[str, Arg("of a run: best, last, or a step", metavar="WHICH")] = "best",
    on: Annotated[
        Literal["test", "validation"], Arg("which videos: those of the tests, or those that settings are chosen on")
    ] = "test",
    imagenet: Annotated[
        Path | None,
        Arg("ImageNet weights of torchvision's ResNet-18, .safetensors (default: the extra imagenet)", metavar="FILE"),
    ] = None,
    output: Annotated[Path | None, Arg("write the results to a file, as JSON", short="-o", metavar="FILE")] = None,
    json: Annotated[bool, Arg("print the results as JSON")] = False,
) -> int:
    """Measure what a model has learnt, on videos that it has not seen.

    Every figure comes with its 95 % interval over videos and with chance; transfer is to related tasks.

    examples:
      mmcc evaluate runs/kitchen --corpus kitchen.corpus
      mmcc evaluate runs/kitchen --corpus kitchen.corpus --tasks anticipation,unshuffling -o results.json
      mmcc evaluate random --corpus kitchen.corpus --tasks arrow
    """
    from mmcc.evaluation.evaluate import TASKS, render_evaluation
    from mmcc.evaluation.evaluate import evaluate as run_evaluation
    from mmcc.files import replace_text
    from mmcc.progress import bar
    from mmcc.reproduce.plan import IMAGENET
    from mmcc.reproduce.store import strict_json

    asked = None if tasks is None else [task.strip() for task in tasks.split(",")]
    for task in asked or []:
        if task not in TASKS:
            raise UsageError(f"--tasks {task}: there is no such task. Choose among {', '.join(TASKS)}.")
    if output and not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no folder {output.parent}.")
    if imagenet and run != IMAGENET:
        raise UsageError(f"--imagenet is for the learner {IMAGENET}, not for {run}.")
    which = int(checkpoint) if checkpoint.isdecimal() else checkpoint
    found = run_evaluation(run, corpus, tasks=asked, checkpoint=which, on=on, bars=bar, imagenet=imagenet)
    content = strict_json(found.to_json(), indent=1)
    if output:
        replace_text(output, f"{content}\n")
    print(content if json else render_evaluation(found))
    return EXIT_SKIPPED if asked and found.skipped else EXIT_OK
