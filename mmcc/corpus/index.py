"""The index: rows are appended as videos finish, incomplete ends are cut off, and the result is packed.

The last of several rows with the same id counts: a video whose file was repaired is simply appended again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from mmcc.corpus.format import INDEX_SCHEMA, index_path
from mmcc.errors import InputError, OutputError
from mmcc.files import replacing

_MESSAGE_MARK = b"\xff\xff\xff\xff"  # every message of an Arrow stream begins with it
_DAMAGED = "Restore a copy of it, or ingest into a new folder."
_PACKED_ROWS = 1000  # in one record batch of a packed index: few enough to stream, enough to open fast


class IndexWriter:
    """Appends to a corpus's index, which must already have `at_least` rows."""

    def __init__(self, folder: Path, at_least: int = 0) -> None:
        self._path = index_path(folder)
        if at_least:
            read_index(self._path, at_least)  # refuses a damaged index, which must not be truncated
        self._file = self._path.open("ab")
        try:
            self._file.truncate(_sound_length(self._path))
        except pa.ArrowException as error:
            self._file.close()
            raise InputError(self._path, str(error), _DAMAGED) from None
        if self._path.stat().st_size == 0:
            self._write(INDEX_SCHEMA.serialize())
        self._appended = False

    def append(self, rows: list[dict[str, Any]]) -> None:
        """Make rows permanent: after this returns, not even a power cut loses them."""
        if rows:
            self._write(pa.RecordBatch.from_pylist(rows, schema=INDEX_SCHEMA).serialize())
            self._appended = True

    def close(self) -> None:
        self._file.close()
        if self._appended:
            with suppress(OSError):  # no space for packing: unpacked rows work as well
                self._pack()

    def _write(self, message: pa.Buffer) -> None:
        try:
            self._file.write(message)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OutputError(f"{self._path}: {error.strerror}") from None

    def _pack(self) -> None:
        """Rewrite one-row batches as large ones, which open a hundred times faster."""
        with replacing(self._path) as draft, draft.open("wb") as file:
            file.write(INDEX_SCHEMA.serialize())
            for batch in _packed(read_index(self._path)):
                file.write(batch.serialize())


def read_index(path: Path, at_least: int = 0) -> pa.Table:
    """The whole index, memory-mapped: columns are read when used. An incomplete end is ignored.

    Damage at the end looks like an incomplete end; `at_least`, the manifest's count of rows, distinguishes the two.
    """
    try:
        if path.stat().st_size == 0:
            raise InputError(path, "has no videos yet", "Wait for its ingest, or run it again.")
        length = _sound_length(path)
        with pa.memory_map(str(path)) as source:
            reader = pa.ipc.open_stream(source.read_buffer(length))
        if not reader.schema.equals(INDEX_SCHEMA):
            raise pa.ArrowInvalid("its columns differ from this version's")
        table = reader.read_all()
        if table.num_rows < at_least:
            raise pa.ArrowInvalid(f"{table.num_rows:,} complete rows of {at_least:,}")
        return table
    except (OSError, pa.ArrowException) as error:
        raise InputError(path, f"cannot be read ({error})", _DAMAGED) from None


def latest_positions(table: pa.Table) -> dict[str, int]:
    """The position of each video's row in the table, sorted by id."""
    positions = {video_id: position for position, video_id in enumerate(table.column("id").to_pylist())}
    return dict(sorted(positions.items()))


def _packed(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """The rows that count, in writing order."""
    latest = set(latest_positions(table).values())
    waiting: list[pa.RecordBatch] = []
    rows = first = 0
    for batch in table.to_batches():
        kept = batch.filter(pa.array([first + row in latest for row in range(batch.num_rows)]))
        first += batch.num_rows
        rows += kept.num_rows
        waiting.append(kept)
        if rows >= _PACKED_ROWS:
            yield _joined(waiting)
            waiting, rows = [], 0
    if rows:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _sound_length(path: Path) -> int:
    """Bytes up to the end of the last whole message; a killed writer may have left part of another.

    Raises ArrowInvalid where whole messages follow unreadable bytes: that is damage, and cutting there would lose
    them.
    """
    if path.stat().st_size == 0:  # which cannot be mapped
        return 0
    with pa.memory_map(str(path)) as source:
        reader = pa.ipc.MessageReader.open_stream(source)
        sound = 0
        while True:
            try:
                reader.read_next_message()
            except StopIteration:
                return sound
            except (OSError, pa.ArrowException):
                source.seek(sound)
                if _holds_message(source.read_buffer()):
                    raise pa.ArrowInvalid(f"is damaged after byte {sound:,}") from None
                return sound
            sound = source.tell()


def _holds_message(rest: pa.Buffer) -> bool:
    """Whether a whole message begins anywhere after the first byte."""
    data = rest.to_pybytes()
    place = data.find(_MESSAGE_MARK, 1)
    while place >= 0:
        with suppress(OSError, EOFError, pa.ArrowException):
            pa.ipc.read_message(rest.slice(place))
            return True
        place = data.find(_MESSAGE_MARK, place + 1)
    return False
