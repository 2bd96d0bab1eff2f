"""Corpora of format version 1, as its writers left them: one index, no checksums, batches of up to 256 frames."""

import dataclasses
import json
import shutil
from pathlib import Path

import pyarrow as pa

from mmcc.corpus.embeddings import with_embeddings
from mmcc.corpus.format import FRAMES_SCHEMA, Manifest, shard_path
from mmcc.corpus.index import latest_positions, open_index, whole_row
from mmcc.corpus.shards import FrameRun, ShardReader
from mmcc.corpus.version_one import _SCHEMA

BATCH = 256
END = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def in_first_version(corpus: Path, out: Path) -> Path:
    """A copy of a corpus, its embeddings included."""
    for folder in with_embeddings(corpus):
        _copy(folder, out / folder.relative_to(corpus))
    return out


def _copy(corpus: Path, out: Path) -> None:
    manifest, table = open_index(corpus)
    (out / "shards").mkdir(parents=True)
    reader, index = ShardReader(corpus, manifest), [_SCHEMA.serialize().to_pybytes()]
    shard = FRAMES_SCHEMA.serialize().to_pybytes()
    for position in latest_positions(table).values():
        row = whole_row(table, position)
        runs = [reader.record_batch(row["shard"], FrameRun(**run)) for run in row["batches"] or []]
        frames = pa.Table.from_batches(runs, FRAMES_SCHEMA).combine_chunks()
        row["batches"], row["shard"] = [], 0 if runs else None
        for batch in frames.to_batches(max_chunksize=BATCH):
            message = _compact(batch).serialize().to_pybytes()
            row["batches"].append({"offset": len(shard), "length": len(message), "frames": len(batch)})
            shard += message
        index.append(pa.RecordBatch.from_pylist([row], _SCHEMA).serialize().to_pybytes())
    shard_path(out, 0).write_bytes(shard + END)
    (out / "index.arrow").write_bytes(b"".join(index))
    content = {"format": "mmcc-corpus", **dataclasses.asdict(dataclasses.replace(manifest, version=1, sealed=1))}
    del content["index"]
    (out / "manifest.json").write_text(json.dumps(content, indent=1, ensure_ascii=False))
    if (corpus / "encoder.json").exists():
        described = json.loads((corpus / "encoder.json").read_text())
        (out / "encoder.json").write_text(json.dumps({k: v for k, v in described.items() if k != "crc32"}, indent=1))


def _compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Without the bytes of its neighbours, which a slice carries."""
    return pa.RecordBatch.from_pylist(batch.to_pylist(), FRAMES_SCHEMA)


def is_first_version(folder: Path) -> bool:
    return Manifest.load(folder).version == 1 and not (folder / "index").exists()


def copy_tree(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(source, target))
