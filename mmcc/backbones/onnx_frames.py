"""Any image encoder that was exported to ONNX: DINOv2, CLIP's or SigLIP's vision tower, a ResNet.

    onnx:dino.onnx?size=224&pooling=cls&mean=0.485,0.456,0.406&std=0.229,0.224,0.225

Each setting is the option of the name if it is given, else what the graph says, else what a preprocessor_config.json
beside the file says (as Hugging Face writes it), else the default:

    layout   nchw or nhwc                                     by the place of the 3 in the input's shape, else nchw
    size     side of the square pictures in pixels            224
    resize   side that the shorter side is resized to first   as size; larger: the network sees the centre only
    mean     of red, green and blue in [0, 1], or one number  ImageNet's
    std      the same                                         ImageNet's
    output   the output to take                               image_embeds, pooler_output, else the first vectors
                                                              [P, D], else tokens [P, T, D], else maps, by the mean
    pooling  of tokens: cls, the first, or mean, of all       cls

A graph that reads bytes gets them as they are. Pictures are fitted as for all backbones: the centre square, also
where a processor would squeeze them.

Shapes: P pictures, S side, C channels, T tokens, D dims.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mmcc.backbones import pictures
from mmcc.backbones.base import FrameBackbone, checksum_of
from mmcc.backbones.onnx_graph import Array, GraphInput, OnnxGraph, OnnxName, choose_output, shape_text
from mmcc.errors import InputError, UsageError
from mmcc.untrusted import read_json

OPTIONS = ("size", "resize", "layout", "mean", "std", "output", "pooling")
PREFERRED = ("image_embeds", "pooler_output")
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_DTYPES = ("float32", "float16", "uint8")
_CONFIG = "preprocessor_config.json"
_VERSION = "onnx-frames-1"  # of the preprocessing and pooling, part of the checksum

Numbers = tuple[float, ...]


class OnnxFrames(FrameBackbone):
    trainable = False
    batch_size = 8
    uses_all_cores = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        parsed = OnnxName.parse(name, OPTIONS)
        self._graph = OnnxGraph(parsed.path)
        self._input = _picture_input(self._graph)
        config = _read_config(parsed)
        self._layout = parsed.choice("layout", ("nchw", "nhwc")) or _layout(self._input)
        self.size = _size(parsed, self._input, self._layout, config)
        self.visible = _visible(parsed, self.size, config)
        self._mean, self._std = _normalization(parsed, self._input, config)
        pooling = parsed.choice("pooling", ("cls", "mean"))
        black = torch.zeros(1, self.size, self.size, 3, dtype=torch.uint8)
        found = self._graph.try_two({self._input.name: self._prepare(black)})
        self._output, self._pooling = choose_output(parsed, found, PREFERRED, pooling, "cls")
        self.dims = self._pool(found[self._output]).shape[1]
        facts = (self._layout, self.size, self.visible, self._mean, self._std, self._output, self._pooling)
        self.checksum = checksum_of(f"{_VERSION} {pictures.VERSION} {facts}", files=self._graph.files())

    def encode(self, pictures_PSSC: Tensor) -> Tensor:
        output = self._graph.run({self._input.name: self._prepare(pictures_PSSC.cpu())}, self._output)
        vectors_PD = self._pool(output).astype(np.float32, copy=False)
        return torch.from_numpy(vectors_PD).to(pictures_PSSC.device)

    def _prepare(self, pictures_PSSC: Tensor) -> Array:
        if self._input.dtype == "uint8":
            values = pictures_PSSC
        else:
            mean, std = (255 * torch.tensor(each) for each in (self._mean, self._std))
            values = pictures_PSSC.float().sub_(mean).div_(std)
        if self._layout == "nchw":
            values = values.permute(0, 3, 1, 2)
        return values.contiguous().numpy().astype(self._input.dtype, copy=False)

    def _pool(self, output: Array) -> Array:
        if self._pooling == "none":
            return output
        if self._pooling == "cls":
            return output[:, 0]
        axes = (1,) if output.ndim == 3 else (2, 3) if self._layout == "nchw" else (1, 2)
        mean: Array = output.mean(axes, dtype=np.float32)
        return mean

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxFrames, (self.name,)  # a session cannot be copied, but opened again


def _picture_input(graph: OnnxGraph) -> GraphInput:
    """The one input, with its four axes; InputError for graphs that need more than pictures, or something else."""
    pictured = [each for each in graph.inputs if len(each.shape) == 4]
    others = [each.name for each in graph.inputs if each not in pictured[:1]]
    if not pictured:
        raise InputError(graph.path, f"takes no pictures (inputs: {', '.join(others)})", "Is it an image encoder?")
    if others:
        cause = f"takes more than pictures, and nothing can be given to its inputs {', '.join(others)}"
        raise InputError(graph.path, cause, "Export the image encoder alone.")
    (found,) = pictured
    if found.dtype not in _DTYPES:
        raise InputError(graph.path, f"takes pictures of {found.dtype}; known are {', '.join(_DTYPES)}")
    if found.shape[1] not in (3, None) and found.shape[3] not in (3, None):
        raise InputError(graph.path, f"takes pictures {shape_text(found.shape)}, without an axis of three colours")
    return found


def _layout(found: GraphInput) -> str:
    return "nhwc" if found.shape[3] == 3 and found.shape[1] != 3 else "nchw"


def _read_config(name: OnnxName) -> Mapping[str, Any]:
    path = name.path.with_name(_CONFIG)
    try:
        config = read_json(path, dict)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", "Repair or remove it, or give the options.") from None
    return config


def _size(name: OnnxName, found: GraphInput, layout: str, config: Mapping[str, Any]) -> int:
    sides = found.shape[2:] if layout == "nchw" else found.shape[1:3]
    fixed = {side for side in sides if side is not None}
    if len(fixed) > 1:
        raise InputError(name.path, f"takes pictures of {sides[1]} × {sides[0]} pixels; only squares are supported")
    asked = name.positive("size")
    for side in fixed:
        if asked not in (None, side):
            raise UsageError(f"{name.name}: size is {asked}, but the graph takes pictures of {side} pixels")
        return side
    return asked or _side(name, config, "crop_size") or _side(name, config, "size") or 224


def _visible(name: OnnxName, size: int, config: Mapping[str, Any]) -> float:
    """How much of the shorter side is left after the centre was cut out."""
    asked = name.positive("resize")
    if asked is not None:
        if asked < size:
            raise UsageError(f"{name.name}: resize is {asked}, smaller than the pictures' {size} pixels")
        return size / asked
    resized, cropped = _side(name, config, "size"), _side(name, config, "crop_size")
    return min(1.0, cropped / resized) if resized and cropped and config.get("do_center_crop", True) else 1.0


def _side(name: OnnxName, config: Mapping[str, Any], key: str) -> int | None:
    """Of 224, {"shortest_edge": 224} or {"height": 224, "width": 224}."""
    value = config.get(key)
    if isinstance(value, dict):
        value = value.get("shortest_edge", value.get("height"))
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(name.path.with_name(_CONFIG), f"{key} is no size in pixels: {config[key]}")
    return value


def _normalization(name: OnnxName, found: GraphInput, config: Mapping[str, Any]) -> tuple[Numbers, Numbers]:
    """Mean and standard deviation, of colours in [0, 1]."""
    mean, std = (_option_numbers(name, key) for key in ("mean", "std"))
    if found.dtype == "uint8":
        if mean or std:
            raise UsageError(f"{name.name}: mean and std are for graphs that take floats; this one takes bytes")
        return (0.0,) * 3, (1.0,) * 3
    default_mean, default_std = _config_normalization(name, config)
    return mean or default_mean, std or default_std


def _config_normalization(name: OnnxName, config: Mapping[str, Any]) -> tuple[Numbers, Numbers]:
    mean, std, factor = (_config_numbers(name, config, key) for key in ("image_mean", "image_std", "rescale_factor"))
    if not config.get("do_normalize", True):
        mean, std = (0.0,) * 3, (1.0,) * 3
    if mean is None or std is None:
        return IMAGENET_MEAN, IMAGENET_STD
    # A processor that does not rescale bytes to [0, 1] has its mean and std in other units.
    top = 255 * (factor or (1 / 255,))[0] if config.get("do_rescale", True) else 255.0
    return tuple(each / top for each in mean), tuple(each / top for each in std)


def _option_numbers(name: OnnxName, key: str) -> Numbers | None:
    text = name.options.get(key)
    try:
        return None if text is None else _three(text.split(","), positive=key == "std")
    except ValueError as error:
        raise UsageError(f"{name.name}: {key} is {text!r}; {error}, as in {key}=0.5,0.5,0.5") from None


def _config_numbers(name: OnnxName, config: Mapping[str, Any], key: str) -> Numbers | None:
    value = config.get(key)
    try:
        return None if value is None else _three(value if isinstance(value, list) else [value], key != "image_mean")
    except ValueError as error:
        raise InputError(name.path.with_name(_CONFIG), f"{key} is {value!r}; {error}") from None


def _three(values: Sequence[Any], positive: bool) -> Numbers:
    """Three numbers, from three or one; ValueError says what they must be."""
    try:
        numbers = tuple(float(each) for each in values)
    except (TypeError, ValueError):
        numbers = ()
    good = len(numbers) in (1, 3) and all(math.isfinite(each) and (each > 0 or not positive) for each in numbers)
    if not good:
        raise ValueError(f"it must be one {'positive ' * positive}number or three")
    return numbers * (3 // len(numbers))
