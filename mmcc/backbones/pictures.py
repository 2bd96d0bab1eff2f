"""Pictures of any size, fitted to what a network reads.

Shapes: P pictures, H × W pixels, S side of the square, C channels.
"""

import torch.nn.functional as F
from torch import Tensor

VERSION = "square-1"  # of the arithmetic below, part of every checksum


def centre_square(frames_PHWC: Tensor, size: int, visible: float = 1.0) -> Tensor:
    """The centre square of uint8 pictures, [P, size, size, 3].

    Its side is the `visible` share of the shorter side. It is resized like Pillow does, bicubic with antialiasing;
    a square of the right size stays as it is.
    """
    height, width = frames_PHWC.shape[1:3]
    side = max(1, round(visible * min(height, width)))
    top, left = (height - side) // 2, (width - side) // 2
    square = frames_PHWC[:, top : top + side, left : left + side]
    if side == size:
        return square
    # Channels last in memory, of bytes: torch then runs Pillow's own integer arithmetic, vectorized.
    square_PCSS = square.permute(0, 3, 1, 2)
    if square.device.type != "cpu":  # there only floats can be resized
        square_PCSS = square_PCSS.float()
    resized = F.interpolate(square_PCSS, size=(size, size), mode="bicubic", antialias=True)
    return resized.round().clamp(0, 255).byte().permute(0, 2, 3, 1)
