"""Means and keys over all processes, so that many processes train exactly like one.

Each process has a local sum; its loss is  local sum × processes ÷ count over all processes,  and the mean of the
processes' gradients is then the gradient of the global mean. In a single process everything here is the identity.

Shapes: P nodes of this process (differs between processes), D dims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class SumCount:
    """A sum over the items that count in this process, and their number."""

    total: Tensor
    count: Tensor

    @staticmethod
    def of(values: Tensor, counts: Tensor) -> SumCount:
        """The values where `counts` is true; the others may be anything, even infinite."""
        return SumCount(torch.where(counts, values, 0).sum(), counts.sum())

    def __add__(self, other: SumCount) -> SumCount:
        return SumCount(self.total + other.total, self.count + other.count)


def world_size() -> int:
    return dist.get_world_size() if _distributed() else 1


def all_reduce_sum(tensor: Tensor) -> Tensor:
    """The sum over all processes, without gradient."""
    tensor = tensor.detach().clone()
    if _distributed():
        dist.all_reduce(tensor)
    return tensor


def gather_with_gradient(tensor_PD: Tensor) -> Tensor:
    """The rows of all processes, concatenated; gradients return to the process that a row came from."""
    if not _distributed():
        return tensor_PD
    sizes = torch.zeros(world_size(), dtype=torch.int64, device=tensor_PD.device)
    sizes[dist.get_rank()] = len(tensor_PD)
    gathered: Tensor = _Gather.apply(tensor_PD, all_reduce_sum(sizes).tolist())  # type: ignore[no-untyped-call]
    return gathered


def means_over_processes(sum_counts: Mapping[str, SumCount]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Two means of each term: the local one with gradient (see the top), and the global one, detached, for the log.

    A count of 0 gives 0.
    """
    totals = torch.stack([sum_count.total.detach() for sum_count in sum_counts.values()])
    counts = torch.stack([sum_count.count for sum_count in sum_counts.values()]).to(totals.dtype)
    totals, counts = all_reduce_sum(torch.stack([totals, counts]))  # one message for all of them
    divisors = counts.clamp(min=1)
    local = {
        name: sum_count.total * world_size() / divisor
        for (name, sum_count), divisor in zip(sum_counts.items(), divisors, strict=True)
    }
    return local, dict(zip(sum_counts, totals / divisors, strict=True))


def _distributed() -> bool:
    return dist.is_available() and dist.is_initialized()


class _Gather(torch.autograd.Function):
    """Collectives need equal shapes, so rows are padded to the longest process and cut again."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, sizes: list[int]) -> Tensor:
        ctx.sizes = sizes
        padded = F.pad(tensor, (0, 0, 0, max(sizes) - len(tensor))).contiguous()
        parts = [torch.empty_like(padded) for _ in sizes]
        dist.all_gather(parts, padded)
        return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        gradient = gradient.contiguous().clone()
        dist.all_reduce(gradient)  # every process's loss reached these rows
        rank = dist.get_rank()
        first = sum(ctx.sizes[:rank])
        return gradient[first : first + ctx.sizes[rank]], None
