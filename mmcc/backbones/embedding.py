"""Embed a stream of pictures as fast as the network allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from mmcc.backbones.base import FrameBackbone
from mmcc.backbones.workers import map_in_threads


def embed_frames(backbone: FrameBackbone, batches: Iterable[Tensor]) -> Iterator[Tensor]:
    """For each batch of pictures [P, H, W, 3] its vectors [P, dims], in order.

    Batches may have any size, pictures of different batches too. While one is embedded, the next is taken from the
    iterable, so that decoding and embedding go on at the same time.
    """
    threads = 1 if backbone.uses_all_cores else torch.get_num_threads()
    groups = (list(torch.split(frames_PHWC, backbone.batch_size)) for frames_PHWC in batches)
    for parts in map_in_threads(backbone, groups, threads):
        yield torch.cat(parts)
