"""A backbone's name with options, as in a web address: efficientnet-lite0?size=128, onnx:FILE?pooling=mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote

from mmcc.errors import UsageError


@dataclass(frozen=True)
class NameWithOptions:
    """A name, taken apart."""

    name: str
    base: str  # what stands before the question mark
    options: Mapping[str, str]

    @classmethod
    def parse(cls, name: str, known: Sequence[str]) -> Self:
        """UsageError for options that are not known or not understood."""
        base, _, query = name.partition("?")
        options: dict[str, str] = {}
        for part in query.split("&") if query else ():
            key, equals, value = part.partition("=")
            if key not in known:
                raise UsageError(f"{name}: unknown option {key!r} (known: {', '.join(known)})")
            if not equals or not value or key in options:
                raise UsageError(f"{name}: {key} needs one value, as in {key}=…")
            options[key] = unquote(value)
        return cls(name, base, options)

    def choice(self, key: str, choices: Sequence[str]) -> str | None:
        value = self.options.get(key)
        if value is not None and value not in choices:
            raise UsageError(f"{self.name}: {key} is {value!r}; it must be one of {', '.join(choices)}")
        return value

    def positive(self, key: str) -> int | None:
        """An integer above zero."""
        value = self.options.get(key)
        if value is None:
            return None
        if not (value.isascii() and value.isdigit() and int(value) > 0):
            raise UsageError(f"{self.name}: {key} is {value!r}; it must be a positive integer")
        return int(value)
