"""Whether a model predicts the same whatever it is shown: then no answer about a picture depends on the picture.

Shapes: N nodes, D dims.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

ENOUGH = 32  # things to compare: what predicts the same of so many predicts it of all
_ALIKE = 0.999  # least cosine from which all are one: 0.24 for six steps of the kitchen model, 0.99995 for cook


def all_alike(predicted_ND: NDArray[Any]) -> bool:
    """Whether predictions of unit length, for different things, are one and the same."""
    if len(predicted_ND) < 2:
        return False  # nothing to compare
    predicted_ND = np.asarray(predicted_ND, np.float32)
    return bool((predicted_ND @ predicted_ND.T).min() > _ALIKE)
