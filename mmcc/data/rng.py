"""Random streams that depend on their use and number alone, not on earlier draws."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Use(IntEnum):
    """What a random stream decides; streams of different uses are independent."""

    ORDER = 0  # of the videos in an epoch
    SEGMENT = 1  # which segment of its video a sample is
    AUGMENTATION = 2  # how its frames are augmented


def generator(seed: int, use: Use, number: int) -> np.random.Generator:
    """The stream of one epoch or one sample: the same in every process, whatever was drawn before."""
    return np.random.Generator(np.random.PCG64([seed, use, number]))
