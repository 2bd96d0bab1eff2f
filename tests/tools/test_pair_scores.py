"""Scores of pairs."""

import numpy as np
import torch

from mmcc.evaluation.unshuffling import log_transitions
from mmcc.tools.pair_scores import log_scores, score_pictures


def levels(*values):
    return [np.full((8, 8, 3), value, np.uint8) for value in values]


def test_three_or_more_are_scored_as_in_the_evaluation(dawn):
    pictures = levels(20, 90, 200)
    nodes = dawn.adapter.embed_frames(torch.from_numpy(np.stack(pictures)))
    expected = log_transitions(dawn.adapter, nodes).numpy() - 2 * np.log(3)
    np.testing.assert_allclose(score_pictures(dawn, pictures), expected, atol=1e-9)


def test_two_are_compared_by_direction(dawn):
    """It gets lighter: from dark to light is likelier, and both directions together are certain."""
    nodes = dawn.adapter.embed_frames(torch.from_numpy(np.stack(levels(20, 200))))
    P = log_scores(dawn.adapter, nodes).exp().numpy()
    assert P[0, 1] > 0.5 > P[1, 0] and np.isclose(P[0, 1] + P[1, 0], 1)
