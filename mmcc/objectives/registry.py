"""Objectives by name: which model one trains, what it computes of a batch, and what comes of it. Yours:

    register_objective(
        "slow-features",
        lambda model, objective, vocabulary_size: MMCC(model, vocabulary_size),
        lambda objective: SlowFeatures(),
        skills={FUTURE},
    )

and `objective.name: slow-features` trains it, once the module that says so is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from mmcc.models.anticipator import Anticipator
from mmcc.models.config import ModelConfig
from mmcc.models.memdpc import MemDPC
from mmcc.models.model import MMCC
from mmcc.models.nodes import BatchLike, Nodes
from mmcc.models.registry import Model
from mmcc.objectives.config import ObjectiveConfig
from mmcc.objectives.cross_modal import CrossModalObjective
from mmcc.objectives.losses import Losses, LossWeights
from mmcc.objectives.memdpc import MemDPCObjective
from mmcc.objectives.mmcc import MMCCObjective
from mmcc.objectives.representation_anticipation import RepresentationAnticipation, no_frame_ahead
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.time_agnostic import TimeAgnosticPrediction

CROSS_MODAL = "cross_modal"

# What a model can be asked after training. What it was not trained for is not measured.
CORRESPONDENCE = "correspondence"  # π of frames and of utterances are comparable
FUTURE = "future"  # `future(z)` says where a node's future lies
PAST = "past"  # `past(z)`, likewise
STATE = "state"  # `combine(z of vision, z of text)` is a node of both modalities, for `future` and `past` alike
ALL_SKILLS = frozenset({CORRESPONDENCE, FUTURE, PAST, STATE})


class Objective(Protocol):
    """What a model is trained for."""

    def __call__(
        self, model: Any, nodes: dict[str, Nodes], batch: BatchLike, weights: LossWeights, rng: SampleRng, /
    ) -> Losses: ...


ModelFactory = Callable[[ModelConfig, ObjectiveConfig, int], Model]  # the last is the size of the vocabulary
ObjectiveFactory = Callable[[ObjectiveConfig], Objective]


@dataclass(frozen=True)
class Recipe:
    """All there is to know of an objective."""

    build_model: ModelFactory
    build_objective: ObjectiveFactory
    skills: frozenset[str] = ALL_SKILLS
    predicts_cross_modal: bool = False  # begins as a finished cross-modal run, whose features it predicts
    misses: Callable[[ObjectiveConfig, Tensor], str] | None = None  # what, in frames at these times [N]; "" if nothing


_RECIPES: dict[str, Recipe] = {}


def register_objective(
    name: str,
    build_model: ModelFactory,
    build_objective: ObjectiveFactory,
    *,
    skills: Iterable[str] = ALL_SKILLS,
    predicts_cross_modal: bool = False,
    misses: Callable[[ObjectiveConfig, Tensor], str] | None = None,
) -> None:
    """Make an objective known as `objective.name: name`; a name belongs to one objective."""
    if name in _RECIPES:
        raise ValueError(f"an objective named {name!r} is registered already")
    _RECIPES[name] = Recipe(build_model, build_objective, frozenset(skills), predicts_cross_modal, misses)


def find_objective(name: str) -> Recipe:
    """The objective of that name; ValueError names those there are."""
    if name not in _RECIPES:
        raise ValueError(f"no objective is named {name!r} (known: {', '.join(sorted(_RECIPES))})")
    return _RECIPES[name]


def _mmcc(model: ModelConfig, objective: ObjectiveConfig, vocabulary_size: int) -> MMCC:
    return MMCC(model, vocabulary_size)


def _anticipator(model: ModelConfig, objective: ObjectiveConfig, vocabulary_size: int) -> Anticipator:
    return Anticipator(model, vocabulary_size)


def _memdpc(model: ModelConfig, objective: ObjectiveConfig, vocabulary_size: int) -> MemDPC:
    return MemDPC(model, objective.memdpc.slots)


register_objective("mmcc", _mmcc, MMCCObjective)
register_objective(CROSS_MODAL, _mmcc, CrossModalObjective, skills={CORRESPONDENCE})
register_objective(
    "representation_anticipation",
    _anticipator,
    RepresentationAnticipation,
    skills={CORRESPONDENCE, FUTURE},
    predicts_cross_modal=True,
    misses=no_frame_ahead,
)
register_objective(
    "time_agnostic",
    _anticipator,
    TimeAgnosticPrediction,
    skills={CORRESPONDENCE, FUTURE},
    predicts_cross_modal=True,
)
register_objective("memdpc", _memdpc, MemDPCObjective, skills={FUTURE, PAST})
