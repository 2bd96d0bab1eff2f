"""What an ingest has to do: which videos are new, changed, failed before, known but not here, or somebody else's.

Nothing that is in a corpus is lost by running an ingest again: a file that is no longer found takes nothing away, and
a file that takes another's id is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from mmcc.corpus.format import split_of
from mmcc.corpus.index import latest_positions
from mmcc.corpus.outcome import name_of
from mmcc.corpus.source import Item, Skipped, Source
from mmcc.media.names import storable

_KNOWN = ("status", "fingerprint", "source", "caption_kind", "title", "split", "tasks", "steps")


@dataclass
class Plan:
    """Every item of a source is in exactly one of these."""

    todo: list[Item] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)  # need no work: absent videos, and new annotations
    clashes: dict[str, Skipped] = field(default_factory=dict)  # by id: the id belongs to another file
    already_done: int = 0
    fingerprints: dict[str, str] = field(default_factory=dict)  # of the files as they are before they are read
    replaces: set[str] = field(default_factory=set)  # ids of videos to do that are here already


def make_plan(source: Source, table: pa.Table, transcribe: bool) -> Plan:
    """Compare a source with an index. What failed is tried again: a limit may have been raised."""
    plan = Plan()
    positions = latest_positions(table)
    known = table.select(_KNOWN).to_pylist()
    for item in source.items:
        fingerprint = plan.fingerprints[item.id] = fingerprint_of(item)
        row = known[positions[item.id]] if item.id in positions else None
        here = row is not None and row["status"] in ("ok", "partial")
        if not (item.media or item.captions):
            if row is None or (not here and _tells_more(item, row)):
                plan.rows.append(row_of(item, {"status": "absent"}, fingerprint))
            elif here and _tells_more(item, row):
                plan.rows.append(_annotated(table, positions[item.id], item))
        elif row is None or not here:
            plan.todo.append(item)
        elif _unchanged(row, item, fingerprint) and not (transcribe and row["caption_kind"] is None):
            plan.already_done += 1
            if _tells_more(item, row):
                plan.rows.append(_annotated(table, positions[item.id], item))
        elif row["source"] and item.media and row["source"] != _stored(item.media):
            reason = f"its id {item.id!r} is taken by {row['source']}. Give it another name, or ingest it elsewhere."
            plan.clashes[item.id] = Skipped(name_of(item), reason)
        else:
            plan.replaces.add(item.id)
            plan.todo.append(item)
    plan.todo.sort(key=_size, reverse=True)  # the long ones first, so that no worker ends up alone with one
    return plan


def row_of(item: Item, answer: dict[str, Any], fingerprint: str) -> dict[str, Any]:
    """An index row: what the worker answered, and what we know ourselves and would not take from it."""
    return {
        **answer,
        "id": item.id,
        "source": _stored(item.media) if item.media else None,
        "captions": _stored(item.captions.path) if item.captions else None,
        "fingerprint": fingerprint,
        **_annotations(item),
    }


def _annotations(item: Item) -> dict[str, Any]:
    return {
        "title": item.title,
        "split": item.split or split_of(item.id),
        "tasks": list(item.tasks),
        "steps": [step._asdict() for step in item.steps],
    }


def _tells_more(item: Item, row: dict[str, Any]) -> bool:
    """A release says something about a video that its row does not; a plain folder has nothing to say."""
    told = _annotations(item)
    return bool(item.tasks) and any(told[key] != row[key] for key in ("tasks", "steps", "split"))


def _annotated(table: pa.Table, position: int, item: Item) -> dict[str, Any]:
    row: dict[str, Any] = table.slice(position, 1).to_pylist()[0]
    return {**row, **_annotations(item), "title": item.title or row["title"]}


def fingerprint_of(item: Item) -> str:
    """Size and time of media and captions, e.g. "1024.1700000000+-": "-" where there is none."""
    return "+".join(map(_stamp, _files(item)))


def _files(item: Item) -> Iterable[Path | None]:
    return item.media, item.captions.path if item.captions else None


def _stamp(path: Path | None) -> str:
    if path is None:
        return "-"
    try:
        stat = path.stat()
    except OSError:
        return "gone"
    return f"{stat.st_size}.{stat.st_mtime_ns}"


def _unchanged(row: dict[str, Any], item: Item, fingerprint: str) -> bool:
    """Neither file changed. One that is not found any more, or was copied elsewhere, has not changed either."""
    media, captions = zip(row["fingerprint"].split("+"), fingerprint.split("+"), strict=True)
    moved = row["source"] and not Path(row["source"]).exists()
    same_media = media[1] in ("-", media[0]) or (moved and media[0].split(".")[0] == media[1].split(".")[0])
    return same_media and captions[1] in ("-", captions[0])


def _stored(path: Path) -> str:
    return storable(os.path.abspath(path))  # noqa: PTH100 (unlike Path.absolute, it knows "..")


def _size(item: Item) -> int:
    stamp = _stamp(item.media).split(".")[0]
    return int(stamp) if stamp.isdecimal() else 0
