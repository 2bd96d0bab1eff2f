"""Join corpora into one, without decoding a frame: `mmcc merge PART… -o CORPUS`.

Shards never change once an ingest has ended, so those of the parts become shards of the corpus under other numbers: as
hard links where they are on the same file system, as copies elsewhere. Only the index is written anew.

Everything is made in a draft of the folder, beside it, which takes its name when it is whole. So whenever a merge is
killed there is no corpus of that name, and the next run continues the draft: a shard that is in it is whole, and
`merge.json` says which parts it is of. That file stays in the corpus, so that the same command again finds it done.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mmcc.corpus.adding import counts_of, refuse_old
from mmcc.corpus.checksums import with_checksum, without_checksum
from mmcc.corpus.embeddings import FOLDER, describe, has_vectors, read_description, with_embeddings
from mmcc.corpus.format import INDEX_SCHEMA, READABLE, Manifest, index_folder, is_corpus, shard_path
from mmcc.corpus.index import latest_positions, open_index, state_of, whole_row, write_whole_index
from mmcc.corpus.ranges import Ranges, ranges_of
from mmcc.corpus.shards import lost_frames
from mmcc.corpus.source import Task
from mmcc.errors import InputError
from mmcc.files import draft_of, make_folder, replace_bytes, replacing, sync_folder, writing
from mmcc.locks import LOCK, only_writer
from mmcc.text import counted, one_line, storable
from mmcc.untrusted import LARGEST, read_start, typed

RECORD = "merge.json"
_NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_ORIGIN = ("source", "captions", "fingerprint", "shard")  # columns that may differ between two ingests of one video
_AT_ONCE = 16 << 20  # bytes that are copied
_CHOICE = (*READABLE, "failed", "absent")  # of two rows of one video the one that comes first here is taken
_WHOLE = "Run the command that wrote it again, to its end."

Rows = NDArray[np.bool_]  # which of a table's count
Watch = Callable[[list[str]], Iterable[str]]


@dataclass
class MergeReport:
    """What was joined, and how the shards came along."""

    path: str
    parts: list[str]
    videos: int = 0
    frames: int = 0
    utterances: int = 0
    repeated: int = 0  # videos that more than one part has, with the same content
    embeddings: list[str] = field(default_factory=list)  # encoders
    linked: int = 0  # shards
    copied: int = 0
    copied_bytes: int = 0
    already_done: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class _Opened(NamedTuple):
    """A corpus, or the vectors of one encoder in it."""

    path: Path
    manifest: Manifest
    table: pa.Table

    def rows(self, owner: dict[str, int], number: int) -> Rows:
        """The rows that count, of the videos that this part owns."""
        chosen = np.zeros(self.table.num_rows, bool)
        positions = latest_positions(self.table)
        chosen[[position for video_id, position in positions.items() if owner.get(video_id) == number]] = True
        return chosen

    def places(self, rows: Rows) -> pa.Table:
        """Where the frames of some rows are."""
        table = self.table.select(["shard", "batches"])
        return table if rows.all() else table.filter(pa.array(rows))


def merge(parts: Sequence[Path], output: Path, watch: Watch = iter) -> MergeReport:
    """Join corpora; `watch` may show progress, by shard."""
    report = MergeReport(str(output), [str(part) for part in parts])
    output = output.resolve()
    opened = [_open(part) for part in parts]
    if any(part.resolve() == output for part in parts):
        raise InputError(report.path, "is one of the parts", "Choose another folder with -o.")
    _require_one_kind(opened)
    vectors = _embeddings(opened)
    for folders in vectors.values():
        _require_one_kind([each for each in folders if each])
    record = {"parts": [_identity(each, vectors, number) for number, each in enumerate(opened)]}
    report.embeddings = [read_description(_first(folders).path).name for folders in vectors.values()]
    if output.exists() and _is_done(output, record):
        return _counted(replace(report, already_done=True), output)
    owner = _owners(opened, report)
    draft = draft_of(output)
    with writing(draft):
        make_folder(draft)
    with only_writer(draft):
        _begin(draft, record)
        _join(opened, draft, owner, report, watch)
        for name, folders in vectors.items():
            inner = draft / FOLDER / name
            with writing(inner):
                make_folder(inner)
            describe(inner, read_description(_first(folders).path))
            _join(folders, inner, owner, report, watch)
        with writing(output):
            draft.rename(output)
            sync_folder(output.parent)
    return _counted(report, output)


def _open(folder: Path) -> _Opened:
    """A part, or the vectors in one; InputError if it is damaged, or is still being written."""
    manifest, table = open_index(folder)
    refuse_old(folder, manifest)
    if not manifest.complete:
        raise InputError(folder, "is not finished (a command is writing it, or was stopped)", _WHOLE)
    positions = set(latest_positions(table).values())
    lost = {why for row, why in lost_frames(folder, table.to_batches()).items() if row in positions}
    if lost:
        raise InputError(folder, f"has lost frames ({min(lost)})", f"{_WHOLE[:-1]}: it reads them anew.")
    return _Opened(folder, manifest, table)


def _embeddings(parts: Sequence[_Opened]) -> dict[str, list[_Opened | None]]:
    """The vectors of every encoder, by folder, one for each part; None where a part has no videos."""
    found: dict[str, list[_Opened | None]] = {}
    for number, part in enumerate(parts):
        for folder in filter(has_vectors, with_embeddings(part.path)[1:]):
            found.setdefault(folder.name, [None] * len(parts))[number] = _open(folder)
    for folders in found.values():
        encoder = read_description(_first(folders).path)
        for part, there in zip(parts, folders, strict=True):
            if there is None and part.manifest.counts.get("videos"):
                cause = f"has no embeddings by {encoder.name}, which {_first(folders).path.parents[1]} has"
                remedy = f"Compute them with: mmcc embed {part.path} --{encoder.reads} {encoder.name}"
                raise InputError(part.path, cause, remedy)
    return found


def _first(folders: Iterable[_Opened | None]) -> _Opened:
    return next(each for each in folders if each)


def _require_one_kind(parts: Sequence[_Opened]) -> None:
    """The same settings, and tasks that do not contradict each other."""
    tasks: dict[str, tuple[Task, Path]] = {}
    like = next((part for part in parts if part.manifest.size), parts[0])
    for part in parts:
        theirs, ours = part.manifest.settings(), like.manifest.settings()
        if part.manifest.encoding == "float32" and not part.manifest.size:
            theirs["size"] = ours["size"]  # it has no arrays
        differing = [f"{name} {theirs[name]}, not {ours[name]}" for name in ours if theirs[name] != ours[name]]
        if differing:
            cause = f"was created with {'; '.join(differing)} as {like.path}"
            raise InputError(part.path, cause, "Leave it out, or ingest it again with the same settings.")
        for name, task in part.manifest.tasks.items():
            known, place = tasks.setdefault(name, (task, part.path))
            if known != task:
                cause = f"has another task {name!r} than {place}"
                raise InputError(part.path, cause, "Leave it out, or ingest both from the same release.")


def _identity(part: _Opened, vectors: dict[str, list[_Opened | None]], number: int) -> dict[str, Any]:
    """A part in the state in which it is, whatever its place."""
    inner = [folders[number] for _, folders in sorted(vectors.items())]
    states = [state_of(each.path) for each in (part, *inner) if each]
    return {"path": storable(str(part.path)), "state": hashlib.sha256("".join(states).encode()).hexdigest()}


def _states(record: dict[str, Any]) -> list[str]:
    return [typed(part, "state", str) for part in typed(record, "parts", list)]


def _is_done(output: Path, record: dict[str, Any]) -> bool:
    """Whether a folder that exists is the result; an empty one is not, and anything else is refused."""
    if output.is_dir() and not any(output.iterdir()):
        return False
    if is_corpus(output) and sorted(_recorded(output)) == sorted(_states(record)):
        return True
    cause = "is a corpus already, of other parts" if is_corpus(output) else "exists already"
    raise InputError(output, cause, "Choose another folder with -o, or remove it.")


def _recorded(folder: Path) -> list[str]:
    """The parts of a draft, or of a corpus; none if it is not known which."""
    try:
        return _states(without_checksum(read_start(folder / RECORD, LARGEST))[0])
    except (OSError, ValueError, TypeError):
        return []


def _owners(parts: Sequence[_Opened], report: MergeReport) -> dict[str, int]:
    """Which part each video is taken from. InputError where two have it with other content."""
    best: dict[str, tuple[int, int]] = {}  # part, row
    states = [part.table.column("status").to_pylist() for part in parts]
    for number, part in enumerate(parts):
        for video_id, row in latest_positions(part.table).items():
            before = best.setdefault(video_id, (number, row))
            if before[0] == number:
                continue
            ours, theirs = states[number][row], states[before[0]][before[1]]
            if ours in READABLE and theirs in READABLE:
                if _content(part, row) != _content(parts[before[0]], before[1]):
                    cause = f"has another video {one_line(video_id)} than {parts[before[0]].path}"
                    raise InputError(part.path, cause, "Leave one of the two out, or ingest the video in one of them.")
                report.repeated += 1
            elif _CHOICE.index(ours) < _CHOICE.index(theirs):
                best[video_id] = number, row
    return {video_id: number for video_id, (number, _) in best.items()}


def _content(part: _Opened, row: int) -> dict[str, Any]:
    """What a video is, wherever it came from and lies."""
    content = {name: value for name, value in whole_row(part.table, row).items() if name not in _ORIGIN}
    content["batches"] = [{**run, "offset": 0} for run in content["batches"] or []]
    return content


def _begin(draft: Path, record: dict[str, Any]) -> None:
    """A draft of these parts: that of a killed run, or an empty one."""
    if _recorded(draft) == _states(record):
        return
    with writing(draft):
        for path in draft.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
        sync_folder(draft)  # before the record: a power cut must not bring back what is not of these parts
    replace_bytes(draft / RECORD, with_checksum(record))


def _join(
    parts: Sequence[_Opened | None], folder: Path, owner: dict[str, int], report: MergeReport, watch: Watch
) -> None:
    """Take the shards of the parts into a folder, then write its index, then its manifest."""
    for inner in (folder / "shards", index_folder(folder)):
        with writing(inner):
            make_folder(inner)
    present = [(part, part.rows(owner, number)) for number, part in enumerate(parts) if part]
    wanted: dict[str, Ranges] = {}  # shards of the parts, and which of their frames are wanted
    for part, rows in present:
        for shard, ranges in ranges_of(part.places(rows)).items():
            wanted[str(shard_path(part.path, shard))] = ranges
    numbers = {source: number for number, source in enumerate(wanted)}
    for source in watch(list(wanted)):
        _take(Path(source), shard_path(folder, numbers[source]), wanted[source], report)
    with writing(folder / "shards"):
        sync_folder(folder / "shards")
    names = write_whole_index(folder, _renumbered(present, numbers))
    manifest = _joined_manifest([part for part, _ in present], names, sealed=len(wanted))
    manifest.save(folder)
    replace(manifest, counts=counts_of(open_index(folder)[1])).save(folder)


def _renumbered(parts: Sequence[tuple[_Opened, Rows]], numbers: dict[str, int]) -> Iterator[pa.RecordBatch]:
    """The rows of the parts, one part after the other, with the new numbers of their shards."""
    column = INDEX_SCHEMA.get_field_index("shard")
    for part, rows in parts:
        first = 0
        for batch in part.table.to_batches():
            kept = batch.filter(pa.array(rows[first : first + len(batch)]))
            first += len(batch)
            old = kept.column(column).to_pylist()
            new = {shard: numbers.get(str(shard_path(part.path, shard))) for shard in set(old) - {None}}
            if old:
                shards = pa.array([new.get(shard) for shard in old], pa.int32())
                yield kept.set_column(column, INDEX_SCHEMA.field(column), shards)


def _joined_manifest(parts: Sequence[_Opened], names: list[str], sealed: int) -> Manifest:
    manifests = [part.manifest for part in parts]
    like = next((each for each in manifests if each.size), manifests[0])
    tasks = {name: task for each in manifests for name, task in each.tasks.items()}
    skipped = {(each["path"], each["reason"]): each for manifest in manifests for each in manifest.skipped}
    return replace(like, tasks=tasks, skipped=list(skipped.values()), index=names, sealed=sealed, complete=True)


def _take(source: Path, target: Path, ranges: Ranges, report: MergeReport) -> None:
    """A shard by another name, or a copy whose every frame was checked. One that is there is whole."""
    with writing(target):
        if not target.exists():
            try:
                os.link(source, target)
            except FileNotFoundError:
                cause = "is gone: the part was written to meanwhile"
                raise InputError(source, cause, "Run the same command again.") from None
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                _copy(source, target, ranges)
    if target.stat().st_ino == source.stat().st_ino and target.stat().st_dev == source.stat().st_dev:
        report.linked += 1
    else:
        report.copied += 1
        report.copied_bytes += target.stat().st_size


def _copy(source: Path, target: Path, ranges: Ranges) -> None:
    for _ in ranges.read(source):
        pass  # each is compared with its checksum
    with replacing(target) as draft, source.open("rb") as old, draft.open("wb") as new:
        while part := old.read(_AT_ONCE):
            new.write(part)


def _counted(report: MergeReport, output: Path) -> MergeReport:
    counts = Manifest.load(output).counts
    report.videos, report.frames, report.utterances = (counts[name] for name in ("videos", "frames", "utterances"))
    return report


def render_merge(report: MergeReport) -> str:
    """As text."""
    lines = [
        f"{one_line(report.path)}: {counted(report.videos, 'video')}, {report.frames:,} frames, "
        f"{report.utterances:,} utterances from {counted(len(report.parts), 'part')}"
        + (" (joined before)" if report.already_done else "")
    ]
    if report.repeated:
        lines.append(f"{counted(report.repeated, 'video')} in more than one part, taken once")
    if report.embeddings:
        lines.append(f"embeddings: {', '.join(map(one_line, report.embeddings))}")
    if report.linked:
        lines.append(f"{counted(report.linked, 'shard')} linked, not copied: the parts may be removed")
    if report.copied:
        size = f"{report.copied_bytes / 1e6:,.1f} MB"
        lines.append(f"{counted(report.copied, 'shard')} copied ({size}): hard links were not possible")
    return "\n".join(lines)
