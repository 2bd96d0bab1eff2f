"""An objective is one object: its settings, the model it trains, its loss, the loss's weights over time, its skills.

To add one, available as `objective.name: slow-features`, put this in a module and pass the module to `--import`:

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
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

from torch import Tensor

from mmcc.models.config import ModelConfig
from mmcc.models.model import MMCC
from mmcc.models.nodes import BatchLike, Nodes
from mmcc.models.registry import Network
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.losses import Losses, Weights
from mmcc.objectives.rng import SampleRng
from mmcc.registry import Registry
from mmcc.settings import NamedSettings

# What a trained model can do. Skills that an objective does not train are never measured.
TEXT_SKILL = "text"  # π of frames and of utterances are comparable
FUTURE = "future"  # `future(z)` predicts a node's future
PAST = "past"  # `past(z)` predicts a node's past
COMBINE = "combine"  # `combine(z of vision, z of text)` is a state of both modalities, for `future` and `past`
MEMORY = "memory"  # `remember(z, mean z of what came before)` is a state that knows it, for `future`
SKILLS = frozenset({TEXT_SKILL, FUTURE, PAST, COMBINE, MEMORY})


class Loss(Protocol):
    """What training minimizes."""

    def __call__(
        self, model: Any, nodes: dict[str, Nodes], batch: BatchLike, weights: Weights, rng: SampleRng, /
    ) -> Losses: ...


class TrainingTime(NamedTuple):
    """How far training is, in training steps."""

    step: int
    steps: int  # of the whole run
    steps_per_epoch: float


class Identity(NamedTuple):
    """What a trained model is called."""

    name: str  # in results: "tap"
    label: str  # in tables: "TAP"


def _mmcc_model(model: ModelConfig, objective: Any, vocabulary_size: int) -> Network:
    return MMCC(model, vocabulary_size)


def _no_weights(objective: Any, time: TrainingTime) -> Weights:
    return {}


@dataclass(frozen=True)
class ObjectiveSpec:
    """Everything about an objective. Functions of its settings take Any: each objective has its own settings."""

    settings: type[ObjectiveConfig]
    label: str  # in tables
    purpose: str  # what a model learns, to complete "It learned …"
    loss: Callable[[Any], Loss]
    skills: frozenset[str] = SKILLS
    model: Callable[[ModelConfig, Any, int], Network] = _mmcc_model  # the int is the size of the vocabulary
    weights: Callable[[Any, TrainingTime], Weights] = _no_weights
    terms: tuple[str, ...] = ()  # logged terms that the progress bar shows beside the total
    short: str = ""  # in results, where the name is long: "ra"
    variant: Callable[[Any], Identity | None] = lambda objective: None  # settings with another name: MMCC+
    untrained: Callable[[Any], frozenset[str]] = lambda objective: frozenset()  # skills that some settings remove
    cycle: Callable[[Any], CycleConfig] = lambda objective: CycleConfig()  # how cycles are walked
    temperature: Callable[[Any], float] = lambda objective: 0.1  # of edges, in evaluation
    starts_from: str = ""  # the objective of the finished run that must initialize it
    misses: Callable[[Any, Tensor], str] = field(default=lambda objective, times: "")  # what frames at times [N] lack

    @property
    def name(self) -> str:
        return self.settings.own_name()

    def identity(self, objective: ObjectiveConfig) -> Identity:
        return self.variant(objective) or Identity(self.short or self.name, self.label)

    def skills_of(self, objective: ObjectiveConfig) -> frozenset[str]:
        """What these settings train."""
        return self.skills - self.untrained(objective)

    def walk_of(self, objective: ObjectiveConfig) -> CycleConfig:
        """How cycles are walked after training: where nothing trains `combine`, through one modality alone."""
        cycle = self.cycle(objective)
        return cycle if COMBINE in self.skills_of(objective) else replace(cycle, p_unimodal=1.0)


OBJECTIVES: Registry[ObjectiveSpec] = Registry("objective")


@dataclass(frozen=True)
class ObjectiveConfig(NamedSettings):
    """`objective`. Each objective has a subclass with its settings; the default name is the objective's."""

    registry: ClassVar[Registry[Any]] = OBJECTIVES
    name: str = "mmcc"


def register_objective(spec: ObjectiveSpec) -> None:
    """Register an objective under its settings' name; names must be unique."""
    unknown = spec.skills - SKILLS
    if unknown:
        raise ValueError(f"skills of {spec.name!r}: {', '.join(sorted(unknown))} (known: {', '.join(sorted(SKILLS))})")
    OBJECTIVES.add(spec.name, spec)


def spec_of(objective: ObjectiveConfig) -> ObjectiveSpec:
    """The objective that the settings belong to."""
    return OBJECTIVES.find(objective.name)
