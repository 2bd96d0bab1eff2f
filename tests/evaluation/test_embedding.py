"""Whole videos embedded: what belongs to which, however it is packed."""

import numpy as np
import pytest
import torch

from mmcc.data.vocabulary import Vocabulary, has_words
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.adapters import TrainedAdapter, Words
from mmcc.evaluation.embedding import embed_videos
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FeatureSettings, FrameResNetSettings
from mmcc.models.model import MMCC
from mmcc.models.nodes import VISION


class Raw:
    """Frames as they are, and how many were given in a call."""

    name, modalities, temperature, past, combine = "raw", (VISION,), 0.1, None, None

    def __init__(self, spoilt=None):
        self.calls, self.spoilt = [], spoilt

    def embed_frames(self, frames):
        self.calls.append(len(frames))
        z = frames.flatten(1).double()
        if self.spoilt is not None:
            z = torch.where((z == self.spoilt).all(dim=1, keepdim=True), torch.nan, z)
        return Embedding.of(z)

    def future(self, node):
        return node.pi


def model(corpus, encoder):
    torch.manual_seed(0)
    vocabulary = Vocabulary(["egg", "milk", "the"])
    pixels, features = FrameResNetSettings(width=4), FeatureSettings(feature_dims=corpus.manifest.size)
    config = ModelConfig(dims=8, frame_encoder=pixels if encoder == "resnet18" else features)
    return TrainedAdapter(MMCC(config, len(vocabulary)), words=Words(vocabulary), name="cross_modal")


@pytest.mark.parametrize("batch_size", [1, 37, 256, 100_000])
def test_every_frame_goes_to_its_video_whatever_it_is_packed_with(vectors_corpus, batch_size):
    ids, adapter = vectors_corpus.ids[:3][::-1], Raw()
    videos = embed_videos(adapter, vectors_corpus, ids, batch_size=batch_size)
    assert [video.id for video in videos] == ids
    for video in videos:
        stored = vectors_corpus[video.id]
        assert np.array_equal(video.frames.z.numpy(), stored.frames()) and np.array_equal(video.times, stored.times)
        assert video.steps == stored.steps and video.tasks == tuple(stored.tasks) and video.utterances is None
    assert all(call == batch_size for call in adapter.calls[:-1]) and adapter.calls[-1] <= batch_size


def test_words_are_embedded_where_there_are_any(vectors_corpus):
    adapter = model(vectors_corpus, "features")
    for video in embed_videos(adapter, vectors_corpus, vectors_corpus.ids[:3]):
        said = [each for each in vectors_corpus[video.id].utterances if has_words(each.text)]
        assert len(video.text_times) == len(said) == len(video.utterances.z)
        assert (np.diff(video.text_times) >= 0).all()
        assert video.text_times[0] == pytest.approx((said[0].start + said[0].end) / 2)
        assert torch.allclose(video.utterances.pi[:1], adapter.embed_texts([said[0].text]).pi, atol=1e-6)


def test_it_is_the_same_twice_and_in_evaluation_mode(pictures_corpus):
    adapter = model(pictures_corpus, "resnet18")
    first, again = (embed_videos(adapter, pictures_corpus, pictures_corpus.ids) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        assert torch.equal(one.frames.z, other.frames.z)
    packed = embed_videos(adapter, pictures_corpus, pictures_corpus.ids, batch_size=7)
    assert torch.allclose(packed[0].frames.z, first[0].frames.z, atol=1e-5)  # batch norm sees no neighbours


def test_progress_is_over_videos(vectors_corpus):
    seen = []

    def progress(ids):
        for each in ids:
            yield each
            seen.append(each)

    embed_videos(Raw(), vectors_corpus, vectors_corpus.ids[:3], progress=progress)
    assert seen == vectors_corpus.ids[:3]


def test_an_embedding_that_is_no_number_names_the_video(vectors_corpus):
    ids = vectors_corpus.ids[:3]
    spoilt = torch.from_numpy(vectors_corpus[ids[1]].frames(4, 5)).double()
    with pytest.raises(InputError, match=rf"embedding of 1 of \d+ frames of {ids[1]} contains NaN"):
        embed_videos(Raw(spoilt), vectors_corpus, ids)


def test_pictures_and_vectors_are_not_taken_for_one_another(vectors_corpus, pictures_corpus):
    for_pictures, for_vectors = model(pictures_corpus, "resnet18"), model(vectors_corpus, "features")
    with pytest.raises(InputError, match="does not fit cross_modal: the resnet18 encoder takes frames") as error:
        embed_videos(for_pictures, vectors_corpus, vectors_corpus.ids)
    assert error.value.path == str(vectors_corpus.path) and "frame_encoder: features" in error.value.remedy
    with pytest.raises(InputError, match="does not fit cross_modal: the features encoder takes floats"):
        embed_videos(for_vectors, pictures_corpus, pictures_corpus.ids)


def test_no_video_at_all_is_told(vectors_corpus):
    with pytest.raises(InputError, match="has a frame"):
        embed_videos(Raw(), vectors_corpus, [])


def test_a_mean_is_of_z_and_of_pi_at_unit_norm():
    nodes = Embedding.of(torch.tensor([[3.0, 0.0], [0.0, 1.0], [5.0, 5.0]]))
    mean = nodes.mean(torch.tensor([[0.5, 0.5, 0.0]]))
    assert mean.z.tolist() == [[1.5, 0.5]]
    assert mean.pi[0].tolist() == pytest.approx([2**-0.5, 2**-0.5])  # of π, where the long one weighs no more
