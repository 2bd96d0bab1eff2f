"""Trained models as adapters, by the skills that their objectives trained.

Shapes: P frames or texts, D dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from mmcc.backbones import open_text_backbone
from mmcc.data.vocabulary import UNKNOWN, Vocabulary, has_words
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding, ModelAdapter, Remember
from mmcc.evaluation.runs import BEST, Checkpoint, find_checkpoint
from mmcc.models.nodes import TEXT, VISION
from mmcc.models.pretrained_encoders import PretrainedTextSettings, require_same_backbone
from mmcc.models.registry import Network, load_network
from mmcc.models.weights import WeightsError
from mmcc.objectives.spec import COMBINE, FUTURE, MEMORY, PAST, SKILLS, TEXT_SKILL, spec_of
from mmcc.training.config import Config
from mmcc.training.run import CONFIG

MAX_WORDS = 20  # of an utterance, where a run does not say
CYCLE_SKILLS = frozenset({TEXT_SKILL, FUTURE, PAST})


class Words:
    """Texts as a model reads them."""

    def __init__(self, vocabulary: Vocabulary, max_words: int = MAX_WORDS) -> None:
        self.vocabulary, self.max_words = vocabulary, max_words

    def __call__(self, texts: Sequence[str]) -> Tensor:
        return torch.from_numpy(self.vocabulary.encode(texts, self.max_words))

    def knows(self, text: str) -> bool:
        """Whether it knows a word of a text."""
        return bool((self.vocabulary.encode([text], self.max_words) > UNKNOWN).any())


class Sentences:
    """Texts as a model with a pretrained text encoder reads them: any words will do."""

    def __init__(self, name: str, checksum: str) -> None:
        self._name, self._checksum = name, checksum

    def __call__(self, texts: Sequence[str]) -> Tensor:
        backbone = open_text_backbone(self._name)
        require_same_backbone(self._name, self._checksum, backbone.checksum)
        return backbone.embed(texts)

    def knows(self, text: str) -> bool:
        """Whether there is a word in it."""
        return has_words(text)


class TrainedAdapter:
    """A trained model: it does what its skills say, and nothing that was never trained."""

    def __init__(
        self,
        model: Network,
        skills: frozenset[str] = SKILLS,
        words: Words | Sentences | None = None,
        *,
        name: str,
        temperature: float = 0.1,
    ) -> None:
        if TEXT_SKILL in skills and words is None:
            raise ValueError(f"{name} reads text, so it needs its words")
        self.model, self.skills, self.words = model.eval(), skills, words
        self.name, self.temperature = name, temperature
        self.modalities = (VISION, TEXT) if TEXT_SKILL in skills else (VISION,)
        self.past: Callable[[Embedding], Tensor] | None = self._past if PAST in skills else None
        self.combine: Callable[[Embedding, Embedding], Embedding] | None = self._combine if COMBINE in skills else None
        remembers = MEMORY in skills and bool(getattr(model, "remembers", False))
        self.remember: Remember | None = self._remember if remembers else None

    @property
    def walks_cycles(self) -> bool:
        """Whether the model can go from a node to its future and back, through both modalities."""
        return self.skills >= CYCLE_SKILLS

    @torch.inference_mode()
    def embed_frames(self, frames: Tensor) -> Embedding:
        return Embedding(*self.model.frame_nodes(frames))

    @torch.inference_mode()
    def embed_text_vectors(self, vectors_PF: Tensor) -> Embedding:
        """Utterances whose vectors by the model's pretrained text encoder are stored."""
        return Embedding(*self._own.text_nodes(vectors_PF))

    @torch.inference_mode()
    def embed_texts(self, texts: Sequence[str]) -> Embedding:
        assert self.words is not None, f"{self.name} reads no text"
        return Embedding(*self._own.text_nodes(self.words(texts)))

    def knows(self, text: str) -> bool:
        """Whether it knows a word of a text."""
        return self.words is not None and self.words.knows(text)

    @torch.inference_mode()
    def future(self, node: Embedding) -> Tensor:
        """Without that skill, the present."""
        if FUTURE not in self.skills:
            return node.pi
        future: Tensor = self._own.future(node.z)
        return future

    @torch.inference_mode()
    def _past(self, node: Embedding) -> Tensor:
        past: Tensor = self._own.past(node.z)
        return past

    @torch.inference_mode()
    def _combine(self, vision: Embedding, text: Embedding) -> Embedding:
        return Embedding(self._own.combine(vision.z, text.z), vision.pi)

    @torch.inference_mode()
    def _remember(self, node: Embedding, before: Tensor) -> Embedding:
        return Embedding(self._own.remember(node.z, before), node.pi)

    @property
    def _own(self) -> Any:
        """The model with the methods that its skills promise, which not every model has."""
        return cast(Any, self.model)


def open_adapter(source: str | Path, *, checkpoint: str | int = BEST) -> ModelAdapter:
    """The model in a run's folder (its best checkpoint, its last, or that of a step), or in a checkpoint's."""
    found = find_checkpoint(Path(source), checkpoint)
    objective = Config.from_yaml(found.folder / CONFIG).objective  # imports what the run imported
    try:
        model = load_network(found.folder)
    except WeightsError as error:
        raise InputError(error.path, error.cause, error.remedy) from None
    spec = spec_of(objective)
    skills = spec.skills_of(objective)
    words = _words(found, model) if TEXT_SKILL in skills else None
    name, temperature = spec.identity(objective).name, spec.temperature(objective)
    return TrainedAdapter(model, skills, words, name=name, temperature=temperature)


def _words(found: Checkpoint, model: Network) -> Words | Sentences:
    text = model.config.text_encoder
    if isinstance(text, PretrainedTextSettings):
        return Sentences(text.name, text.checksum)
    vocabulary, size = found.vocabulary(), getattr(model, "vocabulary_size", None)
    if size is not None and len(vocabulary) != size:
        cause = f"has {len(vocabulary)} words, but its model was trained with {size}"
        raise InputError(found.folder / "vocabulary.txt", cause, "Copy it again from where the run was made.")
    return Words(vocabulary, found.setting("data.max_words", MAX_WORDS))
