"""Heads on pretrained backbones: whitening by hand, pictures and vectors alike, and no weights of the backbone."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.backbones import open_frame_backbone
from mmcc.errors import InputError
from mmcc.models import ModelConfig, load_network
from mmcc.models.encoders import FrameEncoderSettings, build_frame_encoder
from mmcc.models.model import MMCC
from mmcc.models.pretrained_encoders import EfficientNetLite0Settings, HeadSettings, MiniLmSettings, VectorHead
from mmcc.settings import build

LITE0 = EfficientNetLite0Settings(components=8, feature_dims=1280)


def correlated(rows, dims, seed=0):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(rows, dims, generator=rng) @ torch.randn(dims, dims, generator=rng) + 3


@given(st.integers(2, 12), st.integers(2, 6), st.integers(1, 6), st.integers(0, 9))
def test_whitened_components_are_uncorrelated_with_equal_variance(rows, dims, components, seed):
    vectors = correlated(10 * rows, dims, seed)
    head = VectorHead(HeadSettings(components=components, feature_dims=dims), 4, "x")
    head.fit(vectors)
    white = head.whitened(vectors)
    covariance = torch.from_numpy(np.atleast_2d(np.cov(white.numpy().T)))
    kept = head.directions.abs().sum(dim=0) > 0  # components of almost no variance are left out
    assert kept.any()
    expected = torch.diag(kept.double()) * covariance.diagonal()[kept].mean()
    assert torch.allclose(covariance, expected, atol=2e-2)
    assert covariance.diagonal().sum() == pytest.approx(1, rel=0.02)


def test_by_hand():
    angle = torch.tensor([0.1, -0.1])
    vectors = torch.stack([angle.cos(), angle.sin()], dim=1)  # of unit norm; they differ in the second dim alone
    head = VectorHead(HeadSettings(components=2, feature_dims=2), 4, "x")
    head.fit(3 * vectors)
    assert head.mean.tolist() == pytest.approx([np.cos(0.1), 0], abs=1e-6)
    assert head.whitened(5 * vectors)[:, 0].tolist() == pytest.approx(
        [0.5**0.5, -(0.5**0.5)]
    )  # of variance 1, over n - 1 = 1
    assert head.whitened(vectors)[:, 1].tolist() == [0, 0]


@pytest.mark.parametrize(("whitening", "ratio"), [(0.0, 9.0), (0.5, 3.0), (1.0, 1.0)])
def test_partial_whitening_keeps_some_of_the_spread(whitening, ratio):
    rng = torch.Generator().manual_seed(0)
    small = torch.randn(4000, 2, generator=rng) * torch.tensor([0.09, 0.01])
    vectors = torch.cat([small, torch.ones(4000, 1)], dim=1)
    head = VectorHead(HeadSettings(components=2, feature_dims=3, whitening=whitening), 4, "x")
    head.fit(vectors)
    spread = head.whitened(vectors).std(dim=0)
    assert spread[0] / spread[1] == pytest.approx(ratio, rel=0.1)


def test_a_direction_without_variance_does_not_explode():
    vectors = torch.cat([correlated(50, 3), torch.zeros(50, 1)], dim=1)
    head = VectorHead(HeadSettings(components=4, feature_dims=4), 2, "x")
    head.fit(vectors)
    assert head.directions.isfinite().all() and (head.directions.norm(dim=0) > 0).sum() <= 3
    fewer = VectorHead(HeadSettings(components=4, feature_dims=4), 2, "x")
    fewer.fit(vectors[:2])  # fewer vectors than components
    assert fewer(vectors).isfinite().all()


def test_the_sign_of_a_component_does_not_depend_on_the_solver():
    vectors = correlated(40, 5)
    one, other = (VectorHead(HeadSettings(components=3, feature_dims=5), 2, "x") for _ in range(2))
    one.fit(vectors)
    other.fit(vectors.flip(0))
    assert torch.allclose(one.directions, other.directions, atol=1e-4)


def test_pictures_and_their_stored_vectors_give_the_same_z():
    torch.manual_seed(0)
    encoder = build_frame_encoder(LITE0, 6).eval()
    pictures = torch.randint(0, 256, (3, 40, 56, 3), dtype=torch.uint8)
    with torch.inference_mode():
        vectors = open_frame_backbone("efficientnet-lite0")(pictures)
        assert torch.allclose(encoder(pictures), encoder(vectors), atol=1e-4)
    assert all("backbone" not in name for name in encoder.state_dict())


def test_another_version_of_the_backbone_is_refused():
    encoder = build_frame_encoder(EfficientNetLite0Settings(feature_dims=1280, checksum="0" * 32), 6)
    assert encoder(torch.zeros(1, 1280)).shape == (1, 6)  # stored vectors were checked when the corpus was opened
    with pytest.raises(InputError, match="differs from the one that the model was trained on"):
        encoder(torch.zeros(1, 8, 8, 3, dtype=torch.uint8))


def test_unfrozen_the_backbone_learns_and_is_saved(tmp_path):
    settings = EfficientNetLite0Settings(feature_dims=1280, components=0, frozen=False)
    encoder = build_frame_encoder(settings, 4)
    encoder(torch.zeros(2, 32, 32, 3, dtype=torch.uint8)).sum().backward()
    weights = [weight for name, weight in encoder.named_parameters() if name.startswith("backbone")]
    assert weights and any(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in weights)
    assert not any(weight.requires_grad for weight in open_frame_backbone("efficientnet-lite0").parameters())


def test_a_model_of_heads_is_small_and_comes_back_as_it_was(tmp_path):
    torch.manual_seed(0)
    config = ModelConfig(8, LITE0, MiniLmSettings(components=4, feature_dims=384))
    model = MMCC(config, 0).eval()
    model.frame_encoder.head.fit(correlated(20, 1280))
    model.save_pretrained(tmp_path)
    again = load_network(tmp_path)
    vectors, said = torch.randn(3, 1280), torch.randn(2, 384)
    assert torch.equal(model.frame_nodes(vectors)[1], again.frame_nodes(vectors)[1])
    assert torch.equal(model.text_nodes(said)[1], again.text_nodes(said)[1])
    assert (tmp_path / "model.safetensors").stat().st_size < 200_000


def test_names_with_a_file_keep_it(tmp_path):
    settings = build(FrameEncoderSettings, "onnx:dino.onnx?pooling=cls")
    assert settings.name == "onnx:dino.onnx?pooling=cls" and type(settings).__name__ == "OnnxFrameSettings"
    assert build(FrameEncoderSettings, {"name": settings.name, "components": 32}).components == 32


def test_wrong_input_is_said():
    with pytest.raises(ValueError, match="needs feature_dims"):
        build_frame_encoder(EfficientNetLite0Settings(), 4)
    with pytest.raises(ValueError, match=r"takes vectors \[P, 1280\] of floats, not \[2, 7\]"):
        build_frame_encoder(LITE0, 4)(torch.zeros(2, 7))
    with pytest.raises(ValueError, match="dropout"):
        HeadSettings(dropout=1.5)
