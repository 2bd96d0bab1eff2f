"""Things by name: encoders, objectives, evaluation tasks, data sets. A name belongs to one thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Entry = TypeVar("Entry")


class UnknownName(ValueError):
    """Nothing is registered under a name; the message lists the names there are."""

    remedy = "Choose one of them, or name the module that registers it: --import MODULE."


class Registry(Generic[Entry]):
    """A table of one kind of thing, in the order of registration."""

    def __init__(self, kind: str) -> None:
        self.kind = kind  # for messages: "frame encoder"
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        """ValueError where the name is taken."""
        if self._entries.setdefault(name, entry) is not entry:
            article = "an" if self.kind[0] in "aeiou" else "a"
            raise ValueError(f"{article} {self.kind} named {name!r} is registered already")

    def find(self, name: str) -> Entry:
        if name not in self._entries:
            raise UnknownName(f"no {self.kind} is named {name!r} (known: {', '.join(sorted(self._entries))})")
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
