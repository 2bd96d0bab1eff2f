"""The outcome of an ingest, read from the index."""

from __future__ import annotations

import dataclasses
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mmcc.corpus.format import READABLE
from mmcc.corpus.index import latest_positions
from mmcc.corpus.source import Item, Skipped, Source
from mmcc.text import storable


@dataclass
class IngestReport:
    """The state of a source in the corpus: of all its videos, not only those of the last run."""

    videos: int = 0  # found in the source
    ingested: int = 0
    frames: int = 0
    utterances: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    partial: list[dict[str, Any]] = field(default_factory=list)
    uncaptioned: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)  # no captions, and no speech was recognized
    others: int = 0  # videos of the corpus that are not from this source
    already_done: int = 0  # by an earlier run
    healed: int = 0  # videos whose frames were lost and have been read again
    absent: int = 0  # listed in the release, but neither video nor captions were found
    annotated: int = 0
    segments: int = 0  # labelled clips; the name is part of the JSON output
    tasks: int = 0
    unconfined: str = ""  # why the workers could write files and use the network; not part of the JSON output

    def to_json(self) -> dict[str, Any]:
        content = {**dataclasses.asdict(self), "skipped": [entry._asdict() for entry in self.skipped]}
        del content["unconfined"]
        return content


def report_on(source: Source, table: pa.Table, without: Container[str] = ()) -> IngestReport:
    """What the index says about the source's videos, except for ids `without`, which belong to other files."""
    ids = {item.id: item for item in source.items if item.id not in without}
    report = IngestReport(tasks=len(source.tasks))
    positions = latest_positions(table)
    columns = ("status", "reason", "caption_error", "caption_kind", "captions", "decoded", "duration")
    rows = table.select(columns).to_pylist()
    frames, utterances, steps = (lengths_of(table, name) for name in ("times", "utterances", "steps"))
    for video_id, position in positions.items():
        row = rows[position]
        if video_id not in ids:
            report.others += row["status"] in READABLE
            continue
        item = ids[video_id]
        report.annotated += steps[position] > 0
        report.segments += steps[position]
        report.absent += row["status"] == "absent"
        report.videos += row["status"] != "absent"
        if row["status"] == "failed":
            report.skipped.append(Skipped(name_of(item), row["reason"]))
        if row["caption_error"]:
            path = storable(str(item.captions.path)) if item.captions else row["captions"] or name_of(item)
            report.skipped.append(Skipped(path, row["caption_error"]))
        if row["status"] in READABLE:
            report.ingested += 1
            report.frames += frames[position]
            report.utterances += utterances[position]
            if not utterances[position]:
                listened = row["caption_kind"] == "transcribed"
                (report.silent if listened else report.uncaptioned).append(name_of(item))
        if row["status"] == "partial":
            report.partial.append(shortfall(name_of(item), row))
    return report


def shortfall(path: str, row: dict[str, Any]) -> dict[str, Any]:
    """How much of a partial video could be decoded, in seconds."""
    return {"path": path, "decoded": round(row["decoded"], 3), "expected": round(row["duration"], 3)}


def lengths_of(table: pa.Table, column: str) -> list[int]:
    return [length or 0 for length in pc.list_value_length(table.column(column)).to_pylist()]


def name_of(item: Item) -> str:
    """The file an item is known by, as the user wrote it."""
    return storable(str(item.media or (item.captions.path if item.captions else item.id)))
