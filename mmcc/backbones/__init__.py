"""Pretrained networks that turn pictures or texts into vectors, by name: "efficientnet-lite2", "onnx:FILE", "minilm".

>>> from mmcc.backbones import open_frame_backbone
>>> backbone = open_frame_backbone("efficientnet-lite2")
>>> backbone(frames).shape  # frames [P, H, W, 3] of uint8, of any size
torch.Size([16, 1280])

Importing this package loads no torch: each name loads what it needs when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

_PUBLIC = {  # name → the module that has it
    "FrameBackbone": "mmcc.backbones.base",
    "TextBackbone": "mmcc.backbones.base",
    "embed_frames": "mmcc.backbones.embedding",
    "frame_backbone_names": "mmcc.backbones.names",
    "open_frame_backbone": "mmcc.backbones.names",
    "open_text_backbone": "mmcc.backbones.names",
    "register_frame_backbone": "mmcc.backbones.names",
    "register_text_backbone": "mmcc.backbones.names",
    "text_backbone_names": "mmcc.backbones.names",
}
__all__ = [*_PUBLIC]

if TYPE_CHECKING:
    from mmcc.backbones.base import FrameBackbone as FrameBackbone
    from mmcc.backbones.base import TextBackbone as TextBackbone
    from mmcc.backbones.embedding import embed_frames as embed_frames
    from mmcc.backbones.names import frame_backbone_names as frame_backbone_names
    from mmcc.backbones.names import open_frame_backbone as open_frame_backbone
    from mmcc.backbones.names import open_text_backbone as open_text_backbone
    from mmcc.backbones.names import register_frame_backbone as register_frame_backbone
    from mmcc.backbones.names import register_text_backbone as register_text_backbone
    from mmcc.backbones.names import text_backbone_names as text_backbone_names


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'mmcc.backbones' has no attribute {name!r}")
    found = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = found  # the next time it is there
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
