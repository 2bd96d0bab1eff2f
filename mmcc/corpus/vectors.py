"""A corpus as a model with frozen encoders reads it: stored vectors in place of frames, and of utterances.

>>> corpus = with_vectors(Corpus.open("cooking.corpus"), frames=Wanted("efficientnet-lite2"), text=Wanted("minilm"))
>>> corpus.manifest.encoding, corpus["soup"].frames().shape, corpus["soup"].text_vectors.shape
('float32', (312, 1280), (58, 384))

Shapes: k utterances, F dims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mmcc.corpus.contents import SpanCounts
from mmcc.corpus.corpus import Corpus, Video
from mmcc.corpus.embeddings import Encoder, Floats, Modality, content_of, content_of_frames, find_encoder, open_vectors
from mmcc.corpus.format import Manifest
from mmcc.errors import InputError


class Wanted(NamedTuple):
    """An encoder by name; with a checksum, exactly that one."""

    name: str
    checksum: str | None = None


def with_vectors(corpus: Corpus, *, frames: Wanted | None = None, text: Wanted | None = None) -> Corpus:
    """The corpus with the vectors of the encoders wanted; InputError says which command computes missing ones."""
    if frames is None and text is None:
        return corpus
    found = (frames and _find(corpus, frames, "frames")) or None, (text and _find(corpus, text, "text")) or None
    return VectorCorpus(corpus, *found)


class VectorCorpus(Corpus):
    """A corpus whose frames or utterances, or both, are read as stored vectors."""

    def __init__(self, corpus: Corpus, frames: Encoder | None, text: Encoder | None) -> None:
        self.stored = corpus.manifest  # how its pictures are stored
        self.frame_encoder, self.text_encoder = frames, text
        self._frame_vectors = open_vectors(corpus, frames) if frames else None
        self._text_vectors = open_vectors(corpus, text) if text else None
        manifest = self.stored
        if self._frame_vectors is not None:
            vectors = self._frame_vectors.manifest
            manifest = replace(manifest, encoding="float32", size=vectors.size, fps=vectors.fps)
        super().__init__(corpus.path, manifest, corpus._rows)
        for encoder, stored in ((frames, self._frame_vectors), (text, self._text_vectors)):
            if encoder and stored and (missing := len(set(self.ids) - set(stored.ids))):
                problem = f"{missing} of its {len(self)} videos have no"
                raise _not_embedded(corpus.path, encoder.name, encoder.reads, problem)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.frame_encoder, self.text_encoder)

    def counts(self, ids: Sequence[str]) -> tuple[SpanCounts, SpanCounts]:
        """Of the vectors in place of the frames."""
        seen, said = super().counts(ids)
        return (seen if self._frame_vectors is None else self._frame_vectors.counts(ids)[0]), said

    def scan_vectors(self, ids: Sequence[str]) -> Iterator[tuple[NDArray[np.int64], pa.RecordBatch]]:
        """As `scan`: the times of the vectors in place of the frames; InputError if a video was ingested again since
        it was embedded. `scan` itself reads the index of the pictures."""
        assert self._frame_vectors is not None and self.frame_encoder is not None
        present = np.zeros(len(ids), "S64")  # of each video: what its vectors must have been computed from
        for numbers, batch in self.scan(ids, "fingerprint", "height", "width", "times"):
            present[numbers] = [content_of_frames(*each) for each in _pictures_in(batch)]
        for numbers, batch in self._frame_vectors.scan(ids, "fingerprint", "times"):
            embedded = batch.column("fingerprint").to_pylist()
            for number, content, now in zip(numbers.tolist(), embedded, present[numbers].tolist(), strict=True):
                if content != now.decode():
                    raise _ingested_again(self.path, ids[number], self.frame_encoder)
            yield numbers, batch.select(["times"])

    def with_frames(self) -> list[str]:
        """Those that have vectors in their place."""
        if self._frame_vectors is None:
            return super().with_frames()
        seen = set(self._frame_vectors.with_frames())
        return [each for each in self.ids if each in seen]

    def _open(self, row: pa.Table) -> Video:
        frames, text = (
            _Vectors(self.path, encoder, stored) if encoder and stored else None
            for encoder, stored in (
                (self.frame_encoder, self._frame_vectors),
                (self.text_encoder, self._text_vectors),
            )
        )
        return _VectorVideo(Video(self._shards, row, self.stored), frames, text)


class _Vectors(NamedTuple):
    """Where the vectors of an encoder are."""

    path: Path  # of the corpus whose frames or utterances they stand for
    encoder: Encoder
    stored: Corpus

    def of(self, video: Video) -> Video:
        """The row of vectors that belongs to a video's present content."""
        found = self.stored[video.id]
        if found.details["fingerprint"] != content_of(video, self.encoder.reads):
            raise _ingested_again(self.path, video.id, self.encoder)
        return found


class _VectorVideo(Video):
    """One video of such a corpus. It does not know its corpus, which knows it: neither would be freed before Python's
    collector comes by, and by then there may be thousands."""

    def __init__(self, pictures: Video, frames: _Vectors | None, text: _Vectors | None) -> None:
        super().__init__(pictures._shards, pictures._row, pictures._manifest)
        self._pictures, self._of_frames, self._of_text = pictures, frames, text

    @cached_property
    def _frame_vectors(self) -> Video | None:
        return self._of_frames.of(self._pictures) if self._of_frames else None

    @cached_property
    def times(self) -> NDArray[np.float64]:
        return (self._frame_vectors or self._pictures).times

    def frames(self, first: int = 0, last: int | None = None, step: int = 1) -> NDArray[Any]:
        return (self._frame_vectors or self._pictures).frames(first, last, step)

    @cached_property
    def text_vectors(self) -> Floats | None:
        return self._of_text.of(self._pictures).frames() if self._of_text else None


def _reopen(path: Any, frames: Encoder | None, text: Encoder | None) -> VectorCorpus:
    return VectorCorpus(Corpus.open(path), frames, text)


def stored_manifest(corpus: Corpus) -> Manifest:
    """How the pictures of a corpus are stored, also where its vectors are read."""
    return corpus.stored if isinstance(corpus, VectorCorpus) else corpus.manifest


def _find(corpus: Corpus, wanted: Wanted, reads: Modality) -> Encoder:
    encoder = find_encoder(corpus, wanted.name, reads, wanted.checksum)
    if encoder is None:
        other = wanted.checksum and find_encoder(corpus, wanted.name, reads)
        problem = "has only those of another version, no" if other else "has no"
        raise _not_embedded(corpus.path, wanted.name, reads, problem)
    return encoder


def _pictures_in(batch: pa.RecordBatch) -> Iterator[tuple[str | None, int | None, int | None, NDArray[np.float64]]]:
    """What vectors of rows are computed from."""
    times = batch.column("times")
    values = times.values.to_numpy(zero_copy_only=False)
    spans = zip(times.offsets.to_pylist(), times.offsets.to_pylist()[1:], strict=False)
    told = (batch.column(name).to_pylist() for name in ("fingerprint", "height", "width"))
    return zip(*told, (values[first:last] for first, last in spans), strict=True)


def _ingested_again(path: Path, video: str, encoder: Encoder) -> InputError:
    problem = f"{video} has been ingested again since it was embedded, so it has no"
    return _not_embedded(path, encoder.name, encoder.reads, problem)


def _not_embedded(path: Path, name: str, reads: Modality, problem: str) -> InputError:
    remedy = f"Compute them once with: mmcc embed {path} --{reads} {name}"
    return InputError(path, f"{problem} embeddings by {name}", remedy)
