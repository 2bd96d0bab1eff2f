"""Φ_T: text encoders by name. The paper's encodes an utterance as the maximum over its words:

    z = w2 · max over words of ReLU(w1 · W[word])                                                  (appendix)

A text encoder is any module that maps packed utterances, as word ids [P, W] with 0 for padding, to z [P, D]. To add
one, use `register_text_encoder`, as for frame encoders (see `mmcc.models.encoders`). Those of pretrained backbones
(`mmcc.models.pretrained_encoders`) map vectors [P, F] instead, and need no vocabulary.

Shapes: P utterances, W words of an utterance, Q distinct words of a batch, D dims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mmcc.registry import Registry
from mmcc.settings import NamedSettings

PADDING = 0  # the id of padding, not of a word


TextEncoderFactory = Callable[[Any, int, int], nn.Module]  # its settings, the dims of z, the size of the vocabulary


class TextEncoderEntry(NamedTuple):
    """An encoder's settings and factory."""

    settings: type[TextEncoderSettings]
    build: TextEncoderFactory


TEXT_ENCODERS: Registry[TextEncoderEntry] = Registry("text encoder")


@dataclass(frozen=True)
class TextEncoderSettings(NamedSettings):
    """`model.text_encoder`. Each encoder has a subclass with its settings; the default name is the encoder's."""

    registry: ClassVar[Registry[Any]] = TEXT_ENCODERS
    name: str = "bag_of_words"  # the paper's


def register_text_encoder(settings: type[TextEncoderSettings]) -> Callable[[TextEncoderFactory], TextEncoderFactory]:
    """Register a text encoder under its settings' name; names must be unique."""

    def register(factory: TextEncoderFactory) -> TextEncoderFactory:
        TEXT_ENCODERS.add(settings.own_name(), TextEncoderEntry(settings, factory))
        return factory

    return register


def build_text_encoder(settings: TextEncoderSettings, dims: int, vocabulary_size: int) -> nn.Module:
    """The encoder named in the settings."""
    return TEXT_ENCODERS.find(settings.entry_name(settings.name)).build(settings, dims, vocabulary_size)


@dataclass(frozen=True)
class BagOfWordsSettings(TextEncoderSettings):
    """The paper's encoder; its sizes are the model's dims."""

    name: str = "bag_of_words"


@register_text_encoder(BagOfWordsSettings)
class BagOfWords(nn.Module):
    """Utterances as word ids → z. An utterance without words embeds as w2 of zeros."""

    def __init__(self, settings: BagOfWordsSettings, dims: int, vocabulary_size: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary_size, dims, padding_idx=PADDING)
        self.w1 = nn.Linear(dims, dims)
        self.w2 = nn.Linear(dims, dims)

    def forward(self, words_PW: Tensor) -> Tensor:
        # A batch repeats the same few hundred words: w1 runs once for each of them.
        # One more column of padding, so that a maximum exists even if no utterance has a word.
        distinct_Q, place_PW = torch.unique(F.pad(words_PW, (0, 1), value=PADDING), return_inverse=True)
        seen_QD = F.relu(self.w1(self.words(distinct_Q)))
        # After ReLU no value is below 0, so a padding of 0 never exceeds a word.
        seen_QD = seen_QD.masked_fill((distinct_Q == PADDING)[:, None], 0.0)
        utterance_PD = F.embedding_bag(place_PW, seen_QD, mode="max")  # without a [P, W, D] tensor in memory
        z_PD: Tensor = self.w2(utterance_PD)
        return z_PD
