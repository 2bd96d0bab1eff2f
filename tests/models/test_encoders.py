"""Frame encoders: pixels, features, and registered ones by name."""

from dataclasses import dataclass

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from mmcc.models import MMCC, ModelConfig, WeightsError, register_frame_encoder
from mmcc.models.encoders import (
    FeatureSettings,
    FrameEncoderSettings,
    FrameResNetSettings,
    build_frame_encoder,
    load_published_weights,
)
from mmcc.models.resnet import ResNet18
from mmcc.settings import WrongSetting, build

TINY, FEATURES = FrameResNetSettings(width=4), FeatureSettings(feature_dims=9)


def frames(count=3, pixels=48, seed=0):
    return torch.randint(
        0, 256, (count, pixels, pixels, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(seed)
    )


def test_pixels_are_normalised_inside():
    torch.manual_seed(0)
    encoder = build_frame_encoder(TINY, 6).double().eval()
    pixels = frames()
    mean, std = torch.tensor([0.485, 0.456, 0.406]).double(), torch.tensor([0.229, 0.224, 0.225]).double()
    by_hand = ((pixels.double() / 255 - mean) / std).permute(0, 3, 1, 2).contiguous()
    expected = encoder.resnet(by_hand) @ encoder.head.weight.T + encoder.head.bias
    torch.testing.assert_close(encoder(pixels), expected, atol=1e-6, rtol=1e-6)


def test_convolutions_get_channels_last_without_a_copy():
    encoder, seen = build_frame_encoder(TINY, 6), []
    encoder.resnet.conv1.register_forward_hook(lambda module, inputs, output: seen.extend([inputs[0], output]))
    encoder(frames())
    assert all(maps.is_contiguous(memory_format=torch.channels_last) for maps in seen)


def test_the_batch_is_not_changed():
    pixels = frames()
    build_frame_encoder(TINY, 6)(pixels)
    assert torch.equal(pixels, frames())


@pytest.mark.parametrize("pixels", [48, 64, 112])
def test_any_size_of_frame_gives_z(pixels):
    assert build_frame_encoder(TINY, 6)(frames(2, pixels)).shape == (2, 6)


def test_features_go_through_two_layers():
    torch.manual_seed(0)
    encoder = build_frame_encoder(FEATURES, 6).double()
    x = torch.randn(4, 9, dtype=torch.float64)
    first, _, norm, second = encoder.layers
    hidden = (x @ first.weight.T + first.bias).clamp(min=0)
    hidden = hidden - hidden.mean(dim=1, keepdim=True)
    hidden = hidden / (hidden.square().mean(dim=1, keepdim=True) + norm.eps).sqrt()
    torch.testing.assert_close(encoder(x), hidden @ second.weight.T + second.bias)


@pytest.mark.parametrize(
    ("settings", "wrong", "remedy"),
    [
        (TINY, torch.zeros(2, 9), "frame_encoder: features"),
        (TINY, torch.zeros(2, 48, 48, 3), "uint8"),
        (FEATURES, torch.zeros(2, 8), r"\[P, 9\].*\[2, 8\]"),
        (FEATURES, frames(), "frame_encoder: resnet18"),
    ],
)
def test_the_wrong_kind_of_corpus_is_named_with_the_setting_to_change(settings, wrong, remedy):
    with pytest.raises(ValueError, match=remedy):
        build_frame_encoder(settings, 6)(wrong)


def test_features_of_unknown_length_are_refused():
    with pytest.raises(ValueError, match="feature_dims"):
        build_frame_encoder(FeatureSettings(), 6)


@dataclass(frozen=True)
class ColourSettings(FrameEncoderSettings):
    name: str = "tests/average-colour"
    power: float = 1.0


class AverageColour(nn.Module):
    def __init__(self, settings, dims):
        super().__init__()
        self.power, self.layer = settings.power, nn.Linear(3, dims)

    def forward(self, frames):
        return self.layer(frames.float().mean(dim=(1, 2)) ** self.power)


def test_another_encoder_takes_a_few_lines(tmp_path):
    register_frame_encoder(ColourSettings)(AverageColour)
    config = build(ModelConfig, {"dims": 6, "frame_encoder": {"name": "tests/average-colour", "power": 2}})
    assert config.frame_encoder == ColourSettings(power=2.0)
    model = MMCC(config, vocabulary_size=5)
    assert model.embed_frames(frames()).shape == (3, 6) and model.frame_encoder.power == 2
    model.save_pretrained(tmp_path)
    assert MMCC.from_pretrained(tmp_path).config == config
    with pytest.raises(ValueError, match="registered already"):
        register_frame_encoder(ColourSettings)(lambda settings, dims: nn.Identity())


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(WrongSetting, match=r"model.frame_encoder: no frame encoder is named 'resnet19' \(known: eff"):
        build(ModelConfig, {"frame_encoder": "resnet19"}, "model")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"dims": 0}, "model.dims is 0"),
        ({"frame_encoder": {"width": -1}}, "model.frame_encoder.width is -1"),
        ({"frame_encoder": {"name": "features", "feature_dims": -1}}, "model.frame_encoder.feature_dims is -1"),
        ({"frame_encoder": {"name": "features", "width": 4}}, "there is no setting 'model.frame_encoder.width'"),
        ({"frame_encoder": {"name": 3}}, "model.frame_encoder.name must be text"),
        ({"frame_encoder": 3}, "model.frame_encoder must be a section of settings"),
    ],
)
def test_impossible_settings_are_named(values, said):
    with pytest.raises(WrongSetting, match=said):
        build(ModelConfig, values, "model")


@pytest.fixture
def published():
    """As torchvision publishes it: with a classifier, and in older files without counts of batches."""
    torch.manual_seed(7)
    weights = {k: v for k, v in ResNet18().state_dict().items() if not k.endswith("num_batches_tracked")}
    return weights | {"fc.weight": torch.zeros(1000, 512), "fc.bias": torch.zeros(1000)}


def test_published_weights_load_without_their_classifier(published, tmp_path):
    save_file(published, tmp_path / "resnet18.safetensors")
    encoder = build_frame_encoder(FrameResNetSettings(), 6)
    load_published_weights(encoder, tmp_path / "resnet18.safetensors")
    loaded = encoder.resnet.state_dict()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in published.items() if not name.startswith("fc."))


def test_published_weights_that_do_not_fit_are_named(published, tmp_path):
    path = tmp_path / "other.safetensors"
    published["layer2.0.downsample.0.weight"] = torch.zeros(128, 64, 3, 3)
    published["layer1.0.conv3.weight"] = published.pop("layer1.0.conv2.weight")
    save_file(published, path)
    encoder = build_frame_encoder(FrameResNetSettings(), 6)
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    with pytest.raises(WeightsError) as caught:
        load_published_weights(encoder, path)
    for part in (
        str(path),
        "1 weights missing (layer1.0.conv2.weight)",
        "1 weights not in this model (layer1.0.conv3.weight)",
        "layer2.0.downsample.0.weight [128, 64, 3, 3] instead of [128, 64, 1, 1]",
    ):
        assert part in str(caught.value)
    assert all(torch.equal(before[name], tensor) for name, tensor in encoder.state_dict().items())


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        (TINY, "model.frame_encoder.width is 4"),
        (FEATURES, "frame_encoder: resnet18"),
    ],
)
def test_published_weights_need_the_published_net(settings, cause, tmp_path):
    with pytest.raises(WeightsError, match=cause):
        load_published_weights(build_frame_encoder(settings, 6), tmp_path / "resnet18.safetensors")
