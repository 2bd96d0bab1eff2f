"""What is drawn here is what the tools answer, so their fixtures serve here too."""

from tests.tools.dawn import cache, dawn, photos

__all__ = ["cache", "dawn", "photos"]
