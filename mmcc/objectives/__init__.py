"""What a model learns from: cycles through narrated video, correspondence, and the direction of time."""

from mmcc.objectives.config import CrossModalConfig, CycleConfig, DirectionConfig, MMCCConfig
from mmcc.objectives.cycle import Cycle, cycle_back
from mmcc.objectives.draws import Draws
from mmcc.objectives.losses import Dynamics, Losses, LossWeights
from mmcc.objectives.mmcc import MMCCObjective
from mmcc.objectives.starts import Starts, concreteness, sample_starts

__all__ = [
    "CrossModalConfig",
    "Cycle",
    "CycleConfig",
    "DirectionConfig",
    "Draws",
    "Dynamics",
    "LossWeights",
    "Losses",
    "MMCCConfig",
    "MMCCObjective",
    "Starts",
    "concreteness",
    "cycle_back",
    "sample_starts",
]
