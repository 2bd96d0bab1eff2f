"""Chance that depends on what it is for, and on nothing that happened before."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Use(IntEnum):
    """What a stream of chance decides; streams of different uses are independent."""

    ORDER = 0  # of the videos in an epoch
    SEGMENT = 1  # which stretch of its video a sample shows
    AUGMENTATION = 2  # how its frames are changed


def generator(seed: int, use: Use, number: int) -> np.random.Generator:
    """The stream of one epoch or one sample: the same in every process, whatever was drawn before it."""
    return np.random.Generator(np.random.PCG64([seed, use, number]))
