"""HTML and SVG from our code and untrusted text: whatever is not `Markup` is escaped.

>>> element("p", "a < b", element("br"), class_="note")
'<p class="note">a &lt; b<br></p>'
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_VOID = frozenset({"br", "img", "meta"})  # elements that HTML does not close


class Markup(str):
    """Text that is HTML already. Joined with plain text by `+` it becomes plain text, and is escaped again."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """One element. `class_` stands for class, `stroke_width` for stroke-width; None leaves an attribute out."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>" + ("" if name in _VOID else f"{joined(children)}</{name}>"))


def quoted(name: str, /, *children: str, **attributes: str | float | None) -> Markup:
    """An element with text that is not ours: in whatever language and direction its first letters say."""
    return element(name, *children, **attributes, dir="auto", lang="")


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """Parts joined, each escaped unless it is markup."""
    return Markup(safe(between).join(safe(part) for part in parts))


def safe(text: str) -> Markup:
    return text if isinstance(text, Markup) else Markup(escape(_whole(text)))


def _plain(value: str | float) -> str:
    """Numbers with two digits at most: nobody sees a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else _whole(str(value))


def _whole(text: str) -> str:
    """File names may contain bytes that are not text, which cannot be written to a page."""
    return text.encode("utf-8", "replace").decode("utf-8")
