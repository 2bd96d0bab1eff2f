"""What can be evaluated: anything that embeds frames, and says where their future lies. Yours in a few lines:

    class Brightness:
        name, modalities, temperature, past, combine = "brightness", (VISION,), 0.1, None, None

        def embed_frames(self, frames: Tensor) -> Embedding:
            return Embedding.of(frames.float().mean(dim=(1, 2)))

        def future(self, node: Embedding) -> Tensor:
            return node.pi  # nothing is predicted: the future looks like the present

    register_learner("brightness", lambda corpus: Brightness())

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


class Embedding(NamedTuple):
    """Nodes, of one modality or of a state."""

    z: Tensor  # [..., D]
    pi: Tensor  # [..., D] unit norm: the space that futures are retrieved in

    @classmethod
    def of(cls, z: Tensor) -> Embedding:
        """Where there is no projection: π is the unit-norm z."""
        return cls(z, unit_norm(z))

    def mean(self, weights: Tensor) -> Embedding:
        """Nodes [P, D] averaged by weights [C, P] of which each row sums to one: mean z, and unit-norm mean π."""
        return Embedding(weights @ self.z, unit_norm(weights @ self.pi))


class ModelAdapter(Protocol):
    """What every task asks of a model. Without prediction, `future` gives the present."""

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
    """A learner with TEXT among its modalities; it brings its own vocabulary."""

    def embed_texts(self, texts: Sequence[str]) -> Embedding: ...


def finite(prediction: Tensor, adapter: ModelAdapter) -> Tensor:
    """A learner's prediction, unless it is no number: frames may embed well and still have no future."""
    if not prediction.isfinite().all():
        raise InputError(adapter.name, "predicts what is no number", "Its weights hold NaN: train it at a lower rate.")
    return prediction


def understood(adapter: ModelAdapter, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Of which texts the learner knows a word; one that does not tell, by `knows`, is taken to know all."""
    knows: Callable[[str], bool] | None = getattr(adapter, "knows", None)
    return np.array([knows is None or knows(text) for text in texts], bool)


AdapterFactory = Callable[[Corpus], ModelAdapter]
_FACTORIES: dict[str, AdapterFactory] = {}


def register_adapter(name: str, factory: AdapterFactory) -> None:
    """Make a learner known by name, built for the corpus it is evaluated on; a name belongs to one factory."""
    if _FACTORIES.setdefault(name, factory) is not factory:
        raise ValueError(f"a learner named {name!r} is registered already")


def build_adapter(name: str, corpus: Corpus) -> ModelAdapter:
    """The learner registered under a name."""
    if name not in _FACTORIES:
        known = ", ".join(sorted(_FACTORIES))
        raise ValueError(f"no learner is named {name!r} (known: {known}).\nImport the module that registers it first.")
    return _FACTORIES[name](corpus)
