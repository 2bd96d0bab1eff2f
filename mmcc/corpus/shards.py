"""Frames on disk: ingest appends them to shards, training reads them in any order.

A shard is an Arrow IPC stream. Each record batch holds up to 16 frames of one video, so a long video is written
as it is decoded, and a segment of it is read without the rest. The index holds the position and the checksum of every
batch, so reading needs no footer: a shard can be read while it grows, and a killed writer leaves at most some bytes
that no row refers to.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from mmcc.corpus.format import END_OF_STREAM, FRAMES_SCHEMA, Encoding, Manifest, shard_path
from mmcc.errors import InputError, OutputError
from mmcc.files import flush_to_disk
from mmcc.media.jpeg import decode_jpeg
from mmcc.storage import RemotePath, is_remote
from mmcc.storage.copies import sizes_in
from mmcc.storage.ranges import Ranges

if TYPE_CHECKING:
    from mmcc.corpus.moved import Present

SHARD_BYTES = 512 << 20  # a shard is closed beyond this size: few files, none too large to copy
# Any 64 frames lie in at most five batches of 16, which have 80: a quarter more. With what a batch says about its
# frames, and frames of unequal size, a segment takes at most half as much again as its frames.
BATCH_FRAMES = 16
_BATCH_BYTES = 8 << 20
_MOST_REMEMBERED = 1 << 20  # batches known to be sound: at most some 100 MB
_MISSING = "Run the command that wrote it again (ingest or embed): it makes anew what is missing."
_DAMAGED = "Remove it, and run the command that wrote it again (ingest or embed): it makes anew what is missing."


class FrameRun(NamedTuple):
    """The position of a run of frames in its shard, and the checksum of what is there."""

    offset: int
    length: int
    frames: int
    crc32: int | None = None  # none in a corpus of format version 1


class MissingShard(InputError):
    """The file is gone; its frames may be elsewhere, if somebody has compacted the corpus."""


class ShardWriter:
    """Appends videos to one shard. An unfinished video can be taken back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._writing():
            self._file = path.open("xb")
            self._file.write(FRAMES_SCHEMA.serialize())
        self._finished = self._file.tell()
        self._begin()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A full disk is an error of the output, not of the video being written."""
        try:
            yield
        except OSError as error:
            raise OutputError(f"{self._path}: {error.strerror}") from None

    def _begin(self) -> None:
        self._times: list[float] = []
        self._frames: list[bytes] = []
        self._bytes = 0
        self._batches: list[FrameRun] = []

    def add(self, video_id: str, time: float, frame: bytes) -> None:
        self._times.append(time)
        self._frames.append(frame)
        self._bytes += len(frame)
        if len(self._frames) == BATCH_FRAMES or self._bytes >= _BATCH_BYTES:
            self._flush(video_id)

    def finish(self, video_id: str, *, flush: bool = False) -> list[FrameRun]:
        """Write the rest of the video's frames, and return their positions. The index makes them permanent; `flush`:
        where it is written by another machine, which cannot."""
        self._flush(video_id)
        with self._writing():
            self._file.flush()
            if flush:
                os.fsync(self._file.fileno())
        self._finished = self._file.tell()
        batches = self._batches
        self._begin()
        return batches

    def take_back(self) -> None:
        """Discard the unfinished video."""
        self._begin()
        with self._writing():
            self._file.seek(self._finished)
            self._file.truncate()

    def close(self) -> None:
        self.take_back()
        self._file.close()

    def _flush(self, video_id: str) -> None:
        if not self._frames:
            return
        columns = [[video_id] * len(self._frames), self._times, self._frames]
        arrays = [pa.array(values, field.type) for values, field in zip(columns, FRAMES_SCHEMA, strict=True)]
        message = pa.record_batch(arrays, schema=FRAMES_SCHEMA).serialize()
        self._batches.append(FrameRun(self._file.tell(), message.size, len(self._frames), zlib.crc32(message)))
        with self._writing():
            self._file.write(message)
        self._times, self._frames, self._bytes = [], [], 0


def shard_numbers(folder: Path) -> list[int]:
    return sorted(int(path.stem) for path in (folder / "shards").glob("*.arrow") if path.stem.isdigit())


def shard_sizes(folder: Path) -> dict[int, int]:
    """The bytes of each shard by its number; of a remote corpus by one listing."""
    found = {Path(name): size for name, size in sizes_in(folder / "shards").items()}
    return {int(name.stem): size for name, size in found.items() if name.suffix == ".arrow" and name.stem.isdigit()}


def next_shard(folder: Path, table: pa.Table) -> int:
    """A number that no shard has had: rows may name one that is lost."""
    return 1 + max([*shard_numbers(folder), *ends_of_shards(table)], default=-1)


def ends_of_shards(table: pa.Table) -> dict[int, int]:
    """Where the last frames that rows name end, by shard."""
    ends: dict[int, int] = {}
    for shard, end in _ends_of_rows(table.to_batches()):
        if end:
            ends[shard] = max(ends.get(shard, 0), end)
    return ends


def _ends_of_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int]]:
    """The shard of each row's frames, and where they end in it; 0 if it has none."""
    for batch in batches:
        runs, rows = pc.list_flatten(batch.column("batches")), pc.list_parent_indices(batch.column("batches"))
        end = np.zeros(batch.num_rows, np.int64)
        stop = pc.add(runs.field("offset"), runs.field("length"))
        np.maximum.at(end, rows.to_numpy(zero_copy_only=False), stop.to_numpy(zero_copy_only=False))
        yield from zip(pc.fill_null(batch.column("shard"), -1).to_pylist(), end.tolist(), strict=True)


def lost_frames(
    folder: Path, rows: Iterable[pa.RecordBatch], elsewhere: Mapping[int, int] | None = None
) -> dict[int, str]:
    """Rows whose frames are no longer there, with the reason: their shard is missing, or shorter than it was.
    `elsewhere`: shards that need not be in the folder, with their sizes."""
    sizes = {**(elsewhere or {}), **shard_sizes(folder)}
    lost = {}
    for row, (shard, end) in enumerate(_ends_of_rows(rows)):
        if end > sizes.get(shard, 0):
            name = shard_path(folder, shard).name
            lost[row] = f"shards/{name} {'is too short' if shard in sizes else 'is missing'}"
    return lost


def seal_shards(folder: Path, table: pa.Table, sealed: int) -> int:
    """Make every shard a complete Arrow stream, including those that a killed run left open, and remove those that no
    row names. Shards with a number below `sealed` stay as they are: somebody may be reading them. Returns the next
    `sealed`."""
    ends = ends_of_shards(table)
    for shard in shard_numbers(folder):
        path = shard_path(folder, shard)
        if shard < sealed:
            continue
        if shard not in ends:
            path.unlink()
        elif path.stat().st_size >= ends[shard]:
            seal(path, ends[shard])
    return max(sealed, 1 + max(shard_numbers(folder), default=-1))


def seal(path: Path, length: int) -> None:
    """Cut a shard after its last finished video and end the stream, so that any Arrow reader accepts it."""
    with path.open("r+b") as file:
        file.truncate(length)
        file.seek(length)
        file.write(END_OF_STREAM)
    flush_to_disk(path)


class ShardReader:
    """Reads frames of a corpus by position. Maps each shard once, and checks each batch once; of a remote corpus it
    fetches nothing but the batches that are read, checks them each time, and keeps the last ones.

    Bytes reach the decoders only after their checksum was found right and their structure valid.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self._encoding = folder, manifest.encoding
        self.remote = is_remote(folder)
        self._ranges = Ranges()
        self._maps: dict[int, pa.Buffer] = {}
        self._sound: set[int] = set()  # batches, each by its shard and offset in one number

    @cached_property
    def present(self) -> Present:
        """Where frames are that have moved since the corpus was opened."""
        from mmcc.corpus.moved import Present  # which imports this module

        return Present(self.folder)

    def fetch(self, shard: int, runs: Sequence[FrameRun]) -> None:
        """Of a remote corpus, get batches that will be read next; those that touch take one request together."""
        path = shard_path(self.folder, shard)
        if isinstance(path, RemotePath):
            with suppress(FileNotFoundError, EOFError):  # reading them will say so
                self._ranges.fetch(path, [(run.offset, run.length) for run in runs])

    def batch(self, shard: int, where: FrameRun, shape: tuple[int, ...]) -> StoredFrames:
        column, path = self.record_batch(shard, where).column(2), shard_path(self.folder, shard)
        try:
            return StoredFrames(column, self._encoding, shape, path)
        except (ValueError, TypeError) as error:  # in a corpus of format version 1, which has no checksums
            raise InputError(path, f"has frames of another size ({error})", _DAMAGED) from None

    def record_batch(self, shard: int, where: FrameRun) -> pa.RecordBatch:
        """The columns of some frames, undecoded."""
        path, key = shard_path(self.folder, shard), shard << 44 | where.offset
        try:
            message = self._message(path, shard, where)
            if key in self._sound:
                return pa.ipc.read_record_batch(message, FRAMES_SCHEMA)
            if where.crc32 is not None and zlib.crc32(message) != where.crc32:
                raise pa.ArrowInvalid(f"the checksum of {where.frames} frames at byte {where.offset:,} is wrong")
            batch = pa.ipc.read_record_batch(message, FRAMES_SCHEMA)
            batch.validate(full=True)
            if len(batch) != where.frames:
                raise pa.ArrowInvalid(f"{len(batch)} frames where the index says {where.frames}")
        except FileNotFoundError:
            raise MissingShard(path, "is missing", _MISSING) from None
        except (OSError, EOFError, IndexError, ValueError, pa.ArrowException) as error:
            raise InputError(path, f"cannot be read ({error})", _DAMAGED) from None
        if not self.remote:  # what is fetched again may differ
            self._remember(key)
        return batch

    def _message(self, path: Path, shard: int, where: FrameRun) -> pa.Buffer:
        if isinstance(path, RemotePath):
            return self._ranges.read(path, where.offset, where.length)
        end = where.offset + where.length
        if shard not in self._maps or self._maps[shard].size < end:
            with pa.memory_map(str(path)) as source:
                self._maps[shard] = source.read_buffer()
        if self._maps[shard].size < end:
            raise pa.ArrowInvalid(f"it ends before byte {end:,}")
        return self._maps[shard].slice(where.offset, where.length)

    def _remember(self, key: int) -> None:
        if len(self._sound) >= _MOST_REMEMBERED:
            self._sound.clear()  # to check them again costs less than the memory
        self._sound.add(key)


class StoredFrames:
    """The frames of one record batch, undecoded, straight from the memory map."""

    __slots__ = ("_data", "_offsets", "_path", "_values")

    def __init__(self, column: pa.BinaryArray, encoding: Encoding, shape: tuple[int, ...], path: Path) -> None:
        _, offsets, data = column.buffers()
        places: Sequence[int] = np.frombuffer(offsets, np.int32)[: len(column) + 1].tolist()
        self._path = path
        self._values: NDArray[Any] | None = None
        if encoding == "jpeg":
            self._offsets, self._data = places, memoryview(data).cast("B")
        else:
            dtype = np.dtype(np.uint8 if encoding == "raw" else np.float32)
            self._values = np.frombuffer(data, dtype, places[-1] // dtype.itemsize).reshape(len(column), *shape)

    def read_into(self, out: NDArray[Any], frames: range) -> None:
        """Decode the given frames into out[0], out[1], …"""
        if self._values is not None:
            out[:] = self._values[frames.start : frames.stop : frames.step]
            return
        try:
            for place, frame in zip(out, frames, strict=True):
                decode_jpeg(self._data[self._offsets[frame] : self._offsets[frame + 1]], place)
        except ValueError as error:  # in a corpus of format version 1, which has no checksums
            raise InputError(self._path, f"has a frame that is no JPEG ({error})", _DAMAGED) from None
