"""Loaded by every Python process whose PYTHONPATH has this folder: its file events are those of a disk that fails."""

from tests.faults import watch_as_told

watch_as_told()
