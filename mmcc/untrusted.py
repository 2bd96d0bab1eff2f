"""JSON and YAML that somebody else may have written: of bounded size and depth, of the types that are expected.

    facts = read_json(path, dict)
    size = typed(facts, "size", int)

Whatever is wrong is `Malformed`, a ValueError that says what: never a RecursionError, an OverflowError, or a process
that takes all memory or does not end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, overload

import yaml

LARGEST = 64 << 20  # bytes of JSON: ten times the largest that mmcc writes about a hundred thousand videos
LARGEST_YAML = 1 << 20  # settings
MOST = 4_000_000  # values of JSON: 64 MB of "[]," would take 1.5 GB
DEEPEST = 64  # levels of lists in lists and sections in sections

Kind = TypeVar("Kind")
_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
_NAMES |= {int: "a whole number", float: "a number"}


class Malformed(ValueError):
    """Why a file cannot be used."""


def read_json(path: Path, kind: type[Kind], *, largest: int = LARGEST) -> Kind:
    """The content of a JSON file, of this kind at its top; OSError where it cannot be read at all."""
    return parse_json(read_start(path, largest), kind)


def parse_json(text: str | bytes, kind: type[Kind], *, finite: bool = True, most: int = MOST) -> Kind:
    """The same of text. `finite`: refuse NaN and infinity, which JSON does not have, but other programs write. `most`:
    values, commas within text included."""
    hooks: dict[str, Any] = {"parse_float": _finite, "parse_constant": _no_number} if finite else {}
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        if len(text) > most and sum(map(text.count, ",[{:")) > most:
            raise Malformed(f"it has more than {most:,} values")
        content = json.loads(text, **hooks)
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    except UnicodeDecodeError:
        raise Malformed("it is not UTF-8 text") from None
    except Malformed:
        raise
    except ValueError as error:  # also a whole number of more than 4,300 digits
        raise Malformed(f"it is not valid JSON: {error}") from None
    _check_depth(content)
    return _of_kind(content, kind, "it")


def parse_yaml(text: str) -> Any:
    """YAML without aliases: nine of them, one in another, stand for a billion values."""
    if len(text) > LARGEST_YAML:
        raise Malformed(f"it has more than {LARGEST_YAML:,} letters")
    try:
        return yaml.load(text, _PlainLoader)
    except Malformed:
        raise
    # Besides its own errors, the loader lets those of its conversions through: "!!bool maybe" is a KeyError.
    except (yaml.YAMLError, ValueError, KeyError, AttributeError, TypeError, IndexError, RecursionError) as error:
        raise Malformed(f"it is not valid YAML: {' '.join(str(error).split())}") from None


def read_start(path: Path, largest: int) -> bytes:
    """The bytes of a file that has at most so many; Malformed if there are more."""
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise Malformed(f"it has more than {largest:,} bytes")
    return content


@overload
def typed(content: Mapping[str, Any], name: str, kind: type[Kind]) -> Kind: ...
@overload
def typed(content: Mapping[str, Any], name: str, kind: type[Kind], *, optional: Literal[True]) -> Kind | None: ...
def typed(content: Mapping[str, Any], name: str, kind: type[Kind], *, optional: bool = False) -> Kind | None:
    """A value of an object, of this type; whole numbers count as numbers, and true and false do not."""
    if name not in content:
        raise Malformed(f"it lacks {name}")
    value = content[name]
    if optional and value is None:
        return None
    return _of_kind(value, kind, name)


def _of_kind(value: Any, kind: type[Kind], name: str) -> Kind:
    if kind is float and type(value) is int and abs(value) < 2**53:
        return float(value)  # type: ignore[return-value]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Malformed(f"{name} should be {_NAMES.get(kind, kind.__name__)}, not {str(value)[:40]!r}")
    return value


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise Malformed(f"{text} is not a number")


def _check_depth(content: Any) -> None:
    level, depth = [content], 0
    while level:
        if depth > DEEPEST:
            raise Malformed("it is nested too deeply")
        inner = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level, depth = [value for values in inner for value in values if isinstance(value, dict | list)], depth + 1


class _PlainLoader(yaml.SafeLoader):  # type: ignore[misc]
    """No aliases, and not nested too deeply."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise Malformed("it has an alias (*name): write the value again")
        if self._depth > DEEPEST:
            raise Malformed("it is nested too deeply")
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1
