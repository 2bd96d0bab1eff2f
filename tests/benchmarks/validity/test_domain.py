"""How warnings are counted."""

import numpy as np

from benchmarks.validity.domain import is_chosen, warned
from mmcc.tools.domain import Domain


def test_every_group_counts_alike_and_small_ones_are_left_out():
    random = np.random.default_rng(0)
    domain = Domain.fit([random.normal(size=(20, 2)) for _ in range(20)])
    near, far = np.zeros((50, 2)), np.full((2, 2), 50.0)
    assert warned(domain, [near, far], 1) == 0.5
    assert warned(domain, [near, far], 2) == 0.5
    assert warned(domain, [near, far], 4) == 0.0
    assert np.isnan(warned(domain, [far], 4))


def test_half_of_the_videos_are_chosen():
    assert 0.4 < np.mean([is_chosen(f"video {at}") for at in range(500)]) < 0.6
