"""Trained models as learners, by the objective they were trained with.

Shapes: P frames or texts, D dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from mmcc.data.vocabulary import UNKNOWN, Vocabulary
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding, ModelAdapter
from mmcc.evaluation.runs import BEST, Checkpoint, find_checkpoint
from mmcc.models.anticipator import Anticipator
from mmcc.models.memdpc import MemDPC
from mmcc.models.model import MMCC
from mmcc.models.nodes import TEXT, VISION
from mmcc.models.registry import load_model
from mmcc.models.weights import WeightsError

MAX_WORDS = 20  # of an utterance, where a run does not say
_NAMES = {"representation_anticipation": "ra", "time_agnostic": "tap"}  # of objectives, as tables call them


class Words:
    """Texts as a model reads them."""

    def __init__(self, vocabulary: Vocabulary, max_words: int = MAX_WORDS) -> None:
        self.vocabulary, self.max_words = vocabulary, max_words

    def __call__(self, texts: Sequence[str]) -> Tensor:
        return torch.from_numpy(self.vocabulary.encode(texts, self.max_words))

    def knows(self, text: str) -> bool:
        """Whether it knows a word of a text."""
        return bool((self.vocabulary.encode([text], self.max_words) > UNKNOWN).any())


class CrossModalAdapter:
    """Frames and words that belong together lie together; nothing is predicted."""

    modalities: tuple[str, ...] = (VISION, TEXT)

    def __init__(self, model: MMCC, words: Words, *, name: str = "cross_modal", temperature: float = 0.1) -> None:
        self.model, self.words, self.name, self.temperature = model.eval(), words, name, temperature
        self.knows = words.knows
        self.past: Callable[[Embedding], Tensor] | None = None
        self.combine: Callable[[Embedding, Embedding], Embedding] | None = None

    @torch.inference_mode()
    def embed_frames(self, frames: Tensor) -> Embedding:
        z = self.model.embed_frames(frames)
        return Embedding(z, self.model.project(z, VISION))

    @torch.inference_mode()
    def embed_texts(self, texts: Sequence[str]) -> Embedding:
        z = self.model.embed_words(self.words(texts))
        return Embedding(z, self.model.project(z, TEXT))

    def future(self, node: Embedding) -> Tensor:
        return node.pi


class MMCCAdapter(CrossModalAdapter):
    """Futures by g_fwd, pasts by g_back; states by f, if cycles trained it."""

    def __init__(self, model: MMCC, words: Words, *, name: str, temperature: float = 0.1, states: bool = True) -> None:
        super().__init__(model, words, name=name, temperature=temperature)
        self.past = self._past
        self.combine = self._combine if states else None

    @torch.inference_mode()
    def future(self, node: Embedding) -> Tensor:
        return self.model.future(node.z)

    @torch.inference_mode()
    def _past(self, node: Embedding) -> Tensor:
        return self.model.past(node.z)

    @torch.inference_mode()
    def _combine(self, vision: Embedding, text: Embedding) -> Embedding:
        return Embedding(self.model.combine(vision.z, text.z), vision.pi)


class AnticipatorAdapter:
    """RA and TAP: futures by f from the trained Φ, in the space of the frozen Ψ. They have no past and no state."""

    modalities = (VISION, TEXT)
    past = None
    combine = None

    def __init__(self, model: Anticipator, words: Words, *, name: str, temperature: float = 0.1) -> None:
        self.model, self.name, self.temperature = model.eval(), name, temperature
        self.knows = words.knows
        self._seen = CrossModalAdapter(model.model, words)
        self._target = CrossModalAdapter(model.target, words)

    def embed_frames(self, frames: Tensor) -> Embedding:
        return Embedding(self._seen.embed_frames(frames).z, self._target.embed_frames(frames).pi)

    def embed_texts(self, texts: Sequence[str]) -> Embedding:
        return Embedding(self._seen.embed_texts(texts).z, self._target.embed_texts(texts).pi)

    @torch.inference_mode()
    def future(self, node: Embedding) -> Tensor:
        return self.model.future(node.z)


class MemDPCAdapter:
    """Vision only: a node alone, as a past of one step, and the memories that it recalls."""

    modalities = (VISION,)
    combine = None

    def __init__(self, model: MemDPC, *, name: str = "memdpc", temperature: float = 0.1) -> None:
        self.model, self.name, self.temperature = model.eval(), name, temperature

    @torch.inference_mode()
    def embed_frames(self, frames: Tensor) -> Embedding:
        return Embedding.of(self.model.embed_frames(frames))

    @torch.inference_mode()
    def future(self, node: Embedding) -> Tensor:
        return self.model.future(node.z)

    @torch.inference_mode()
    def past(self, node: Embedding) -> Tensor:
        return self.model.past(node.z)


def open_adapter(source: str | Path, *, checkpoint: str | int = BEST) -> ModelAdapter:
    """The learner that a run's folder holds (its best checkpoint, its last, or that of a step), or a checkpoint's."""
    found = find_checkpoint(Path(source), checkpoint)
    try:
        model = load_model(found.folder)
    except WeightsError as error:
        raise InputError(error.path, error.cause, error.remedy) from None
    objective = str(found.setting("objective.name", "mmcc"))
    name = _NAMES.get(objective, objective)
    correspondence = found.setting("objective.cross_modal.temperature", 0.1)
    if isinstance(model, MemDPC):
        return MemDPCAdapter(model, name=name, temperature=found.setting("objective.memdpc.temperature", 0.1))
    if isinstance(model, Anticipator):
        return AnticipatorAdapter(model, _words(found, model.vocabulary_size), name=name, temperature=correspondence)
    if not isinstance(model, MMCC):
        remedy = "Wrap it in a learner of your own: mmcc.evaluation.adapter.register_learner."
        raise InputError(found.folder, f"no task knows models of type {model.model_type}", remedy)
    words = _words(found, model.vocabulary_size)
    if objective == "cross_modal":
        return CrossModalAdapter(model, words, name=name, temperature=correspondence)
    directed = any(found.setting(f"objective.direction.{part}", False) for part in ("within", "across"))
    return MMCCAdapter(
        model,
        words,
        name="mmcc+" if objective == "mmcc" and directed else name,
        temperature=found.setting("objective.cycle.temperature", 0.1),
        states=found.setting("objective.cycle.p_unimodal", 0.5) < 1,  # else nothing has trained f
    )


def _words(found: Checkpoint, size: int) -> Words:
    vocabulary = found.vocabulary()
    if len(vocabulary) != size:
        cause = f"has {len(vocabulary)} words, but its model was trained with {size}"
        raise InputError(found.folder / "vocabulary.txt", cause, "Copy it again from where the run was made.")
    return Words(vocabulary, found.setting("data.max_words", MAX_WORDS))
