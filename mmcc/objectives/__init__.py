"""What a model learns from: cycles through narrated video, correspondence, and the direction of time."""

from mmcc.objectives.config import (
    AnticipationConfig,
    CrossModalConfig,
    CycleConfig,
    DirectionConfig,
    MemDPCConfig,
    MMCCConfig,
    ObjectiveConfig,
)
from mmcc.objectives.cycle import Cycle, cycle_back
from mmcc.objectives.losses import Dynamics, Losses, LossWeights
from mmcc.objectives.mmcc import MMCCObjective
from mmcc.objectives.registry import Objective, find_objective, register_objective
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.starts import Starts, concreteness, sample_starts

__all__ = [
    "AnticipationConfig",
    "CrossModalConfig",
    "Cycle",
    "CycleConfig",
    "DirectionConfig",
    "Dynamics",
    "LossWeights",
    "Losses",
    "MMCCConfig",
    "MMCCObjective",
    "MemDPCConfig",
    "Objective",
    "ObjectiveConfig",
    "SampleRng",
    "Starts",
    "concreteness",
    "cycle_back",
    "find_objective",
    "register_objective",
    "sample_starts",
]
