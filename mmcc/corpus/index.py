"""The index: rows are added in parts, which are files that never change, and parts are merged so that there are few.

A part is named after the commits that it holds, and after its checksum: 00000064-00000127-9a0f5e21.arrow has the 65th
to the 128th. Whoever merges parts writes the larger one before it removes the smaller ones, so a part whose commits
are all in another counts for nothing. The last of several rows with the same id counts: a video whose file was
repaired is simply added again.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from mmcc.corpus.contents import part_of, read_contents
from mmcc.corpus.format import FIRST_VERSION, INDEX_SCHEMA, RESTORE, Manifest, index_folder, shard_path
from mmcc.corpus.rows import Rows, require_sound, stored_rows
from mmcc.corpus.version_one import first_index_path, read_first_version
from mmcc.errors import InputError, OutputError
from mmcc.files import flush_to_disk, is_draft, make_folder, remove_drafts, replace_bytes, writing
from mmcc.storage import is_remote
from mmcc.storage.copies import WrongChecksum, read_checked

COMMIT_SECONDS = 1.0  # rows wait for each other so long: a disk may need a tenth of a second to make them permanent
_TOGETHER = 64  # parts are merged when there are so many, and the merged ones again when there are so many of them
_PART_BYTES = 128 << 20  # parts are not merged beyond this size: what is added to a large corpus leaves most as it is
# In one record batch of a merged part. To look at a row for the first time, all of its batch is checked: a megabyte, of
# videos of some minutes. A table of contents lists the batches, so opening takes no longer for more of them.
_PACKED_ROWS = 128
_TRIES = 5
Read = TypeVar("Read")
_NAME = re.compile(r"(\d{8,})-(\d{8,})-([0-9a-f]{8})\.arrow")


class Part(NamedTuple):
    """A part of the index, as its name tells."""

    first: int  # commit
    last: int
    crc32: int

    @property
    def name(self) -> str:
        return f"{self.first:08d}-{self.last:08d}-{self.crc32:08x}.arrow"

    @classmethod
    def named(cls, name: str) -> Part | None:
        found = _NAME.fullmatch(name)
        return cls(int(found[1]), int(found[2]), int(found[3], 16)) if found else None


class IndexWriter:
    """Adds rows to a corpus's index. Nobody else may write to it.

    Rows are permanent once their part is written. `append` lets them wait for others, for a second at most if `tick` is
    called from time to time: that much work a kill may cost. `commit` and `close` wait for nothing.
    """

    def __init__(self, folder: Path, known: Sequence[str] = ()) -> None:
        """`known`: parts that must be there, or merged into others; a damaged index is not added to."""
        self._folder = folder
        with writing(index_folder(folder)):
            make_folder(index_folder(folder))
            remove_drafts(index_folder(folder))
        self._parts = parts_of(folder, known)
        self._waiting: list[pa.RecordBatch] = []
        self._due = 0.0
        self._shards: set[int] = set()  # whose names are on disk
        self._added = False

    @property
    def names(self) -> list[str]:
        """The parts, in order."""
        return [part.name for part in self._parts]

    def append(self, rows: list[dict[str, Any]]) -> None:
        """Rows that will be permanent within a second."""
        if rows:
            self.append_batch(pa.RecordBatch.from_pylist(rows, schema=INDEX_SCHEMA))

    def append_batch(self, rows: pa.RecordBatch) -> None:
        """The same of rows in the columns of an index."""
        self._due = self._due if self._waiting else monotonic() + COMMIT_SECONDS
        self._waiting.append(rows)
        self.tick()

    def tick(self) -> None:
        """Commit the rows that have waited long enough."""
        if self._waiting and monotonic() >= self._due:
            self.commit()

    def commit(self) -> None:
        """Make the rows permanent: after this returns, not even a power cut loses them."""
        if not self._waiting:
            return
        self._keep_frames(self._waiting)
        number = self._parts[-1].last + 1 if self._parts else 0
        self._parts.append(self._write(number, number, pa.Table.from_batches(self._waiting)))
        self._waiting = []  # not before: a signal may interrupt the writing, and `close` writes them then
        self._added = True
        span = _TOGETHER
        while (number + 1) % span == 0:
            self._merge(number + 1 - span)
            span *= _TOGETHER

    def close(self) -> None:
        self.commit()
        if self._added:
            with suppress(OutputError):  # no space for merging: many parts work as well
                self._merge(0)

    def _keep_frames(self, rows: Iterable[pa.RecordBatch]) -> None:
        """Frames reach the disk before the rows that name them."""
        named = {number for batch in rows for number in batch.column("shard").to_pylist() if number is not None}
        with writing(self._folder / "shards"):
            for number in sorted(named):
                with suppress(FileNotFoundError):  # a row of lost frames may be renewed all the same
                    flush_to_disk(shard_path(self._folder, number))
            if named - self._shards:
                flush_to_disk(self._folder / "shards")
        self._shards |= named

    def _merge(self, first: int) -> None:
        """Merge the last parts, from a commit on, as far back as they are not too large."""
        size, begin = 0, len(self._parts)
        for part in reversed(self._parts):
            size += (index_folder(self._folder) / part.name).stat().st_size
            if part.first < first or size > _PART_BYTES:
                break
            begin -= 1
        old = self._parts[begin:]
        if len(old) < 2:
            return
        table = _table(read_part(self._folder, part) for part in old)
        self._parts[begin:] = [self._write(old[0].first, old[-1].last, table)]
        for part in old:
            with suppress(OSError):  # it counts for nothing any more
                (index_folder(self._folder) / part.name).unlink()

    def _write(self, first: int, last: int, table: pa.Table) -> Part:
        return _write_part(self._folder, first, last, part_of(_packed(table)))


def open_index(folder: Path) -> tuple[Manifest, pa.Table]:
    """A corpus's manifest and its whole index, memory-mapped: columns are read when used. Every part is checked."""
    return _reading(folder, _read_index)


def open_rows(folder: Path) -> tuple[Manifest, Rows]:
    """The same, but rows are read and checked when they are asked for: opening reads who they are."""
    return _reading(folder, _read_rows)


def _reading(folder: Path, read: Callable[[Path, Manifest], Read]) -> tuple[Manifest, Read]:
    for attempt in range(_TRIES):
        manifest = Manifest.load(folder)
        try:
            return manifest, read(folder, manifest)
        except FileNotFoundError as error:  # a writer may have merged it since
            if attempt + 1 == _TRIES:
                raise InputError(error.filename, "is missing", RESTORE) from None
    raise AssertionError


def _read_index(folder: Path, manifest: Manifest) -> pa.Table:
    if manifest.version == FIRST_VERSION:
        return read_first_version(folder, manifest)
    return _table(read_part(folder, part) for part in present_parts(folder, manifest))


def _read_rows(folder: Path, manifest: Manifest) -> Rows:
    if manifest.version == FIRST_VERSION:
        return Rows.of(_read_index(folder, manifest))
    return Rows.of_all(_rows_of_part(folder, part) for part in present_parts(folder, manifest))


def _rows_of_part(folder: Path, part: Part) -> Rows:
    path = index_folder(folder) / part.name
    if is_remote(path):  # what is read of it is a copy of the whole part
        return Rows.of(read_part(folder, part))
    try:
        contents = read_contents(path, part.crc32)
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, pa.ArrowException) as error:
        raise InputError(path, f"is damaged ({error})", RESTORE) from None
    return Rows.of(read_part(folder, part)) if contents is None else stored_rows(path, contents)


def present_parts(folder: Path, manifest: Manifest) -> list[Part]:
    """By the manifest, or by the folder's list of names while rows are being added."""
    return _listed(folder, manifest.index) if manifest.complete else parts_of(folder, manifest.index)


def parts_of(folder: Path, known: Sequence[str] = ()) -> list[Part]:
    """The parts that count, as the folder lists them: all that a killed writer has finished."""
    found = [part for path in index_folder(folder).glob("*.arrow") if (part := Part.named(path.name))]
    parts: list[Part] = []
    for part in sorted(found, key=lambda part: (part.first, -part.last)):
        end = parts[-1].last if parts else -1
        if part.last <= end:
            continue  # merged into a larger one
        if part.first != end + 1:
            _complain_of_gap(folder, end + 1, part.first - 1)
        parts.append(part)
    wanted = max((part.last for part in _listed(folder, known)), default=-1)
    if wanted > (end := parts[-1].last if parts else -1):
        _complain_of_gap(folder, end + 1, wanted)
    return parts


def whole_parts(rows: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """The files of a whole index, whose rows all count; none is larger than 128 MB by more than the last rows."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in rows:
        waiting.append(batch)
        size += batch.nbytes
        if size > _PART_BYTES:
            yield part_of(_repacked(waiting))
            waiting, size = [], 0
    if waiting:
        yield part_of(_repacked(waiting))


def write_whole_index(folder: Path, rows: Iterable[pa.RecordBatch]) -> list[str]:
    """Write an index beside whatever the folder has. It counts once a manifest names its parts, in this order."""
    parts = (_write_part(folder, number, number, content) for number, content in enumerate(whole_parts(rows)))
    return [part.name for part in parts]


def unnamed_parts(folder: Path, manifest: Manifest) -> list[Path]:
    """What lies in the index of a corpus beside the parts that its manifest names: parts that were merged, and what a
    killed writer left. The manifest must say `complete`."""
    ours = [path for path in index_folder(folder).glob("*") if Part.named(path.name) or is_draft(path)]
    return sorted(path for path in ours if path.name not in manifest.index)


def remove_unnamed_parts(folder: Path, manifest: Manifest) -> None:
    """For good: not even a power cut brings them back."""
    if unnamed := unnamed_parts(folder, manifest):
        with writing(index_folder(folder)):
            for path in unnamed:
                path.unlink()
            flush_to_disk(index_folder(folder))


def state_of(folder: Path) -> str:
    """Identifies the present state of a corpus: its settings, every row of its index, and so every frame."""
    manifest = Manifest.load(folder)
    digest = hashlib.sha256((folder / "manifest.json").read_bytes())
    if manifest.version == FIRST_VERSION:
        with first_index_path(folder).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    elif not manifest.complete:  # otherwise the manifest names the parts, and they their content
        digest.update("".join(part.name for part in parts_of(folder, manifest.index)).encode())
    return digest.hexdigest()


def latest_positions(table: pa.Table) -> dict[str, int]:
    """The position of each video's row in the table, sorted by id."""
    positions = {video_id: position for position, video_id in enumerate(table.column("id").to_pylist())}
    return dict(sorted(positions.items()))


def whole_row(table: pa.Table, position: int) -> dict[str, Any]:
    row: dict[str, Any] = table.slice(position, 1).to_pylist()[0]
    return row


def _complain_of_gap(folder: Path, first: int, last: int) -> None:
    raise InputError(index_folder(folder), f"lacks the part with commits {first} to {last}", RESTORE)


def _listed(folder: Path, names: Sequence[str]) -> list[Part]:
    parts = [Part.named(name) for name in names]
    if None in parts:
        raise InputError(folder / "manifest.json", "is damaged (it names no part of an index)", RESTORE)
    return [part for part in parts if part]


def read_part(folder: Path, part: Part) -> pa.Table:
    """FileNotFoundError if it is gone, InputError if it is damaged."""
    path = index_folder(folder) / part.name
    try:
        table = pa.ipc.open_stream(read_checked(path, part.crc32)).read_all()
        if not table.schema.equals(INDEX_SCHEMA):
            raise pa.ArrowInvalid("its columns differ from this version's")
        require_sound(table)
        return table
    except FileNotFoundError:
        raise
    except WrongChecksum as error:
        raise InputError(path, f"is damaged ({error})", RESTORE) from None
    except (OSError, EOFError, pa.ArrowException) as error:
        raise InputError(path, f"cannot be read ({error})", RESTORE) from None


def _table(tables: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables(list(tables) or [INDEX_SCHEMA.empty_table()])


def _write_part(folder: Path, first: int, last: int, content: bytes) -> Part:
    part = Part(first, last, zlib.crc32(content))
    replace_bytes(index_folder(folder) / part.name, content)
    return part


def _repacked(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from pa.Table.from_batches(batches, INDEX_SCHEMA).combine_chunks().to_batches(_PACKED_ROWS)


def _packed(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """The rows that count, in writing order, in large batches, which open a hundred times faster than one per row."""
    latest = pa.array(sorted(latest_positions(table).values()), pa.int64())
    if len(latest) == table.num_rows:  # as of most parts: picking rows takes longer than all else
        yield from _repacked(table.to_batches())
        return
    for first in range(0, len(latest), _PACKED_ROWS):
        yield table.take(latest[first : first + _PACKED_ROWS]).combine_chunks().to_batches()[0]
