"""An objective is one object: its settings, the model it trains, its loss, the loss's weights over time, its skills.

Yours, in a module that `--import` names, is known as `objective.name: slow-features` once it says

    register_objective(
        ObjectiveSpec(
            SlowFeaturesConfig,  # a subclass of ObjectiveConfig; its default name is the objective's
            label="Slow features",
            purpose="to embed neighbouring frames nearby",
            loss=SlowFeatures,
            skills=frozenset({FUTURE}),
        )
    )
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

from torch import Tensor

from mmcc.models.config import ModelConfig
from mmcc.models.model import MMCC
from mmcc.models.nodes import BatchLike, Nodes
from mmcc.models.registry import Model
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.losses import Losses, Weights
from mmcc.objectives.rng import SampleRng
from mmcc.registry import Registry
from mmcc.settings import NamedSettings

# What a model can be asked after training. What an objective does not train is never measured.
TEXT_SKILL = "text"  # π of frames and of utterances are comparable
FUTURE = "future"  # `future(z)` is where a node's future lies
PAST = "past"  # `past(z)`, likewise
COMBINE = "combine"  # `combine(z of vision, z of text)` is a node of both modalities, for `future` and `past` alike
SKILLS = frozenset({TEXT_SKILL, FUTURE, PAST, COMBINE})


class Loss(Protocol):
    """What a model is trained to make small."""

    def __call__(
        self, model: Any, nodes: dict[str, Nodes], batch: BatchLike, weights: Weights, rng: SampleRng, /
    ) -> Losses: ...


class TrainingTime(NamedTuple):
    """How far training is, in optimization steps."""

    step: int
    steps: int  # of the whole run
    steps_per_epoch: float


class Identity(NamedTuple):
    """What a trained model is called."""

    name: str  # in results: "tap"
    label: str  # in tables: "TAP"


def _mmcc_model(model: ModelConfig, objective: Any, vocabulary_size: int) -> Model:
    return MMCC(model, vocabulary_size)


def _no_weights(objective: Any, time: TrainingTime) -> Weights:
    return {}


@dataclass(frozen=True)
class ObjectiveSpec:
    """All there is to know about an objective. What takes the objective's settings is typed by those who write it."""

    settings: type[ObjectiveConfig]
    label: str  # in tables
    purpose: str  # what a model learns by it, as in "It learned …"
    loss: Callable[[Any], Loss]
    skills: frozenset[str] = SKILLS
    model: Callable[[ModelConfig, Any, int], Model] = _mmcc_model  # the last is the size of the vocabulary
    weights: Callable[[Any, TrainingTime], Weights] = _no_weights
    short: str = ""  # in results, where the name is long: "ra"
    variant: Callable[[Any], Identity | None] = lambda objective: None  # settings that have a name of their own: MMCC+
    untrained: Callable[[Any], frozenset[str]] = lambda objective: frozenset()  # skills that settings take away
    cycle: Callable[[Any], CycleConfig] = lambda objective: CycleConfig()  # how cycles are walked in validation
    temperature: Callable[[Any], float] = lambda objective: 0.1  # of edges, in evaluation
    starts_from: str = ""  # the objective of a finished run that it must be initialized with
    misses: Callable[[Any, Tensor], str] = field(default=lambda objective, times: "")  # in frames at these times [N]

    @property
    def name(self) -> str:
        return self.settings.own_name()

    def identity(self, objective: ObjectiveConfig) -> Identity:
        return self.variant(objective) or Identity(self.short or self.name, self.label)

    def skills_of(self, objective: ObjectiveConfig) -> frozenset[str]:
        """What these settings train."""
        return self.skills - self.untrained(objective)


OBJECTIVES: Registry[ObjectiveSpec] = Registry("objective")


@dataclass(frozen=True)
class ObjectiveConfig(NamedSettings):
    """`objective`. What an objective can be told is a subclass, whose default name is the objective's."""

    registry: ClassVar[Registry[Any]] = OBJECTIVES
    name: str = "mmcc"


def register_objective(spec: ObjectiveSpec) -> None:
    """Make an objective known by its settings' name; a name belongs to one objective."""
    unknown = spec.skills - SKILLS
    if unknown:
        raise ValueError(f"skills of {spec.name!r}: {', '.join(sorted(unknown))} (known: {', '.join(sorted(SKILLS))})")
    OBJECTIVES.add(spec.name, spec)


def spec_of(objective: ObjectiveConfig) -> ObjectiveSpec:
    """The objective that the settings are of."""
    return OBJECTIVES.find(objective.name)
