"""Frames that have moved since a corpus was opened: `mmcc compact` does not wait for those who read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mmcc.corpus.index import latest_positions, open_index, whole_row
from mmcc.corpus.shards import FrameRun
from mmcc.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


class Present:
    """The index as it is now, once somebody has missed a shard."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table: pa.Table | None = None
        self._positions: dict[str, int] = {}

    def find(self, video_id: str, missing: int, runs: list[FrameRun]) -> tuple[int, list[FrameRun]] | None:
        """The shard and the places of a video's frames; None if they are in no other shard than the one missing.

        InputError if they are not the same frames any more.
        """
        found = self._look_up(video_id)
        if found is None or found[0] in (None, missing):  # perhaps it was opened before they moved
            self._table = None
            found = self._look_up(video_id)
        if found is None or found[0] in (None, missing):
            return None
        shard, now = found
        if [run._replace(offset=0) for run in now] != [run._replace(offset=0) for run in runs]:
            cause = f"{video_id} has been ingested again since the corpus was opened, and its old frames were dropped"
            raise InputError(self._folder, cause, "Run the same command again (train: with --resume).")
        return shard, now

    def _look_up(self, video_id: str) -> tuple[int, list[FrameRun]] | None:
        if self._table is None:
            self._table = open_index(self._folder)[1].select(["id", "shard", "batches"])
            self._positions = latest_positions(self._table)
        if video_id not in self._positions:
            return None
        row = whole_row(self._table, self._positions[video_id])
        return row["shard"], [FrameRun(**run) for run in row["batches"] or []]
