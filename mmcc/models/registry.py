"""Models on disk: a folder with config.json and model.safetensors, in the hub's layout.

config.json's `model_type` names the class. To make `load_network` find another class:

    @register_network
    class Doubled(MMCC):
        model_type = "doubled"
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from safetensors.torch import save as serialize
from torch import Tensor, nn

from mmcc.checksums import MANIFEST, damages, read_manifest
from mmcc.models.config import ModelConfig
from mmcc.models.nodes import BatchLike, Nodes
from mmcc.models.weights import WeightsError, load_weights
from mmcc.pretrained import with_shipped
from mmcc.registry import Registry, UnknownName
from mmcc.settings import UnknownSetting, build, to_mapping
from mmcc.untrusted import read_json, typed

_BYTES = 2  # of a weight, at least
_USUAL = 100_000  # of what a model without such weights may be told: their number of rows
_COPY = "Copy the folder again from where it was made."
CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"  # the names the hub expects


class Network(nn.Module, ABC):
    """A model to train, save and load. Its constructor takes the configuration, then the sizes named in `sizes`.

    An objective's skills say which other methods it trains: `text_nodes`, `future`, `past`, `combine`.
    """

    model_type: ClassVar[str]
    sizes: ClassVar[tuple[str, ...]] = ("vocabulary_size",)  # integers that are not in the configuration
    config: ModelConfig

    @abstractmethod
    def embed_frames(self, frames: Tensor) -> Tensor:
        """Φ_V: packed frames [P, H, W, 3] uint8, or features [P, F] → z [P, D]."""

    @abstractmethod
    def forward(self, batch: BatchLike) -> dict[str, Nodes]:
        """The nodes of both modalities; none of a modality that it does not support."""

    @abstractmethod
    def frame_nodes(self, frames: Tensor) -> tuple[Tensor, Tensor]:
        """z of packed frames and their unit-norm π, in the space where futures are retrieved: [P, D] each."""

    def frame_encoders(self) -> list[nn.Module]:
        """All its frame encoders, which account for nearly all of the cost."""
        return [module for name, module in self.named_modules() if name.split(".")[-1] == "frame_encoder"]

    def start_from(self, other: Network) -> None:
        """Take over the weights of a trained model; ValueError if they do not fit."""
        if not isinstance(other, type(self)):
            raise ValueError(f"a model of type {other.model_type} cannot initialize one of type {self.model_type}")
        self.load_state_dict(other.state_dict())

    def save_pretrained(self, folder: str | Path) -> None:
        """Write config.json and model.safetensors."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {name: getattr(self, name) for name in self.sizes}
        description = {"model_type": self.model_type, **sizes, **to_mapping(self.config)}
        (folder / CONFIG_FILE).write_text(json.dumps(description, indent=2) + "\n")
        # The file format has no strides, and channels_last weights have unusual ones.
        tensors = {name: tensor.contiguous() for name, tensor in self.state_dict().items()}
        # Written by Python, so that a full disk is an OSError like any other.
        (folder / WEIGHTS_FILE).write_bytes(serialize(tensors, metadata={"format": "pt"}))

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """The model that `save_pretrained` wrote, or a shipped one by name; on the CPU, in evaluation mode."""
        folder = with_shipped(folder)
        path = folder / CONFIG_FILE
        _require_intact(folder)
        description = _read_description(path)
        try:
            if (model_type := description.pop("model_type")) != cls.model_type:
                raise ValueError(f"its model_type is {model_type}, not {cls.model_type}")
            sizes = [_size(description, name, folder / WEIGHTS_FILE) for name in cls.sizes]
            model = cls(build(ModelConfig, description, "model"), *sizes)
        except UnknownSetting as error:
            raise WeightsError(path, str(error), error.remedy) from error
        except (KeyError, TypeError, ValueError, OverflowError, MemoryError, RuntimeError) as error:
            raise _not_a_configuration(path, error) from error  # the last two: torch cannot make tensors so large
        load_weights(model, folder / WEIGHTS_FILE)
        return model.eval()


NetworkClass = TypeVar("NetworkClass", bound=type[Network])
_CLASSES: Registry[type[Network]] = Registry("model type")


def register_network(model: NetworkClass) -> NetworkClass:
    """Register a class under its `model_type`; types must be unique."""
    _CLASSES.add(model.model_type, model)
    return model


def load_network(folder: str | Path) -> Network:
    """The model in a folder, or a shipped one by name, whatever its class; on the CPU, in evaluation mode."""
    path = with_shipped(folder) / CONFIG_FILE
    try:
        model_class = _CLASSES.find(_read_description(path).get("model_type", ""))
    except UnknownName as error:
        raise WeightsError(path, str(error), error.remedy) from None
    return model_class.from_pretrained(folder)


def _require_intact(folder: Path) -> None:
    """Where it has checksums; other programs write such folders without."""
    try:
        expected = read_manifest(folder) or {}
    except (OSError, ValueError) as error:
        raise WeightsError(folder / MANIFEST, f"cannot be read ({error})", _COPY) from None
    own = {name: expected[name] for name in (CONFIG_FILE, WEIGHTS_FILE) if name in expected}
    for problem in damages(folder, own):
        raise WeightsError(folder / problem.name, f"{problem.cause}: it is damaged", _COPY)


def _read_description(path: Path) -> dict[str, Any]:
    try:
        description = read_json(path, dict)
    except FileNotFoundError:
        raise WeightsError(path, "no such file", "A saved model is a folder that contains this file.") from None
    except (ValueError, OSError) as error:
        raise _not_a_configuration(path, error) from error
    return description


def _size(description: dict[str, Any], name: str, weights: Path) -> int:
    """A size beside the configuration; ValueError if there cannot be so many weights in the file."""
    size = typed(description, name, int)
    del description[name]
    most = weights.stat().st_size // _BYTES if weights.is_file() else _USUAL
    if not 0 <= size <= max(most, _USUAL):
        raise ValueError(f"{name} is {size}")
    return size


def _not_a_configuration(path: Path, error: Exception) -> WeightsError:
    return WeightsError(path, f"not the configuration of an mmcc model ({error})")
