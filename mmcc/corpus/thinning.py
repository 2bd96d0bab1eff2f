"""Fewer frames of a video, evenly spaced in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_CLOSEST = 0.6  # of an interval, between frames of a thinned video; at 0.5, rounding would decide


def thin(times: NDArray[np.float64], start: float, rate: float) -> NDArray[np.int64]:
    """One frame per interval of 1/rate seconds, counted from `start`: the one nearest the interval's middle.

    Where a video begins, ends or has a gap, this frame may come just after the previous one: it is then dropped.
    """
    place = (times - start) * rate
    interval = np.floor(place)
    nearest_first = np.lexsort((np.abs(place - interval - 0.5), interval))
    kept = nearest_first[np.diff(interval[nearest_first], prepend=-np.inf) > 0]
    return kept[np.diff(place[kept], prepend=-np.inf) > _CLOSEST].astype(np.int64)
