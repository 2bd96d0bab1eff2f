"""Frames on disk: ingest appends them to shards, training reads them in any order.

A shard is an Arrow IPC stream. Each record batch holds up to 256 frames of one video, so a long video is written
as it is decoded, and a segment of it is read without the rest. The index holds the position of every batch, so reading
needs no footer: a shard can be read while it grows, and a killed writer leaves at most some bytes that no row refers
to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mmcc.corpus.format import FRAMES_SCHEMA, Encoding, Manifest, shard_path
from mmcc.errors import InputError, OutputError
from mmcc.media.jpeg import decode_jpeg

SHARD_BYTES = 512 << 20  # a shard is closed beyond this size: few files, none too large to copy
_BATCH_FRAMES = 256
_BATCH_BYTES = 8 << 20
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


class FrameRun(NamedTuple):
    """The position of a run of frames in its shard."""

    offset: int
    length: int
    frames: int


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
        if len(self._frames) == _BATCH_FRAMES or self._bytes >= _BATCH_BYTES:
            self._flush(video_id)

    def finish(self, video_id: str) -> list[FrameRun]:
        """Put the video's frames safely on disk, and return their positions."""
        self._flush(video_id)
        with self._writing():
            self._file.flush()
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
        self._batches.append(FrameRun(self._file.tell(), message.size, len(self._frames)))
        with self._writing():
            self._file.write(message)
        self._times, self._frames, self._bytes = [], [], 0


def seal(path: Path, length: int) -> None:
    """Cut a shard after its last finished video and end the stream, so that any Arrow reader accepts it."""
    with path.open("r+b") as file:
        file.truncate(length)
        file.seek(length)
        file.write(_END_OF_STREAM)


class ShardReader:
    """Reads frames of a corpus by position. Maps each shard once; keeps nothing else in memory."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._folder, self._encoding = folder, manifest.encoding
        self._maps: dict[int, pa.Buffer] = {}

    def batch(self, shard: int, where: FrameRun, shape: tuple[int, ...]) -> StoredFrames:
        path = shard_path(self._folder, shard)
        try:
            if shard not in self._maps or self._maps[shard].size < where.offset + where.length:
                with pa.memory_map(str(path)) as source:
                    self._maps[shard] = source.read_buffer()
            message = self._maps[shard].slice(where.offset, where.length)
            column = pa.ipc.read_record_batch(message, FRAMES_SCHEMA).column(2)
            if len(column) != where.frames:
                raise pa.ArrowInvalid(f"{len(column)} frames where the index says {where.frames}")
            return StoredFrames(column, self._encoding, shape)
        except (OSError, IndexError, ValueError, pa.ArrowException) as error:
            raise InputError(path, f"cannot be read ({error})", "Copy it again, or ingest into a new folder.") from None


class StoredFrames:
    """The frames of one record batch, undecoded, straight from the memory map."""

    def __init__(self, column: pa.BinaryArray, encoding: Encoding, shape: tuple[int, ...]) -> None:
        _, offsets, data = column.buffers()
        self._offsets: Sequence[int] = np.frombuffer(offsets, np.int32)[: len(column) + 1].tolist()
        self._jpeg = encoding == "jpeg"
        self._data = memoryview(data).cast("B")
        if not self._jpeg:
            dtype = np.uint8 if encoding == "raw" else np.float32
            self._values: NDArray[Any] = np.frombuffer(data, dtype, count=self._offsets[-1] // np.dtype(dtype).itemsize)
            self._values = self._values.reshape(len(column), *shape)

    def read_into(self, out: NDArray[Any], frames: range) -> None:
        """Decode the given frames into out[0], out[1], …"""
        if not self._jpeg:
            out[:] = self._values[frames.start : frames.stop : frames.step]
            return
        for place, frame in zip(out, frames, strict=True):
            decode_jpeg(self._data[self._offsets[frame] : self._offsets[frame + 1]], place)
