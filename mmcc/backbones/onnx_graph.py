"""ONNX files: opened, described, and run on any number of rows, whatever batch they were exported for."""

from __future__ import annotations

import importlib.util
import mmap
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray

from mmcc.backbones.options import NameWithOptions
from mmcc.errors import InputError, MissingDependency, UsageError

Array = NDArray[Any]
_DTYPES = {"float": "float32", "double": "float64"}  # what ONNX calls otherwise than numpy
_QUIET = 4  # fatal only: whatever else goes wrong is raised, and told in our words


class GraphInput(NamedTuple):
    name: str
    shape: tuple[int | None, ...]  # None: any
    dtype: str  # numpy's name


class OnnxName(NameWithOptions):
    """onnx:FILE?option=value&option=value"""

    @classmethod
    def parse(cls, name: str, known: Sequence[str]) -> Self:
        """UsageError for options that are not known or not understood, and where no file is named."""
        parsed = super().parse(name, known)
        if not parsed.base.partition(":")[2]:
            raise UsageError(f"{name}: names no file", "Name an ONNX file: onnx:FILE")
        return parsed

    @property
    def path(self) -> Path:
        return Path(self.base.partition(":")[2]).expanduser()


class OnnxGraph:
    """A graph that can be run on the CPU, with as many threads as torch uses."""

    def __init__(self, path: Path) -> None:
        if importlib.util.find_spec("onnxruntime") is None:
            raise MissingDependency("ONNX files need the package onnxruntime, which is not installed.", "onnx")
        import onnxruntime

        if not path.is_file():
            raise InputError(path, "is a folder, not an ONNX file" if path.is_dir() else "no such file")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.log_severity_level = _QUIET
        self.path = path
        try:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has no class in common for its errors
            raise InputError(path, f"not an ONNX model that can be run ({_first_line(error)})") from None
        self.inputs = [_described(each) for each in self._session.get_inputs()]
        self.outputs = [each.name for each in self._session.get_outputs()]
        batches = {each.shape[0] for each in self.inputs if each.shape} - {None}
        self._batch = next(iter(batches), None)  # rows that the graph takes at a time; None: any number
        if len(batches) > 1:
            raise InputError(path, "its inputs take different numbers of rows")

    def files(self) -> list[Path]:
        """The file, and those beside it that its weights are in: large exports keep them apart."""
        return [self.path, *_weights_apart(self.path)]

    def run(self, feeds: Mapping[str, Array], output: str) -> Array:
        """One output for some rows, at least one. InputError if the graph does not take them."""
        return self._run(feeds, [output])[output]

    def try_two(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run one row twice, to see what comes out: the outputs that have as many rows as were given.

        A graph that fails on two rows is run on one row at a time from now on.
        """
        twice = {name: np.concatenate([values, values]) for name, values in feeds.items()}
        try:
            found = self._run(twice, self.outputs)
        except InputError:
            if self._batch is not None:
                raise
            self._batch = 1  # it says that it takes any number, but it was traced with one
            found = self._run(twice, self.outputs)
        if not found:
            raise InputError(self.path, "no output has one row for each picture or text")
        return found

    def _run(self, feeds: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
        """Those outputs that have one row for each row given."""
        rows = len(next(iter(feeds.values())))
        step = self._batch or rows
        parts: dict[str, list[Array]] = {name: [] for name in outputs}
        for start in range(0, rows, step):
            part = {name: _padded(values[start : start + step], step) for name, values in feeds.items()}
            for name, found in zip(outputs, self._run_once(part, outputs), strict=True):
                if isinstance(found, np.ndarray) and found.shape[:1] == (step,):
                    parts[name].append(found[: rows - start])
        return {name: np.concatenate(found) for name, found in parts.items() if found}

    def _run_once(self, feeds: Mapping[str, Array], outputs: Sequence[str]) -> list[Any]:
        try:
            found: list[Any] = self._session.run(list(outputs), dict(feeds))
        except Exception as error:
            given = ", ".join(f"{name} {list(values.shape)} of {values.dtype}" for name, values in feeds.items())
            raise InputError(self.path, f"cannot be run on {given} ({_first_line(error)})") from None
        return found


def choose_output(
    name: OnnxName, found: Mapping[str, Array], preferred: Sequence[str], pooling: str | None, default: str
) -> tuple[str, str]:
    """The output that is or becomes a vector, and how to pool it: "none", "cls" or "mean".

    Vectors [P, D] come first, preferred names before others, then tokens [P, T, D], then maps of four axes. To ask
    for cls or mean is to ask for tokens or maps. `default` pools tokens; maps have only a mean.
    """
    asked = name.options.get("output")
    if asked is not None and asked not in found:
        raise UsageError(f"{name.name}: no output is named {asked!r} (there are: {', '.join(found)})")
    floats = {each: values.ndim for each, values in found.items() if values.dtype.kind == "f"}
    candidates = [each for each in floats if asked in (None, each)]
    ranks = {None: (2, 3, 4), "none": (2,), "cls": (3,), "mean": (3, 4)}[pooling]
    for rank in ranks:
        of_rank = [each for each in candidates if floats[each] == rank]
        if of_rank:
            best = next((each for each in preferred if each in of_rank), of_rank[0])
            return best, "none" if rank == 2 else "mean" if rank == 4 else pooling or default
    there = ", ".join(f"{each} {shape_text((None, *values.shape[1:]))}" for each, values in found.items())
    if pooling is not None:
        raise UsageError(f"{name.name}: nothing to apply pooling={pooling} to (outputs: {there})")
    raise InputError(name.path, f"no output is a vector, tokens or a map of floats (outputs: {there})")


def shape_text(shape: Sequence[int | None]) -> str:
    """As in a message: [any, 3, 224, 224]."""
    return f"[{', '.join(str(size or 'any') for size in shape)}]"


def _described(found: Any) -> GraphInput:
    kind = re.sub(r"^tensor\((.*)\)$", r"\1", found.type)
    shape = tuple(each if isinstance(each, int) and each > 0 else None for each in found.shape)
    return GraphInput(found.name, shape, _DTYPES.get(kind, kind))


def _padded(values: Array, rows: int) -> Array:
    """As many rows as the graph takes; what is repeated to get there is cut off again afterwards."""
    return values if len(values) == rows else np.concatenate([values, np.repeat(values[-1:], rows - len(values), 0)])


def _weights_apart(path: Path) -> list[Path]:
    """Files of weights, as the graph names them: a key "location" and a string after its length, in bytes of ONNX."""
    found = set()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for match in re.finditer(rb"\n\x08location\x12([\x01-\x7f])", content):
            name = content[match.end() : match.end() + match[1][0]]
            found.add(path.parent / name.decode("utf-8", "replace"))
    return sorted(each for each in found if each.is_file())


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
