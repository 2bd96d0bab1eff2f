"""What an ingest has to do: which videos are new, changed, failed before, listed but missing, or clash with others.

Running an ingest again never loses what is in a corpus: a missing file removes nothing, and a file with another's id
is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from mmcc.corpus.format import READABLE, split_of
from mmcc.corpus.index import latest_positions, whole_row
from mmcc.corpus.outcome import name_of
from mmcc.corpus.source import Item, Skipped, Source
from mmcc.errors import InputError
from mmcc.storage import RemotePath, stored_name
from mmcc.storage import place as place_of
from mmcc.text import storable

_FRAME_COLUMNS = ("source", "status", "mode", "duration", "decoded", "height", "width", "times", "shard", "batches")
_KNOWN = ("status", "fingerprint", "source", "caption_kind", "title", "split", "tasks", "steps")


@dataclass
class Plan:
    """Every item of a source is to do, a clash, already done, or needs only a row."""

    todo: list[Item] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)  # without work: missing videos, new annotations, moves
    clashes: dict[str, Skipped] = field(default_factory=dict)  # by id: the id belongs to another file
    already_done: int = 0
    fingerprints: dict[str, str] = field(default_factory=dict)  # of the files, taken before they are read
    before: dict[str, dict[str, Any]] = field(default_factory=dict)  # earlier rows of videos to do again
    healed: set[str] = field(default_factory=set)  # of those, the ones whose frames are lost
    lost: list[Skipped] = field(default_factory=list)  # videos whose frames are lost, and their files as well


def make_plan(source: Source, table: pa.Table, transcribe: bool, lost: Mapping[int, str]) -> Plan:
    """Compare a source with an index. Failed videos are tried again: a limit may have been raised.

    `lost`: the rows whose frames are no longer there, with the reason.
    """
    plan = Plan()
    positions = latest_positions(table)
    known = table.select(_KNOWN).to_pylist()
    for item in source.items:
        fingerprint = plan.fingerprints[item.id] = fingerprint_of(item)
        row = known[positions[item.id]] if item.id in positions else None
        if row is None:
            if item.media or item.captions:
                plan.todo.append(item)
            else:
                plan.rows.append(row_of(item, {"status": "absent"}, fingerprint))
            continue
        change = _change(row, item, fingerprint, transcribe)
        if item.media and change != "other file" and positions[item.id] in lost:
            change = "again"
            plan.healed.add(item.id)
        if change == "other file":
            reason = f"its id {item.id!r} is taken by {row['source']}. Give it another name, or ingest it elsewhere."
            plan.clashes[item.id] = Skipped(name_of(item), reason)
        elif change == "again":
            plan.before[item.id] = whole_row(table, positions[item.id])
            if item.id in plan.healed:
                plan.before[item.id]["status"] = "failed"  # there is nothing to keep
            plan.todo.append(item)
        else:
            plan.already_done += bool(item.media or item.captions)
            if change == "elsewhere" or _has_new_annotations(item, row):
                before = whole_row(table, positions[item.id])
                plan.rows.append(renewed(row_of(item, before, fingerprint), before))
    for video_id, position in positions.items():
        if position in lost and video_id not in plan.healed:
            reason = f"its frames are lost ({lost[position]}), and it is not in the source. Ingest it from where it is."
            plan.lost.append(Skipped(known[position]["source"] or video_id, reason))
    plan.todo.sort(key=_size, reverse=True)  # long ones first, so that no worker is left alone with one at the end
    return plan


def _change(row: dict[str, Any], item: Item, fingerprint: str, transcribe: bool) -> str:
    """How a known video's files changed: "none", "elsewhere" (moved or copied), "again", or "other file"."""
    if not (item.media or item.captions):
        return "none"
    if row["status"] not in READABLE:
        return "again"
    media, captions = zip(row["fingerprint"].split("+"), fingerprint.split("+"), strict=True)
    place = _stored(item.media) if item.media else row["source"]
    gone = (item.media is None or place != row["source"]) and _is_gone(row["source"], item)
    if not (_unchanged(*media) or (gone and _size_in(media[0]) == _size_in(media[1]))):
        return "again" if row["source"] in (None, place) else "other file"
    same_captions = _unchanged(*captions) or (gone and _size_in(captions[0]) == _size_in(captions[1]))
    if not same_captions or (transcribe and row["caption_kind"] is None):
        return "again"
    return "elsewhere" if gone and place != row["source"] else "none"


def _is_gone(source: str | None, item: Item) -> bool:
    """Whether the file that a video came from is no longer there. Of a bucket that the item is not in, nobody is asked:
    it may not answer, and the next one may not either."""
    if not source:
        return False
    try:
        before = place_of(source)
    except InputError:
        return False
    if isinstance(before, RemotePath):
        same = any(isinstance(path, RemotePath) and path.connection == before.connection for path in _files(item))
        return same and not before.exists()
    return not before.exists()


def row_of(item: Item, answer: dict[str, Any], fingerprint: str) -> dict[str, Any]:
    """An index row: the worker's answer, overridden by everything the parent knows itself."""
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


def renewed(row: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """A video's new row, completed from its old one: what was found elsewhere, or earlier, is kept."""
    (old_media, old_captions), (media, captions) = before["fingerprint"].split("+"), row["fingerprint"].split("+")
    row = {**row, "title": row["title"] or before["title"]}
    if not row["tasks"]:
        row |= {key: before[key] for key in ("tasks", "steps", "split")}
    if row["captions"] is None and before["captions"] and before["utterances"]:
        row |= {key: before[key] for key in ("utterances", "captions", "caption_kind")}
        captions = old_captions
    if row["source"] is None and before["source"]:
        row |= {key: before[key] for key in _FRAME_COLUMNS}
        media = old_media
    return {**row, "fingerprint": f"{media}+{captions}"}


def _has_new_annotations(item: Item, row: dict[str, Any]) -> bool:
    """Whether a release has annotations that differ from the row's; a plain folder has none."""
    annotations = _annotations(item)
    return bool(item.tasks) and any(annotations[key] != row[key] for key in ("tasks", "steps", "split"))


def fingerprint_of(item: Item) -> str:
    """Size and time of media and captions, e.g. "1024.1700000000+-"; "-" means no file."""
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


def _unchanged(before: str, now: str) -> bool:
    """A file that is no longer found counts as unchanged."""
    return now in ("-", before)


def _size_in(stamp: str) -> str:
    return stamp.split(".")[0]


def _stored(path: Path) -> str:
    return storable(stored_name(path))


def _size(item: Item) -> int:
    size = _size_in(_stamp(item.media))
    return int(size) if size.isdecimal() else 0
