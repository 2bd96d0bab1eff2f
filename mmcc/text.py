"""Text that is safe to print and to store: file names, times as players show them, JSON without NaN; and its words."""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

# Control characters, line and paragraph separators, overrides of the direction of text, halves of surrogate pairs.
# Joiners, which several scripts need, are fine.
_UNSAFE = "\\x7f-\\x9f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff"
_UNPRINTABLE = re.compile(f"[\\x00-\\x1f{_UNSAFE}]")
_CREDENTIALS = re.compile(r"(s3:/{1,2})[^\s@/]+:[^\s@]+@")  # the name of a bucket has no colon
_UNPRINTABLE_IN_JSON = re.compile(f"[{_UNSAFE}]")  # JSON escapes the others itself
_WORD = re.compile(r"[\w']+")


def storable(text: str) -> str:
    """A file name that can be printed and stored: bytes that are not UTF-8 become U+FFFD."""
    try:
        return text if text.isascii() else os.fsencode(text).decode("utf-8", "replace")
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can hold
        return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


def one_line(text: object) -> str:
    """Text as part of a printed line: file names may contain line breaks and terminal codes, addresses credentials."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", storable(without_credentials(str(text))))


def without_credentials(text: str) -> str:
    """Text in which no address (s3://KEY:SECRET@bucket/…) has credentials."""
    return _CREDENTIALS.sub(r"\1", text) if "s3:/" in text else text


def printable(text: str) -> str:
    """Lines of text without terminal codes."""
    return "\n".join(map(one_line, text.split("\n")))


def printable_json(content: Any, indent: int | None = None) -> str:
    """Strict JSON that can be shown on a terminal: what is not printable is escaped, so that nothing is lost."""
    return _UNPRINTABLE_IN_JSON.sub(_escaped, strict_json(content, indent, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if found[0] != "\x7f" else "\\u007f"


def words_of(text: str) -> list[str]:
    """In lower case, without punctuation."""
    return _WORD.findall(text.lower())


def has_words(text: str) -> bool:
    """Whether a text has anything to encode: music notes and dashes do not count."""
    return _WORD.search(text) is not None


def distinct(names: Sequence[Sequence[str]]) -> list[str]:
    """One name for each thing, from its possible names, shortest first: the shortest that no other has.

    >>> distinct([["v.mp4", "a/v.mp4"], ["v.mp4", "b/v.mp4"], ["w.mp4", "b/w.mp4"]])
    ['a/v.mp4', 'b/v.mp4', 'w.mp4']
    """
    lengths = [0] * len(names)
    while True:
        chosen = [options[length] for options, length in zip(names, lengths, strict=True)]
        uses = Counter(chosen)
        unclear = [at for at, name in enumerate(chosen) if uses[name] > 1 and lengths[at] + 1 < len(names[at])]
        if not unclear:
            return chosen
        for at in unclear:
            lengths[at] += 1


def counted(number: int, what: str) -> str:
    """1 video, 1,200 videos."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def clock(seconds: float) -> str:
    """As players show it: "1:23", "1:02:03"; fractions of a second are dropped."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def parse_clock(text: str) -> float:
    """Seconds of "1:23", "1:02:03", "83" or "83.5"; ValueError for anything else."""
    parts = text.strip().split(":")
    plain = all(part and part.isascii() and part.replace(".", "", 1).isdigit() for part in parts)
    if not plain or len(parts) > 3 or any("." in part for part in parts[:-1]):
        raise ValueError(f"{text!r} is not a time: write 1:23, 1:02:03 or 83.5")
    if any(float(part) >= 60 for part in parts[1:]):
        raise ValueError(f"{text!r} is not a time: minutes and seconds after a colon go up to 59")
    seconds = 0.0
    for part in parts:
        seconds = 60 * seconds + float(part)
    return seconds


def strict_json(content: Any, indent: int | None = None, *, ensure_ascii: bool = True) -> str:
    """Standard JSON: NaN and infinity become null in a list, and are left out of an object."""
    return json.dumps(_finite(content), allow_nan=False, indent=indent, ensure_ascii=ensure_ascii)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items() if not _is_nan_or_inf(value)}
    if isinstance(content, list | tuple):
        return [None if _is_nan_or_inf(value) else _finite(value) for value in content]
    return content


def _is_nan_or_inf(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
