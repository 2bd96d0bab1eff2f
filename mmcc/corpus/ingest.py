"""Ingest: from what an adapter found on a disk to a corpus.

The parent opens none of the media. It hands each video to a worker process, which writes the frames to its own
shard, and appends the video's row to the index when they are safe. So a run can be killed at any moment and begun
again: rows that are in the index stand, all else is done anew.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from mmcc.corpus.features import check_features
from mmcc.corpus.format import Encoding, Manifest, index_path, shard_path, split_of
from mmcc.corpus.index import IndexWriter, read_index
from mmcc.corpus.outcome import IngestReport, lengths_of, name_of, report_on
from mmcc.corpus.shards import SHARD_BYTES, seal
from mmcc.corpus.source import Item, Skipped, Source
from mmcc.corpus.worker import VideoJob
from mmcc.media.errors import InputError
from mmcc.media.names import storable
from mmcc.media.sandbox import Job, Limits, Outcome, WorkerPool
from mmcc.media.video import Sampling

RAW_UP_TO = 64  # pixels a side: below, JPEG saves little and costs more to decode than to read raw
_OURS = {"manifest.json", "manifest.json.new", "index.arrow", "index.arrow.new", "shards", ".lock"}
_SAMPLED_ARRAYS = 100  # whose headers tell how many dims a corpus of features has
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
    left_out = source.skipped + list(plan.clashes.values())
    _close_manifest(folder, manifest, table, left_out)
    report = report_on(source, table, without=plan.clashes)
    report.videos += len(plan.clashes)
    report.already_done = plan.already_done
    report.skipped += left_out
    return report


@dataclass
class _Plan:
    todo: list[Item] = field(default_factory=list)
    absent: list[Item] = field(default_factory=list)
    clashes: dict[str, Skipped] = field(default_factory=dict)  # by id
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
        elif _unchanged(row["fingerprint"], item) and not (transcribe and row["caption_kind"] is None):
            plan.already_done += 1
        elif row["source"] and item.media and _two_files(Path(row["source"]), item.media):
            reason = f"its id {item.id!r} is taken by {row['source']}. Give it another name, or ingest it elsewhere."
            plan.clashes[item.id] = Skipped(name_of(item), reason)
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
        with suppress(OSError):  # no space for eight bytes: the next run will do it
            _seal_shards(self._folder)

    def ingest(self, items: list[Item]) -> None:
        self._items = {item.id: item for item in items}
        for outcome in self._pool.run(self._job(item) for item in items):
            item = self._items[outcome.job["id"]]
            self._commit(item, outcome)
            self._progress(name_of(item), 1.0)

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
        self._progress(name_of(self._items[job["id"]]), min(0.99, seconds / total) if total else 0.0)

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
        "source": storable(str(item.media.absolute())) if item.media else None,
        "captions": storable(str(item.captions.path.absolute())) if item.captions else None,
        "steps": [step._asdict() for step in item.steps],
        "fingerprint": _fingerprint(item),
    }


def _open_manifest(folder: Path, source: Source, settings: IngestSettings) -> Manifest:
    old = Manifest.load(folder) if (folder / "manifest.json").exists() else None
    manifest = _new_manifest(source, settings)
    if old is not None:
        if old.encoding == manifest.encoding == "float32":
            manifest.size = old.size  # arrays with other dims fail one by one
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
        dims = _usual_dims(source)
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


def _usual_dims(source: Source) -> int:
    """The dims that most arrays have; those that differ, or cannot be read, are left to fail in their workers."""
    dims = Counter[int]()
    for item in source.items:
        if item.media and dims.total() < _SAMPLED_ARRAYS:
            with suppress(InputError):
                dims[check_features(item.media).dims] += 1
    return dims.most_common(1)[0][0] if dims else 0


def _close_manifest(folder: Path, manifest: Manifest, table: pa.Table, skipped: list[Skipped]) -> None:
    status = table.column("status").to_pylist()
    manifest.counts = {
        "videos": sum(state in ("ok", "partial") for state in status),
        "partial": status.count("partial"),
        "failed": status.count("failed"),
        "absent": status.count("absent"),
        "frames": sum(lengths_of(table, "times")),
        "utterances": sum(lengths_of(table, "utterances")),
        "steps": sum(lengths_of(table, "steps")),
    }
    manifest.skipped = [entry._asdict() for entry in skipped]
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


def _absolute(path: Path | None) -> str | None:
    return str(path.absolute()) if path else None


def _fingerprint(item: Item) -> str:
    """Of media and captions, e.g. "5f1c…+-": each changes when its file does, and is "-" where there is none."""
    return "+".join(_fingerprint_of(path) for path in (item.media, item.captions.path if item.captions else None))


def _fingerprint_of(path: Path | None) -> str:
    if path is None:
        return "-"
    with suppress(OSError):
        stat = path.stat()
        content = repr((path.name, stat.st_size, stat.st_mtime_ns))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return "gone"


def _unchanged(fingerprint: str, item: Item) -> bool:
    """A file that is no longer found takes nothing away: its captions or frames are already here."""
    then, now = fingerprint.split("+"), _fingerprint(item).split("+")
    return all(new in ("-", old) for old, new in zip(then, now, strict=True))


def _two_files(old: Path, new: Path) -> bool:
    return old.exists() and new.exists() and not old.samefile(new)


def _size(item: Item) -> int:
    with suppress(OSError):
        return item.media.stat().st_size if item.media else 0
    return 0
