"""Vectors of pretrained encoders, stored beside the frames and utterances they were computed from.

    CORPUS/embeddings/<encoder>/
        encoder.json                          whose vectors they are: name, checksum, whether of frames or of text
        manifest.json, index.arrow, shards/   a corpus of feature vectors, in the format of the corpus itself

Several encoders may live side by side. A row holds one video's vectors: one for each frame (at the corpus's rate, or
a lower one), or one for each utterance, in the order of the video's own. Its fingerprint is that of the content they
were computed from, so a video that is ingested again is embedded again. Rows are appended as videos finish: a killed
run loses the videos it was working on, and the next one continues.

Shapes: P frames or utterances, F dims.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.corpus import Corpus, Video
from mmcc.corpus.format import Manifest, index_path, is_corpus, shard_path
from mmcc.corpus.index import IndexWriter, read_index
from mmcc.corpus.ingest import seal_shards, shard_numbers
from mmcc.corpus.outcome import lengths_of
from mmcc.corpus.shards import SHARD_BYTES, ShardWriter
from mmcc.corpus.thinning import thin
from mmcc.errors import InputError
from mmcc.files import replace_text, writing
from mmcc.locks import only_writer
from mmcc.untrusted import read_json, typed

FOLDER = "embeddings"
_DESCRIPTION = "encoder.json"
_DIGITS = 12  # of a checksum in a folder's name: enough to tell two exports with one name apart

Modality = Literal["frames", "text"]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Encoder:
    """Whose vectors they are."""

    name: str  # as users name it: efficientnet-lite2, minilm, onnx:FILE
    checksum: str  # of its weights and of how it reads its input: the same checksum means the same vectors
    reads: Modality
    dims: int

    @property
    def folder(self) -> str:
        """A name for its folder that any file system takes."""
        return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', Path(self.name).name)[:60]}-{self.checksum[:_DIGITS]}"


@dataclass(frozen=True)
class EmbedReport:
    """What a run did."""

    encoder: str
    reads: Modality
    videos: int  # embedded by this run
    vectors: int
    already_done: int  # videos

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


Progress = Callable[[list[str]], Iterable[str]]  # wraps the ids that are iterated over, like mmcc.progress.bar


def stored_encoders(corpus: Corpus) -> list[Encoder]:
    """The encoders whose vectors a corpus holds, by name."""
    found = [path.parent for path in (corpus.path / FOLDER).glob(f"*/{_DESCRIPTION}") if is_corpus(path.parent)]
    return sorted((_read_description(folder) for folder in found), key=lambda each: (each.name, each.checksum))


def find_encoder(corpus: Corpus, name: str, reads: Modality, checksum: str | None = None) -> Encoder | None:
    """The stored encoder of that name; of several exports with one name, that with the checksum."""
    for encoder in stored_encoders(corpus):
        if (encoder.name, encoder.reads) == (name, reads) and checksum in (None, encoder.checksum):
            return encoder
    return None


def open_vectors(corpus: Corpus, encoder: Encoder) -> Corpus:
    """The vectors as a corpus of features."""
    return Corpus.open(corpus.path / FOLDER / encoder.folder)


def content_of(video: Video, reads: Modality) -> str:
    """Identifies what vectors are computed from: the frames by their files, times and shape, or the texts."""
    content: list[Any] = [utterance.text for utterance in video.utterances]
    if reads == "frames":
        times = hashlib.sha256(video.times.tobytes()).hexdigest()
        content = [video.details["fingerprint"], video.details["height"], video.details["width"], times]
    return hashlib.sha256(json.dumps(content).encode("utf-8", "surrogatepass")).hexdigest()


def embed_frames(
    corpus: Corpus,
    encoder: Encoder,
    encode: Callable[[NDArray[np.uint8]], Floats],
    *,
    fps: float | None = None,
    batch: int = 32,
    progress: Progress = lambda ids: ids,
) -> EmbedReport:
    """Embed the frames of every video that has none of the encoder's vectors yet, at `fps` or the corpus's rate.

    `encode` maps pictures [P, H, W, 3] to vectors [P, F]; it is called with `batch` pictures at a time, which may come
    from several videos.
    """
    if corpus.manifest.encoding == "float32":
        remedy = "Embed a corpus of pictures: ingest the videos themselves."
        raise InputError(corpus.path, "contains feature vectors, not pictures", remedy)
    rate = min(fps or corpus.manifest.fps, corpus.manifest.fps)

    def parts(ids: Iterable[str]) -> Iterator[_Part]:
        for video_id in ids:
            video = corpus[video_id]
            kept = thin(video.times, 0.0, rate) if rate < corpus.manifest.fps else np.arange(len(video.times))
            yield _Part(video_id, video.times[kept], None)
            for first in range(0, len(kept), batch):
                yield _Part(video_id, None, _frames(corpus, video, kept[first : first + batch]))

    return _Writer(corpus, encoder, rate).write(parts, encode, batch, progress)


def embed_texts(
    corpus: Corpus, encoder: Encoder, encode: Callable[[list[str]], Floats], progress: Progress = lambda ids: ids
) -> EmbedReport:
    """Embed the utterances of every video that has none of the encoder's vectors yet."""

    def parts(ids: Iterable[str]) -> Iterator[_Part]:
        for video_id in ids:
            said = corpus[video_id].utterances
            yield _Part(video_id, np.array([(each.start + each.end) / 2 for each in said]), None)
            if said:
                yield _Part(video_id, None, np.array([each.text for each in said], object))

    def of_texts(texts: NDArray[Any]) -> Floats:
        return encode(texts.tolist())

    return _Writer(corpus, encoder, corpus.manifest.fps).write(parts, of_texts, 256, progress)


@dataclass(frozen=True)
class _Part:
    """A video's times, which begin it, or some of its frames or texts."""

    video: str
    times: NDArray[np.float64] | None
    content: NDArray[Any] | None


class _Writer:
    """Appends the vectors of one encoder to a corpus."""

    def __init__(self, corpus: Corpus, encoder: Encoder, rate: float) -> None:
        self._corpus, self._encoder, self._rate = corpus, encoder, rate
        self._folder = corpus.path / FOLDER / encoder.folder
        self._vectors = 0

    def write(
        self,
        parts: Callable[[Iterable[str]], Iterator[_Part]],
        encode: Callable[[NDArray[Any]], Floats],
        batch: int,
        progress: Progress,
    ) -> EmbedReport:
        with writing(self._folder):
            (self._folder / "shards").mkdir(parents=True, exist_ok=True)
        with only_writer(self._folder):
            manifest = self._open_manifest()
            index = IndexWriter(self._folder, manifest.rows)
            try:
                wanted = self._wanted()
                if wanted:
                    self._append(_encoded(parts(progress(wanted)), encode, batch), index)
            finally:
                index.close()
                seal_shards(self._folder, manifest)
            table = read_index(index_path(self._folder))
            manifest.counts = {"videos": table.num_rows, "frames": sum(lengths_of(table, "times"))}
            manifest.complete = True
            manifest.save(self._folder)
        report = EmbedReport(
            self._encoder.name, self._encoder.reads, len(wanted), self._vectors, len(self._corpus) - len(wanted)
        )
        return report

    def _open_manifest(self) -> Manifest:
        description = self._folder / _DESCRIPTION
        if not is_corpus(self._folder):
            replace_text(description, json.dumps(dataclasses.asdict(self._encoder), indent=1) + "\n")
            Manifest("float32", self._rate, self._encoder.dims, "", "embedding").save(self._folder)
            IndexWriter(self._folder).close()
        manifest = Manifest.load(self._folder)
        if manifest.fps != self._rate:
            cause = f"has embeddings at {manifest.fps:g} frames per second, not {self._rate:g}"
            raise InputError(self._folder, cause, f"Use --fps {manifest.fps:g}, or remove this folder.")
        manifest.complete = False
        manifest.save(self._folder)
        return manifest

    def _wanted(self) -> list[str]:
        done = Corpus.open(self._folder)
        rows = set(done.rows())
        reads = self._encoder.reads
        return [
            video.id
            for video in self._corpus
            if video.id not in rows or done[video.id].details["fingerprint"] != content_of(video, reads)
        ]

    def _append(self, videos: Iterable[tuple[str, NDArray[np.float64], Floats]], index: IndexWriter) -> None:
        shard, number = None, max(shard_numbers(self._folder), default=-1)
        written = SHARD_BYTES + 1
        try:
            for video_id, times, vectors in videos:
                if written > SHARD_BYTES:
                    if shard is not None:
                        shard.close()
                    number, written = number + 1, 0
                    shard = ShardWriter(shard_path(self._folder, number))
                assert shard is not None
                for time, vector in zip(times.tolist(), vectors, strict=True):
                    shard.add(video_id, time, vector.tobytes())
                row = {"id": video_id, "status": "ok", "mode": "embedding", "times": times.tolist(), "shard": number}
                row["batches"] = [run._asdict() for run in shard.finish(video_id)]
                row["fingerprint"] = content_of(self._corpus[video_id], self._encoder.reads)
                index.append([row])
                written += vectors.nbytes
                self._vectors += len(vectors)
        finally:
            if shard is not None:
                shard.close()


def _encoded(
    parts: Iterable[_Part], encode: Callable[[NDArray[Any]], Floats], batch: int
) -> Iterator[tuple[str, NDArray[np.float64], Floats]]:
    """Whole videos, in order: id, times, vectors. Contents of several short videos share a call of the encoder."""
    begun: list[tuple[str, NDArray[np.float64]]] = []
    waiting: list[NDArray[Any]] = []
    done: list[Floats] = []

    def flush() -> None:
        if waiting:
            done.append(np.ascontiguousarray(encode(np.concatenate(waiting)), np.float32))
            waiting.clear()

    def finished() -> Iterator[tuple[str, NDArray[np.float64], Floats]]:
        while begun and sum(map(len, done)) >= len(begun[0][1]):
            video, times = begun.pop(0)
            vectors = np.empty((0, 0), np.float32)
            if len(times):
                whole = np.concatenate(done)
                vectors, done[:] = whole[: len(times)], [whole[len(times) :]]
            yield video, times, vectors

    for part in parts:
        if part.times is not None:
            begun.append((part.video, part.times))
            continue
        content = cast("NDArray[Any]", part.content)
        if waiting and (waiting[0].shape[1:] != content.shape[1:] or sum(map(len, waiting)) + len(content) > batch):
            flush()
        waiting.append(content)
        yield from finished()
    flush()
    yield from finished()


def _frames(corpus: Corpus, video: Video, kept: NDArray[np.int64]) -> NDArray[np.uint8]:
    try:
        return np.concatenate([video.frames(each, each + 1) for each in kept.tolist()])
    except ValueError as error:
        cause = f"frames of {video.id} are damaged ({error})"
        raise InputError(corpus.path, cause, "Ingest it again into a new folder.") from None


def _read_description(folder: Path) -> Encoder:
    path = folder / _DESCRIPTION
    try:
        content = read_json(path, dict)
        for name, kind in (("name", str), ("checksum", str), ("reads", str), ("dims", int)):
            typed(content, name, kind)
        return Encoder(**content)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(path, f"cannot be read ({error})", f"Remove {folder} and embed again.") from None
