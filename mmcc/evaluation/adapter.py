"""What can be evaluated: anything that embeds frames and predicts where their futures lie. Yours in a few lines:

    class Brightness:
        name, modalities, temperature, past, combine = "brightness", (VISION,), 0.1, None, None

        def embed_frames(self, frames: Tensor) -> Embedding:
            return Embedding.of(frames.float().mean(dim=(1, 2)))

        def future(self, node: Embedding) -> Tensor:
            return node.pi  # nothing is predicted: the future looks like the present

    register_adapter("brightness", lambda corpus: Brightness())

Shapes: P frames or texts, H × W pixels, F feature dims, D dims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from mmcc.corpus import Corpus
from mmcc.errors import InputError
from mmcc.models.mlp import unit_norm
from mmcc.registry import Registry


class Embedding(NamedTuple):
    """Nodes, of one modality or of a state."""

    z: Tensor  # [..., D]
    pi: Tensor  # [..., D] unit norm: the space that futures are retrieved in

    @classmethod
    def of(cls, z: Tensor) -> Embedding:
        """Where there is no projection: π is the unit-norm z."""
        return cls(z, unit_norm(z))

    def mean(self, weights: Tensor) -> Embedding:
        """Nodes [P, D] averaged by weights [C, P] whose rows sum to one: mean z, and unit-norm mean π."""
        return Embedding(weights @ self.z, unit_norm(weights @ self.pi))


Remember = Callable[[Embedding, Tensor], Embedding]  # nodes, the mean z before them → states, with the nodes' π


class ModelAdapter(Protocol):
    """What evaluation tasks and tools ask of a model. One that predicts nothing gives the present as the future."""

    @property
    def name(self) -> str: ...  # as tables call it: "mmcc", "mmcc+", "cross_modal", "tap", "random", …
    @property
    def modalities(self) -> tuple[str, ...]: ...  # (VISION, TEXT) or (VISION,)
    @property
    def temperature(self) -> float: ...  # of the edges: in training, and so here
    @property
    def past(self) -> Callable[[Embedding], Tensor] | None: ...  # g_back, where the objective has one
    @property
    def combine(
        self,
    ) -> Callable[[Embedding, Embedding], Embedding] | None: ...  # vision, text → state, with vision's π

    def embed_frames(self, frames: Tensor) -> Embedding:
        """Frames [P, H, W, 3] uint8, or features [P, F] float."""
        ...

    def future(self, node: Embedding) -> Tensor:
        """Nodes or states → the unit-norm π of their future [..., D]."""
        ...


class TextAdapter(ModelAdapter, Protocol):
    """A model with TEXT among its modalities; it brings its own vocabulary."""

    def embed_texts(self, texts: Sequence[str]) -> Embedding: ...


def finite(prediction: Tensor, adapter: ModelAdapter) -> Tensor:
    """A model's prediction, unless it contains NaN or Inf: frames may embed well and still have no future."""
    if not prediction.isfinite().all():
        remedy = "Its weights have diverged: train it at a lower rate."
        raise InputError(adapter.name, "its predictions contain NaN or Inf", remedy)
    return prediction


def understood(adapter: ModelAdapter, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether the model knows a word of each text; a model without `knows` is taken to know all."""
    knows: Callable[[str], bool] | None = getattr(adapter, "knows", None)
    return np.array([knows is None or knows(text) for text in texts], bool)


def memory_of(adapter: ModelAdapter) -> Remember | None:
    """How the model takes what came before into account; None for a model that sees the present alone."""
    return getattr(adapter, "remember", None)


AdapterFactory = Callable[[Corpus], ModelAdapter]
_ADAPTERS: Registry[AdapterFactory] = Registry("model")


def register_adapter(name: str, factory: AdapterFactory) -> None:
    """Make a model known by name, built for the corpus it is evaluated on; a name belongs to one factory."""
    _ADAPTERS.add(name, factory)


def build_adapter(name: str, corpus: Corpus) -> ModelAdapter:
    """The model registered under a name; UnknownName lists the names there are."""
    return _ADAPTERS.find(name)(corpus)
