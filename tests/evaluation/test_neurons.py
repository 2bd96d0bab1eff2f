"""Correlations against SciPy's, words against the captions, and a neuron that was planted."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mmcc.data.vocabulary import words_of
from mmcc.errors import InputError
from mmcc.evaluation import neurons
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.embedding import embed_videos
from mmcc.evaluation.features_only import FeaturesAdapter
from mmcc.evaluation.neurons import (
    Place,
    SpokenWords,
    dissect,
    exciting_frames,
    mid_ranks,
    pictures_of,
    spearman,
    spoken_words,
    verbs_and_nouns,
)
from tests.evaluation.drawn_videos import drawn_video

ties = st.lists(st.integers(-2, 2), min_size=1, max_size=12)
IDENTITY = FeaturesAdapter("identity", lambda frames: frames)


def spoken_of(presence_FW):
    row, column = np.nonzero(presence_FW)
    words = tuple(f"word{at}" for at in range(presence_FW.shape[1]))
    return SpokenWords(np.arange(len(presence_FW)), words, row, column)


@given(ties, st.integers(0, 100))
def test_ranks_are_scipys(values, seed):
    others = np.random.default_rng(seed).permutation(values)
    found = mid_ranks(np.array([values, others], np.float32))
    assert found.tolist() == [(stats.rankdata(each) - 1).tolist() for each in (values, others)]


@settings(max_examples=30)
@given(st.integers(3, 40), st.integers(0, 10**6), st.booleans())
def test_correlations_are_scipys(frames, seed, tied):
    chance = np.random.default_rng(seed)
    activations = chance.integers(-2, 3, (frames, 3)).astype(float) if tied else chance.normal(size=(frames, 3))
    presence = chance.random((frames, 4)) < 0.4
    found = spearman(torch.from_numpy(activations), spoken_of(presence))
    for neuron in range(3):
        for word in range(4):
            if len(set(activations[:, neuron])) == 1 or len(set(presence[:, word])) == 1:
                assert np.isnan(found[neuron, word])
            else:
                expected = stats.spearmanr(activations[:, neuron], presence[:, word]).statistic
                assert found[neuron, word] == pytest.approx(expected, abs=1e-6)


def test_a_correlation_by_hand():
    """Ranks 0 1 2 3 against 0 0 1 1: Σ (r - 1.5)(b - 0.5) = 2, over √5 · 1."""
    found = spearman(torch.tensor([[0.1], [0.2], [0.4], [9.0]]), spoken_of(np.array([[0], [0], [1], [1]])))
    assert found.item() == pytest.approx(2 / np.sqrt(5))


def test_blocks_have_no_influence(monkeypatch):
    chance = np.random.default_rng(0)
    activations, presence = torch.from_numpy(chance.normal(size=(100, 5))), chance.random((100, 7)) < 0.3
    whole = spearman(activations, spoken_of(presence))
    monkeypatch.setattr(neurons, "_ROWS", 9)
    assert spearman(activations, spoken_of(presence)) == pytest.approx(whole, abs=1e-6)


def test_words_are_those_spoken_at_the_moment(vectors_corpus):
    corpus = vectors_corpus
    videos = embed_videos(IDENTITY, corpus, corpus.ids[:3])
    spoken = spoken_words(videos, corpus)
    expected = []
    for video in videos:
        for time in video.times:
            heard = [u.text for u in corpus[video.id].utterances if u.start <= time < u.end]
            expected.append({word for text in heard for word in words_of(text)})
    assert spoken.frames.tolist() == [at for at, words in enumerate(expected) if words]
    found = [set() for _ in spoken.frames]
    for row, column in zip(spoken.row, spoken.column, strict=True):
        found[row].add(spoken.words[column])
    assert found == [words for words in expected if words]
    counts = spoken.counts().tolist()
    assert counts == sorted(counts, reverse=True) and sum(counts) == sum(map(len, found))


def test_a_planted_neuron_is_found(vectors_corpus):
    """Neuron 3 of noise is raised wherever the commonest noun is said."""
    corpus = vectors_corpus
    videos = embed_videos(IDENTITY, corpus, corpus.ids)
    spoken = spoken_words(videos, corpus)
    nouns = verbs_and_nouns(corpus.tasks)[1]
    noun = next(at for at, word in enumerate(spoken.words) if word in nouns)
    count = sum(len(video.times) for video in videos)
    z = torch.randn(count, 6, generator=torch.Generator().manual_seed(0))
    said = spoken.frames[spoken.row[spoken.column == noun]]
    z[said, 3] += 5
    parts = z.split([len(video.times) for video in videos])
    made_up = [replace(video, frames=Embedding.of(part)) for video, part in zip(videos, parts, strict=True)]
    found = dissect(made_up, corpus, pictures=4)
    best = found["nouns"][0]
    assert (best.word, best.neuron) == (spoken.words[noun], 3)
    assert [len(found[kind]) for kind in ("verbs", "nouns")] == [3, 3]
    assert len({each.neuron for kind in found.values() for each in kind}) == 6  # no neuron twice
    highest = z[:, 3].topk(4).indices.tolist()
    places = [Place(video.id, frame) for video in videos for frame in range(len(video.times))]
    assert set(best.frames) == {places[at] for at in highest}
    assert dissect(made_up, corpus, pictures=4) == found
    chosen = dissect(made_up, corpus, nouns={"nonsense", spoken.words[noun]})["nouns"]
    assert [each.word for each in chosen] == [spoken.words[noun]]


def test_figures_of_the_best_are_scipys_and_add_up_over_videos(vectors_corpus):
    corpus = vectors_corpus
    videos = embed_videos(IDENTITY, corpus, corpus.ids)
    result = neurons.evaluate(videos, corpus)
    by_kind = dissect(videos, corpus)
    found = {f"spearman_rho/{kind}/{each.word}": each for kind, some in by_kind.items() for each in some}
    assert list(result.figures) == list(found) and len(found) == 6
    spoken = spoken_words(videos, corpus)
    z = torch.cat([video.frames.z for video in videos])[torch.from_numpy(spoken.frames)].numpy()
    firsts = np.cumsum([0, *(len(video.times) for video in videos)])
    for name, figure in result.figures.items():
        said = np.isin(np.arange(len(z)), spoken.row[spoken.column == spoken.words.index(found[name].word)])
        assert figure.mean == pytest.approx(stats.spearmanr(z[:, found[name].neuron], said).statistic)
        assert figure.mean == pytest.approx(found[name].correlation, abs=1e-5)
        assert figure.videos == tuple(corpus.ids)
        spoken_over = [((spoken.frames >= first) & (spoken.frames < last)).sum() for first, last in pairwise(firsts)]
        assert figure.counts.tolist() == spoken_over
        assert -1 < result.references[f"chance/{name}"] < figure.mean


def test_a_videos_share_of_a_correlation_by_hand(vectors_corpus, monkeypatch):
    """Frames 1 2 | 3 4 of two videos, "milk" over the last two: products of standardized ranks 1.5 0.5 | 0.5 1.5,
    each times 1 / √1.25; so a half of ρ = 2 / √5 from each video."""
    monkeypatch.setattr(neurons, "LEAST_FRAMES", 1)
    milk = SpokenWords(np.arange(4), ("milk",), np.array([2, 3]), np.array([0, 0]))
    monkeypatch.setattr(neurons, "spoken_words", lambda *_: milk)
    videos = [replace(drawn_video(2), id=name) for name in ("a", "b")]
    parts = torch.tensor([[1.0], [2.0], [3.0], [4.0]]).split(2)
    videos = [replace(video, frames=Embedding.of(part)) for video, part in zip(videos, parts, strict=True)]
    result = neurons.evaluate(videos, vectors_corpus)
    figure = result.figures["spearman_rho/nouns/milk"]
    assert figure.totals == pytest.approx([2 / np.sqrt(1.25)] * 2) and figure.counts.tolist() == [2, 2]
    assert figure.mean == pytest.approx(2 / np.sqrt(5))
    assert result.references == {"chance/spearman_rho/nouns/milk": pytest.approx(-2 / np.sqrt(5))}
    assert result.notes == ["word with neuron: “milk” with 0"]


def test_exciting_frames_are_drawn_from_the_top():
    activations = torch.arange(100_000.0)
    drawn = [exciting_frames(activations, 3, np.random.default_rng(seed)) for seed in range(20)]
    assert {at for each in drawn for at in each} == set(range(99_990, 100_000))  # 0.01 % of them
    assert all(len(set(each)) == 3 for each in drawn)
    assert sorted(exciting_frames(torch.arange(5.0), 3, np.random.default_rng(0))) == [2, 3, 4]
    assert sorted(exciting_frames(torch.arange(2.0), 3, np.random.default_rng(0))) == [0, 1]


def test_verbs_and_nouns_of_step_texts(vectors_corpus):
    verbs, nouns = verbs_and_nouns(vectors_corpus.tasks)
    assert {"pour", "cut", "add"} <= verbs and {"milk", "pan", "egg"} <= nouns
    assert not verbs & nouns and not {"into", "from", "with"} & (verbs | nouns)


def test_pictures_are_those_of_the_places(pictures_corpus):
    first, second = pictures_corpus.ids[:2]
    places = [Place(second, 3), Place(first, 0), Place(first, 7)]
    found = pictures_of(pictures_corpus, places).numpy()
    for picture, place in zip(found, places, strict=True):
        assert (picture == pictures_corpus[place.video].frames()[place.frame]).all()


def test_silence_and_broken_embeddings_are_refused(vectors_corpus):
    corpus = vectors_corpus
    video = embed_videos(IDENTITY, corpus, corpus.ids[:1])[0]
    with pytest.raises(InputError, match="nothing is said"):
        spoken_words([replace(video, times=video.times + 1e6)], corpus)
    broken = replace(drawn_video(3), id=video.id)
    broken.frames.z[0, 0] = np.nan
    with pytest.raises(InputError, match="contains NaN or Inf"):
        dissect([broken], corpus)
    short = neurons.evaluate([video], corpus)  # no word of the steps is said often enough
    assert short.figures == {} and short.notes == ["no word of a step's text is spoken over 50 frames or more"]
