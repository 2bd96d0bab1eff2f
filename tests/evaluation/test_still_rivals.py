"""The regressions that models must beat: equal to the normal equations, and right where the answer is linear."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus.embeddings import Embedder, Encoder, embed_corpus
from mmcc.corpus.vectors import Wanted, with_vectors
from mmcc.evaluation.embedding import embed_videos
from mmcc.evaluation.features_only import FeaturesAdapter
from mmcc.evaluation.still_rivals import ridge, rivals, training_data
from mmcc.evaluation.stills import gather, measure, spoken_in
from tests.corpus.test_corpus import build

STEPS = ("wash", "peel it", "cut it up", "fry it well")


@given(st.integers(3, 30), st.integers(2, 8), st.integers(0, 50), st.sampled_from([0.01, 1.0, 30.0]))
def test_ridge_solves_the_normal_equations(rows, dims, seed, strength):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, dims)) + 1, rng.normal(size=(rows, 2))
    found = ridge(x, y, np.arange(rows), [strength])
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    centred = unit - unit.mean(axis=0)
    penalty = strength * np.square(centred).sum() / dims * np.eye(dims)
    weights = np.linalg.solve(centred.T @ centred + penalty, centred.T @ (y - y.mean(axis=0)))
    assert np.allclose(found(x), centred @ weights + y.mean(axis=0), atol=1e-8)


def test_the_strength_is_chosen_on_held_out_groups():
    rng = np.random.default_rng(0)
    x = rng.normal(loc=[5, 0, 0], size=(200, 3))
    clean = (x / np.linalg.norm(x, axis=1, keepdims=True))[:, 1]
    chosen = ridge(x, clean, np.arange(200))
    assert np.abs(chosen(x) - clean).max() < 0.05, "nothing speaks against the weakest"
    noise = rng.normal(size=200)
    assert ridge(x, noise, np.arange(200))(x).std() < 0.2 * noise.std(), "noise asks for the strongest"


@pytest.fixture
def corpus(tmp_path):
    """Stills get later by their second number, sentences longer."""
    said = [{"start": 10.0 * at, "end": 10.0 * at + 8, "text": text} for at, text in enumerate(STEPS)]
    corpus = build(tmp_path / "c", "raw", {f"v{n:02}": [4.0, 14.0, 34.0] for n in range(20)}, utterances=said)
    seen = {"at": 0}
    rng = np.random.default_rng(0)

    def of_frames(frames):
        places = (np.arange(len(frames)) + seen["at"]) % 3
        seen["at"] += len(frames)
        return np.stack([[3, place, rng.normal() / 10] for place in places]).astype(np.float32)

    embed_corpus(corpus, Embedder(Encoder("places", "0" * 16, "frames", 3), partial(map, of_frames)))
    of_texts = lambda texts: np.array([[3, len(text), 1] for text in texts], np.float32)  # noqa: E731
    embed_corpus(corpus, Embedder(Encoder("lengths", "1" * 16, "text", 3), partial(map, of_texts)))
    return with_vectors(corpus, frames=Wanted("places"), text=Wanted("lengths"))


def test_the_training_data_belong_together(corpus):
    data = training_data(corpus, corpus.ids[:2])
    assert data.frames.shape == (6, 3) and data.sentences.shape == (8, 3)
    assert data.frame_places.tolist() == pytest.approx([0, 1 / 3, 1] * 2)
    assert data.frame_sentences[:, 1].tolist() == [4, 7, 11] * 2
    assert data.frame_videos.tolist() == [0] * 3 + [1] * 3


def test_what_is_linear_is_found(corpus):
    test = embed_videos(FeaturesAdapter("vectors", lambda x: x), corpus, corpus.ids[15:])
    stills = gather(test, {video.id: spoken_in(corpus[video.id]) for video in test})
    judged = rivals(corpus, corpus.ids[:15], stills)
    figures = {name: measure(stills, each).figures for name, each in judged.items()}
    for name in ("ridge to position", "ridge to sentences"):
        assert figures[name]["kendall_tau/seen"].mean == 1, name
    assert figures["sentences alone"]["kendall_tau/read"].mean == 1
    assert figures["position alone"]["matching"].mean == 100
    assert figures["ridge to sentences"]["matching"].mean == 50  # of numbers on a line, a cosine knows the sign alone
