"""`mmcc inspect`: summarize a corpus, check what is on the disk, or rewrite an old corpus."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from mmcc.cli.arguments import PICTURES, Arg
from mmcc.cli.exit_codes import EXIT_BAD_INPUT, EXIT_SKIPPED
from mmcc.cli.output import answer, wrote
from mmcc.errors import UsageError


def inspect(
    corpus: Annotated[
        Path, Arg("a corpus folder; with --verify also a run, a checkpoint, a model or a search index", remote=True)
    ],
    /,
    *,
    json: Annotated[bool, Arg("print the summary as JSON")] = False,
    sheet: Annotated[
        Path | None,
        Arg(
            "draw a contact sheet: a few videos, with the narration under the frames",
            metavar="PICTURE",
            endings=PICTURES,
        ),
    ] = None,
    verify: Annotated[bool, Arg("read every file, compare it with its checksum, and list what is damaged")] = False,
    upgrade: Annotated[bool, Arg("rewrite a corpus of an older format version in its place")] = False,
) -> int:
    """Summarize a corpus: counts, coverage, and what is missing or could not be read.

    examples:
      mmcc inspect cooking.corpus --sheet cooking.png
      mmcc inspect cooking.corpus --verify
      mmcc inspect runs/cooking --verify
    """
    if (sheet is not None) + verify + upgrade > 1:
        raise UsageError("give at most one of --sheet, --verify and --upgrade.")
    if verify:
        return _verify(corpus, json)
    if upgrade:
        return _upgrade(corpus, json)
    return _summarize(corpus, sheet, json)


def _summarize(corpus: Path, sheet: Path | None, as_json: bool) -> int:
    from mmcc.corpus import Corpus
    from mmcc.corpus.summary import render_summary, summarize
    from mmcc.progress import bar
    from mmcc.report.contact_sheet import draw

    opened = Corpus.open(corpus)
    summary = summarize(opened, bar("inspect"))
    code = answer(dataclasses.asdict(summary), render_summary(summary), as_json=as_json)
    if sheet:
        draw(opened, sheet)
        wrote("contact sheet", sheet)
    return EXIT_BAD_INPUT if summary.lost else EXIT_SKIPPED if summary.failed else code


def _verify(source: Path, as_json: bool) -> int:
    from mmcc.tools.verify import can_verify

    return _verify_run(source, as_json) if can_verify(source) else _verify_corpus(source, as_json)


def _verify_corpus(folder: Path, as_json: bool) -> int:
    from mmcc.corpus.verify import render_verification, verify
    from mmcc.progress import bar

    found = verify(folder, bar("verify"))
    code = answer(found.to_json(), render_verification(found), as_json=as_json)
    return EXIT_BAD_INPUT if found.damaged else code


def _verify_run(source: Path, as_json: bool) -> int:
    from mmcc.tools.verify import render_verified, verify

    found = verify(source)
    code = answer(found.to_json(), render_verified(found), as_json=as_json, warnings=found.notes)
    return EXIT_BAD_INPUT if found.damaged else code


def _upgrade(folder: Path, as_json: bool) -> int:
    from mmcc.corpus.upgrade import render_upgrade, upgrade
    from mmcc.progress import bar

    report = upgrade(folder, bar("upgrade"))
    return answer(report.to_json(), render_upgrade(report), as_json=as_json, skipped=report.skipped)
