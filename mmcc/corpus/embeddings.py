"""Vectors of pretrained encoders, stored beside the frames and utterances they were computed from.

    CORPUS/embeddings/<encoder>/
        encoder.json                          whose vectors they are: name, checksum, whether of frames or of text
        manifest.json, index/, shards/        a corpus of feature vectors, in the format of the corpus itself

Several encoders may live side by side. A row holds one video's vectors: one for each frame (at the corpus's rate, or
a lower one), or one for each utterance, in the order of the video's own. Its fingerprint is that of the content they
were computed from, so a video that is ingested again is embedded again. Rows are appended as videos finish: a killed
run loses the videos it was working on, and the next one continues. Vectors can be written while the corpus itself is
being ingested, video by video.

Shapes: P frames or utterances, F dims.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.adding import adding_to, complete
from mmcc.corpus.checksums import with_checksum, without_checksum
from mmcc.corpus.corpus import Corpus, Video
from mmcc.corpus.format import Manifest, is_corpus, shard_path
from mmcc.corpus.index import IndexWriter, open_index, parts_of
from mmcc.corpus.publishing import Staging, staged
from mmcc.corpus.shards import SHARD_BYTES, ShardWriter, next_shard
from mmcc.corpus.thinning import thin
from mmcc.errors import InputError
from mmcc.files import make_folder, replace_bytes, writing
from mmcc.locks import only_writer
from mmcc.storage import is_remote
from mmcc.untrusted import LARGEST, read_start, typed

FOLDER = "embeddings"
DESCRIPTION = "encoder.json"
_DIGITS = 12  # of a checksum in a folder's name: enough to tell two exports with one name apart

Modality = Literal["frames", "text"]
Floats = NDArray[np.float32]
Times = NDArray[np.float64]  # of each vector, ascending


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
Watch = Callable[[float], None]  # told the share of the present video that is done
Add = Callable[["VectorWriter", Iterable[str]], None]  # writes the vectors of videos, by id


def stored_encoders(corpus: Corpus) -> list[Encoder]:
    """The encoders whose vectors a corpus holds, by name."""
    found = [read_description(folder) for folder in with_embeddings(corpus.path)[1:] if has_vectors(folder)]
    return sorted(found, key=lambda each: (each.name, each.checksum))


def has_vectors(folder: Path) -> bool:
    """Whether there is a corpus of vectors; a run that was killed early has left none, a lost manifest is damage. In a
    bucket, where the manifest arrives last, the others may be on their way."""
    if not is_remote(folder) and not is_corpus(folder) and parts_of(folder):
        Manifest.load(folder)  # says that it is missing
    return is_corpus(folder)


def with_embeddings(folder: Path) -> list[Path]:
    """The folder of a corpus, and those of the embeddings in it."""
    inner = folder / FOLDER
    return [folder, *sorted(path for path in (inner.iterdir() if inner.is_dir() else ()) if path.is_dir())]


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
    if reads == "frames":
        details = video.details
        return content_of_frames(details["fingerprint"], details["height"], details["width"], video.times)
    return _digest([utterance.text for utterance in video.utterances])


def content_of_frames(fingerprint: str | None, height: int | None, width: int | None, times: Times) -> str:
    """The same, from the columns of a row."""
    return _digest([fingerprint, height, width, hashlib.sha256(times.tobytes()).hexdigest()])


def _digest(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Embedder:
    """An encoder, and what runs it.

    `encode` maps a stream of inputs, pictures [P, H, W, 3] or lists of P texts, to the stream of their vectors [P, F].
    An input is of one video: whatever else is being embedded, the same video has the same vectors, bit for bit.
    """

    encoder: Encoder
    encode: Callable[[Iterable[Any]], Iterable[Floats]]
    fps: float | None = None  # frames per second, if fewer than the corpus has
    at_once: int = 64  # frames of an input: enough for every core to have work, few enough that a kill loses seconds

    def vectors(self, videos: Iterable[Video], watch: Watch) -> Iterator[tuple[Video, Times, Floats]]:
        """Whole videos, in order, with the times of their vectors. The next videos are read while one is encoded."""
        begun: deque[tuple[Video, Times, int]] = deque()  # the number is that of its inputs
        done: list[Floats] = []

        def inputs() -> Iterator[Any]:
            for video in videos:
                times, count, parts = self._read(video)
                begun.append((video, times, count))
                yield from parts

        def finished() -> Iterator[tuple[Video, Times, Floats]]:
            while begun and len(done) >= begun[0][2]:
                video, times, count = begun.popleft()
                empty = np.empty((0, self.encoder.dims), np.float32)
                yield video, times, np.concatenate([empty, *done[:count]])
                del done[:count]

        for vectors in self.encode(inputs()):
            yield from finished()  # those before it that have no inputs
            done.append(np.ascontiguousarray(vectors, np.float32))
            watch(len(done) / begun[0][2])
            yield from finished()
        yield from finished()

    def _read(self, video: Video) -> tuple[Times, int, Iterator[Any]]:
        """When what is embedded is shown or said, and the inputs: how many, and what."""
        if self.encoder.reads == "text":
            said = video.utterances
            centres = np.array([(each.start + each.end) / 2 for each in said])
            return centres, int(bool(said)), iter([[each.text for each in said]] if said else [])
        kept = np.arange(len(video.times)) if self.fps is None else thin(video.times, 0.0, self.fps)
        parts = [kept[first : first + self.at_once] for first in range(0, len(kept), self.at_once)]
        return video.times[kept], len(parts), (_frames(video, part) for part in parts)


def embed_corpus(
    corpus: Corpus, embedder: Embedder, progress: Progress = lambda ids: ids, add: Add | None = None
) -> EmbedReport:
    """Embed every video that has none of the encoder's vectors yet; `add`: elsewhere than in this process."""
    encoder, most = embedder.encoder, corpus.manifest.fps
    if encoder.reads == "frames" and corpus.manifest.encoding == "float32":
        remedy = "Embed a corpus of pictures: ingest the videos themselves."
        raise InputError(corpus.path, "contains feature vectors, not pictures", remedy)
    if embedder.fps is not None and embedder.fps >= most:
        embedder = dataclasses.replace(embedder, fps=None)
    with vector_writer(corpus.path, embedder, embedder.fps or most) as writer:
        wanted = [video.id for video in corpus if writer.lacks(video)]
        if wanted and add is not None:
            add(writer, progress(wanted))
        elif wanted:
            writer.add(corpus[video_id] for video_id in progress(wanted))
    return EmbedReport(encoder.name, encoder.reads, len(wanted), writer.vectors, len(corpus) - len(wanted))


@contextmanager
def vector_writer(corpus: Path, embedder: Embedder, rate: float) -> Iterator[VectorWriter]:
    """Holds an encoder's folder in a corpus for one writer; `rate`: frames per second that are embedded. If the corpus
    is in a bucket, the vectors are published at the end."""
    with staged(corpus / FOLDER / embedder.encoder.folder, beside=[DESCRIPTION]) as stage:
        folder = stage.folder
        with writing(folder):
            make_folder(folder / "shards")
        with only_writer(folder):
            manifest = _open_manifest(folder, embedder.encoder, rate)
            with adding_to(folder, manifest) as index, closing(VectorWriter(stage, embedder, index)) as writer:
                yield writer
            complete(folder, manifest, index)


class Vectors(NamedTuple):
    """Where the vectors of a video are in a shard, and what they were computed from."""

    id: str
    fingerprint: str  # of the content
    times: list[float]
    batches: list[dict[str, Any]]


class VectorWriter:
    """Adds videos to an encoder's folder: once `add` returns, not even a power cut loses them."""

    def __init__(self, stage: Staging, embedder: Embedder, index: IndexWriter) -> None:
        self.folder, self.embedder, self._index = stage.folder, embedder, index
        self._before = Corpus.open(stage.folder)
        self._lost = self._before.lost(stage.published)
        self._shard: ShardWriter | None = None
        first = next_shard(stage.folder, open_index(stage.folder)[1]) + stage.skip_numbers
        self._number, self._bytes = first - 1, 0  # of the shard
        self.videos = self.vectors = 0  # written

    def lacks(self, video: Video) -> bool:
        """Whether a video's present content had no vectors when the writer was opened."""
        if video.id not in self._before or video.id in self._lost:
            return True
        return bool(self._before[video.id].details["fingerprint"] != self._content(video))

    def add(self, videos: Iterable[Video], watch: Watch = lambda share: None) -> None:
        """Embed videos, and write each as soon as it is finished."""
        for video, times, vectors in self.embedder.vectors(videos, watch):
            shard = self._open_shard()
            for time, vector in zip(times.tolist(), vectors, strict=True):
                shard.add(video.id, time, vector.tobytes())
            runs = [run._asdict() for run in shard.finish(video.id)]
            self.keep(Vectors(video.id, self._content(video), times.tolist(), runs), self._number)
            self._bytes += vectors.nbytes
        self._index.commit()

    def new_shard(self) -> Path:
        """For another process to write to, whose vectors are then kept."""
        self._number += 1
        return shard_path(self.folder, self._number)

    def keep(self, vectors: Vectors, shard: int) -> None:
        """Refer to vectors that are in a shard; permanent within a second, or with `commit`."""
        row = {"id": vectors.id, "status": "ok", "mode": "embedding", "times": vectors.times, "shard": shard}
        self._index.append([row | {"batches": vectors.batches, "fingerprint": vectors.fingerprint}])
        self.videos += 1
        self.vectors += len(vectors.times)

    def commit(self) -> None:
        self._index.commit()

    def close(self) -> None:
        if self._shard is not None:
            self._shard.close()

    def _content(self, video: Video) -> str:
        return content_of(video, self.embedder.encoder.reads)

    def _open_shard(self) -> ShardWriter:
        if self._shard is None or self._bytes > SHARD_BYTES:
            self.close()
            self._number, self._bytes = self._number + 1, 0
            self._shard = ShardWriter(shard_path(self.folder, self._number))
        return self._shard


def _open_manifest(folder: Path, encoder: Encoder, rate: float) -> Manifest:
    if not is_corpus(folder):
        describe(folder, encoder)
        Manifest("float32", rate, encoder.dims, "", "embedding").save(folder)
    manifest = Manifest.load(folder)
    if manifest.fps != rate:
        cause = f"has embeddings at {manifest.fps:g} frames per second, not {rate:g}"
        raise InputError(folder, cause, f"Use --fps {manifest.fps:g}, or remove this folder.")
    return manifest


def describe(folder: Path, encoder: Encoder) -> None:
    """Write down whose vectors a folder has."""
    replace_bytes(folder / DESCRIPTION, with_checksum(dataclasses.asdict(encoder)))


def _frames(video: Video, kept: NDArray[np.int64]) -> NDArray[np.uint8]:
    try:
        return np.concatenate([video.frames(each, each + 1) for each in kept.tolist()])
    except ValueError as error:
        raise InputError(video.id, f"its frames are damaged ({error})", "Ingest it again into a new folder.") from None


def read_description(folder: Path) -> Encoder:
    path = folder / DESCRIPTION
    try:
        content, _ = without_checksum(read_start(path, LARGEST))
        for name, kind in (("name", str), ("checksum", str), ("reads", str), ("dims", int)):
            typed(content, name, kind)
        encoder = Encoder(**content)
        if encoder.folder != folder.name:
            raise ValueError(f"it describes {encoder.name}, whose folder is {encoder.folder}")
        return encoder
    except (OSError, ValueError, TypeError) as error:
        raise InputError(path, f"cannot be read ({error})", f"Remove {folder} and embed again.") from None
