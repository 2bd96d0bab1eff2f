"""What a model is built of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of the networks; everything else about them is the paper's."""

    dims: int = 512  # the paper's d: of z, of π and of every hidden layer
    frame_encoder: str = "resnet18"  # the paper's; "features" for a corpus of vectors, or a name you registered
    width: int = 64  # channels of ResNet-18's first stage: 64 is the published net, 16 is 10 times faster on a CPU
    feature_dims: int = 0  # length of a feature corpus's vectors: a fact of the corpus, so there is no default

    def __post_init__(self) -> None:
        for name, least in (("dims", 1), ("width", 1), ("feature_dims", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"model.{name} is {getattr(self, name)}; it must be at least {least}")
