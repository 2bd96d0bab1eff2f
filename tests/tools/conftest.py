"""Fixtures that several modules share."""

from tests.tools.dawn import cache, dawn, photos

__all__ = ["cache", "dawn", "photos"]
