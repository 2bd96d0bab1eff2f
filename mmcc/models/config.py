"""Settings of the networks."""

from __future__ import annotations

from dataclasses import dataclass, field

from mmcc.models.encoders import FrameEncoderSettings, FrameResNetSettings
from mmcc.models.text import BagOfWordsSettings, TextEncoderSettings


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the networks and the choice of encoders; everything else follows the paper."""

    dims: int = 512  # the paper's d: of z, of π and of every hidden layer
    frame_encoder: FrameEncoderSettings = field(default_factory=FrameResNetSettings)  # by name, with its own settings
    text_encoder: TextEncoderSettings = field(default_factory=BagOfWordsSettings)  # by name, with its own settings
    memory: bool = False  # h: a state that has also seen what came before; doubles the work of g in the direction loss
    predictor_rank: int = 0  # of g as one linear map; 0: the paper's four layers, which need thousands of videos

    def __post_init__(self) -> None:
        if self.dims < 1:
            raise ValueError(f"model.dims is {self.dims}; it must be at least 1")
        if self.predictor_rank < 0:
            raise ValueError(f"model.predictor_rank is {self.predictor_rank}; it must be at least 0")
