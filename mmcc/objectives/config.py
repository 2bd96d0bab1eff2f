"""The objectives' settings, each default with its reason. Every ablation of the paper's Table 1 is one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

CyclePath = Literal["within", "across"]
StartChoice = Literal["concreteness", "random"]
CorrespondenceForm = Literal["weighted", "mil_nce"]


@dataclass(frozen=True)
class CycleConfig:
    """How cycles are started, walked and kept from collapsing."""

    path: CyclePath = "within"  # Table 1: 93.6 within modalities, 85.0 across
    starts: StartChoice = "concreteness"  # Table 1: 93.6, against 88.7 at random
    start_temperature: float = 0.1  # the paper's, for the softmax over concreteness
    starts_per_segment: int = 8  # and modality; the paper has 1, but the encoder is nearly all of a step's cost
    temperature: float = 0.1  # of every edge; the paper names none; the same at test
    p_unimodal: float = 0.5  # the paper's: 1 loses cross-modal information, 0 cannot work on one modality alone
    constrain: bool = True  # max-index constraint; in training only, at test an edge sees every node
    similarity: bool = True  # Table 1: 93.6 with both means against collapse, 92.6 with the constraint alone
    similarity_margin: float = 0.5  # the paper's, in both terms

    def __post_init__(self) -> None:
        _one_of("path", self.path, ("within", "across"))
        _one_of("starts", self.starts, ("concreteness", "random"))
        _above("start_temperature", self.start_temperature, 0)
        _above("starts_per_segment", self.starts_per_segment, 0)
        _above("temperature", self.temperature, 0)
        _within("p_unimodal", self.p_unimodal, 0, 1)
        _within("similarity_margin", self.similarity_margin, -1, 1)


@dataclass(frozen=True)
class CrossModalConfig:
    """Which frames and utterances belong together, and how sharply."""

    form: CorrespondenceForm = "weighted"  # with the appendix's three changes; mil_nce: Eq. 13 before them
    temperature: float = 0.1  # the paper names none; the edges' own, since the loss trains what the edges retrieve
    window: int = 2  # k: nodes on either side of the nearest one that count as positives
    sigma: float = 1.5  # seconds; with the paper's 1 a lag of 3 s weighs 0.01, and at 0.25 fps hardly a pair is left
    least_weight: float = 0.01  # a pair that weighs less is no positive (4.6 s at σ = 1.5); the far ones would
    # otherwise pull as hard as the near ones wherever an anchor has no other, since -log takes the scale away

    def __post_init__(self) -> None:
        _one_of("form", self.form, ("weighted", "mil_nce"))
        _above("temperature", self.temperature, 0)
        _within("window", self.window, 0, float("inf"))
        _above("sigma", self.sigma, 0)
        _within("least_weight", self.least_weight, 0, 1)


@dataclass(frozen=True)
class DirectionConfig:
    """MMCC+: teach the predictors which way time runs. With neither part on, the loss is off, as in the paper."""

    within: bool = True  # against the nodes of the same modality; without it order is half lost (docs/results.md)
    across: bool = True  # against the nodes of the other modality; without it R@5 is halved (docs/results.md)
    gap: float = 2.0  # seconds that a node of the other modality must lie off: captions are seldom exact
    batch_nodes: bool = True  # all segments' nodes in the across denominator: more to tell the future from
    temperature: float = 0.1  # the edges' own, which it shapes

    def __post_init__(self) -> None:
        _within("gap", self.gap, 0, float("inf"))
        _above("temperature", self.temperature, 0)


@dataclass(frozen=True)
class AnticipationConfig:
    """RA and TAP: what a node's prediction is compared with."""

    across: bool = False  # nodes of the other modality as well; the paper's rivals have their own modality only
    seconds: float = 1.0  # RA: how far ahead its target frame lies; the paper's
    tolerance: float = 0.25  # RA: how far off that moment it may be; more, and 2 fps would take the wrong frame

    def __post_init__(self) -> None:
        _above("seconds", self.seconds, 0)
        _within("tolerance", self.tolerance, 0, self.seconds)


@dataclass(frozen=True)
class MemDPCConfig:
    """MemDPC: how much is remembered, and how far ahead it looks."""

    slots: int = 1024  # of the memory; the authors' own
    horizon: int = 3  # nodes predicted one after another from each past; the authors' own
    temperature: float = 0.1  # of the contrast, as everywhere here; the authors' dot products have none

    def __post_init__(self) -> None:
        _above("slots", self.slots, 0)
        _above("horizon", self.horizon, 0)
        _above("temperature", self.temperature, 0)


@dataclass(frozen=True)
class MMCCConfig:
    """The whole of MMCC's objective."""

    cycle: CycleConfig = field(default_factory=CycleConfig)
    cross_modal: CrossModalConfig = field(default_factory=CrossModalConfig)
    direction: DirectionConfig = field(default_factory=DirectionConfig)
    fine_tune: bool = True  # Table 1: 93.6, against 67.5 where only the cross-modal loss trains the embeddings z


@dataclass(frozen=True)
class ObjectiveConfig(MMCCConfig):
    """What a run is trained for; a rival reads its own section and leaves the others alone."""

    name: str = "mmcc"  # or cross_modal, representation_anticipation, time_agnostic, memdpc, or one you registered
    anticipation: AnticipationConfig = field(default_factory=AnticipationConfig)
    memdpc: MemDPCConfig = field(default_factory=MemDPCConfig)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def _above(name: str, value: float, least: float) -> None:
    if not value > least:
        raise ValueError(f"{name} must be above {least}, not {value}")


def _within(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} must be {least} to {most}, not {value}")
