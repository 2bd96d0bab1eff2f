"""Tiny encoders, exported to real ONNX files."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn


class Function(nn.Module):
    """A module from a function of tensors."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> object:
        return self.function(*inputs)


def export(
    path: Path,
    function: Callable[..., object],
    inputs: dict[str, Tensor],
    outputs: Sequence[str],
    dynamic: dict[str, dict[int, str]] | None = None,
) -> Path:
    """`dynamic`: by input or output, which axes may have any length."""
    module = function if isinstance(function, nn.Module) else Function(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the newer exporter needs one package more
        torch.onnx.export(
            module.eval(), tuple(inputs.values()), str(path), input_names=list(inputs), output_names=list(outputs),
            dynamic_axes=dynamic or {}, dynamo=False,
        )  # fmt: skip
    return path
