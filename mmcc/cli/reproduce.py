"""`mmcc reproduce`: the paper's tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from mmcc.cli.arguments import Arg
from mmcc.cli.exit_codes import EXIT_SKIPPED
from mmcc.cli.output import answer
from mmcc.errors import UsageError


def reproduce(
    table: Annotated[str, Arg("table1, table2, table3, table4, transfer, ablation, tuning, scale, or all")],
    /,
    *,
    corpus: Annotated[Path, Arg("a corpus folder with labelled steps", metavar="CORPUS", remote=True)],
    output: Annotated[
        Path, Arg("folder for runs, results, tables and a page (created, or resumed)", short="-o", metavar="OUT")
    ],
    seeds: Annotated[
        int | None, Arg("training seeds (default: 3; table1, ablation, tuning, scale: 1)", metavar="N", least=1)
    ] = None,
    budget: Annotated[
        Literal["quick", "half", "full"],
        Arg("training steps of each objective. full: 4,000; half: 2,000, for feature vectors; quick: 60, a smoke test"),
    ] = "full",
    at_once: Annotated[
        int | None,
        Arg("runs to train at a time (default: one per core, at most 4; one on a GPU)", metavar="N", least=1),
    ] = None,
    imagenet: Annotated[
        Path | None,
        Arg("ImageNet weights of torchvision's ResNet-18, .safetensors (default: the extra encoders)", metavar="FILE"),
    ] = None,
    encoder: Annotated[
        str | None,
        Arg("a pretrained frame encoder, whose vectors (mmcc embed) every model reads", metavar="NAME"),
    ] = None,
    json: Annotated[bool, Arg("print results.json")] = False,
) -> int:
    """Train the paper's models and baselines on a corpus, and fill its tables.

    Stop it at any time and run it again: it resumes where it was, and trains and measures nothing twice.

    examples:
      mmcc reproduce all --corpus kitchen.corpus -o build/tables
      mmcc reproduce all --corpus kitchen-96.corpus -o build/pretrained --encoder "efficientnet-lite0?size=128&grid=4"
      mmcc reproduce table2 --corpus kitchen.corpus -o build/quick --budget quick --seeds 1
    """
    from mmcc.progress import bar
    from mmcc.reproduce.plan import BUDGETS, TABLES
    from mmcc.reproduce.reproduce import ALL
    from mmcc.reproduce.reproduce import reproduce as run_reproduction
    from mmcc.reproduce.trainings import sensible_at_once

    if table not in (*TABLES, ALL):
        raise UsageError(f"there is no table named {table}. Choose one of {', '.join((*TABLES, ALL))}.")
    if encoder is not None and imagenet is not None:
        raise UsageError("--imagenet cannot be combined with --encoder, whose own vectors are the row ImageNet then.")
    found = run_reproduction(
        [table],
        corpus,
        output,
        budget=BUDGETS[budget],
        seeds=seeds,
        bars=bar,
        at_once=sensible_at_once() if at_once is None else at_once,
        imagenet=imagenet,
        encoder=encoder,
    )
    code = answer(found.content, found.to_markdown(), as_json=json, indent=1)
    return EXIT_SKIPPED if found.notes else code
