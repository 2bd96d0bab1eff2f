"""File names as text: a name on a disk is any bytes, and what is printed or stored must be neither broken nor alive."""

import os


def storable(text: str) -> str:
    """A name that can be printed and stored: bytes of it that are not UTF-8 become U+FFFD."""
    return text if text.isascii() else os.fsencode(text).decode("utf-8", "replace")


def one_line(text: object) -> str:
    """A name as part of a line for people: file names may hold line breaks and terminal codes."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in storable(str(text)))
