"""Settings of runs that take seconds."""

from mmcc.training.config import Config, load_config


def tiny_config(*overrides: str) -> Config:
    """Six steps of a small model."""
    small = ["model.dims=16", "train.steps=6", "train.batch_size=4", "train.lr=1e-3"]
    if not any(override.startswith("objective.name=") for override in overrides):
        small.append("objective.ramp_share=0.5")
    often = ["train.validate_every=3", "train.checkpoint_every=2", "train.log_every=1", "train.workers=0"]
    return load_config(None, [*small, *often, "train.validation_segments=8", *overrides])
