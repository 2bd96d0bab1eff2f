"""Grad-CAM (Selvaraju et al., 2017): which parts of a picture activate a neuron of z.

    w_c = mean over places of ∂z_neuron / ∂A_c          A_c: channel c of a stage's maps
    map = ReLU(Σ_c w_c A_c), brought to the picture's size

Shapes: P frames, C channels, H × W pixels, h × w places of the stage.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from mmcc.models.encoders import ResNetEncoder

LAST_STAGE = "layer4"


@torch.inference_mode(False)
@torch.enable_grad()
def grad_cam(encoder: nn.Module, frames_PHWC: Tensor, neuron: int, *, stage: str = LAST_STAGE) -> NDArray[np.float32]:
    """Maps [P, H, W] from 0 to 1, each scaled by its own maximum; all 0 where nothing activates the neuron.

    `encoder`: a model's `frame_encoder`, a ResNet. Earlier stages ("layer3") give finer maps of simpler things.
    """
    if not isinstance(encoder, ResNetEncoder):
        raise ValueError("Grad-CAM needs pictures and their ResNet (model.frame_encoder: resnet18)")
    maps_PChw, activation_P = _run(encoder, frames_PHWC, neuron, stage)
    (gradient_PChw,) = torch.autograd.grad(activation_P.sum(), maps_PChw)
    weights_PC11 = gradient_PChw.mean(dim=(2, 3), keepdim=True)
    seen_P1hw = (weights_PC11 * maps_PChw.detach()).sum(dim=1, keepdim=True).relu()
    size = frames_PHWC.shape[1:3]
    seen_PHW = F.interpolate(seen_P1hw, size=size, mode="bilinear", align_corners=False).squeeze(1)
    most_P11 = seen_PHW.amax(dim=(1, 2), keepdim=True)
    scaled: NDArray[np.float32] = torch.where(most_P11 > 0, seen_PHW / most_P11, 0.0).numpy()
    return scaled


def _run(encoder: ResNetEncoder, frames_PHWC: Tensor, neuron: int, stage: str) -> tuple[Tensor, Tensor]:
    """The maps of a stage [P, C, h, w], and the neuron's activation [P] as it follows from them."""
    found: list[Tensor] = []

    def keep(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        maps = output.detach().clone().requires_grad_()  # nothing before the stage needs a gradient
        found.append(maps)
        return maps * 1  # later stages write in place, and a leaf must stay as it is

    was_training = encoder.training
    hook = getattr(encoder.resnet, stage).register_forward_hook(keep)
    encoder.eval()  # batch norm of a single picture would be that of its own noise
    try:
        z_PD = encoder(frames_PHWC.clone())  # a tensor of inference mode takes part in no gradient
    finally:
        hook.remove()
        encoder.train(was_training)
    return found[0], z_PD[:, neuron]
