"""Photo sets and pairs: a model that knows gets all of them right, one that does not gets half."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.picture_sets import Pairs, later_margins, order_margins, pair_accuracy, tau_of


class Brightness:
    """The brighter, the later."""

    name, modalities, temperature, combine = "brightness", ("vision",), 0.1, None

    def embed_frames(self, frames):
        light = frames.flatten(1).float().mean(dim=1, keepdim=True) / 255
        return Embedding.of(torch.cat([light, torch.ones_like(light)], dim=1))

    def future(self, node):
        return F.normalize(torch.tensor([1.0, 1.0]), dim=0).expand_as(node.pi)

    def past(self, node):
        return F.normalize(torch.tensor([-1.0, 1.0]), dim=0).expand_as(node.pi)


def grey(*levels):
    return np.stack([np.full((4, 4, 3), level, np.uint8) for level in levels])


PAIRS = Pairs(grey(10, 90, 200), np.array([0, 2, 1]), np.array([1, 0, 2]), np.array([True, False, True]))


def test_an_order_is_found_and_its_reverse_is_worst():
    assert tau_of(order_margins(Brightness(), grey(10, 60, 120, 240))) == 1
    assert tau_of(order_margins(Brightness(), grey(240, 120, 60, 10))) == -1


def test_two_pictures_are_compared_by_similarity():
    margins = later_margins(Brightness(), PAIRS)
    assert ((margins > 0) == PAIRS.second_is_later).all()
    assert pair_accuracy(PAIRS, margins) == (100, 100, 100, 3)
    assert pair_accuracy(PAIRS, -margins).mean == 0


def test_the_interval_is_over_pictures_and_ties_count_half():
    assert pair_accuracy(PAIRS, np.zeros(3)) == (50, 50, 50, 3)
    many = Pairs(grey(*range(31)), *(np.random.default_rng(0).integers(0, 31, (3, 400))))
    many = many._replace(second_is_later=np.arange(400) % 2 == 0)
    by_first = np.where(many.first % 2 == 0, 1.0, -1.0)  # a judgement that depends on one picture
    found = pair_accuracy(many, by_first)
    naive = 2 * 1.96 * 100 * np.sqrt(0.25 / 400)
    assert found.low < found.mean < found.high and found.high - found.low > naive, "pairs share pictures"
    assert pair_accuracy(many, by_first) == found, "the same every time"
    with pytest.raises(IndexError):
        pair_accuracy(many._replace(first=many.first + 31), by_first)
