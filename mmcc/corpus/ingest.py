"""Ingest: from what an adapter found on a disk to a corpus.

The parent opens none of the media. It hands each video to a worker process, which writes the frames to its own
shard, and appends the video's row to the index when they are safe. So a run can be killed at any moment and begun
again: rows that are in the index stand, all else is done anew.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mmcc.corpus.features import check_features
from mmcc.corpus.format import Encoding, Manifest, index_path, shard_path, split_of
from mmcc.corpus.index import IndexWriter, latest_positions, read_index
from mmcc.corpus.shards import SHARD_BYTES, seal
from mmcc.corpus.source import Item, Skipped, Source
from mmcc.corpus.worker import VideoJob
from mmcc.media.errors import InputError
from mmcc.media.sandbox import Job, Limits, Outcome, WorkerPool
from mmcc.media.video import Sampling

RAW_UP_TO = 64  # pixels a side: below, JPEG saves little and costs more to decode than to read raw
_OURS = {"manifest.json", "manifest.json.new", "index.arrow", "index.arrow.new", "shards", ".lock"}
_QUALITY = 90  # of JPEG: artefacts stay below what the video's own codec left


@dataclass(frozen=True)
class IngestSettings:
    """How a corpus is made."""

    sampling: Sampling = field(default_factory=Sampling)
    feature_rate: float | None = None  # vectors per second of .npy arrays, in place of video
    encoding: Encoding | None = None  # None: raw for small pictures, else JPEG
    transcribe: bool = False
    language: str = "en"
    workers: int = 1
    limits: Limits = field(default_factory=Limits)


@dataclass
class IngestReport:
    """What became of a source: of all that is in the corpus from it, not only of the last run."""

    videos: int = 0  # found in the source
    ingested: int = 0
    frames: int = 0
    utterances: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    partial: list[dict[str, Any]] = field(default_factory=list)
    uncaptioned: list[str] = field(default_factory=list)
    already_done: int = 0  # by an earlier run
    absent: int = 0  # listed in the release, but neither video nor captions are here
    annotated: int = 0
    segments: int = 0
    tasks: int = 0

    def to_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "skipped": [entry._asdict() for entry in self.skipped]}


Progress = Callable[[str, float], None]  # a file, and the share of it that is done: 1 ends it


def ingest(
    source: Source,
    folder: Path,
    settings: IngestSettings,
    begin: Callable[[int], Progress] = lambda total: lambda path, share: None,
) -> IngestReport:
    """Bring a corpus up to date with a source. `begin` is told how many videos there are to do."""
    manifest = _open_manifest(folder, source, settings)
    index = IndexWriter(folder)
    try:
        plan = _plan(source, read_index(index_path(folder)), settings.transcribe)
        index.append([_row(item, {"status": "absent"}) for item in plan.absent])
        with _Run(folder, manifest, settings, index, begin(len(plan.todo))) as run:
            run.ingest(plan.todo)
    finally:
        index.close()
    table = read_index(index_path(folder))
    report = _report(source, table)
    report.skipped += source.skipped + plan.clashes
    report.already_done = plan.already_done
    _close_manifest(folder, manifest, source, table, report.skipped)
    return report


@dataclass
class _Plan:
    todo: list[Item] = field(default_factory=list)
    absent: list[Item] = field(default_factory=list)
    clashes: list[Skipped] = field(default_factory=list)
    already_done: int = 0


def _plan(source: Source, table: pa.Table, transcribe: bool) -> _Plan:
    """Which videos are to do: new ones, changed ones, and ones that failed (a limit may have been raised)."""
    plan = _Plan()
    columns = ("status", "fingerprint", "source", "caption_kind")
    known = dict(zip(table.column("id").to_pylist(), table.select(columns).to_pylist(), strict=True))
    for item in source.items:
        row = known.get(item.id)
        if not (item.media or item.captions):
            if row is None:
                plan.absent.append(item)
        elif row is None or row["status"] not in ("ok", "partial"):
            plan.todo.append(item)
        elif row["fingerprint"] == _fingerprint(item) and not (transcribe and row["caption_kind"] is None):
            plan.already_done += 1
        elif row["source"] and item.media and _two_files(Path(row["source"]), item.media):
            reason = f"its id {item.id!r} is taken by {row['source']}. Give it another name, or ingest it elsewhere."
            plan.clashes.append(Skipped(str(item.media), reason))
        else:
            plan.todo.append(item)
    plan.todo.sort(key=_size, reverse=True)  # the long ones first, so that no worker ends up alone with one
    return plan


class _Run:
    """One run over the videos that are to do: which worker writes to which shard, and what comes of each."""

    def __init__(
        self, folder: Path, manifest: Manifest, settings: IngestSettings, index: IndexWriter, progress: Progress
    ) -> None:
        self._folder, self._manifest, self._settings = folder, manifest, settings
        self._index, self._progress = index, progress
        self._items: dict[str, Item] = {}
        self._next_shard = 1 + max(_shards(folder), default=-1)
        self._shard_of: dict[int, int] = {}  # worker to shard
        self._size_of: dict[int, int] = {}  # shard to the end of its last finished video
        self._pool = WorkerPool(
            "mmcc.corpus.worker", settings.workers, settings.limits, self._assign_shard, self._tell_progress
        )

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()
        _seal_shards(self._folder)

    def ingest(self, items: list[Item]) -> None:
        self._items = {item.id: item for item in items}
        for outcome in self._pool.run(self._job(item) for item in items):
            item = self._items[outcome.job["id"]]
            self._commit(item, outcome)
            self._progress(_name(item), 1.0)

    def _job(self, item: Item) -> Job:
        settings, manifest = self._settings, self._manifest
        job = VideoJob(
            id=item.id,
            media=_absolute(item.media),
            captions=_absolute(item.captions.path) if item.captions else None,
            caption_span=item.captions.span if item.captions else None,
            caption_kind=item.captions.kind if item.captions else "",
            shard="",  # known when a worker is free
            encoding=manifest.encoding,
            quality=manifest.quality or _QUALITY,
            sampling=dataclasses.asdict(settings.sampling),
            feature_rate=settings.feature_rate,
            feature_dims=manifest.size if manifest.encoding == "float32" else None,
            transcribe=settings.transcribe,
            language=settings.language,
        )
        return dataclasses.asdict(job)

    def _assign_shard(self, job: Job, worker: int, fresh: bool) -> Job:
        """A worker keeps its shard until that is full; a new process gets a new one."""
        if fresh or self._size_of.get(self._shard_of[worker], 0) > SHARD_BYTES:
            self._shard_of[worker] = self._next_shard
            self._next_shard += 1
        return {**job, "shard": _absolute(shard_path(self._folder, self._shard_of[worker]))}

    def _tell_progress(self, job: Job, seconds: float, total: float | None) -> None:
        self._progress(_name(self._items[job["id"]]), min(0.99, seconds / total) if total else 0.0)

    def _commit(self, item: Item, outcome: Outcome) -> None:
        if outcome.answer is None:
            self._index.append([_row(item, {"status": "failed", "reason": outcome.reason})])
            return
        shard = int(Path(outcome.job["shard"]).stem)
        row = _row(item, {**outcome.answer, "shard": shard})
        try:
            self._index.append([row])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            reason = "its worker's answer made no sense"
            self._index.append([_row(item, {"status": "failed", "reason": reason})])
            return
        for batch in row.get("batches") or []:
            self._size_of[shard] = batch["offset"] + batch["length"]


def _row(item: Item, answer: dict[str, Any]) -> dict[str, Any]:
    """An index row: what the worker answered, and what we know ourselves and would not take from it."""
    return {
        **answer,
        "id": item.id,
        "title": item.title,
        "split": item.split or split_of(item.id),
        "tasks": list(item.tasks),
        "source": _absolute(item.media),
        "captions": _absolute(item.captions.path) if item.captions else None,
        "steps": [step._asdict() for step in item.steps],
        "fingerprint": _fingerprint(item),
    }


def _report(source: Source, table: pa.Table) -> IngestReport:
    ids = {item.id: item for item in source.items}
    report = IngestReport(tasks=len(source.tasks))
    positions = latest_positions(table)
    columns = ("status", "reason", "caption_error", "captions", "decoded", "duration")
    rows = table.select(columns).to_pylist()
    frames, utterances, steps = (_lengths(table, name) for name in ("times", "utterances", "steps"))
    for video_id, position in positions.items():
        if video_id not in ids:
            continue
        item, row = ids[video_id], rows[position]
        report.annotated += steps[position] > 0
        report.segments += steps[position]
        report.absent += row["status"] == "absent"
        report.videos += row["status"] != "absent"
        if row["status"] == "failed":
            report.skipped.append(Skipped(_name(item), row["reason"]))
        if row["caption_error"]:
            path = str(item.captions.path) if item.captions else row["captions"]
            report.skipped.append(Skipped(path, row["caption_error"]))
        if row["status"] in ("ok", "partial"):
            report.ingested += 1
            report.frames += frames[position]
            report.utterances += utterances[position]
            if not utterances[position]:
                report.uncaptioned.append(_name(item))
        if row["status"] == "partial":
            seconds = {"decoded": round(row["decoded"], 3), "expected": round(row["duration"], 3)}
            report.partial.append({"path": _name(item), **seconds})
    return report


def _open_manifest(folder: Path, source: Source, settings: IngestSettings) -> Manifest:
    manifest = _new_manifest(source, settings)
    if (folder / "manifest.json").exists():
        old = Manifest.load(folder)
        differing = [
            f"{name} {value}, not {manifest.settings()[name]}"
            for name, value in old.settings().items()
            if value != manifest.settings()[name]
        ]
        if differing:
            remedy = "Ingest with the same settings, or into another folder."
            raise InputError(folder, f"was made with {'; '.join(differing)}", remedy)
        old.tasks |= source.tasks
        old.complete = False
        manifest = old
    elif folder.exists() and (not folder.is_dir() or any(p.name not in _OURS for p in folder.iterdir())):
        raise InputError(folder, "exists and is not a corpus", "Choose another folder with -o.")
    try:
        (folder / "shards").mkdir(parents=True, exist_ok=True)
        manifest.save(folder)
    except OSError as error:
        raise InputError(folder, f"cannot be written ({error.strerror})", "Choose another folder with -o.") from None
    return manifest


def _new_manifest(source: Source, settings: IngestSettings) -> Manifest:
    sampling = settings.sampling
    if settings.feature_rate is not None:
        dims = _first_dims(source)
        return Manifest("float32", settings.feature_rate, dims, "", "features", tasks=dict(source.tasks))
    encoding = settings.encoding or ("raw" if sampling.size <= RAW_UP_TO else "jpeg")
    return Manifest(
        encoding=encoding,
        fps=sampling.fps,
        size=sampling.size,
        fit=sampling.fit,
        mode="exact" if sampling.exact else "fast",
        quality=_QUALITY if encoding == "jpeg" else None,
        tasks=dict(source.tasks),
    )


def _first_dims(source: Source) -> int:
    """All arrays of a corpus must have as many dims as the first that can be read."""
    for item in source.items:
        if item.media:
            try:
                return check_features(item.media).dims
            except InputError:
                continue  # its worker will say why
    return 0


def _close_manifest(folder: Path, manifest: Manifest, source: Source, table: pa.Table, skipped: list[Skipped]) -> None:
    status = table.column("status").to_pylist()
    manifest.counts = {
        "videos": sum(state in ("ok", "partial") for state in status),
        "partial": status.count("partial"),
        "failed": status.count("failed"),
        "absent": status.count("absent"),
        "frames": sum(_lengths(table, "times")),
        "utterances": sum(_lengths(table, "utterances")),
        "steps": sum(_lengths(table, "steps")),
    }
    rows = {_name(item) for item in source.items}
    manifest.skipped = [entry._asdict() for entry in skipped if entry.path not in rows]
    manifest.complete = True
    manifest.save(folder)


def _seal_shards(folder: Path) -> None:
    """Leave every shard a whole Arrow stream, also those that a killed run left open."""
    table = read_index(index_path(folder))
    ends: dict[int, int] = {}
    for shard, batches in zip(table.column("shard").to_pylist(), table.column("batches").to_pylist(), strict=True):
        if batches:
            ends[shard] = max(ends.get(shard, 0), batches[-1]["offset"] + batches[-1]["length"])
    for shard in _shards(folder):
        if shard in ends:
            seal(shard_path(folder, shard), ends[shard])
        else:
            shard_path(folder, shard).unlink()


def _shards(folder: Path) -> list[int]:
    return sorted(int(path.stem) for path in (folder / "shards").glob("*.arrow") if path.stem.isdigit())


def _lengths(table: pa.Table, column: str) -> list[int]:
    return [length or 0 for length in pc.list_value_length(table.column(column)).to_pylist()]


def _name(item: Item) -> str:
    """The file an item is known by, as its user wrote it."""
    return str(item.media or (item.captions.path if item.captions else item.id))


def _absolute(path: Path | None) -> str | None:
    return str(path.absolute()) if path else None


def _fingerprint(item: Item) -> str:
    """Changes when one of the item's files does."""
    parts: list[object] = []
    for path in (item.media, item.captions.path if item.captions else None):
        if path is not None:
            with suppress(OSError):
                stat = path.stat()
                parts.append((path.name, stat.st_size, stat.st_mtime_ns))
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _two_files(old: Path, new: Path) -> bool:
    return old.exists() and not old.samefile(new)


def _size(item: Item) -> int:
    with suppress(OSError):
        return item.media.stat().st_size if item.media else 0
    return 0
