"""Ingest: turn the files a reader found on disk into a corpus.

The parent opens none of the media. It passes each video to a worker process, which writes the frames to its own
shard, and adds the video's row to the index, which first makes them permanent. So a run can be killed at any time and
started again: rows in the index are kept, everything else is repeated.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from mmcc.corpus.adding import adding_to, complete, refuse_old
from mmcc.corpus.corpus import Video
from mmcc.corpus.features import check_features
from mmcc.corpus.fetching import Fetching, Files
from mmcc.corpus.format import INDEX_SCHEMA, READABLE, Encoding, Manifest, shard_path
from mmcc.corpus.index import IndexWriter, open_index
from mmcc.corpus.outcome import IngestReport, name_of, report_on
from mmcc.corpus.part import SourcePart
from mmcc.corpus.plan import Plan, make_plan, renewed, row_of
from mmcc.corpus.shards import SHARD_BYTES, ShardReader, lost_frames, next_shard
from mmcc.corpus.source import Item, Skipped, Source
from mmcc.corpus.worker import VideoJob
from mmcc.engines.base import Engine, Shared
from mmcc.engines.local import LocalEngine
from mmcc.errors import InputError
from mmcc.files import is_draft, make_folder
from mmcc.locks import only_writer
from mmcc.media.sandbox import Job, Limits, Outcome
from mmcc.media.video import Sampling
from mmcc.storage import Unreachable, is_remote

RAW_UP_TO = 64  # pixels per side: below this, JPEG saves little and costs more to decode than raw costs to read
_OURS = {"manifest.json", "index", "shards", "embeddings", ".lock"}
_SAMPLED_ARRAYS = 100  # arrays whose headers decide how many dims a corpus of features has
_QUALITY = 90  # of JPEG: artefacts stay below what the video's own codec left


@dataclass(frozen=True)
class IngestSettings:
    """How a corpus is created."""

    sampling: Sampling = field(default_factory=Sampling)
    feature_rate: float | None = None  # vectors per second of .npy arrays, instead of video
    encoding: Encoding | None = None  # None: raw for small pictures, JPEG for larger ones
    transcribe: bool = False
    language: str = "en"
    workers: int = 1  # of this machine, unless an engine is given
    engine: Engine | None = None
    limits: Limits = field(default_factory=Limits)
    part: SourcePart | None = None  # None: all of the source


Progress = Callable[[str, float], None]  # a file, and the share of it that is done: 1 ends it
# What is done with a video once it is in the corpus, while others are being decoded. It is given the video, which only
# one thread may read, and a function that it tells what share it has done: 1 ends it.
Then = Callable[[Video, Callable[[float], None]], None]
_DECODED = 0.5  # how much of a video's progress its decoding is, if something follows


def ingest(
    source: Source,
    folder: Path,
    settings: IngestSettings,
    begin: Callable[[int], Progress] = lambda total: lambda path, share: None,
    then: Then | None = None,
    published: Mapping[int, int] = MappingProxyType({}),
    skip_numbers: int = 0,
) -> IngestReport:
    """Bring a corpus up to date with a source. `begin` is called with the number of videos to do. `published`: shards
    that are elsewhere, with their sizes. `skip_numbers`: of shards, for others who add to the same corpus."""
    _refuse_remote_files(source, settings.engine)
    _make_folder(folder)
    with only_writer(folder):
        manifest = _open_manifest(folder, source, settings)  # of the whole source, so that its parts fit together
        source = settings.part.select(source) if settings.part else source
        with adding_to(folder, manifest) as index:
            before = open_index(folder)[1]
            plan = make_plan(source, before, settings.transcribe, lost_frames(folder, before.to_batches(), published))
            index.append(plan.rows)
            number, progress = next_shard(folder, before) + skip_numbers, begin(len(plan.todo))
            with _Run(folder, manifest, settings, index, plan, number, progress, then) as run:
                run.ingest()
        left_out = source.skipped + list(plan.clashes.values())
        manifest.skipped = [entry._asdict() for entry in left_out]
        table = complete(folder, manifest, index)
    report = report_on(source, table, without=plan.clashes)
    report.videos += len(plan.clashes)
    report.already_done, report.healed = plan.already_done, run.healed
    report.skipped += left_out + run.not_renewed + plan.lost
    report.unconfined = run.unconfined
    return report


class _Run:
    """One run over the videos to do: which worker writes to which shard, and the outcome of each video."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        settings: IngestSettings,
        index: IndexWriter,
        plan: Plan,
        next_shard: int,
        progress: Progress,
        then: Then | None,
    ) -> None:
        self._folder, self._manifest, self._settings = folder, manifest, settings
        self._index, self._plan, self._progress, self._then = index, plan, progress, then
        self._frames = ShardReader(folder, manifest)
        self._items = {item.id: item for item in plan.todo}
        self._next_shard = next_shard
        self._shard_of: dict[int, int] = {}  # worker to shard
        self._size_of: dict[int, int] = {}  # shard to the end of its last finished video
        self._caption_problems: dict[str, str] = {}  # by the video's id
        self.not_renewed: list[Skipped] = []
        self.healed = 0
        self._engine = settings.engine or LocalEngine(settings.workers)
        workers = self._engine.workers if isinstance(self._engine, LocalEngine) else settings.workers
        self._fetching = Fetching(plan.todo, workers, settings.limits)
        self._pool = self._engine.pool(
            "mmcc.corpus.worker",
            settings.limits,
            Shared(folder, _examples(plan.todo) if self._engine.elsewhere else ()),
            self._assign_shard,
            self._report_progress,
            self._has_full_shard,
        )

    @property
    def unconfined(self) -> str:
        return self._pool.unconfined

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()
        self._fetching.__exit__()

    def ingest(self) -> None:
        for outcome in self._pool.run(self._jobs()):
            item = self._items[outcome.job["id"]]
            row = self._commit(item, outcome)
            self._fetching.remove(item)
            if row is None or self._then is None:
                self._progress(name_of(item), 1.0)
            else:
                self._index.commit()
                video = Video(self._frames, pa.Table.from_pylist([row], INDEX_SCHEMA), self._manifest)
                self._then(video, partial(self._report_rest, name_of(item)))

    def _jobs(self) -> Iterator[Job | None]:
        for files in self._fetching:
            if files is None:
                self._index.tick()
                yield None
            elif files.problem or (files.caption_problem and self._is_kept(files.item)):
                self._fail(files.item, files.problem or f"its captions: {files.caption_problem}")
                self._fetching.remove(files.item)
                self._progress(name_of(files.item), 1.0)
            else:
                if files.caption_problem:
                    self._go_without_captions(files.item, files.caption_problem)
                yield self._job(files)

    def _go_without_captions(self, item: Item, problem: str) -> None:
        """They could not be fetched. Their fingerprint is that of no file, so that the next run tries again."""
        media, _ = self._plan.fingerprints[item.id].split("+")
        self._plan.fingerprints[item.id] = f"{media}+gone"
        self._caption_problems[item.id] = problem

    def _job(self, files: Files) -> Job:
        settings, manifest, item = self._settings, self._manifest, files.item
        job = VideoJob(
            id=item.id,
            media=_absolute(files.media),
            captions=_absolute(files.captions),
            caption_span=files.span,
            caption_kind=item.captions.kind if item.captions else "",
            shard="",  # known when a worker is free
            encoding=manifest.encoding,
            quality=manifest.quality or _QUALITY,
            sampling=dataclasses.asdict(settings.sampling),
            feature_rate=settings.feature_rate,
            feature_dims=manifest.size if manifest.encoding == "float32" else None,
            transcribe=settings.transcribe,
            language=settings.language,
            stills=[(str(still.path.absolute()), still.time) for still in item.stills],
            utterances=[utterance._asdict() for utterance in item.utterances],
            flush=self._engine.elsewhere,
        )
        return dataclasses.asdict(job)

    def _assign_shard(self, job: Job, worker: int, fresh: bool) -> Job:
        """Each process writes one shard."""
        if fresh:
            self._shard_of[worker] = self._next_shard
            self._next_shard += 1
        return {**job, "shard": _absolute(shard_path(self._folder, self._shard_of[worker]))}

    def _has_full_shard(self, worker: int) -> bool:
        return self._size_of.get(self._shard_of[worker], 0) > SHARD_BYTES

    def _report_progress(self, job: Job, seconds: float, total: float | None) -> None:
        self._index.tick()
        share = min(0.99, seconds / total) if total else 0.0
        self._progress(name_of(self._items[job["id"]]), share * (_DECODED if self._then else 1))

    def _report_rest(self, name: str, share: float) -> None:
        self._progress(name, _DECODED + (1 - _DECODED) * share)

    def _commit(self, item: Item, outcome: Outcome) -> dict[str, Any] | None:
        """The row of a video that is now in the corpus; None if it failed."""
        if outcome.answer is None:
            copy = outcome.job["media"] if item.media and is_remote(item.media) else None
            self._fail(item, outcome.reason.replace(copy, name_of(item)) if copy else outcome.reason)
            return None
        shard = int(Path(outcome.job["shard"]).stem)
        answer = {**outcome.answer, "shard": shard}
        if item.id in self._caption_problems:
            answer["caption_error"] = self._caption_problems[item.id]
        row = self._row(item, answer)
        try:
            self._index.append([row])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            self._fail(item, "its worker's answer could not be parsed")
            return None
        self.healed += item.id in self._plan.healed
        for batch in row.get("batches") or []:
            self._size_of[shard] = batch["offset"] + batch["length"]
        return row

    def _is_kept(self, item: Item) -> bool:
        """Whether an earlier ingest of it can stay: old frames are better than none."""
        before = self._plan.before.get(item.id)
        return before is not None and before["status"] in READABLE

    def _fail(self, item: Item, reason: str) -> None:
        if self._is_kept(item):
            self.not_renewed.append(Skipped(name_of(item), f"{reason} The earlier ingest of it is kept."))
        else:
            self._index.append([self._row(item, {"status": "failed", "reason": reason})])

    def _row(self, item: Item, answer: dict[str, Any]) -> dict[str, Any]:
        row, before = row_of(item, answer, self._plan.fingerprints[item.id]), self._plan.before.get(item.id)
        return row if before is None else renewed(row, before)


def _refuse_remote_files(source: Source, engine: Engine | None) -> None:
    """They are fetched to this machine, where workers on others would look for them in vain."""
    if engine is not None and engine.elsewhere:
        for item in source.items:
            for path in (item.media, item.captions and item.captions.path):
                if path and is_remote(path):
                    remedy = "Leave --engine ray out, and share the work by --part, or copy the files to a shared disk."
                    raise InputError(path, "is in a bucket, which the workers of a cluster cannot read", remedy)


def _make_folder(folder: Path) -> None:
    ours = folder.is_dir() and all(path.name in _OURS or is_draft(path) for path in folder.iterdir())
    foreign = folder.exists() and not ours
    if foreign and not (folder / "manifest.json").exists():
        raise InputError(folder, "exists and is not a corpus", "Choose another folder with -o.")
    try:
        make_folder(folder / "shards")
    except OSError as error:
        raise InputError(folder, f"cannot be written ({error.strerror})", "Choose another folder with -o.") from None


def _open_manifest(folder: Path, source: Source, settings: IngestSettings) -> Manifest:
    old = Manifest.load(folder) if (folder / "manifest.json").exists() else None
    known = old.size if old is not None and old.encoding == "float32" else 0
    manifest = _new_manifest(source, settings, known)
    if old is not None:
        new = manifest.settings()
        refuse_old(folder, old)
        if old.encoding == manifest.encoding == "float32":
            old.size = manifest.size
        differing = [f"{name} {value}, not {new[name]}" for name, value in old.settings().items() if value != new[name]]
        if differing:
            remedy = "Ingest with the same settings, or into another folder."
            raise InputError(folder, f"was created with {'; '.join(differing)}", remedy)
        old.tasks |= source.tasks
        manifest = old
    return manifest


def _new_manifest(source: Source, settings: IngestSettings, known_dims: int) -> Manifest:
    sampling = settings.sampling
    if settings.feature_rate is not None:
        dims = known_dims or _usual_dims(source)  # arrays with other dims fail one by one
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
    """The dims that most arrays have; arrays that differ or cannot be read will fail in their workers."""
    dims = Counter[int]()
    for item in source.items:
        if item.media and dims.total() < _SAMPLED_ARRAYS:
            try:
                dims[check_features(item.media).dims] += 1
            except Unreachable:  # nor can the others be reached
                raise
            except InputError:
                continue
    return dims.most_common(1)[0][0] if dims else 0


def _examples(items: Sequence[Item]) -> tuple[Path, ...]:
    """Files of the first video, by which a machine shows that it sees the source."""
    for item in items:
        if item.media is not None and item.media.is_file():
            return item.media, *([item.captions.path] if item.captions else [])
    return ()


def _absolute(path: Path | None) -> str | None:
    return str(path.absolute()) if path else None
