"""Vectors stored beside the frames: each belongs to its frame, once, whatever was interrupted or ingested again."""

import json
import shutil
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.corpus import Corpus
from mmcc.corpus.embeddings import (
    FOLDER,
    Embedder,
    Encoder,
    embed_corpus,
    find_encoder,
    open_vectors,
    stored_encoders,
)
from mmcc.errors import InputError
from tests.corpus.test_corpus import build, picture
from tests.s3 import upload_folder

COLOURS = Encoder("colours", "0123456789abcdef", "frames", 3)
LENGTHS = Encoder("lengths", "fedcba9876543210", "text", 2)
SAID = [{"start": 0.0, "end": 2.0, "text": "cut it"}, {"start": 1.0, "end": 4.0, "text": "♪"}]


def colours(pictures):
    return pictures.mean(axis=(1, 2)).astype(np.float32)


def lengths(texts):
    return np.array([[len(text), text.count("t")] for text in texts], np.float32)


def embed(corpus, encoder, encode, **how):
    """With a function that takes one input at a time."""
    return embed_corpus(corpus, Embedder(encoder, partial(map, encode), **how))


@given(
    counts=st.lists(st.integers(0, 7), min_size=1, max_size=6),
    batch=st.integers(1, 9),
)
@settings(max_examples=20)
def test_every_frame_has_its_vector_for_any_lengths_and_batches(tmp_path_factory, counts, batch):
    folder = tmp_path_factory.mktemp("corpus")
    corpus = build(folder / "c", "raw", {f"v{n}": [float(t) for t in range(count)] for n, count in enumerate(counts)})
    calls = []
    report = embed(corpus, COLOURS, lambda frames: calls.append(len(frames)) or colours(frames), at_once=batch)
    assert report.videos == len(counts) and report.vectors == sum(counts) == sum(calls)
    assert max(calls, default=0) <= batch
    assert len(calls) == sum(-(-count // batch) for count in counts), "of one video each"
    stored = open_vectors(corpus, COLOURS)
    for number, count in enumerate(counts):
        video = stored[f"v{number}"]
        expected = colours(np.stack([picture("raw", each) for each in range(count)])) if count else np.empty((0, 3))
        assert np.array_equal(video.frames(), expected.reshape(count, 3)) and video.times.tolist() == list(range(count))


def test_utterances_have_theirs_in_the_videos_order(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [0.0], "b": []}, utterances=SAID)
    embed(corpus, LENGTHS, lengths)
    stored = open_vectors(corpus, LENGTHS)
    assert stored["b"].frames().tolist() == [[6, 2], [1, 0]] and stored["a"].times.tolist() == [1.0, 2.5]


def test_a_lower_rate_keeps_fewer_frames_and_is_kept_to(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [float(t) for t in range(12)]})
    embed(corpus, COLOURS, colours, fps=0.25)
    stored = open_vectors(corpus, COLOURS)
    assert stored["a"].times.tolist() == [2, 6, 10] and stored.manifest.fps == 0.25
    with pytest.raises(InputError, match=r"at 0.25 frames per second, not 1\b"):
        embed(corpus, COLOURS, colours)


def test_a_failure_keeps_the_finished_videos_and_the_next_run_continues(tmp_path):
    corpus = build(tmp_path / "c", "raw", {name: [0.0, 1.0] for name in "abcd"})
    seen = 0

    def fails(frames):
        nonlocal seen
        seen += len(frames)
        if seen > 4:
            raise RuntimeError("power cut")
        return colours(frames)

    with pytest.raises(RuntimeError):
        embed(corpus, COLOURS, fails, at_once=2)
    assert open_vectors(corpus, COLOURS).ids == ["a", "b"]
    assert not open_vectors(corpus, COLOURS).manifest.complete
    report = embed(corpus, COLOURS, colours, at_once=2)
    assert (report.videos, report.vectors, report.already_done) == (2, 4, 2)
    stored = open_vectors(corpus, COLOURS)
    assert stored.ids == list("abcd") and stored.manifest.complete and stored.manifest.counts["frames"] == 8
    assert embed(corpus, COLOURS, fails).videos == 0, "nothing is done twice"


def test_several_encoders_live_side_by_side_and_are_found_by_name_and_checksum(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [0.0]}, utterances=SAID)
    other = Encoder("colours", "ffff456789abcdef", "frames", 3)
    path = Encoder("onnx:/some/where/dino v2.onnx?pooling=cls", "aaaa456789abcdef", "frames", 3)
    for encoder in (COLOURS, other, path):
        embed(corpus, encoder, colours)
    embed(corpus, LENGTHS, lengths)
    assert len(stored_encoders(corpus)) == 4
    assert find_encoder(corpus, "colours", "frames", other.checksum) == other
    assert find_encoder(corpus, path.name, "frames") == path and "/" not in path.folder and " " not in path.folder
    assert find_encoder(corpus, "colours", "text") is None and find_encoder(corpus, "colours", "frames", "0") is None
    assert Corpus.open(tmp_path / "c").ids == ["a"], "the corpus itself is as it was"


def test_what_cannot_be_embedded_or_read_is_said_in_a_line(tmp_path):
    vectors = build(tmp_path / "v", "float32", {"a": [0.0]})
    with pytest.raises(InputError, match="feature vectors, not pictures"):
        embed(vectors, COLOURS, colours)
    corpus = build(tmp_path / "c", "raw", {"a": [0.0]})
    embed(corpus, COLOURS, colours)
    description = corpus.path / FOLDER / COLOURS.folder / "encoder.json"
    description.write_text(json.dumps({"name": "colours"}))
    with pytest.raises(InputError, match="cannot be read"):
        stored_encoders(corpus)
    shutil.rmtree(description.parent)
    assert stored_encoders(corpus) == []


@pytest.fixture
def remote(tmp_path, s3, monkeypatch):
    """A corpus in a bucket, of which a copy is here."""
    monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
    build(tmp_path / "c", "raw", {"a": [0.0, 1.0, 2.0], "b": [0.0]}, utterances=SAID)
    return Corpus.open(upload_folder(tmp_path / "c", s3.bucket() / "c"))


def test_vectors_in_a_bucket_equal_those_on_a_disk(remote, tmp_path):
    for encoder, encode in ((COLOURS, colours), (LENGTHS, lengths)):
        for corpus in (remote, Corpus.open(tmp_path / "c")):
            assert embed(corpus, encoder, encode).videos == 2 and embed(corpus, encoder, encode).videos == 0
        stored, here = (open_vectors(corpus, encoder) for corpus in (remote, Corpus.open(tmp_path / "c")))
        assert all(np.array_equal(stored[each].frames(), here[each].frames()) for each in ("a", "b"))
    assert stored_encoders(remote) == [COLOURS, LENGTHS]


def test_until_all_vectors_are_in_the_bucket_nobody_sees_them_and_the_next_run_continues(remote, monkeypatch):
    calls = []

    def fail(*_):
        raise InputError(remote.path, "the storage cannot be reached")

    def counted(frames):
        calls.append(len(frames))
        return colours(frames)

    with monkeypatch.context() as patch, pytest.raises(InputError):
        patch.setattr("mmcc.corpus.publishing.replace_object", fail)
        embed(remote, COLOURS, counted)
    assert stored_encoders(remote) == [] and calls == [3, 1]
    assert embed(remote, COLOURS, counted).already_done == 2 and stored_encoders(remote) == [COLOURS]
    assert calls == [3, 1], "what was embedded is not embedded again"
