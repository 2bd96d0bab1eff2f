"""Text that is safe to print and to store: file names, which may be any bytes, and JSON, which has no NaN."""

import json
import math
import os
from typing import Any


def storable(text: str) -> str:
    """A name that can be printed and stored: bytes of it that are not UTF-8 become U+FFFD."""
    return text if text.isascii() else os.fsencode(text).decode("utf-8", "replace")


def one_line(text: object) -> str:
    """A name as part of a line for people: file names may hold line breaks and terminal codes."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in storable(str(text)))


def strict_json(content: Any, indent: int | None = None) -> str:
    """Standard JSON: NaN and infinity become null in a list, and are left out of an object."""
    return json.dumps(_finite(content), allow_nan=False, indent=indent)


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items() if not _is_nan_or_inf(value)}
    if isinstance(content, list | tuple):
        return [None if _is_nan_or_inf(value) else _finite(value) for value in content]
    return content


def _is_nan_or_inf(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
