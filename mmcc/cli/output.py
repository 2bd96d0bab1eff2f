"""How a command answers: JSON or text on stdout, everything else on stderr, an exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmcc.cli.exit_codes import EXIT_OK, EXIT_SKIPPED
from mmcc.terminal import encodable, note, show
from mmcc.text import printable_json, strict_json

if TYPE_CHECKING:
    from mmcc.corpus.source import Skipped

SCHEMA = 1  # of errors, and of answers that have no number of their own
_waiting: list[str] = []


def answer(
    content: Mapping[str, Any],
    text: str,
    *,
    as_json: bool,
    warnings: Sequence[str] = (),
    skipped: Sequence[Skipped] = (),
    indent: int | None = None,
) -> int:
    """Print the answer, then the warnings and what was skipped; the exit code says whether anything was.

    JSON waits until the command has ended (`deliver`): if it fails after all, at its sheet, the error is all there is.
    """
    if as_json:
        _waiting.append(_as_json({"schema": SCHEMA, **content}, indent))
    else:
        show(text)
    note(*warnings, *(f"skipped {each.path}: {each.reason}" for each in skipped))
    return EXIT_SKIPPED if skipped else EXIT_OK


def deliver() -> None:
    """Print the JSON that is waiting."""
    while _waiting:
        show(_waiting.pop(0))


def answer_error(path: str | None, cause: str, remedy: str, code: int) -> None:
    """A failure as JSON, in place of whatever was waiting."""
    _waiting.clear()
    show(_as_json({"schema": SCHEMA, "error": {"path": path, "cause": cause, "remedy": remedy, "code": code}}))


def wrote(what: str, path: Path) -> None:
    """Say where a file or folder was written."""
    note(f"{what}: {path}")


def _as_json(content: Mapping[str, Any], indent: int | None = None) -> str:
    text = printable_json(content, indent)
    return text if encodable(text, sys.stdout) == text else strict_json(content, indent)
