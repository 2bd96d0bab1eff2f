"""Fixtures of other rooms: the demo's page is a report, and what is drawn here is what the tools answer."""

from tests.demo.conftest import made
from tests.tools.dawn import cache, dawn, photos
from tests.tools.kitchen_footage import kitchen

__all__ = ["cache", "dawn", "kitchen", "made", "photos"]
