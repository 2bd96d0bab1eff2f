"""Grad-CAM against its closed form, against differences, and on a picture with one bright place."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from mmcc.evaluation.gradcam import grad_cam
from mmcc.models.encoders import FeatureSettings, FrameResNetSettings, build_frame_encoder

NEURON = 3


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(0)
    encoder = build_frame_encoder(FrameResNetSettings(width=4), 8)
    for module in encoder.modules():  # as after training: no longer the identity
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2)
    return encoder.double().train()


@pytest.fixture(scope="module")
def frames():
    return torch.randint(256, (3, 64, 96, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


def maps_of(encoder, frames, stage):
    found = []
    hook = getattr(encoder.resnet, stage).register_forward_hook(lambda module, inputs, out: found.append(out.clone()))
    encoder.eval()
    with torch.no_grad():
        encoder(frames)
    hook.remove()
    return found[0]


def to_size(weights_PC, maps, frames):
    seen = torch.einsum("pc,pchw->phw", weights_PC, maps).relu()
    seen = F.interpolate(seen[:, None], size=frames.shape[1:3], mode="bilinear").squeeze(1)
    return (seen / seen.amax(dim=(1, 2), keepdim=True).clamp(min=1e-30)).numpy()


def test_on_the_last_stage_it_is_the_heads_own_weights(encoder, frames):
    """z = head(mean of the maps), so that the gradient is the head's row, the same everywhere."""
    maps = maps_of(encoder, frames, "layer4")
    weights = encoder.head.weight[NEURON].detach().expand(3, -1)
    assert grad_cam(encoder, frames, NEURON) == pytest.approx(to_size(weights, maps, frames), abs=1e-9)


def test_on_an_earlier_stage_it_is_the_derivative(encoder, frames):
    """w_c by differences: all places of a channel raised a little."""
    frames = frames[:1]
    maps = maps_of(encoder, frames, "layer3")
    small = 1e-6
    weights = torch.zeros(1, maps.shape[1])
    for channel in range(maps.shape[1]):
        change = torch.zeros_like(maps)
        change[:, channel] = small
        ends = []
        for sign in (1, -1):
            hook = encoder.resnet.layer3.register_forward_hook(lambda m, i, out, by=sign * change: out + by)
            with torch.no_grad():
                ends.append(encoder(frames)[0, NEURON].item())
            hook.remove()
        weights[0, channel] = (ends[0] - ends[1]) / (2 * small) / maps[0, 0].numel()
    expected = to_size(weights.double(), maps, frames)
    assert grad_cam(encoder, frames, NEURON, stage="layer3") == pytest.approx(expected, abs=1e-4)


def test_maps_have_the_pictures_size_and_range(encoder, frames):
    maps = grad_cam(encoder, frames, 0)
    assert maps.shape == (3, 64, 96) and maps.min() >= 0
    assert set(maps.max(axis=(1, 2)).tolist()) <= {0.0, 1.0}


def test_the_model_is_left_as_it_was(encoder, frames):
    encoder.train()
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    one = grad_cam(encoder, frames, NEURON)
    assert encoder.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in encoder.state_dict().items())
    assert all(parameter.grad is None for parameter in encoder.parameters())
    with torch.inference_mode():
        assert np.array_equal(grad_cam(encoder, frames, NEURON), one)
    assert grad_cam(encoder, frames[:1], NEURON) == pytest.approx(one[:1], abs=1e-9)


def test_nothing_exciting_gives_an_empty_map(encoder, frames):
    torch.nn.init.constant_(encoder.head.weight.data[1], -1.0)  # after ReLU no map is negative
    assert grad_cam(encoder, frames, 1).max() == 0


def test_the_bright_corner_is_where_it_looks():
    """A neuron of brightness: the head's weight on a channel that is made to pass brightness on."""
    torch.manual_seed(0)
    encoder = build_frame_encoder(FrameResNetSettings(width=4), 2).eval()
    frames = torch.zeros(1, 128, 128, 3, dtype=torch.uint8)
    frames[0, :64, :64] = 255
    lit, dark = (maps_of(encoder, each, "layer4") for each in (frames, torch.zeros_like(frames)))
    channel = int((lit - dark)[0, :, :2, :2].mean(dim=(1, 2)).argmax())
    torch.nn.init.zeros_(encoder.head.weight)
    encoder.head.weight.data[0, channel] = 1.0
    seen = grad_cam(encoder, frames, 0)[0]
    assert seen[:64, :64].mean() > seen[64:, 64:].mean()


def test_vectors_have_no_picture():
    encoder = build_frame_encoder(FeatureSettings(feature_dims=5), 8)
    with pytest.raises(ValueError, match="resnet18"):
        grad_cam(encoder, torch.zeros(1, 5), 0)
