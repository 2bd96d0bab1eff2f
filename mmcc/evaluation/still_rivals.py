"""What a regression makes of stills and sentences: the rivals that a trained model must beat.

    ridge to position     frames' vectors → place in the video, 0 to 1; order by it
    sentences alone       sentences' vectors → place; order by it
    ridge to sentences    frames' vectors → the vector of their sentence; matched by cosine, ordered by its place
    position alone        stills and sentences matched by their places

All are ridge regressions on the same vectors that the models are trained on,

    W = argmin Σ_i |W x_i + b - y_i|² + λ v |W|²,    x of unit norm, v the mean of its Σ x² over the dims

with λ chosen on a fifth of the training videos. (Standardized dims instead of unit norm lose 0.03 of τ.)

Shapes: P frames or sentences, F dims of a vector, n stills of a video, T candidate sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus import Corpus
from mmcc.evaluation.stills import NEAR, Judgement, Stills

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Regression = Callable[[Floats], Floats]

STRENGTHS = tuple(10.0**power for power in np.arange(-2, 2.01, 0.5))  # of λ
_PARTS = 5


class TrainingData(NamedTuple):
    """Vectors of the training videos."""

    frames: Floats  # [P, F]
    frame_places: Floats  # [P] 0 for a video's first sentence, 1 for its last
    frame_sentences: Floats  # [P, F'] the vector of each frame's sentence
    frame_videos: Ints  # [P]
    sentences: Floats  # [P', F']
    sentence_places: Floats  # [P']
    sentence_videos: Ints  # [P']


def training_data(corpus: Corpus, ids: Sequence[str]) -> TrainingData:
    """From a corpus opened with the vectors of both encoders."""
    frames, frame_places, frame_sentences, frame_videos = [], [], [], []
    sentences, sentence_places, sentence_videos = [], [], []
    for number, video_id in enumerate(ids):
        video = corpus[video_id]
        vectors, count = video.text_vectors, len(video.utterances)
        if vectors is None or count < 2:
            continue
        places = np.arange(count) / (count - 1)
        sentences.append(vectors)
        sentence_places.append(places)
        sentence_videos.append(np.full(count, number))
        if len(video.times):
            centres = np.array([(said.start + said.end) / 2 for said in video.utterances])
            own = np.abs(video.times[:, None] - centres).argmin(axis=1)
            near = np.abs(video.times - centres[own]) <= NEAR
            frames.append(video.frames()[near])
            frame_places.append(places[own[near]])
            frame_sentences.append(vectors[own[near]])
            frame_videos.append(np.full(near.sum(), number))
    return TrainingData(
        np.concatenate(frames).astype(np.float64),
        np.concatenate(frame_places),
        np.concatenate(frame_sentences).astype(np.float64),
        np.concatenate(frame_videos),
        np.concatenate(sentences).astype(np.float64),
        np.concatenate(sentence_places),
        np.concatenate(sentence_videos),
    )


def ridge(x_PF: Floats, y_P: Floats, groups_P: Ints, strengths: Sequence[float] = STRENGTHS) -> Regression:
    """With the λ that has the lowest squared error on a fifth of the groups, fitted again on all of them."""
    held_out = groups_P % _PARTS == 0
    errors = []
    for strength in strengths:
        fitted = _fit(x_PF[~held_out], y_P[~held_out], strength)
        errors.append(float(np.square(fitted(x_PF[held_out]) - y_P[held_out]).sum()))
    return _fit(x_PF, y_P, strengths[int(np.argmin(errors))])


def _fit(x_PF: Floats, y_P: Floats, strength: float) -> Regression:
    x = _unit(x_PF)
    mean, offset = x.mean(axis=0), y_P.mean(axis=0)
    x, y = x - mean, y_P - offset
    weight = strength * np.square(x).sum() / x.shape[1]
    if len(x) < x.shape[1]:  # the same solution, from the smaller of the two products
        weights = x.T @ np.linalg.solve(x @ x.T + weight * np.eye(len(x)), y)
    else:
        weights = np.linalg.solve(x.T @ x + weight * np.eye(x.shape[1]), x.T @ y)
    return lambda given: np.asarray((_unit(given) - mean) @ weights + offset, np.float64)


def rivals(corpus: Corpus, training: Sequence[str], stills: Stills) -> dict[str, list[Judgement]]:
    """Each rival's judgements of every set, fitted on the training videos."""
    data = training_data(corpus, training)
    place_of_frame = ridge(data.frames, data.frame_places, data.frame_videos)
    place_of_sentence = ridge(data.sentences, data.sentence_places, data.sentence_videos)
    sentence_of_frame = ridge(data.frames, data.frame_sentences, data.frame_videos)
    vector = _vectors_by_text(corpus, [each.video for each in stills.sets])
    candidates = np.stack([vector[text] for text in stills.texts])
    mean = data.sentences.mean(axis=0)
    judged: dict[str, list[Judgement]] = {}
    for each in stills.sets:
        seen = corpus[each.video].frames().astype(np.float64)
        words = np.stack([vector[text] for text in each.sentences])
        place, said_place, predicted = place_of_frame(seen), place_of_sentence(words), sentence_of_frame(seen)
        guessed_place = place_of_sentence(predicted)
        alike, later = (_cosine(predicted - mean, given - mean) for given in (words, candidates))
        found = {
            "ridge to position": Judgement({"seen": _before(place), "both": _before(place + said_place)}),
            "sentences alone": Judgement({"read": _before(said_place)}),
            "ridge to sentences": Judgement({"seen": _before(guessed_place)}, alike, later),
            "position alone": Judgement(alike=-np.square(place[:, None] - said_place)),
        }
        for name, judgement in found.items():
            judged.setdefault(name, []).append(judgement)
    return judged


def _before(places_n: Floats) -> Floats:
    """[n, n]: the value of i before j."""
    return places_n - places_n[:, None]


def _cosine(one: Floats, other: Floats) -> Floats:
    return np.asarray(_unit(one) @ _unit(other).T, np.float64)


def _unit(x: Floats) -> Floats:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True).clip(1e-12), np.float64)


def _vectors_by_text(corpus: Corpus, ids: Sequence[str]) -> dict[str, Floats]:
    found: dict[str, Floats] = {}
    for video_id in ids:
        vectors = corpus[video_id].text_vectors
        assert vectors is not None
        texts = [said.text for said in corpus[video_id].utterances]
        found |= dict(zip(texts, vectors.astype(np.float64), strict=True))
    return found
