"""Embed a stream of pictures at the batch size that suits the network, whatever the size of the pieces they come in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from mmcc.backbones.base import FrameBackbone


def embed_frames(backbone: FrameBackbone, batches: Iterable[Tensor]) -> Iterator[Tensor]:
    """For each batch of pictures [P, H, W, 3] its vectors [P, dims], in order."""
    for frames_PHWC in batches:
        with torch.inference_mode():
            parts = [backbone(part) for part in torch.split(frames_PHWC, backbone.batch_size)]
            yield torch.cat(parts) if parts else torch.zeros(0, backbone.dims)
