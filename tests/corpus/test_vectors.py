"""A corpus read as vectors: frames, times and utterances keep belonging together, also in other processes."""

import pickle

import numpy as np
import pytest

from mmcc.corpus import Corpus
from mmcc.corpus.vectors import Wanted, stored_manifest, with_vectors
from mmcc.errors import InputError
from tests.corpus.test_corpus import add_rows, build
from tests.corpus.test_embeddings import COLOURS, LENGTHS, SAID, colours, embed, lengths


@pytest.fixture
def corpus(tmp_path):
    corpus = build(tmp_path / "c", "raw", {"a": [0.0, 1.0, 2.0], "b": [5.0]}, utterances=SAID)
    embed(corpus, COLOURS, colours)
    embed(corpus, LENGTHS, lengths)
    return corpus


def test_frames_and_utterances_are_their_vectors_and_the_rest_is_the_corpus(corpus):
    seen = with_vectors(corpus, frames=Wanted("colours"), text=Wanted("lengths"))
    assert (seen.manifest.encoding, seen.manifest.size) == ("float32", 3)
    assert stored_manifest(seen).encoding == "raw" and stored_manifest(corpus) is corpus.manifest
    video, picture = seen["a"], corpus["a"]
    assert np.array_equal(video.frames(1, 3), colours(picture.frames(1, 3)))
    assert video.text_vectors.tolist() == [[6, 2], [1, 0]] and picture.text_vectors is None
    assert video.utterances == picture.utterances and video.split == picture.split
    assert video.excerpt(1, 2).frames.shape == (2, 3)


def test_one_side_alone(corpus):
    assert with_vectors(corpus) is corpus
    assert with_vectors(corpus, text=Wanted("lengths"))["a"].frames().dtype == np.uint8
    assert with_vectors(corpus, frames=Wanted("colours"))["a"].text_vectors is None


def test_it_can_be_sent_to_another_process(corpus):
    seen = with_vectors(corpus, frames=Wanted("colours"), text=Wanted("lengths"))
    again = pickle.loads(pickle.dumps(seen))  # as a loader's worker receives it
    assert np.array_equal(again["b"].frames(), seen["b"].frames()) and again.manifest == seen.manifest


def test_the_times_of_all_vectors_without_opening_a_video(tmp_path, monkeypatch):
    times = {f"v{number}": [float(each) for each in range(number)] for number in range(9)}
    corpus = build(tmp_path / "c", "raw", times)
    embed(corpus, COLOURS, colours, fps=0.5)
    seen = with_vectors(corpus, frames=Wanted("colours"))
    assert seen["v5"].times.tolist() == [1, 3], "not all frames"
    expected = {video: seen[video].times.tolist() for video in seen.ids}
    some = [video for video in reversed(seen.ids) if video != "v3"]
    monkeypatch.setattr(Corpus, "__getitem__", lambda *_: pytest.fail("a video was opened"))
    found = {}
    for numbers, batch in seen.scan_vectors(some):
        found |= zip([some[number] for number in numbers], batch.column("times").to_pylist(), strict=True)
    assert found == {video: expected[video] for video in some}


def test_missing_vectors_name_the_command_that_computes_them(corpus):
    for wanted, problem in (
        (Wanted("efficientnet-lite2"), "has no embeddings by efficientnet-lite2"),
        (Wanted("colours", "0"), "has only those of another version"),
    ):
        with pytest.raises(InputError, match=problem) as error:
            with_vectors(corpus, frames=wanted)
        assert error.value.remedy.endswith(f"mmcc embed {corpus.path} --frames {wanted.name}")


def test_new_and_changed_videos_are_noticed(corpus):
    row = corpus["b"]._row.to_pylist()[0]
    add_rows(corpus.path, {**row, "id": "new"})
    with pytest.raises(InputError, match="1 of its 3 videos have no embeddings"):
        with_vectors(Corpus.open(corpus.path), frames=Wanted("colours"))
    embed(Corpus.open(corpus.path), COLOURS, colours)
    add_rows(corpus.path, {**row, "fingerprint": "of another file"})
    changed = with_vectors(Corpus.open(corpus.path), frames=Wanted("colours"))
    assert changed["a"].frames().shape == (3, 3)
    with pytest.raises(InputError, match="b has been ingested again"):
        changed["b"].frames()
    with pytest.raises(InputError, match="b has been ingested again"):
        list(changed.scan_vectors(changed.ids))
    assert embed(Corpus.open(corpus.path), COLOURS, colours).videos == 1
