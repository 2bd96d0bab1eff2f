"""What people and programs read: every line of output passes here, so that no file name reaches a terminal raw.

File names, ids and captions are untrusted: an escape sequence among them could move the cursor, retitle the window or
hide text. `--quiet` leaves the answer and the errors, and nothing else.
"""

from __future__ import annotations

import sys
from typing import TextIO

from mmcc.text import one_line, printable

_PLAIN = str.maketrans(
    {"→": "->", "–": "-", "—": "-", "−": "-", "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "×": "x", "·": "|"}
    | {"█": "#", "±": "+-", "τ": "tau", "ρ": "rho", "π": "pi", "≤": "<=", "≥": ">=", "\N{REPLACEMENT CHARACTER}": "?"}
)
_quiet = False


def be_quiet(quiet: bool) -> None:
    """Whether to leave out progress, warnings and remarks from now on."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    return _quiet


def bars_hidden() -> bool | None:
    """As tqdm's `disable`; None: it checks whether stderr is a terminal."""
    return True if _quiet or not sys.stderr else None


def show(text: str) -> None:
    """The answer of a command, on stdout; it may have several lines."""
    _write(printable(text), sys.stdout)


def note(*lines: str) -> None:
    """Lines beside the answer, for people, on stderr."""
    if not _quiet:
        for line in lines:
            _write(one_line(line), sys.stderr)


def complain(line: str, remedy: str = "") -> None:
    """Why a command fails, and what to do about it, on stderr; also if it is told to be quiet."""
    _write(f"mmcc: {one_line(line)}" + (f"\n      {one_line(remedy)}" if remedy else ""), sys.stderr)


def encodable(text: str, stream: TextIO | None) -> str:
    """Text that a stream can take: where it has no arrows, with plain letters instead; "?" for what is left."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    except LookupError:  # of no encoding that Python knows
        return text
    return text


def _write(text: str, stream: TextIO | None) -> None:
    if stream is not None:  # there is none where nobody could read it
        print(encodable(text, stream), file=stream)
