"""ResNet-18 against its definition, written with sums over kernel offsets instead of torch's layers."""

import pytest
import torch
import torch.nn.functional as F

from mmcc.models.resnet import ResNet18

NORM_VECTORS = ("weight", "bias", "running_mean", "running_var")


def expected_shapes(width):
    """torchvision's names, by formula."""
    shapes = {}

    def conv_and_norm(conv, norm, channels_out, channels_in, kernel):
        shapes[f"{conv}.weight"] = (channels_out, channels_in, kernel, kernel)
        shapes.update({f"{norm}.{name}": (channels_out,) for name in NORM_VECTORS})
        shapes[f"{norm}.num_batches_tracked"] = ()

    conv_and_norm("conv1", "bn1", width, 3, 7)
    for stage in range(4):
        channels = width * 2**stage
        for block in range(2):
            enters = max(channels // 2, width) if block == 0 else channels
            prefix = f"layer{stage + 1}.{block}"
            conv_and_norm(f"{prefix}.conv1", f"{prefix}.bn1", channels, enters, 3)
            conv_and_norm(f"{prefix}.conv2", f"{prefix}.bn2", channels, channels, 3)
            if enters != channels:
                conv_and_norm(f"{prefix}.downsample.0", f"{prefix}.downsample.1", channels, enters, 1)
    return shapes


@pytest.mark.parametrize("width", [16, 32, 64])
def test_names_and_shapes_are_torchvision_s(width):
    net = ResNet18(width)
    assert {name: tuple(tensor.shape) for name, tensor in net.state_dict().items()} == expected_shapes(width)


def test_the_published_net_has_the_published_number_of_parameters():
    classifier = 512 * 1000 + 1000
    assert sum(parameter.numel() for parameter in ResNet18().parameters()) == 11_689_512 - classifier


def conv_by_hand(x, weight, stride):
    """out[p, o, i, j] = Σ over c, u, v of weight[o, c, u, v] · padded[p, c, stride · i + u, stride · j + v]"""
    kernel = weight.shape[-1]
    padded = F.pad(x, [kernel // 2] * 4)
    height, width = ((size - 1) // stride + 1 for size in x.shape[2:])
    return sum(
        torch.einsum(
            "pchw,oc->pohw",
            padded[:, :, u : u + stride * height : stride, v : v + stride * width : stride][..., :height, :width],
            weight[:, :, u, v],
        )
        for u in range(kernel)
        for v in range(kernel)
    )


def norm_by_hand(x, state, name, training):
    mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
    if training:
        mean, variance = x.mean(dim=(0, 2, 3)), x.var(dim=(0, 2, 3), correction=0)
    scale = state[f"{name}.weight"] / (variance + 1e-5).sqrt()
    return (x - mean[:, None, None]) * scale[:, None, None] + state[f"{name}.bias"][:, None, None]


def resnet_by_hand(x, state, training):
    """He et al., Table 1, 18 layers."""

    def conv_and_norm(x, conv, norm, stride):
        return norm_by_hand(conv_by_hand(x, state[f"{conv}.weight"], stride), state, norm, training)

    x = conv_and_norm(x, "conv1", "bn1", 2).clamp(min=0)
    padded = F.pad(x, [1] * 4)  # zeros do as -inf would: nothing here is negative
    size = (x.shape[-1] - 1) // 2 + 1
    x = torch.stack(
        [padded[..., u : u + 2 * size : 2, v : v + 2 * size : 2][..., :size, :size] for u in range(3) for v in range(3)]
    ).amax(dim=0)
    for stage in range(1, 5):
        for block in range(2):
            name, stride = f"layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1
            out = conv_and_norm(x, f"{name}.conv1", f"{name}.bn1", stride).clamp(min=0)
            out = conv_and_norm(out, f"{name}.conv2", f"{name}.bn2", 1)
            if f"{name}.downsample.0.weight" in state:
                x = conv_and_norm(x, f"{name}.downsample.0", f"{name}.downsample.1", stride)
            x = (out + x).clamp(min=0)
    return x.mean(dim=(2, 3))


def shaken(net):
    """A net whose norms are not the identity, so that a norm in the wrong place shows."""
    for name, tensor in net.state_dict().items():
        if tensor.ndim == 1:
            torch.nn.init.uniform_(tensor, 0.5, 1.5)
            if name.endswith((".bias", ".running_mean")):
                tensor.sub_(1)
    return net


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("pixels", [48, 50])
def test_equals_the_definition(pixels, training):
    torch.manual_seed(0)
    net = shaken(ResNet18(4).double()).train(training)
    frames = torch.randn(3, 3, pixels, pixels, dtype=torch.float64)
    by_hand = resnet_by_hand(frames, {name: tensor.clone() for name, tensor in net.state_dict().items()}, training)
    torch.testing.assert_close(net(frames), by_hand, atol=1e-9, rtol=1e-9)
    assert by_hand.shape == (3, 32)


def test_convolutions_start_as_kaiming_says():
    torch.manual_seed(0)
    net = ResNet18(64)
    weight = net.layer3[0].conv1.weight  # fan out: 256 channels of 3 × 3
    assert weight.std().item() == pytest.approx((2 / (256 * 9)) ** 0.5, rel=0.01)
    assert all((net.layer1[0].bn1.weight == 1).tolist()) and not net.layer1[0].bn1.bias.any()


def test_every_parameter_gets_a_gradient():
    torch.manual_seed(0)
    net = ResNet18(4)
    net(torch.randn(4, 3, 48, 48)).square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in net.parameters())
