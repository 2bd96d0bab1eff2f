"""A cycle over a whole video, both ways, against the equations one at a time."""

import numpy as np
import pytest
import torch

from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.cycle_walk import walk_from, whole_video
from mmcc.evaluation.embedding import EmbeddedVideo

D = 5


class Linear:
    """Predictors and a combination that are easy to follow by hand."""

    def __init__(self):
        self.ahead, self.behind = torch.randn(D, D), torch.randn(D, D)

    def future(self, z):
        return torch.nn.functional.normalize(z @ self.ahead, dim=-1)

    def past(self, z):
        return torch.nn.functional.normalize(z @ self.behind, dim=-1)

    def combine(self, z_vision, z_text):
        return (z_vision + 2 * z_text) / 3

    def project(self, z, modality):
        return torch.nn.functional.normalize(z, dim=-1)


def made_up(frames, utterances, seed):
    torch.manual_seed(seed)
    sides = [Embedding.of(torch.randn(count, D)) for count in (frames, utterances)]
    times = [np.sort(np.random.default_rng(seed).uniform(0, 100, count)) for count in (frames, utterances)]
    return Linear(), EmbeddedVideo("v", (), [], times[0], sides[0], times[1], sides[1])


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def by_hand(model, video, modality, node, *, temperature, unimodal, constrain, backward):
    """Eqs. 2 to 5, one node after another; to the past with g_back and g_fwd, "after" and "before" exchanged."""
    sides = {"vision": video.frames, "text": video.utterances}
    own, other = sides[modality], sides["text" if modality == "vision" else "vision"]
    go, come = (model.past, model.future) if backward else (model.future, model.past)

    def attend(query, side, allowed):
        scores = np.array([float(query @ pi) / temperature for pi in side.pi])
        weights = np.zeros(len(scores))
        weights[allowed] = softmax(scores[allowed])
        return weights, sum(float(weight) * z for weight, z in zip(weights, side.z, strict=True))

    def state(z_own, z_other):
        if unimodal or not len(other.z):
            return z_own
        return model.combine(*((z_own, z_other) if modality == "vision" else (z_other, z_own)))

    every = list(range(len(own.z)))
    later = [at for at in every if (at < node if backward else at > node)] if constrain else every
    found = {}
    z_other = None
    if len(other.z):
        found["counterpart"], z_other = attend(own.pi[node], other, list(range(len(other.z))))
    if not later:
        return found
    found["future"], z_future = attend(go(state(own.z[node], z_other)), own, later)
    best = int(found["future"].argmax())
    if len(other.z):
        found["future_counterpart"], z_other = attend(model.project(z_future, modality), other, range(len(other.z)))
    earlier = [at for at in every if (at > best if backward else at < best)] if constrain else every
    found["back"], _ = attend(come(state(z_future, z_other)), own, earlier)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("constrain", [False, True])
@pytest.mark.parametrize(("modality", "unimodal"), [("vision", False), ("vision", True), ("text", False)])
def test_equals_the_equations(seed, backward, constrain, modality, unimodal):
    model, video = made_up(7, 5, seed)
    nodes = whole_video(video, backward=backward)
    for node in range(7 if modality == "vision" else 5):
        settings = {"temperature": 0.3, "unimodal": unimodal, "constrain": constrain, "backward": backward}
        found = walk_from(model, nodes, modality, node, **settings).weights
        expected = by_hand(model, video, modality, node, **settings)
        assert found.keys() == expected.keys()
        for name, weights in expected.items():
            np.testing.assert_allclose(found[name], weights, atol=1e-5, err_msg=f"{name} from {node}")


def test_without_narration_frames_alone_are_walked():
    model, video = made_up(6, 0, 0)
    for backward in (False, True):
        found = walk_from(model, whole_video(video, backward=backward), "vision", 2, backward=backward)
        assert list(found.weights) == ["future", "back"] and found.ahead == "vision"


def test_nothing_lies_ahead_of_the_last_node_or_behind_the_first():
    model, video = made_up(6, 3, 1)
    last = walk_from(model, whole_video(video), "vision", 5, constrain=True)
    first = walk_from(model, whole_video(video, backward=True), "vision", 0, constrain=True, backward=True)
    assert list(last.weights) == list(first.weights) == ["counterpart"]
