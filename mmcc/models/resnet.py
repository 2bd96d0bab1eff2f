"""ResNet-18 (He et al., 2016) with torchvision's parameter names, so that its published weights load.

Shapes: P frames, C channels, H × W pixels.
"""

import torch.nn.functional as F
from torch import Tensor, nn

PUBLISHED_WIDTH = 64  # channels of the first stage in the published net
_BLOCKS_PER_STAGE = 2


class ResNet18(nn.Module):
    """Frames [P, 3, H, W] → pooled features [P, 8 · width]; `width` scales the channels of every stage."""

    def __init__(self, width: int = PUBLISHED_WIDTH) -> None:
        super().__init__()
        self.width = width
        self.conv1 = nn.Conv2d(3, width, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = _stage(width, width, stride=1)
        self.layer2 = _stage(width, 2 * width, stride=2)
        self.layer3 = _stage(2 * width, 4 * width, stride=2)
        self.layer4 = _stage(4 * width, 8 * width, stride=2)
        self.out_features = 8 * width
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, frames_PCHW: Tensor) -> Tensor:
        maps = F.relu(self.bn1(self.conv1(frames_PCHW)), inplace=True)
        maps = F.max_pool2d(maps, kernel_size=3, stride=2, padding=1)
        maps = self.layer4(self.layer3(self.layer2(self.layer1(maps))))
        features_PC: Tensor = maps.mean(dim=(2, 3))
        return features_PC


class BasicBlock(nn.Module):
    """Two 3 × 3 convolutions with a shortcut, which a 1 × 1 convolution reshapes where the stage changes size."""

    def __init__(self, channels_in: int, channels_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, kernel_size=3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.downsample: nn.Sequential | None = None
        if stride != 1 or channels_in != channels_out:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(channels_out),
            )

    def forward(self, maps: Tensor) -> Tensor:
        shortcut = maps if self.downsample is None else self.downsample(maps)
        out = F.relu(self.bn1(self.conv1(maps)), inplace=True)
        out = self.bn2(self.conv2(out))
        out += shortcut
        return F.relu(out, inplace=True)


def _stage(channels_in: int, channels_out: int, stride: int) -> nn.Sequential:
    later = (BasicBlock(channels_out, channels_out, stride=1) for _ in range(_BLOCKS_PER_STAGE - 1))
    return nn.Sequential(BasicBlock(channels_in, channels_out, stride), *later)
