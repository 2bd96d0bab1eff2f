"""Training objectives. Importing this package registers the built-in ones."""

from mmcc.objectives.config import CrossModalConfig, CycleConfig, DirectionConfig
from mmcc.objectives.cross_modal import CrossModalObjectiveConfig
from mmcc.objectives.cycle import Cycle, cycle_back
from mmcc.objectives.losses import Dynamics, Losses, TwoWayDynamics
from mmcc.objectives.memdpc import MemDPCConfig
from mmcc.objectives.mmcc import MMCCConfig
from mmcc.objectives.representation_anticipation import RAConfig
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.spec import ObjectiveConfig, ObjectiveSpec, register_objective, spec_of
from mmcc.objectives.starts import Starts, concreteness, sample_starts
from mmcc.objectives.time_agnostic import TAPConfig

__all__ = [
    "CrossModalConfig",
    "CrossModalObjectiveConfig",
    "Cycle",
    "CycleConfig",
    "DirectionConfig",
    "Dynamics",
    "Losses",
    "MMCCConfig",
    "MemDPCConfig",
    "ObjectiveConfig",
    "ObjectiveSpec",
    "RAConfig",
    "SampleRng",
    "Starts",
    "TAPConfig",
    "TwoWayDynamics",
    "concreteness",
    "cycle_back",
    "register_objective",
    "sample_starts",
    "spec_of",
]
