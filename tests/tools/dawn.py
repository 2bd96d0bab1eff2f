"""Fixtures: a model that knows that it gets lighter, and photos of it."""

import math
from pathlib import Path

import pytest
import torch
from PIL import Image

from mmcc.evaluation.adapter import Embedding
from mmcc.models.nodes import VISION
from mmcc.tools.cache import Cache
from mmcc.tools.model import ToolModel


class Dawn:
    """It gets lighter: a picture is an angle by its brightness, and its future lies a little further."""

    name, modalities, temperature, combine, lag = "dawn", (VISION,), 0.1, None, 0.1

    def embed_frames(self, frames):
        angle = frames.double().mean(dim=(1, 2, 3)) / 255
        return Embedding.of(torch.stack([angle.cos(), angle.sin()], dim=-1))

    def _turned(self, node, by):
        x, y = node.pi.unbind(dim=-1)
        return torch.stack([x * math.cos(by) - y * math.sin(by), x * math.sin(by) + y * math.cos(by)], dim=-1)

    def future(self, node):
        return self._turned(node, self.lag)

    def past(self, node):
        return self._turned(node, -self.lag)


@pytest.fixture
def dawn(tmp_path) -> ToolModel:
    model = ToolModel("dawn", tmp_path, "0", size=8, fit="crop", fps=1, feature_dims=0, settings={})
    model.__dict__["adapter"] = Dawn()
    return model


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache(tmp_path / "kept")


def grey(folder: Path, name: str, level: int) -> Path:
    folder.mkdir(exist_ok=True)
    Image.new("RGB", (12, 10), (level,) * 3).save(folder / name)
    return folder / name


@pytest.fixture
def photos(tmp_path) -> list[Path]:
    """From dark to light; their names tell another order."""
    names = ["d.png", "a.png", "e.png", "c.png", "b.png"]
    return [grey(tmp_path / "photos", name, 25 + 50 * at) for at, name in enumerate(names)]
