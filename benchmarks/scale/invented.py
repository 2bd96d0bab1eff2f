"""Corpora of videos that nobody has filmed, in the real format: rows like HowTo100M's, frames of a few real shards.

A video lasts 6.5 minutes on average. It has a frame per second and an utterance of six words every 3.5 seconds, 110 of
them, as HowTo100M has clips; a row takes 10 KB. Its frames are those of one of a few real videos in one real shard, so
what is read of them is in memory. The parts of the index are as large as the merging of an ingest leaves them. After
12,000 videos the same ones follow under other names: to invent a million takes far longer than to measure them.
Vectors of an encoder may be added, as an embedding leaves them.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from mmcc.corpus import Corpus
from mmcc.corpus.adding import adding_to, complete
from mmcc.corpus.embeddings import FOLDER, Encoder, content_of, describe
from mmcc.corpus.find import find_source
from mmcc.corpus.format import INDEX_SCHEMA, Manifest, shard_path, split_of
from mmcc.corpus.index import write_whole_index
from mmcc.corpus.plan import fingerprint_of, row_of
from mmcc.corpus.shards import BATCH_FRAMES, FrameRun, ShardWriter
from mmcc.media.jpeg import encode_jpeg

SIDE, QUALITY, REAL_VIDEOS = 128, 90, 4
MEDIAN_SECONDS, SPREAD, LONGEST = 320.0, 0.63, 2400  # a log-normal distribution with a mean of 390
BETWEEN, WORDS, KINDS_OF_WORDS, SENTENCES = 3.5, 6, 30_000, 100_000
AT_ONCE = 1000  # rows that are made together
DIFFERENT = 12_000  # videos: 128 MB of rows
ENCODER = Encoder("invented", "0" * 64, "frames", 64)  # few dims: none of its vectors is read here


def make_corpus(folder: Path, videos: int) -> Path:
    """A corpus of invented videos."""
    for name in ("shards", "index"):
        (folder / name).mkdir(parents=True)
    manifest = Manifest("jpeg", 1.0, SIDE, quality=QUALITY)
    write_whole_index(folder, _all_rows(videos, _write_frames(folder), _sentences()))
    with adding_to(folder, manifest) as index:
        pass  # nothing more: it seals the shard
    complete(folder, manifest, index)
    return folder


def _all_rows(videos: int, runs: list[list[FrameRun]], sentences: pa.Array) -> Iterator[pa.RecordBatch]:
    made: dict[tuple[int, int], dict[str, pa.Array]] = {}
    for first in range(0, videos, AT_ONCE):
        like = first % DIFFERENT, min(AT_ONCE, videos - first)
        if like not in made:
            made[like] = _content(*like, runs, sentences)
        yield _rows(first, like[1], made[like])


def add_vectors(folder: Path) -> None:
    """Vectors of the frames of an invented corpus, by id as an embedding writes them: those of one real video."""
    corpus, place = Corpus.open(folder), folder / FOLDER / ENCODER.folder
    for name in ("shards", "index"):
        (place / name).mkdir(parents=True)
    describe(place, ENCODER)
    writer = ShardWriter(shard_path(place, 0))
    for time in range(LONGEST):
        writer.add("real", float(time), np.ones(ENCODER.dims, np.float32).tobytes())
    runs = writer.finish("real")
    writer.close()
    frames = np.zeros(len(corpus), np.int64)
    for numbers, batch in corpus.scan(corpus.ids, "times"):
        frames[numbers] = np.diff(batch.column("times").offsets.to_numpy())
    first = dict(zip(frames.tolist(), corpus.ids, strict=True))  # one of each length, on which the content depends
    content = {length: content_of(corpus[video], "frames") for length, video in first.items()}
    places = range(0, len(corpus), AT_ONCE)
    rows = (_vectors(corpus.ids[at : at + AT_ONCE], frames[at : at + AT_ONCE], runs, content) for at in places)
    write_whole_index(place, rows)
    manifest = Manifest("float32", 1.0, ENCODER.dims, "", "embedding")
    with adding_to(place, manifest) as index:
        pass
    complete(place, manifest, index)


def _vectors(
    ids: list[str], frames: np.ndarray[Any, np.dtype[np.int64]], runs: list[FrameRun], content: dict[int, str]
) -> pa.RecordBatch:
    pieces = [run for length in frames.tolist() for run in runs[: length // BATCH_FRAMES]]
    columns: dict[str, Any] = {
        "id": ids,
        "status": ["ok"] * len(ids),
        "tasks": [[]] * len(ids),
        "mode": ["embedding"] * len(ids),
        "times": _lists(frames, pa.array(_within(frames).astype(np.float64))),
        "shard": np.zeros(len(ids), np.int32),
        "batches": _lists(frames // BATCH_FRAMES, _structs("batches", list(np.array(pieces, np.int64).T))),
        "fingerprint": [content[length] for length in frames.tolist()],
    }
    return _batch(columns, len(ids))


def make_ingested(source: Path, folder: Path, videos: int) -> None:
    """Small files, and the corpus that an ingest of them (`--features 1`) would make."""
    source.mkdir(parents=True)
    (folder / "shards").mkdir(parents=True)
    vectors = np.zeros((16, 8), np.float32)
    for number in range(videos):
        place = source / f"{number // 1000:04d}"
        place.mkdir(exist_ok=True)
        np.save(place / f"v{number:07d}.npy", vectors)
        (place / f"v{number:07d}.srt").write_text("1\n00:00:01,000 --> 00:00:04,000\nnow stir it\n")
    writer = ShardWriter(shard_path(folder, 0))
    for time, vector in enumerate(vectors):
        writer.add("v", float(time), vector.tobytes())
    answer: dict[str, Any] = {"status": "ok", "mode": "features", "duration": 16.0, "decoded": 16.0, "height": 0}
    answer |= {"width": 0, "times": [float(time) for time in range(16)], "shard": 0, "caption_kind": "manual"}
    answer |= {"utterances": [{"start": 1.0, "end": 4.0, "text": "now stir it"}]}
    answer["batches"] = [run._asdict() for run in writer.finish("v")]
    writer.close()
    items = find_source(source, features=True).items
    manifest = Manifest("float32", 1.0, 8, "", "features")
    with adding_to(folder, manifest) as index:
        for first in range(0, len(items), AT_ONCE):
            index.append([row_of(item, answer, fingerprint_of(item)) for item in items[first : first + AT_ONCE]])
    complete(folder, manifest, index)


def peak_gb() -> float:
    """The largest resident memory of this process, mapped files included; `getrusage` counts its parent's as well."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def _write_frames(folder: Path) -> list[list[FrameRun]]:
    """Real videos of the greatest length; others are their beginnings."""
    writer, rng = ShardWriter(shard_path(folder, 0)), np.random.default_rng(0)
    pictures = [rng.integers(0, 255, (8, 8, 3), np.uint8).repeat(SIDE // 8, 0).repeat(SIDE // 8, 1) for _ in range(64)]
    encoded = [encode_jpeg(np.ascontiguousarray(picture), QUALITY) for picture in pictures]
    runs = []
    for number in range(REAL_VIDEOS):
        for time in range(LONGEST):
            writer.add(f"real{number}", float(time), encoded[(number * 7 + time) % len(encoded)])
        runs.append(writer.finish(f"real{number}"))
    writer.close()
    return runs


def _sentences() -> pa.Array:
    """Of words as frequent as words are."""
    rng = np.random.default_rng(1)
    syllables = np.array([a + b for a in "bdfglmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "or")])
    words = np.array(["".join(rng.choice(syllables, 1 + number % 3)) for number in range(KINDS_OF_WORDS)])
    share = 1 / np.arange(1, KINDS_OF_WORDS + 1)
    chosen = rng.choice(KINDS_OF_WORDS, (SENTENCES, WORDS), p=share / share.sum())
    return pa.array([" ".join(each) for each in words[chosen]])


def _rows(first: int, count: int, content: dict[str, pa.Array]) -> pa.RecordBatch:
    """Videos that nobody else is named as, of content that others may have, too."""
    ids = [_id(first + number) for number in range(count)]
    columns: dict[str, Any] = {
        **content,
        "id": ids,
        "split": [split_of(each) for each in ids],
        "source": [f"/data/howto100m/videos/{each}.mp4" for each in ids],
        "captions": [f"/data/howto100m/captions/{each}.csv" for each in ids],
    }
    return _batch(columns, count)


def _batch(columns: dict[str, Any], count: int) -> pa.RecordBatch:
    arrays = [pa.array(columns.get(field.name, [None] * count), field.type) for field in INDEX_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=INDEX_SCHEMA)


def _content(first: int, count: int, runs: list[list[FrameRun]], sentences: pa.Array) -> dict[str, pa.Array]:
    """All columns but those that tell one video from another."""
    rng = np.random.default_rng([2, first])
    seconds = np.clip(rng.lognormal(np.log(MEDIAN_SECONDS), SPREAD, count), 32, LONGEST)
    frames = (seconds // BATCH_FRAMES * BATCH_FRAMES).astype(np.int64)  # so that a video is made of whole batches
    said = (frames / BETWEEN).astype(np.int64)
    start = _within(said) * BETWEEN + rng.uniform(0, 0.5, said.sum())
    utterances = [start, start + 3.0, sentences.take(rng.integers(0, SENTENCES, said.sum()))]
    of = rng.integers(0, len(runs), count)
    pieces = [run for video, length in zip(of, frames, strict=True) for run in runs[video][: length // BATCH_FRAMES]]
    columns: dict[str, Any] = {
        "status": ["ok"] * count,
        "title": ["How to make it at home"] * count,
        "tasks": [[]] * count,
        "caption_kind": ["automatic"] * count,
        "mode": ["fast"] * count,
        "duration": seconds,
        "decoded": seconds,
        "height": np.full(count, SIDE, np.int32),
        "width": np.full(count, SIDE, np.int32),
        "times": _lists(frames, pa.array(_within(frames).astype(np.float64))),
        "utterances": _lists(said, _structs("utterances", utterances)),
        "steps": [[]] * count,
        "shard": np.zeros(count, np.int32),
        "batches": _lists(frames // BATCH_FRAMES, _structs("batches", list(np.array(pieces, np.int64).T))),
        "fingerprint": ["12345678.1700000000000000000+12345.1700000000000000000"] * count,
    }
    return {name: pa.array(values, INDEX_SCHEMA.field(name).type) for name, values in columns.items()}


def _id(number: int) -> str:
    """Eleven characters, in no order."""
    return urlsafe_b64encode((number * 0x9E3779B97F4A7C15 % (1 << 64)).to_bytes(8, "big")).decode()[:11]


def _within(lengths: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """0, 1, … in each list."""
    return np.asarray(np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths), np.int64)


def _lists(lengths: np.ndarray[Any, np.dtype[np.int64]], values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), values)


def _structs(column: str, values: list[Any]) -> pa.StructArray:
    fields = list(INDEX_SCHEMA.field(column).type.value_type)
    arrays = [pa.array(each, field.type) for each, field in zip(values, fields, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=fields)
