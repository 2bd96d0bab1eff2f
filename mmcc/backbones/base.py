"""What every backbone is: a network with a name, the length of its vectors, and a checksum of all that decides them.

Shapes: P pictures or texts, H × W pixels, S side of the pictures that a network reads, T tokens, D dims.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from mmcc.backbones.pictures import centre_square
from mmcc.backbones.workers import map_in_threads

TEXTS_AT_ONCE = 16  # larger batches are not faster on a CPU, and the longest text of a batch sets the cost of all
_DIGITS = 32  # hex digits of a checksum


class FrameBackbone(nn.Module, ABC):
    """Pictures → vectors."""

    name: str  # as it was asked for: "efficientnet-lite2", "onnx:dinov2.onnx?pooling=cls"
    dims: int  # length of a vector
    size: int  # side in pixels of the square pictures that the network reads
    checksum: str  # of the weights and the preprocessing: where it is the same, so are the vectors
    trainable: bool  # whether gradients can flow to its weights
    batch_size: int = 4  # pictures at a time and thread; more do not stay in a core's cache
    uses_all_cores: bool = False  # by itself; others are run on several batches at once
    visible: float = 1.0  # share of the shorter side that the network sees

    def forward(self, frames_PHWC: Tensor) -> Tensor:
        """uint8 pictures of any size → [P, dims] of float32.

        The network sees the centre square, resized to its size by antialiased bicubic interpolation.
        """
        if frames_PHWC.dtype != torch.uint8 or frames_PHWC.ndim != 4 or frames_PHWC.shape[3] != 3:
            found = f"{list(frames_PHWC.shape)} of {str(frames_PHWC.dtype).removeprefix('torch.')}"
            raise ValueError(f"{self.name} takes pictures [P, H, W, 3] of uint8, not {found}")
        if not len(frames_PHWC):
            return torch.zeros(0, self.dims, device=frames_PHWC.device)
        return self.encode(centre_square(frames_PHWC, self.size, self.visible))

    @abstractmethod
    def encode(self, pictures_PSSC: Tensor) -> Tensor:
        """uint8 pictures of the network's size → [P, dims] of float32."""


class TextBackbone(nn.Module, ABC):
    """Texts → vectors."""

    name: str
    dims: int
    checksum: str
    uses_all_cores: bool = False

    def embed(self, texts: Sequence[str]) -> Tensor:
        """[P, dims] of float32, in the order of the texts."""
        (vectors_PD,) = self.embed_each([texts])
        return vectors_PD

    def embed_each(self, groups: Iterable[Sequence[str]]) -> Iterator[Tensor]:
        """For each group of texts its vectors [P, dims] of float32, in order.

        Texts of similar length share a batch, to waste little. No batch is shared between groups: the vectors of a
        group are the same bit for bit, whatever the other groups are.
        """
        threads = 1 if self.uses_all_cores else torch.get_num_threads()

        def embed_batch(batch: Sequence[tuple[int, str]]) -> tuple[list[int], Tensor]:
            places, texts = zip(*batch, strict=True)
            return list(places), cast(Tensor, self(texts)).float().cpu()

        for parts in map_in_threads(embed_batch, map(_batches, groups), threads):
            vectors_PD = torch.zeros(sum(len(places) for places, _ in parts), self.dims)
            for places, vectors in parts:
                vectors_PD[places] = vectors
            yield vectors_PD

    @abstractmethod
    def forward(self, texts: Sequence[str]) -> Tensor:
        """One batch of texts, at least one → [P, dims]."""


def _batches(texts: Sequence[str]) -> list[list[tuple[int, str]]]:
    """Texts with their places, shortest first."""
    ordered = sorted(enumerate(texts), key=lambda each: len(each[1]))
    return [ordered[start : start + TEXTS_AT_ONCE] for start in range(0, len(ordered), TEXTS_AT_ONCE)]


def checksum_of(facts: str, weights: Iterable[tuple[str, Tensor]] = (), files: Iterable[Path] = ()) -> str:
    """Of a description of the preprocessing, tensors by name, and whole files."""
    digest = hashlib.sha256(facts.encode())
    for name, tensor in weights:
        digest.update(f"{name} {list(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:_DIGITS]
