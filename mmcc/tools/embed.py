"""A video as a model sees it, batch by batch: people see how far it is, and a server answers others in between.

Shapes: n frames, k utterances, P frames of a batch, F dims of an encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.tools.cache import Answer
from mmcc.tools.footage import AT_ONCE, Footage, as_trained, encoder_vectors, some_frames
from mmcc.tools.model import ToolModel
from mmcc.tools.stored import stored_vectors

if TYPE_CHECKING:
    from torch import Tensor

    from mmcc.evaluation.adapter import Embedding, ModelAdapter, TextAdapter

_SPACES = ("z", "pi")
# What a server's questions wait for. Four pictures, a batch of mmcc.backbones, take a core 150 ms; two 75 ms, at 3 %
# more of its time for each picture. Eight utterances take as long.
_PER_CORE = 2
_TEXTS_PER_CORE = 8


def embed(footage: Footage, model: ToolModel) -> Answer:
    """Every frame and utterance; `model.between` is called before each batch of frames, and of utterances where a
    pretrained encoder reads them."""
    from mmcc.evaluation.embedding import embed_videos

    corpus, count = stored_vectors(model, footage.corpus, footage.video), len(footage.video.times)
    at_once = _frames_at_once(model)
    adapter = _AsTrained(model, -(-count // at_once))
    (video,) = embed_videos(cast("ModelAdapter", adapter), corpus, [footage.video.id], batch_size=at_once)
    sides = {"": video.frames, "text_": video.utterances}
    arrays = {
        f"{side}{name}": getattr(nodes, name).numpy() for side, nodes in sides.items() if nodes for name in _SPACES
    }
    if adapter.vectors:
        arrays["vectors"] = np.concatenate(adapter.vectors)[some_frames(count)]
    return Answer(arrays, _words(footage, model))


def _frames_at_once(model: ToolModel) -> int:
    """A frozen encoder gains next to nothing by more pictures than keep the cores busy."""
    import torch

    return min(AT_ONCE, _PER_CORE * torch.get_num_threads()) if model.frozen_encoder else AT_ONCE


def _words(footage: Footage, model: ToolModel) -> dict[str, int]:
    """How many words are said, and how many of them the model does not know."""
    from mmcc.data.vocabulary import UNKNOWN, Vocabulary, words_of

    path = model.folder / "vocabulary.txt"
    if not path.is_file():
        return {"words": 0, "unknown": 0}
    said = [word for utterance in footage.video.utterances for word in words_of(utterance.text)]
    ids = Vocabulary.load(path).encode(said, 1)
    return {"words": len(said), "unknown": int((ids == UNKNOWN).sum())}


class _AsTrained:
    """A model adapter that resizes pictures to the size the model was trained on. It keeps the vectors of a frozen
    encoder, and shows how far it is: a minute of video takes one some seconds."""

    def __init__(self, model: ToolModel, calls: int) -> None:
        self._model, self._adapter = model, model.adapter
        self.vectors: list[NDArray[np.float32]] = []
        self._calls, self._done = calls, 0
        self._told = iter(model.progress([""] * calls) if model.frozen_encoder else ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    def embed_frames(self, frames: Tensor) -> Embedding:
        self._model.between(self._done / self._calls)
        self._done += 1
        if self._model.frozen_encoder is None:
            return self._adapter.embed_frames(as_trained(self._model, frames))
        next(self._told, None)
        vectors = encoder_vectors(self._model, frames)
        self.vectors.append(vectors.numpy())
        return self._adapter.embed_frames(vectors)

    def embed_texts(self, texts: Sequence[str]) -> Embedding:
        adapter = cast("TextAdapter", self._adapter)
        if self._model.text_encoder is None:
            return adapter.embed_texts(texts)
        import torch

        from mmcc.evaluation.adapter import Embedding

        at_once = _TEXTS_PER_CORE * torch.get_num_threads()
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # the longest sets the cost of a batch
        parts = []
        for first in range(0, len(order), at_once):
            self._model.between(1.0)  # the frames are done
            parts.append(adapter.embed_texts([texts[place] for place in order[first : first + at_once]]))
        back = torch.tensor(order).argsort()
        return Embedding(*(torch.cat(nodes)[back] for nodes in zip(*parts, strict=True)))
