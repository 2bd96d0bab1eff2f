"""Backbones by name. A name is registered whole ("minilm"), or with a word for what follows its colon ("onnx:FILE").
Options may follow a question mark ("efficientnet-lite0?size=128").

A factory takes the name as it was given and returns the backbone:

    register_frame_backbone("average-colour", lambda name: AverageColour(name))
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmcc.registry import Registry

if TYPE_CHECKING:
    from mmcc.backbones.base import FrameBackbone, TextBackbone

_Registry = Registry[Callable[[str], Any]]
_FRAMES: _Registry = Registry("frame backbone")
_TEXTS: _Registry = Registry("text backbone")
_OPEN_AT_ONCE = 8  # of one kind, in one process; the least recently used is dropped


def register_frame_backbone(name: str, factory: Callable[[str], FrameBackbone]) -> None:
    """Make a frame backbone known under a name; names must be unique."""
    _FRAMES.add(name, factory)


def register_text_backbone(name: str, factory: Callable[[str], TextBackbone]) -> None:
    """Make a text backbone known under a name; names must be unique."""
    _TEXTS.add(name, factory)


def frame_backbone_names() -> list[str]:
    return list(_FRAMES)


def text_backbone_names() -> list[str]:
    return list(_TEXTS)


def open_frame_backbone(name: str) -> FrameBackbone:
    """The backbone of that name, frozen and in evaluation mode. Whoever asks again gets the same object.

    To train one, take a copy (`copy.deepcopy`). UnknownName lists the names there are.
    """
    backbone: FrameBackbone = _open(_FRAMES, name)
    return backbone


def open_text_backbone(name: str) -> TextBackbone:
    """The same, of texts."""
    backbone: TextBackbone = _open(_TEXTS, name)
    return backbone


def _open(registry: _Registry, name: str) -> Any:
    base = name.partition("?")[0]
    scheme, colon, file = base.partition(":")
    known = next((each for each in registry if colon and each.startswith(f"{scheme}:")), base)
    return _opened(registry.find(known if known in registry else name), name, _stamp(file))


@lru_cache(_OPEN_AT_ONCE)
def _opened(factory: Callable[[str], Any], name: str, stamp: object) -> Any:
    import torch

    with torch.inference_mode(False):  # whoever opens it first may be in inference mode, and others may not
        return factory(name).eval().requires_grad_(False)


def _stamp(file: str) -> object:
    """Differs when a name leads to another file, or to a changed one."""
    if not file:
        return None
    path = Path(file).absolute()
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return path
    return path, facts.st_size, facts.st_mtime_ns


def _in_module(module: str, function: str) -> Callable[[str], Any]:
    """A factory that is imported when it is called."""
    return lambda name: getattr(import_module(module), function)(name)


for _variant in (0, 1, 2):
    _FRAMES.add(f"efficientnet-lite{_variant}", _in_module("mmcc.backbones.efficientnet", "EfficientNetLite"))
_FRAMES.add("onnx:FILE", _in_module("mmcc.backbones.onnx_frames", "OnnxFrames"))
_TEXTS.add("minilm", _in_module("mmcc.backbones.minilm", "MiniLM"))
_TEXTS.add("onnx:FILE", _in_module("mmcc.backbones.onnx_texts", "OnnxTexts"))
