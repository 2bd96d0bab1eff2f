"""Corpora of format version 1, which have no checksums: one `index.arrow`, to which rows were appended.

They are read, never written; `mmcc.corpus.upgrade` rewrites them. Without checksums nobody can tell whether a value is
the one that was written, so all that is checked is what would otherwise crash a reader.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mmcc.corpus.format import INDEX_SCHEMA, RESTORE, Manifest
from mmcc.errors import InputError
from mmcc.storage import is_remote

_MESSAGE_MARK = b"\xff\xff\xff\xff"  # every message of an Arrow stream begins with it
_LARGEST_SIDE = 65_535  # pixels of a JPEG
_WHOLE = ("id", "status")  # columns without nulls, and those whose lists have none
_WHOLE_LISTS = ("tasks", "times", "utterances", "steps", "batches")


def first_index_path(folder: Path) -> Path:
    return folder / "index.arrow"


def read_first_version(folder: Path, manifest: Manifest) -> pa.Table:
    """The whole index, in the columns of this version. An incomplete end is ignored.

    Damage at the end looks like an incomplete end; the manifest's count of rows distinguishes the two.
    """
    path = first_index_path(folder)
    if is_remote(folder):
        remedy = "Copy it to this machine, rewrite it there with mmcc inspect --upgrade, and copy it back."
        raise InputError(folder, "has format version 1, which is read from this machine's disks only", remedy)
    at_least = sum(manifest.counts.get(state, 0) for state in ("videos", "failed", "absent"))
    try:
        if path.stat().st_size == 0:
            raise InputError(path, "has no videos yet", "Ingest into a new folder.")
        length = _sound_length(path)
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_stream(source.read_buffer(length)).read_all()
        if not table.schema.equals(_SCHEMA):
            raise pa.ArrowInvalid("its columns differ from those of version 1")
        table.validate(full=True)
        _check(table, manifest)
        if table.num_rows < at_least:
            raise pa.ArrowInvalid(f"{table.num_rows:,} complete rows of {at_least:,}")
        return _as_now(table)
    except (OSError, pa.ArrowException) as error:
        raise InputError(path, f"cannot be read ({error})", RESTORE) from None


def _columns() -> Iterable[pa.Field]:
    for column in INDEX_SCHEMA:
        if column.name == "batches":
            yield pa.field("batches", pa.list_(pa.struct([each for each in _run_fields() if each.name != "crc32"])))
        else:
            yield column


def _run_fields() -> list[pa.Field]:
    kind = INDEX_SCHEMA.field("batches").type.value_type
    return [kind.field(at) for at in range(kind.num_fields)]


_SCHEMA = pa.schema(list(_columns()))


def _check(table: pa.Table, manifest: Manifest) -> None:
    """What is valid Arrow may still make no sense: nulls where there are none, frames that nobody can have stored."""
    for name in _WHOLE:
        _require(table.column(name).null_count == 0, name)
    for name in _WHOLE_LISTS:
        _require(not _has_nulls(pc.list_flatten(table.column(name).combine_chunks())), name)
    sides = [table.column(name).drop_null().to_numpy() for name in ("height", "width")]
    square = manifest.fit in ("crop", "letterbox") and manifest.encoding != "float32"
    for side in sides:
        _require(bool(np.all((side >= 0) & (side <= (manifest.size if square else _LARGEST_SIDE)))), "height or width")
    for batch in table.select(["shard", "times", "batches"]).to_batches():
        runs, rows = pc.list_flatten(batch.column("batches")), pc.list_parent_indices(batch.column("batches"))
        offset, length, frames = (runs.field(at).to_numpy(zero_copy_only=False) for at in range(3))
        _require(bool(np.all((offset >= 0) & (length > 0) & (frames > 0))), "batches")
        counted = np.zeros(batch.num_rows, np.int64)
        np.add.at(counted, rows.to_numpy(zero_copy_only=False), frames)
        times = pc.fill_null(pc.list_value_length(batch.column("times")), 0).to_numpy(zero_copy_only=False)
        shard = pc.fill_null(batch.column("shard"), -1).to_numpy(zero_copy_only=False)
        _require(bool(np.all((counted == times) & ((counted == 0) | (shard >= 0)))), "batches")


def _has_nulls(values: pa.Array) -> bool:
    inner = values.flatten() if pa.types.is_struct(values.type) else []
    return values.null_count > 0 or any(each.null_count for each in inner)


def _require(sound: bool, name: str) -> None:
    if not sound:
        raise pa.ArrowInvalid(f"{name} has values that it cannot have")


def _as_now(table: pa.Table) -> pa.Table:
    """With this version's columns: batches have no checksum."""
    chunks = []
    for chunk in table.column("batches").chunks:
        runs = pc.list_flatten(chunk)
        fields = _run_fields()
        values = [*(runs.field(at) for at in range(3)), pa.nulls(len(runs), fields[3].type)]
        lengths = pc.fill_null(pc.list_value_length(chunk), 0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        chunks.append(pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(values, fields=fields)))
    at = table.schema.get_field_index("batches")
    column = pa.chunked_array(chunks, INDEX_SCHEMA.field("batches").type)
    return table.set_column(at, INDEX_SCHEMA.field("batches"), column)


def _sound_length(path: Path) -> int:
    """Bytes up to the end of the last whole message; a killed writer may have left part of another.

    Raises ArrowInvalid where whole messages follow unreadable bytes: that is damage.
    """
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
