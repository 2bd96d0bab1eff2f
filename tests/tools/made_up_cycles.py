"""Cycles of which everything is known."""

import numpy as np

from mmcc.models.nodes import VISION
from mmcc.tools.cycles import VideoCycles


def segment(best_future, best_back, concreteness):
    """A made-up segment of frames 4 s apart, each with one clear future and one clear way back."""
    n = len(best_future)
    return {
        "span": np.array([0.0, 4.0 * n]),
        "within": np.array(True),
        "frames": np.arange(n) * 4,
        "utterances": np.arange(0),
        "can_start": np.arange(n) < n - 1,
        "concreteness": np.array(concreteness, np.float32),
        "counterpart": np.zeros((n, 0), np.float32),
        "future": np.eye(n, dtype=np.float32)[best_future] * 0.9,
        "future_counterpart": np.zeros((n, 0), np.float32),
        "back": np.eye(n, dtype=np.float32)[best_back] * 0.8,
        "back_hard": np.array(best_back),
    }


def made_up(kitchen, *arguments):
    return VideoCycles(kitchen.footage()[0], VISION, [segment(*arguments)], [], [])
