"""One process or many: `torchrun --nproc-per-node 2 -m mmcc train …`, with gloo on CPUs and NCCL on GPUs.

Each process takes its part of the global batch. Its loss is its local sum × world size ÷ the global count, so the mean
of the processes' gradients equals the gradient of one process with the whole batch.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from mmcc.errors import InputError

_CPU = torch.device("cpu")


@dataclass(frozen=True)
class ProcessGroup:
    """This process among those that train together."""

    rank: int = 0
    size: int = 1
    device: torch.device = _CPU

    @property
    def writes(self) -> bool:
        """One process writes; the others only compute."""
        return self.rank == 0

    def average(self, tensor: Tensor) -> Tensor:
        """In place, over all processes."""
        if self.size > 1:
            dist.all_reduce(tensor)
            tensor /= self.size
        return tensor

    def add(self, tensor: Tensor) -> Tensor:
        """In place, over all processes."""
        if self.size > 1:
            dist.all_reduce(tensor)
        return tensor

    def average_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """The gradient of the global batch, in every process. A parameter without a gradient gets zeros."""
        if self.size == 1:
            return
        trained = [parameter for parameter in parameters if parameter.requires_grad]
        for parameter in trained:
            if parameter.grad is None:  # its loss may have counted in another process
                parameter.grad = torch.zeros_like(parameter)
        self._average_all([parameter.grad for parameter in trained if parameter.grad is not None])

    def average_buffers(self, model: nn.Module) -> None:
        """Batch norm's running statistics, which each process computes from its own part of the batch."""
        if self.size > 1:
            self._average_all([buffer for buffer in model.buffers() if buffer.is_floating_point()])

    def broadcast_text(self, text: str) -> str:
        """The writing process's text, in every process."""
        if self.size == 1:
            return text
        held: list[object] = [text]
        dist.broadcast_object_list(held, src=0, device=self.device)
        return str(held[0])

    def _average_all(self, tensors: Sequence[Tensor]) -> None:
        """One exchange for all of them: small messages cost as much as large ones."""
        if not tensors:
            return
        flat = self.average(torch.cat([tensor.reshape(-1) for tensor in tensors]))
        for tensor, part in zip(tensors, torch.split(flat, [tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(part.view(tensor.shape))


def talks() -> bool:
    """Whether this process prints for all; known before they join, since torchrun numbers them."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def join_world(device: str = "auto") -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started, or run alone."""
    chosen = choose_device(device)
    if dist.is_initialized():  # the caller's group, which the caller ends
        yield ProcessGroup(dist.get_rank(), dist.get_world_size(), chosen)
        return
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield ProcessGroup(device=chosen)
        return
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
    dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield ProcessGroup(dist.get_rank(), dist.get_world_size(), chosen)
        # A gloo thread may still be releasing the last exchange's tensors, which needs the interpreter: if that has
        # exited by then, the process aborts. So the last exchange must be one without tensors.
        dist.barrier()
    finally:
        dist.destroy_process_group()


def choose_device(name: str) -> torch.device:
    """The device of this process; with several GPUs, the one of its local rank."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError("train.device", f"{name!r} is not a device", "Choose auto, cpu or cuda.") from None
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise InputError("train.device", "cuda is not available", "Choose auto or cpu.")
        if device.index is None:
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return device
