"""Adding videos to a corpus: however it ends, what was added is permanent, and every shard is a whole stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from mmcc.corpus.format import FORMAT_VERSION, READABLE, Manifest
from mmcc.corpus.index import IndexWriter, latest_positions, open_index, remove_unnamed_parts
from mmcc.corpus.outcome import lengths_of
from mmcc.corpus.shards import seal_shards
from mmcc.errors import InputError, OutputError


@contextmanager
def adding_to(folder: Path, manifest: Manifest) -> Iterator[IndexWriter]:
    """A corpus's index, for its only writer. The manifest says that the corpus is incomplete from now on."""
    refuse_old(folder, manifest)
    if manifest.complete:  # from now on the folder's list of names counts, so it must have no others
        remove_unnamed_parts(folder, manifest)
    manifest.complete = False
    manifest.save(folder)
    index = IndexWriter(folder, manifest.index)
    try:
        yield index
    finally:
        index.close()
        with suppress(OSError, OutputError):  # no space for eight bytes: the next writer will seal them
            manifest.sealed = seal_shards(folder, open_index(folder)[1], manifest.sealed)
            manifest.save(folder)


def complete(folder: Path, manifest: Manifest, index: IndexWriter) -> pa.Table:
    """Write down that nothing more is added: the counts, and the parts of the index by name. Returns the index."""
    _, table = open_index(folder)
    manifest.counts = counts_of(table)
    manifest.index = index.names
    manifest.complete = True
    manifest.save(folder)
    return table


def counts_of(table: pa.Table) -> dict[str, int]:
    """What an index holds, as a manifest says it."""
    rows, states = list(latest_positions(table).values()), table.column("status").to_pylist()
    status = [states[row] for row in rows]
    counts = {"videos": sum(state in READABLE for state in status)}
    counts |= {state: status.count(state) for state in ("partial", "failed", "absent")}
    for name, column in (("frames", "times"), ("utterances", "utterances"), ("steps", "steps")):
        lengths = lengths_of(table, column)
        counts[name] = sum(lengths[row] for row in rows)
    return counts


def refuse_old(folder: Path, manifest: Manifest) -> None:
    """Nothing is added to corpora of older versions."""
    if manifest.version != FORMAT_VERSION:
        remedy = f"Rewrite it once with: mmcc inspect {folder} --upgrade"
        raise InputError(folder, f"has format version {manifest.version}, to which nothing can be added", remedy)
