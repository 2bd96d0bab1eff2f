"""`mmcc train`: train a model on a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import Arg, Overrides
from mmcc.cli.exit_codes import EXIT_OK
from mmcc.cli.output import answer
from mmcc.errors import InputError, UsageError
from mmcc.training.shipped import shipped_configs


def train(
    corpus: Annotated[Path, Arg("a corpus folder", remote=True)],
    /,
    *,
    output: Annotated[
        Path | None, Arg("run folder (created, or resumed with --resume)", short="-o", metavar="RUN")
    ] = None,
    config: Annotated[
        str | None,
        Arg(
            f"a .yaml file, or one of {', '.join(shipped_configs())} (default: MMCC+ at the paper's size)",
            metavar="NAME",
        ),
    ] = None,
    resume: Annotated[bool, Arg("resume a stopped run")] = False,
    anyway: Annotated[bool, Arg("train even if there is too little to learn from")] = False,
    print_config: Annotated[bool, Arg("print every setting with its value, and exit")] = False,
    json: Annotated[bool, Arg("print the outcome as JSON")] = False,
    settings: Annotated[dict[str, str], Overrides()],
) -> int:
    """Train a model on narrated video to predict what comes next.

    It first says what there is to learn from, and refuses what is too little (exit code 3).

    Any setting can be given by its dotted name, e.g. --train.lr 1e-4. Training can be stopped at any time; run it
    again with --resume to continue, to the same weights.

    examples:
      mmcc train kitchen.corpus -o runs/kitchen --config mmcc_plus
      mmcc train kitchen.corpus -o runs/kitchen --resume
      mmcc train recipes.corpus -o runs/paper --config paper --train.batch_size 128
      torchrun --nproc-per-node 2 -m mmcc train recipes.corpus -o runs/recipes
    """
    from mmcc.settings import to_mapping
    from mmcc.training.config import load_config
    from mmcc.training.loop import render_training
    from mmcc.training.loop import train as run_training
    from mmcc.training.processes import talks
    from mmcc.training.run import settings_to_resume

    if resume and config is None and output is not None:
        own = settings_to_resume(output)
        if own is None:  # the default settings would be those of another model
            raise InputError(output, "contains no run to resume", "Start it without --resume.")
        config = str(own)
    chosen = load_config(config, [f"{name}={value}" for name, value in settings.items()])
    if print_config:
        return answer({"config": to_mapping(chosen)}, chosen.to_yaml().rstrip("\n"), as_json=json)
    if output is None:
        raise UsageError("give the run's folder with -o RUN.")
    report = run_training(corpus, output, chosen, resume=resume, anyway=anyway)
    if talks():  # only one of several processes
        return answer(report.to_json(), render_training(report), as_json=json)
    return EXIT_OK
