"""All that a run can be told, with the reason beside each default; `paper`, `kitchen` and rivals are shipped as YAML.

>>> config = load_config("paper", ["train.lr=3e-4", "model.width=32"])
>>> config.train.lr
0.0003
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from mmcc.data.config import DataConfig
from mmcc.errors import InputError
from mmcc.models.config import ModelConfig
from mmcc.objectives.config import ObjectiveConfig
from mmcc.objectives.registry import find_objective
from mmcc.training.settings import REMEDY, WrongSetting, build, flatten, merge, parse_overrides, read_yaml, to_mapping
from mmcc.training.shipped import SHIPPED, shipped_names

# Of each pair one is set and the other null; naming one takes the other's default away.
EITHER_OR = (("steps", "epochs"), ("ramp_share", "ramp_epochs"))

# What a run may be gone on with differently: none of these changes what a step computes.
FREE_ON_RESUME = frozenset(
    f"train.{name}"
    for name in (
        *("steps", "epochs", "workers", "device", "compile", "keep"),
        *("validate_every", "validation_segments", "validation_starts", "checkpoint_every", "log_every"),
    )
)


@dataclass(frozen=True)
class TrainConfig:
    """How long, how fast, with which weights of the losses, and what is written down on the way."""

    epochs: float | None = 100.0  # every training video once, one segment each; the paper: until convergence
    steps: int | None = None  # in place of epochs
    batch_size: int = 32  # segments a step, over all processes; more negatives for the cross-modal loss cost memory
    accumulation: int = 1  # a step in so many parts, where a batch does not fit; negatives come from one part only
    lr: float = 1e-4  # the paper's
    lr_schedule: Literal["constant", "cosine"] = "constant"  # the paper names none; cosine suits a fixed budget
    warmup_steps: int = 0  # linear; the paper names none
    betas: tuple[float, float] = (0.9, 0.999)  # Adam's own
    weight_decay: float = 0.0  # the paper names none; decoupled (AdamW) where set
    grad_clip: float = 0.0  # largest norm of the gradient, 0 for none; the paper names none

    lambda1: float = 1.0  # the cycle's final weight; the paper: 0.5 to 2
    lambda1_start: float = 0.01  # the paper's "small value ε": correspondence has to come first
    ramp_epochs: float | None = 30.0  # over which lambda1 grows exponentially, as in the paper
    ramp_share: float | None = None  # in place of ramp_epochs: a share of all steps, for short runs
    lambda2: float = 1.0  # cross-modal, constant, as in the paper
    cycle_ratio: float = 1.0  # the cycle's share of lambda1: 0 leaves what grows beside it, to see what it is worth
    similarity_ratio: float = 3.0  # λ3 = 3 λ1, as in the paper
    direction_ratio: float = 3.0  # λ4 = 3 λ1; on vectors 10 is better (docs/training.md), and kitchen.yaml has it

    init: str | None = None  # a run, or a checkpoint, to start from: its weights, its words. RA and TAP need one
    frame_weights: str | None = None  # torchvision's ResNet-18 as .safetensors, to start from; the paper: from scratch
    seed: int = 0  # everything random follows from it and from the number of the sample
    device: str = "auto"  # cuda where there is one, else cpu
    precision: Literal["fp32", "bf16"] = "fp32"  # of the encoders; bf16 is for GPUs (8.5 times slower on an AVX2 CPU)
    channels_last: bool = True  # faster convolutions on CPU and GPU alike
    compile: bool = False  # for GPUs: on a CPU it gains 2-4 % for a minute of warm-up
    workers: int = 1  # loader processes of each training process; 1 keeps 2 cores busy

    log_every: int = 10  # steps between two lines of metrics.jsonl
    validate_every: int = 500  # steps
    validation_segments: int = 512  # at most; the standard error of a rank is then below 1
    validation_starts: int = 8  # cycles per segment and modality
    checkpoint_every: int = 500  # steps; what a crash can cost
    keep: int = 2  # newest checkpoints, beside the best: if the last is damaged there is one before it

    def __post_init__(self) -> None:
        for one, other in EITHER_OR:
            if (getattr(self, one) is None) == (getattr(self, other) is None):
                raise ValueError(f"{one}: set it or {other}, and the other to null")
        least = {
            **dict.fromkeys(("steps", "batch_size", "accumulation", "keep", "log_every"), 1),
            **dict.fromkeys(("validate_every", "checkpoint_every", "validation_starts", "validation_segments"), 1),
            **dict.fromkeys(("warmup_steps", "workers", "seed"), 0),
        }
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise ValueError(f"{name} must be at least {bound}, not {value}")
        for name in ("epochs", "lr", "lambda1_start", "lambda1"):
            value = getattr(self, name)
            if value is not None and not (value > 0 or (name == "lambda1" and value == 0)):
                raise ValueError(f"{name} must be more than 0, not {value}")
        ratios = ("cycle_ratio", "similarity_ratio", "direction_ratio")
        for name in ("grad_clip", "weight_decay", "lambda2", *ratios, "ramp_epochs"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must not be negative, but is {value}")
        if self.ramp_share is not None and not 0 <= self.ramp_share <= 1:
            raise ValueError(f"ramp_share must be from 0 to 1, not {self.ramp_share}")
        if self.init is not None and self.frame_weights is not None:
            raise ValueError("frame_weights: set it or init, which brings its own")
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size {self.batch_size} cannot be split in {self.accumulation} (accumulation)")


@dataclass(frozen=True)
class Config:
    """A whole run. The defaults are MMCC+; `paper` is the paper's."""

    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def to_yaml(self) -> str:
        return str(yaml.safe_dump(to_mapping(self), sort_keys=False, allow_unicode=True))

    @classmethod
    def from_yaml(cls, path: Path) -> Config:
        return from_values(read_yaml(path), str(path))


def load_config(name: str | Path | None = None, overrides: list[str] | None = None) -> Config:
    """The defaults, under a shipped or a given file, under the overrides of the command line."""
    values: dict[str, Any] = {}
    source = "the command line"
    if name is not None:
        shipped = SHIPPED / f"{name}.yaml"
        path = shipped if str(name) in shipped_names() else Path(name)
        if not path.is_file():
            raise InputError(path, "there is no such configuration", f"Name a file, or {', '.join(shipped_names())}.")
        values = read_yaml(path)
        from_values(values, str(path))  # so that a mistake in the file is not blamed on an override
    given = parse_overrides(overrides or [])
    section = values.get("train")
    if isinstance(section, dict) and isinstance(given.get("train"), Mapping):
        values["train"] = {key: value for key, value in section.items() if not _replaced(key, given["train"])}
    return from_values(merge(values, given), source)


def from_values(values: Mapping[str, Any], source: str) -> Config:
    """A Config of nested mappings; InputError names the source and the setting."""
    values = dict(values)
    section = values.get("train")
    if isinstance(section, Mapping):
        instead = {other: None for pair in EITHER_OR for other in pair if _replaced(other, section)}
        values["train"] = {**instead, **section}
    try:
        config = build(Config, values)
    except WrongSetting as problem:
        raise InputError(source, str(problem), REMEDY) from None
    try:
        find_objective(config.objective.name)
    except ValueError as problem:
        remedy = "Choose one of them, or import the module that registers yours first."
        raise InputError(source, f"objective.name: {problem}", remedy) from None
    return config


def differences(one: Config, other: Config) -> dict[str, tuple[Any, Any]]:
    """Dotted path -> both values, where they differ."""
    first, second = flatten(to_mapping(one)), flatten(to_mapping(other))
    return {key: (first.get(key), second.get(key)) for key in first | second if first.get(key) != second.get(key)}


def _replaced(name: str, given: Mapping[str, Any]) -> bool:
    """Whether naming another setting takes this one's place."""
    partners = dict(EITHER_OR) | {other: one for one, other in EITHER_OR}
    return name in partners and name not in given and given.get(partners[name]) is not None
