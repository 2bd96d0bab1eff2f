"""Pairs of frames: who chooses what, and that chance decides only what it should."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.pairs import sample_pairs
from tests.evaluation.drawn_videos import ByTable, LinearAdapter, drawn_video, one_hot_video


def unordered(pairs):
    return [{a, b} for a, b in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)]


@settings(max_examples=30)
@given(st.integers(2, 40), st.integers(1, 20), st.integers(0, 10**6), st.booleans())
def test_pairs_are_different_frames_from_different_starts(frames, per_video, seed, at_random):
    videos = [drawn_video(frames, seed=seed, name="one"), drawn_video(2, seed=seed + 1, name="two")]
    pairs = sample_pairs(videos, None if at_random else LinearAdapter(), per_video=per_video, seed=seed)
    assert len(pairs) == min(per_video, frames) + min(per_video, 2)
    assert (pairs.first != pairs.second).all()
    assert ((pairs.earlier_first) == (pairs.first < pairs.second)).all()
    turned = pairs.forward == pairs.earlier_first  # shown as chosen
    start = np.where(turned, pairs.first, pairs.second)
    for at in range(2):
        assert len(set(start[pairs.of_video == at])) == (pairs.of_video == at).sum()


@settings(max_examples=30)
@given(st.integers(2, 30), st.integers(0, 10**6))
def test_the_future_is_the_models_best_other_frame(frames, seed):
    adapter, video = LinearAdapter(), drawn_video(frames, seed=seed)
    pairs = sample_pairs([video], adapter, per_video=frames)
    futures = adapter.future(video.frames)
    expected = {}
    for u in range(frames):
        others = [v for v in range(frames) if v != u]
        expected[u] = max(others, key=lambda v: float(futures[u] @ video.frames.pi[v]))
    start = np.where(pairs.forward == pairs.earlier_first, pairs.first, pairs.second).tolist()
    future = np.where(pairs.forward == pairs.earlier_first, pairs.second, pairs.first).tolist()
    assert dict(zip(start, future, strict=True)) == expected


def test_a_sampler_that_always_goes_forward_is_still_shuffled():
    """Else the answer would be in the order they are shown."""
    videos = [one_hot_video(20, name=str(number)) for number in range(100)]
    pairs = sample_pairs(videos, ByTable([*range(1, 20), 18]), per_video=16)
    assert pairs.forward.mean() > 0.9
    assert 0.45 < pairs.earlier_first.mean() < 0.55
    assert 0.45 < pairs.earlier_first[pairs.forward].mean() < 0.55


def test_without_a_model_any_two_frames_are_as_likely():
    videos = [drawn_video(4, name=str(number)) for number in range(600)]
    pairs = sample_pairs(videos, per_video=4)
    counts = np.zeros((4, 4))
    np.add.at(counts, (pairs.first, pairs.second), 1)
    others = counts[~np.eye(4, dtype=bool)]
    assert counts.trace() == 0 and others.min() > 0.75 * others.mean() and others.max() < 1.25 * others.mean()


def test_starts_are_drawn_by_concreteness():
    """One frame of five has its words: e^{1/0.1} makes it the start nearly always."""
    video = drawn_video(5, 1)
    heard = Embedding.of(video.frames.pi[2:3])
    others = video.frames.pi - (video.frames.pi @ heard.pi.T) * heard.pi
    seen = Embedding.of(torch.cat([others[:2], heard.pi, others[3:]]))
    videos = [type(video)(str(number), (), [], video.times, seen, video.text_times, heard) for number in range(200)]
    pairs = sample_pairs(videos, LinearAdapter(), per_video=1)
    assert np.mean([2 in pair for pair in unordered(pairs)]) > 0.97
    assert np.mean([2 in pair for pair in unordered(sample_pairs(videos, per_video=1))]) < 0.6


def test_a_model_without_words_starts_anywhere():
    videos = [drawn_video(5, None, name=str(number)) for number in range(200)]
    pairs = sample_pairs(videos, LinearAdapter(), per_video=1)
    start = np.where(pairs.forward == pairs.earlier_first, pairs.first, pairs.second)
    assert np.bincount(start, minlength=5).min() > 20


def test_a_videos_pairs_depend_on_it_alone():
    one, two = drawn_video(9, name="one"), drawn_video(9, name="two", seed=4)
    both, alone = sample_pairs([one, two], per_video=4), sample_pairs([two], per_video=4)
    assert both.first[both.of_video == 1].tolist() == alone.first.tolist()
    assert both.second[both.of_video == 1].tolist() == alone.second.tolist()
    assert sample_pairs([two], per_video=4, seed=1).first.tolist() != alone.first.tolist()


@pytest.mark.parametrize("adapter", [None, LinearAdapter()])
def test_a_video_of_one_frame_has_no_pair(adapter):
    pairs = sample_pairs([drawn_video(1, name="one"), drawn_video(3, name="three")], adapter, per_video=2)
    assert pairs.videos == ("one", "three") and pairs.of_video.tolist() == [1, 1]
    assert len(sample_pairs([drawn_video(1)], adapter)) == 0


def test_a_future_that_is_no_number_chooses_nothing():
    class Broken(LinearAdapter):
        def future(self, node):
            return node.pi * torch.nan

    with pytest.raises(InputError, match="its predictions contain NaN or Inf"):
        sample_pairs([drawn_video(9)], Broken())
