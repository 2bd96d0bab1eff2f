"""Rewrite a corpus of an older format version in the present one, in its place, without decoding a frame.

Everything is written beside the old files: shards under new numbers, then the index, then the manifest, whose renaming
is the moment of the change. Whenever it is killed, the corpus is either still the old one or already the new one, and
to run it again completes it. Until the old files are removed, at the end, it takes twice the space.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from mmcc.corpus.embeddings import DESCRIPTION, describe, read_description, with_embeddings
from mmcc.corpus.format import FIRST_VERSION, FORMAT_VERSION, Manifest, index_folder, is_corpus, shard_path
from mmcc.corpus.index import IndexWriter, latest_positions, open_index, whole_row
from mmcc.corpus.shards import (
    SHARD_BYTES,
    FrameRun,
    ShardReader,
    ShardWriter,
    ends_of_shards,
    next_shard,
    seal,
    shard_numbers,
)
from mmcc.corpus.source import Skipped
from mmcc.corpus.version_one import first_index_path
from mmcc.errors import InputError
from mmcc.files import flush_to_disk
from mmcc.locks import only_writer
from mmcc.text import one_line

Watch = Callable[[list[str]], Iterable[str]]


@dataclass
class UpgradeReport:
    """What was rewritten: the corpus, and the folders of its embeddings."""

    path: str
    version: int = FORMAT_VERSION
    folders: list[str] = field(default_factory=list)  # rewritten by this run; none if nothing was old
    videos: int = 0
    frames: int = 0
    skipped: list[Skipped] = field(default_factory=list)  # videos whose frames are damaged: they have failed now

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "skipped": [each._asdict() for each in self.skipped]}


def upgrade(folder: Path, watch: Watch = iter) -> UpgradeReport:
    """Bring a corpus and its embeddings to the present format version; `watch` may show progress."""
    Manifest.load(folder)  # refuses what is no corpus
    report = UpgradeReport(str(folder))
    for each in filter(is_corpus, with_embeddings(folder)):
        with only_writer(each):
            manifest = Manifest.load(each)
            if manifest.version == FIRST_VERSION:
                _rewrite(each, manifest, watch, report)
            _tidy(each)
    return report


def _rewrite(folder: Path, manifest: Manifest, watch: Watch, report: UpgradeReport) -> None:
    _, table = open_index(folder)
    _remove_unnamed(folder, table)  # what a killed run has left
    shutil.rmtree(index_folder(folder), ignore_errors=True)
    positions, index = latest_positions(table), IndexWriter(folder)
    with closing(_Copier(folder, manifest, next_shard(folder, table))) as copier:
        for video_id in watch(list(positions)):
            row = whole_row(table, positions[video_id])
            try:
                row |= copier.copy(row)
            except InputError as error:
                reason = f"its frames are damaged ({error.path}: {error.cause})"
                row |= {"status": "failed", "reason": reason, "times": [], "shard": None, "batches": []}
                report.skipped.append(Skipped(row["source"] or video_id, reason))
            index.append([row])
            report.videos += 1
            report.frames += len(row["times"] or [])
    index.close()
    if (folder / DESCRIPTION).is_file():
        describe(folder, read_description(folder))
    replace(manifest, version=FORMAT_VERSION, index=index.names, sealed=copier.next).save(folder)
    report.folders.append(str(folder))


def _remove_unnamed(folder: Path, table: pa.Table) -> None:
    """Shards that no row names."""
    named = ends_of_shards(table)
    for number in shard_numbers(folder):
        if number not in named:
            shard_path(folder, number).unlink()


def _tidy(folder: Path) -> None:
    """Remove what the present version does not read: the old shards, and last the old index."""
    if first_index_path(folder).exists():
        _remove_unnamed(folder, open_index(folder)[1])
        first_index_path(folder).unlink()
        flush_to_disk(folder)


class _Copier:
    """Copies frames, undecoded, into shards of its own."""

    def __init__(self, folder: Path, manifest: Manifest, first: int) -> None:
        self._folder, self.next = folder, first  # shard to begin
        self._reader = ShardReader(folder, manifest)
        self._shard: ShardWriter | None = None
        self._number = self._end = 0

    def copy(self, row: dict[str, Any]) -> dict[str, Any]:
        """The place of a video's frames, as its row says it."""
        if not row["batches"]:
            return {}
        shard = self._open()
        try:
            for time, frame in self._frames(row):
                shard.add(row["id"], time, frame)
            runs = shard.finish(row["id"])
        except InputError:
            shard.take_back()
            raise
        self._end = runs[-1].offset + runs[-1].length
        return {"shard": self._number, "batches": [run._asdict() for run in runs]}

    def close(self) -> None:
        if self._shard is not None:
            self._shard.close()
            seal(shard_path(self._folder, self._number), self._end)

    def _frames(self, row: dict[str, Any]) -> Iterator[tuple[float, bytes]]:
        for run in row["batches"]:
            batch = self._reader.record_batch(row["shard"], FrameRun(**run))
            yield from zip(batch.column("time").to_pylist(), batch.column("frame").to_pylist(), strict=True)

    def _open(self) -> ShardWriter:
        if self._shard is None or self._end > SHARD_BYTES:
            self.close()
            self._number, self.next, self._end = self.next, self.next + 1, 0
            self._shard = ShardWriter(shard_path(self._folder, self._number))

        return self._shard


def render_upgrade(report: UpgradeReport) -> str:
    """As text."""
    if not report.folders:
        return f"{one_line(report.path)}: has format version {report.version} already"
    what = f"{report.videos:,} videos, {report.frames:,} frames"
    return "\n".join(f"{one_line(folder)}: now has format version {report.version}" for folder in report.folders) + (
        f"\nrewritten: {what}"
    )
