"""The whole model: encoders Φ, projections Π, the state f, the predictors g. It sees no time.

Shapes: B segments, N nodes, P packed (valid) nodes, W words, D dims.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Self

import torch
from safetensors.torch import save as serialise
from torch import Tensor, nn

from mmcc.models.config import ModelConfig
from mmcc.models.encoders import build_frame_encoder
from mmcc.models.mlp import TemporalPredictors, full_precision, mlp, unit_norm
from mmcc.models.nodes import TEXT, VISION, BatchLike, Nodes
from mmcc.models.text import TextEncoder
from mmcc.models.weights import WeightsError, load_weights

CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"  # the names the hub expects


class MMCC(nn.Module):
    """Embeds a batch of segments as nodes, and has the functions a cycle walks with."""

    def __init__(self, config: ModelConfig, vocabulary_size: int) -> None:
        super().__init__()
        self.config, self.vocabulary_size = config, vocabulary_size
        dims = config.dims
        self.frame_encoder = build_frame_encoder(config)
        self.text_encoder = TextEncoder(vocabulary_size, dims)
        self.projections = nn.ModuleDict({VISION: mlp(dims, dims), TEXT: mlp(dims, dims)})
        self.state = mlp(2 * dims, dims)
        self.predictors = TemporalPredictors(dims)

    def embed_frames(self, frames: Tensor) -> Tensor:
        """Φ_V: packed frames [P, H, W, 3] uint8, or features [P, F] → z [P, D]."""
        z_PD: Tensor = self.frame_encoder(frames)
        return z_PD

    def embed_words(self, words_PW: Tensor) -> Tensor:
        """Φ_T: packed utterances as word ids [P, W], 0 = padding → z [P, D]."""
        z_PD: Tensor = self.text_encoder(words_PW)
        return z_PD

    def project(self, z: Tensor, modality: str) -> Tensor:
        """Π_M: z [..., D] → unit-norm π [..., D], the space both modalities share."""
        return unit_norm(self.projections[modality](z))

    def combine(self, z_vision: Tensor, z_text: Tensor) -> Tensor:
        """f: the state of a moment from both its modalities, vision first whatever the cycle's start; [..., D]."""
        state: Tensor = self.state(torch.cat([z_vision, z_text], dim=-1))
        return state

    def future(self, z: Tensor) -> Tensor:
        """g_fwd: a state [..., D] → the unit-norm π of its future [..., D]."""
        return self.predictors.future(z)

    def past(self, z: Tensor) -> Tensor:
        """g_back: a state [..., D] → the unit-norm π of its past [..., D]."""
        return self.predictors.past(z)

    def forward(self, batch: BatchLike) -> dict[str, Nodes]:
        """Both modalities of a batch. Only valid nodes are computed: padding costs nothing and enters no batch norm."""
        return {
            VISION: self._nodes(self.embed_frames(batch.frames), VISION, batch.frame_valid, batch.frame_times),
            TEXT: self._nodes(self.embed_words(batch.words), TEXT, batch.text_valid, batch.text_times),
        }

    def _nodes(self, z_PD: Tensor, modality: str, valid_BN: Tensor, times_BN: Tensor) -> Nodes:
        pi_PD = self.project(z_PD, modality)
        return Nodes(_padded(full_precision(z_PD), valid_BN), _padded(pi_PD, valid_BN), valid_BN, times_BN)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write config.json and model.safetensors, as the hub lays a model out."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        description = {"model_type": "mmcc", "vocabulary_size": self.vocabulary_size, **asdict(self.config)}
        (folder / CONFIG_FILE).write_text(json.dumps(description, indent=2) + "\n")
        # The file format knows no strides, and channels_last weights have unusual ones.
        tensors = {name: tensor.contiguous() for name, tensor in self.state_dict().items()}
        # Written by Python, so that a full disk is an OSError like any other.
        (folder / WEIGHTS_FILE).write_bytes(serialise(tensors, metadata={"format": "pt"}))

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Self:
        """The model that `save_pretrained` wrote, on the CPU and in evaluation mode."""
        folder = Path(folder)
        model = cls(*_read_config(folder / CONFIG_FILE))
        load_weights(model, folder / WEIGHTS_FILE)
        return model.eval()


def _padded(packed_PD: Tensor, valid_BN: Tensor) -> Tensor:
    """Packed rows at their places, zeros elsewhere: [B, N, D]."""
    padded_BND = packed_PD.new_zeros(*valid_BN.shape, packed_PD.shape[-1])
    padded_BND[valid_BN] = packed_PD
    return padded_BND


def _read_config(path: Path) -> tuple[ModelConfig, int]:
    """Configuration and vocabulary size of a saved model."""
    try:
        description = json.loads(path.read_text())
        if description.pop("model_type") != "mmcc":
            raise ValueError("its model_type is not mmcc")
        vocabulary_size = int(description.pop("vocabulary_size"))
        return ModelConfig(**description), vocabulary_size
    except FileNotFoundError:
        raise WeightsError(path, "no such file", "A saved model is a folder with this file in it.") from None
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise WeightsError(path, f"not the configuration of an mmcc model ({error})") from error
