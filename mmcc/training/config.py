"""Every setting of a run, with the reason for each default; `paper`, `mmcc_plus` and others are shipped as YAML.

>>> config = load_config("paper", ["train.lr=3e-4", "model.frame_encoder.width=32"])
>>> config.train.lr
0.0003
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import yaml

from mmcc.data.config import DataConfig
from mmcc.errors import InputError, UsageError
from mmcc.extensions import import_extensions, imported_extensions
from mmcc.models.config import ModelConfig
from mmcc.objectives.mmcc import MMCCConfig
from mmcc.objectives.spec import ObjectiveConfig
from mmcc.settings import EitherOr, WrongSetting, build, flatten, merge, parse_overrides, read_yaml, to_mapping
from mmcc.training.shipped import SHIPPED, shipped_configs

# Settings that may change when a run is resumed: none of them changes what a training step computes.
FREE_ON_RESUME = frozenset(
    f"train.{name}"
    for name in (
        *("steps", "epochs", "workers", "device", "compile", "keep"),
        *("validate_every", "validation_segments", "validation_starts", "checkpoint_every", "log_every"),
    )
) | {"imports", "data.local", "data.local_gb"}


@dataclass(frozen=True)
class TrainConfig(EitherOr):
    """How long and how fast to train, and what to record."""

    either_or: ClassVar = (("steps", "epochs"),)

    epochs: float | None = 100.0  # every training video once, one segment each; the paper: until convergence
    steps: int | None = None  # training steps, instead of epochs
    batch_size: int = 32  # segments per training step, over all processes; more give more negatives but cost memory
    accumulation: int = 1  # parts per training step, if a batch does not fit; negatives come from one part only
    lr: float = 1e-4  # the paper's
    lr_schedule: Literal["constant", "cosine"] = "constant"  # the paper gives none; cosine suits a fixed budget
    warmup_steps: int = 0  # linear; the paper gives none
    betas: tuple[float, float] = (0.9, 0.999)  # Adam's defaults
    weight_decay: float = 0.0  # the paper gives none; decoupled (AdamW) if set
    anchor: float = 0.0  # times the squared distance from the first weights: a good start is not soon forgotten
    grad_clip: float = 0.0  # maximum norm of the gradient, 0 for none; the paper gives none

    start: Literal["random", "closed_form"] = "random"  # closed_form: linear heads on frozen encoders start as ridges
    init: str | None = None  # run or checkpoint whose weights and vocabulary to start from; RA and TAP need one
    frame_weights: str | None = None  # torchvision's ResNet-18 as .safetensors, to start from; the paper: from scratch
    seed: int = 0  # all randomness follows from it and from the sample's number
    device: str = "auto"  # cuda if available, otherwise cpu
    precision: Literal["fp32", "bf16"] = "fp32"  # of the encoders; bf16 is for GPUs (8.5 times slower on an AVX2 CPU)
    channels_last: bool = True  # faster convolutions on both CPU and GPU
    compile: bool = False  # for GPUs: on a CPU it gains 2-4 % for a minute of warm-up
    workers: int = 1  # loader processes per training process; 1 keeps 2 cores busy

    log_every: int = 10  # training steps between two lines of metrics.jsonl
    validate_every: int = 500  # training steps
    validation_segments: int = 512  # at most; the standard error of a rank is then below 1
    validation_starts: int = 8  # cycles per segment and modality
    checkpoint_every: int = 500  # training steps: the most a crash can lose
    keep: int = 2  # newest checkpoints, besides the best: if the last is damaged, the previous one remains

    def __post_init__(self) -> None:
        self.check_pairs()
        least = {
            **dict.fromkeys(("steps", "batch_size", "accumulation", "keep", "log_every"), 1),
            **dict.fromkeys(("validate_every", "checkpoint_every", "validation_starts", "validation_segments"), 1),
            **dict.fromkeys(("warmup_steps", "workers", "seed"), 0),
        }
        for name, bound in least.items():
            value = getattr(self, name)
            if value is not None and value < bound:
                raise ValueError(f"{name} must be at least {bound}, not {value}")
        for name in ("epochs", "lr"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be more than 0, not {value}")
        for name in ("grad_clip", "weight_decay", "anchor"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, but is {getattr(self, name)}")
        if self.start == "closed_form" and self.init is not None:
            raise ValueError("init and start: closed_form cannot both be set")
        if self.anchor and self.start != "closed_form":
            raise ValueError("anchor is for a good start: set start to closed_form too")
        if self.init is not None and self.frame_weights is not None:
            raise ValueError("frame_weights and init cannot both be set")
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size {self.batch_size} cannot be split in {self.accumulation} (accumulation)")


@dataclass(frozen=True)
class Config:
    """A whole run. The defaults are MMCC+; `paper` has the paper's settings."""

    imports: tuple[str, ...] = ()  # modules that register names used below, as with --import
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    objective: ObjectiveConfig = field(default_factory=MMCCConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def to_yaml(self) -> str:
        return str(yaml.safe_dump(to_mapping(self), sort_keys=False, allow_unicode=True))

    @classmethod
    def from_yaml(cls, path: Path) -> Config:
        """Errors are InputErrors that name the file and the setting."""
        return _from_file(read_yaml(path), path)


def load_config(name: str | Path | None = None, overrides: list[str] | None = None) -> Config:
    """The defaults, overridden by a shipped or given file, overridden by `overrides` ("train.lr=1e-4").

    Modules given to `--import` are included. A mistake in the file is an InputError, one in the overrides a
    UsageError.
    """
    values: Mapping[str, Any] = {}
    if name is not None:
        values = _shipped(str(name)) if str(name) in shipped_configs() else _given(Path(name))
    modules = {"imports": list(dict.fromkeys([*values.get("imports", ()), *imported_extensions()]))}
    try:
        return build(Config, merge(Config, {**values, **modules}, parse_overrides(overrides or [])))
    except WrongSetting as problem:
        raise UsageError(str(problem), problem.remedy) from None


@cache
def _shipped(name: str) -> Mapping[str, Any]:
    """The settings of a shipped file: a reproduction builds hundreds of configurations from a few files."""
    return read_yaml(SHIPPED / f"{name}.yaml")


def _given(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        raise InputError(path, "no such configuration", f"Give a file, or one of {', '.join(shipped_configs())}.")
    values = read_yaml(path)
    _from_file(values, path)  # so that a mistake in the file is not blamed on an override
    return values


def _from_file(values: Mapping[str, Any], path: Path) -> Config:
    modules = values.get("imports", ())
    import_extensions(modules if isinstance(modules, list) else (), path)
    try:
        return build(Config, values)
    except WrongSetting as problem:
        raise InputError(path, str(problem), problem.remedy) from None


def differences(one: Config, other: Config) -> dict[str, tuple[Any, Any]]:
    """Dotted path -> both values, where they differ."""
    first, second = flatten(to_mapping(one)), flatten(to_mapping(other))
    return {key: (first.get(key), second.get(key)) for key in first | second if first.get(key) != second.get(key)}
