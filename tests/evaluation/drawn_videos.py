"""Embedded videos drawn at random, and a model of a few linear layers: no more than the tasks need."""

import numpy as np
import torch
from torch import nn

from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.models.mlp import unit_norm
from mmcc.models.nodes import TEXT, VISION


class LinearAdapter:
    """Futures and pasts by one matrix each."""

    name, modalities, combine = "linear", (VISION, TEXT), None

    def __init__(self, dims=4, temperature=0.1, has_past=True, seed=0):
        self.temperature = temperature
        generator = torch.Generator().manual_seed(seed)
        self._future, self._past = torch.randn(2, dims, dims, generator=generator, dtype=torch.float64)
        self.past = self._to_past if has_past else None

    def embed_frames(self, frames):
        return Embedding.of(frames)

    def future(self, node):
        return unit_norm(node.z @ self._future)

    def _to_past(self, node):
        return unit_norm(node.z @ self._past)


class ByTable:
    """A model whose futures a test writes down: frame i becomes `table[i]`."""

    name, modalities, combine, temperature, past = "table", (VISION,), None, 0.1, None

    def __init__(self, table):
        self.table = torch.tensor(table)

    def embed_frames(self, frames):
        return Embedding.of(nn.functional.one_hot(frames, len(self.table)).double())

    def future(self, node):
        return nn.functional.one_hot(self.table[node.z.argmax(dim=-1)], len(self.table)).double()


def drawn_video(frames, utterances=3, *, name="video", seed=0, dims=4, steps=(), uneven=False):
    """Random vectors in float64, one frame per second unless `uneven`; `utterances` None for a model without text."""
    generator = torch.Generator().manual_seed(seed)
    z, said = (torch.randn(n, dims, generator=generator, dtype=torch.float64) for n in (frames, utterances or 0))
    gaps = np.random.default_rng(seed).uniform(0.2, 9, frames) if uneven else np.ones(frames)
    return EmbeddedVideo(
        id=name,
        tasks=(),
        steps=list(steps),
        times=np.cumsum([0, *gaps])[:-1],
        frames=Embedding.of(z),
        text_times=np.arange(float(utterances or 0)),
        utterances=None if utterances is None else Embedding.of(said),
    )


def one_hot_video(frames, *, name="video", steps=()):
    """For `ByTable`: frame i is the i-th unit vector."""
    return EmbeddedVideo(
        name, (), list(steps), np.arange(float(frames)), ByTable(range(frames)).embed_frames(torch.arange(frames)),
        np.empty(0), None,
    )  # fmt: skip
