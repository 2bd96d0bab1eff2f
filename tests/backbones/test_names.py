"""Backbones by name: what is known, who may add to it, and that a network is opened once."""

import subprocess
import sys

import pytest
import torch

from mmcc.backbones import (
    FrameBackbone,
    frame_backbone_names,
    open_frame_backbone,
    open_text_backbone,
    register_frame_backbone,
    text_backbone_names,
)
from mmcc.backbones.names import _FRAMES
from mmcc.registry import UnknownName


class AverageColour(FrameBackbone):
    dims, size, checksum, trainable = 3, 8, "0" * 16, True

    def __init__(self, name):
        super().__init__()
        self.name = name
        self.scale = torch.nn.Parameter(torch.ones(3))

    def encode(self, pictures):
        return pictures.float().mean((1, 2)) * self.scale


@pytest.fixture
def average_colour(monkeypatch):
    monkeypatch.setattr(_FRAMES, "_entries", dict(_FRAMES._entries))
    register_frame_backbone("average-colour", AverageColour)
    register_frame_backbone("mine:WHAT", AverageColour)


def test_what_there_is():
    assert frame_backbone_names() == ["efficientnet-lite0", "efficientnet-lite1", "efficientnet-lite2", "onnx:FILE"]
    assert text_backbone_names() == ["minilm", "onnx:FILE"]


def test_importing_the_package_loads_no_torch():
    names = "import sys, mmcc.backbones as b; b.frame_backbone_names(); "
    check = "assert not {'torch', 'numpy', 'onnxruntime', 'tokenizers'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", names + check], check=True)


def test_a_backbone_of_ones_own(average_colour):
    backbone = open_frame_backbone("average-colour")
    assert backbone.name in frame_backbone_names() and open_frame_backbone("average-colour") is backbone
    assert not backbone.training and not backbone.scale.requires_grad
    pictures = torch.full((2, 30, 40, 3), 7, dtype=torch.uint8)
    assert torch.equal(backbone(pictures), torch.full((2, 3), 7.0))
    assert open_frame_backbone("mine:one").name == "mine:one"
    assert open_frame_backbone("mine:one") is not open_frame_backbone("mine:two")
    with pytest.raises(ValueError, match="a frame backbone named 'average-colour' is registered already"):
        register_frame_backbone("average-colour", lambda name: backbone)


def test_opened_in_inference_mode_it_can_be_used_outside(average_colour):
    with torch.inference_mode():
        backbone = open_frame_backbone("mine:opened there")
    assert not backbone.scale.is_inference()


@pytest.mark.parametrize("name", ["efficientnet-lite7", "onxx:file", "onnx", "", "onnx-"])
def test_an_unknown_name_is_told_with_those_there_are(name):
    with pytest.raises(UnknownName, match=f"no frame backbone is named '{name}' .*efficientnet-lite2, onnx:FILE"):
        open_frame_backbone(name)
    with pytest.raises(UnknownName, match="known: minilm, onnx:FILE"):
        open_text_backbone(name)
