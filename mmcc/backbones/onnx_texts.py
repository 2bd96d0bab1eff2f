"""Any text encoder that was exported to ONNX, with its tokenizer: a tokenizer.json, beside it or named.

    onnx:model.onnx?tokenizer=tokenizer.json&pooling=mean&max_tokens=128

Each setting is the option of the name if it is given, else what the graph says, else what the tokenizer.json or a
tokenizer_config.json beside it says, else the default:

    tokenizer    the tokenizer's file                    tokenizer.json beside the graph
    max_tokens   tokens of a text that are read          256
    output       the output to take                      text_embeds, sentence_embedding, else the first vectors
                                                         [P, D], else tokens [P, T, D]
    pooling      mean or cls: tokens [P, T, D] are asked for, and their mean or the first is taken;
                 none: vectors are asked for             mean, if there are only tokens

Vectors are as the graph gives them: of unit length only if it makes them so.

Shapes: P texts, T tokens, D dims.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mmcc.backbones.base import TextBackbone, checksum_of
from mmcc.backbones.onnx_graph import Array, OnnxGraph, OnnxName, choose_output, shape_text
from mmcc.errors import InputError, MissingDependency, UsageError
from mmcc.untrusted import read_json

OPTIONS = ("tokenizer", "max_tokens", "output", "pooling")
PREFERRED = ("text_embeds", "sentence_embedding")
IDS, MASK, SEGMENTS, POSITIONS = "input_ids", "attention_mask", "token_type_ids", "position_ids"
_LONGEST = 256  # tokens, where nothing says more
_VERSION = "onnx-texts-1"  # of the tokenization and pooling, part of the checksum


class OnnxTexts(TextBackbone):
    uses_all_cores = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        parsed = OnnxName.parse(name, OPTIONS)
        pooling = parsed.choice("pooling", ("mean", "cls", "none"))
        self._graph = OnnxGraph(parsed.path)
        self._inputs = {each.name: each for each in self._graph.inputs}
        self._length = _fixed_length(self._graph)  # tokens that the graph takes; None: any number
        path = Path(parsed.options.get("tokenizer", parsed.path.with_name("tokenizer.json"))).expanduser()
        self._tokenizer, limit = _open_tokenizer(path, parsed, self._length)
        example = self._tokens([self._tokenizer.encode("one two")])
        found = self._graph.try_two(self._feeds(*example))
        self._output, self._pooling = choose_output(parsed, found, PREFERRED, pooling, "mean")
        self.dims = found[self._output].shape[-1]
        facts = (limit, self._length, self._output, self._pooling)
        self.checksum = checksum_of(f"{_VERSION} {facts}", files=[*self._graph.files(), path])

    def forward(self, texts: Sequence[str]) -> Tensor:
        """Texts without a token have no vector but zeros."""
        encoded = self._tokenizer.encode_batch(list(texts))
        vectors_PD = torch.zeros(len(texts), self.dims)
        for places in self._together(encoded):
            ids_PT, mask_PT = self._tokens([encoded[at] for at in places])
            output = self._graph.run(self._feeds(ids_PT, mask_PT), self._output)
            vectors_PD[places] = torch.from_numpy(self._pool(output, mask_PT))
        return vectors_PD

    def _together(self, encoded: Sequence[Any]) -> list[list[int]]:
        """Texts to run at once. A graph that cannot tell padding from text gets texts of one length only."""
        masked = MASK in self._inputs or self._length is not None
        groups: dict[int, list[int]] = {}
        for at, each in enumerate(encoded):
            if count := sum(each.attention_mask):
                groups.setdefault(0 if masked else count, []).append(at)
        return list(groups.values())

    def _tokens(self, encoded: Sequence[Any]) -> tuple[Array, Array]:
        """Ids and mask, as long as the graph wants them, or as the longest text."""
        mask_PT = np.array([each.attention_mask for each in encoded])
        ids_PT = np.array([each.ids for each in encoded])
        longest = self._length or int(mask_PT.sum(1).max())
        return ids_PT[:, :longest], mask_PT[:, :longest]

    def _feeds(self, ids_PT: Array, mask_PT: Array) -> dict[str, Array]:
        values = {
            IDS: ids_PT,
            MASK: mask_PT,
            SEGMENTS: np.zeros_like(ids_PT),
            POSITIONS: np.broadcast_to(np.arange(ids_PT.shape[1]), ids_PT.shape),
        }
        return {name: values[name].astype(each.dtype) for name, each in self._inputs.items()}

    def _pool(self, output: Array, mask_PT: Array) -> Array:
        if self._pooling == "mean":
            weights_PT1 = mask_PT[..., None].astype(np.float32)
            output = (output * weights_PT1).sum(1) / weights_PT1.sum(1)
        elif self._pooling == "cls":
            output = output[:, 0]
        return output.astype(np.float32, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return OnnxTexts, (self.name,)  # a session cannot be copied, but opened again


def _fixed_length(graph: OnnxGraph) -> int | None:
    """InputError for graphs that take no tokens, or something besides."""
    names = [each.name for each in graph.inputs]
    if IDS not in names:
        raise InputError(graph.path, f"takes no {IDS} (inputs: {', '.join(names)})", "Is it a text encoder?")
    known = (IDS, MASK, SEGMENTS, POSITIONS)
    if others := [name for name in names if name not in known]:
        cause = f"takes more than tokens, and nothing can be given to its inputs {', '.join(others)}"
        raise InputError(graph.path, cause, "Export the text encoder alone.")
    for each in graph.inputs:
        if len(each.shape) != 2 or each.dtype not in ("int64", "int32"):
            found = f"{shape_text(each.shape)} of {each.dtype}"
            raise InputError(graph.path, f"{each.name} is {found}, not [texts, tokens] of integers")
    return next((each.shape[1] for each in graph.inputs if each.shape[1] is not None), None)


def _open_tokenizer(path: Path, name: OnnxName, length: int | None) -> tuple[Any, int]:
    """A tokenizer that cuts and pads, and the most tokens that it gives."""
    if importlib.util.find_spec("tokenizers") is None:
        raise MissingDependency("Text encoders need the package tokenizers, which is not installed.", "onnx")
    from tokenizers import Tokenizer

    if not path.is_file():
        remedy = "Put the model's tokenizer.json beside it, or name it: ?tokenizer=FILE"
        raise InputError(path, "no such file, and a text encoder needs its tokenizer", remedy)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more specific
        raise InputError(path, f"not a tokenizer.json ({error})") from None
    config = _read_config(path.with_name("tokenizer_config.json"))
    own = (tokenizer.truncation or {}).get("max_length") or config.get("model_max_length")
    asked = name.positive("max_tokens")
    if asked and length and asked > length:
        raise UsageError(f"{name.name}: max_tokens is {asked}, but the graph takes {length}")
    # Some configurations have 10^30 for "no limit".
    limit = asked or length or (int(own) if isinstance(own, int | float) and 0 < own < 1e5 else _LONGEST)
    tokenizer.enable_truncation(limit)
    padding = tokenizer.padding or _padding(tokenizer, config)
    tokenizer.enable_padding(length=length, pad_id=padding["pad_id"], pad_token=padding["pad_token"])
    return tokenizer, limit


def _padding(tokenizer: Any, config: dict[str, Any]) -> dict[str, Any]:
    token = config.get("pad_token", "[PAD]")
    if isinstance(token, dict):
        token = token.get("content")
    return {"pad_token": str(token), "pad_id": tokenizer.token_to_id(str(token)) or 0}


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = read_json(path, dict)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", "Repair or remove it.") from None
    return config
