"""How a command answers: JSON or text on stdout, everything else on stderr, an exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED
from mmcc.text import one_line

if TYPE_CHECKING:
    from mmcc.corpus.source import Skipped


def answer(
    content: Mapping[str, Any],
    text: str,
    *,
    as_json: bool,
    warnings: Sequence[str] = (),
    skipped: Sequence[Skipped] = (),
) -> int:
    """Print the answer, then the warnings and what was skipped; the exit code says whether anything was."""
    print(json.dumps(content, ensure_ascii=False) if as_json else text)
    note(*warnings, *(f"skipped {each.path}: {each.reason}" for each in skipped))
    return EXIT_SKIPPED if skipped else EXIT_OK


def wrote(what: str, path: Path) -> None:
    """Say where a file or folder was written."""
    note(f"{what}: {path}")


def note(*lines: str) -> None:
    """Lines beside the answer, for people."""
    for line in lines:
        print(one_line(line), file=sys.stderr)
