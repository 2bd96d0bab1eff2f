"""Packed for the encoders, padded for the objectives: no node is lost and padding is marked."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.data.batch import Sample, collate
from mmcc.errors import InputError


def made_up(number, frames, utterances, words=3, shape=(4, 5, 3)):
    random = np.random.default_rng([number, frames, utterances])
    ids = random.integers(1, 50, (utterances, 8))
    ids[:, words:] = 0
    return Sample(
        number,
        f"video {number}",
        random.integers(0, 256, (frames, *shape), np.uint8),
        np.sort(random.uniform(0, 64, frames)),
        ids,
        np.sort(random.uniform(0, 64, utterances)),
    )


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 7)), min_size=1, max_size=6))
def test_every_node_comes_back_from_its_place(lengths):
    samples = [made_up(number, *length) for number, length in enumerate(lengths)]
    batch = collate(samples)
    assert batch.frame_valid.shape == (len(samples), max(frames for frames, _ in lengths))
    assert batch.text_valid.shape == (len(samples), max(utterances for _, utterances in lengths))
    assert batch.frames.shape[0] == batch.frame_valid.sum() and batch.words.shape == (batch.text_valid.sum(), 3)
    padded = torch.zeros(*batch.frame_valid.shape, 4, 5, 3, dtype=torch.uint8)
    padded[batch.frame_valid] = batch.frames  # as a model scatters what it has encoded
    padded_words = torch.zeros(*batch.text_valid.shape, 3, dtype=torch.int64)
    padded_words[batch.text_valid] = batch.words
    for row, sample in enumerate(samples):
        frames, utterances = len(sample.frames), len(sample.words)
        assert np.array_equal(padded[row, :frames].numpy(), sample.frames)
        assert np.array_equal(padded_words[row, :utterances].numpy(), sample.words[:, :3])
        assert np.allclose(batch.frame_times[row, :frames], sample.frame_times)
        assert np.allclose(batch.text_times[row, :utterances], sample.text_times)
        assert batch.frame_valid[row].tolist() == [True] * frames + [False] * (len(batch.frame_valid[row]) - frames)
        assert not batch.frame_times[row, frames:].any() and not batch.text_times[row, utterances:].any()


def test_types_and_names():
    batch = collate([made_up(7, 3, 2), made_up(4, 2, 5, words=8)])
    assert (batch.frames.dtype, batch.frame_valid.dtype, batch.frame_times.dtype) == (
        torch.uint8,
        torch.bool,
        torch.float32,
    )
    assert (batch.words.dtype, batch.text_valid.dtype, batch.text_times.dtype) == (
        torch.int64,
        torch.bool,
        torch.float32,
    )
    assert batch.videos == ["video 7", "video 4"] and batch.samples.tolist() == [7, 4] and len(batch) == 2
    assert batch.words.shape == (7, 8)


def test_moving_keeps_everything():
    batch = collate([made_up(7, 3, 2)])
    moved = batch.to("meta")
    assert moved.frames.device.type == moved.samples.device.type == "meta" and moved.videos == batch.videos
    assert batch.frames.device.type == "cpu"


def test_frames_of_different_sizes_are_named():
    with pytest.raises(InputError, match=r"video 1: its frames are 6 x 4 pixels, those of video 0 5 x 4\n.*--fit crop"):
        collate([made_up(0, 2, 2), made_up(1, 2, 2, shape=(4, 6, 3))])


def test_a_batch_without_frames_keeps_a_place_for_one():
    said = Sample(0, "v", np.empty((0, 4), np.float32), np.empty(0), np.ones((2, 3), np.float32), np.array([1.0, 2.0]))
    batch = collate([said, said])
    assert batch.frames.shape == (0, 4) and batch.frame_valid.tolist() == [[False], [False]]
    assert batch.words.shape == (4, 3) and batch.text_valid.all()
