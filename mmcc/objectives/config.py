"""Settings of the losses that objectives share, each default with its reason. Other settings are in the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CyclePath = Literal["within", "across"]
StartChoice = Literal["concreteness", "random"]
CorrespondenceForm = Literal["weighted", "mil_nce"]


@dataclass(frozen=True)
class CycleConfig:
    """How cycles start, how they are walked, and how collapse is prevented."""

    path: CyclePath = "within"  # Table 1: 93.6 within modalities, 85.0 across
    starts: StartChoice = "concreteness"  # Table 1: 93.6, against 88.7 at random
    start_temperature: float = 0.1  # the paper's, for the softmax over concreteness
    starts_per_segment: int = 8  # per modality; the paper has 1, but the encoder is nearly the whole cost of a step
    temperature: float = 0.1  # of every edge, also at test time; the paper gives none
    p_unimodal: float = 0.5  # the paper's: 1 loses cross-modal information, 0 cannot work on one modality alone
    constrain: bool = True  # max-index constraint, in training only: at test time an edge sees every node
    similarity: bool = False  # Table 1: 93.6 with it, 92.6 without; beside the direction loss it only costs
    similarity_margin: float = 0.5  # the paper's, in both terms

    def __post_init__(self) -> None:
        one_of("path", self.path, ("within", "across"))
        one_of("starts", self.starts, ("concreteness", "random"))
        above("start_temperature", self.start_temperature, 0)
        above("starts_per_segment", self.starts_per_segment, 0)
        above("temperature", self.temperature, 0)
        within("p_unimodal", self.p_unimodal, 0, 1)
        within("similarity_margin", self.similarity_margin, -1, 1)


@dataclass(frozen=True)
class CrossModalConfig:
    """Which frames and utterances belong together, and how sharply."""

    form: CorrespondenceForm = "weighted"  # with the appendix's three changes; mil_nce: Eq. 13 before them
    temperature: float = 0.1  # the paper gives none; that of the edges, since the loss trains what the edges retrieve
    window: int = 2  # k: nodes on each side of the nearest one that count as positives
    sigma: float = 1.5  # seconds; with the paper's 1 a lag of 3 s weighs 0.01, and at 0.25 fps hardly any pair is left
    least_weight: float = 0.01  # a pair with less weight is not a positive (4.6 s at σ = 1.5); otherwise far pairs
    # would pull as hard as near ones wherever an anchor has no others, since -log removes the scale

    def __post_init__(self) -> None:
        one_of("form", self.form, ("weighted", "mil_nce"))
        above("temperature", self.temperature, 0)
        within("window", self.window, 0, float("inf"))
        above("sigma", self.sigma, 0)
        within("least_weight", self.least_weight, 0, 1)


@dataclass(frozen=True)
class DirectionConfig:
    """MMCC+: teach the predictors what is still to come. With all parts off, the loss is off, as in the paper."""

    # Weights of the parts, within λ4; docs/training.md has the effect of each.
    leads: float = 1.0  # from each node to what comes later; without it, the task is lost
    arrives: float = 1.0  # at each node from what came earlier: a preference for "late" nodes does not count
    contrast: float = 1.0  # a node is expected before it and not after it; more of it trades the task for dynamics
    pairs: bool = False  # every pair of nodes of a modality in its order; for heads on frozen encoders (docs/real.md)
    p_memory: float = 0.5  # share of nodes that remember what came before, where model.memory is true
    gap: float = 2.0  # seconds that a node of the other modality must be away: captions are seldom exact
    temperature: float = 0.1  # that of the edges, which this loss shapes

    @property
    def parts(self) -> dict[str, float]:
        """The parts of `direction_loss` that are on, with their weights."""
        weights = {"leads": self.leads, "arrives": self.arrives, "contrast": self.contrast}
        return {part: weight for part, weight in weights.items() if weight}

    @property
    def on(self) -> bool:
        return bool(self.parts) or self.pairs

    def __post_init__(self) -> None:
        for name in ("leads", "arrives", "contrast", "gap"):
            within(name, getattr(self, name), 0, float("inf"))
        within("p_memory", self.p_memory, 0, 1)
        above("temperature", self.temperature, 0)


def one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def above(name: str, value: float, least: float) -> None:
    if not value > least:
        raise ValueError(f"{name} must be above {least}, not {value}")


def within(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} must be {least} to {most}, not {value}")
