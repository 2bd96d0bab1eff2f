"""How much of a frame's vector lies outside of what training frames have in common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.tools.domain import domain_from, load_domain, save_domain
from mmcc.tools.embedding_domain import EmbeddingDomain
from mmcc.tools.limits import COUNTS

ROTATION = np.linalg.qr(np.random.default_rng(2).normal(size=(40, 40)))[0]


def some_videos(seed=0, count=60, frames=3):
    """Unit-norm vectors of 40 dims that vary most in five, rotated: three stills of each video."""
    random = np.random.default_rng(seed)
    spread = np.r_[np.full(5, 1.0), np.full(35, 0.05)]
    offset = np.r_[3.0, np.zeros(39)]
    return [((random.normal(size=(frames, 40)) * spread + offset) @ ROTATION) for _ in range(count)]


TRAINING = some_videos()
DOMAIN = EmbeddingDomain.fit(TRAINING, components=5)
ODD = np.r_[np.zeros(39), 1.5] @ ROTATION  # along a direction in which the training frames hardly vary


def outside_by_hand(domain, vector):
    """The equation, one component at a time."""
    centred = vector / np.sqrt(sum(x * x for x in vector)) - domain.mean
    for axis in domain.axes.T:
        centred = centred - axis * sum(a * c for a, c in zip(axis, centred, strict=True))
    return np.sqrt(sum(x * x for x in centred))


def test_distances_equal_the_equation():
    asked = np.concatenate([TRAINING[3], TRAINING[4] + ODD])
    np.testing.assert_allclose(DOMAIN.distances(asked), [outside_by_hand(DOMAIN, each) for each in asked])
    expected = np.mean([outside_by_hand(DOMAIN, each) for each in asked[:3]]) / DOMAIN.limits[1]  # 3 frames: as of 2
    assert DOMAIN.excess(asked[:3]) == pytest.approx(expected)


@given(st.floats(0.01, 1000))
def test_the_length_of_vectors_does_not_matter(scale):
    assert DOMAIN.excess(scale * TRAINING[0]) == pytest.approx(DOMAIN.excess(TRAINING[0]))


def test_videos_left_out_of_the_fit_stay_below_the_limits_and_others_do_not():
    fresh = some_videos(seed=5, count=300)
    for count in (1, 2, 3):
        assert np.mean([DOMAIN.excess(each[:count]) > 1 for each in fresh]) <= 0.05
        assert np.mean([DOMAIN.excess(each[:count] + ODD) > 1 for each in fresh]) >= 0.95


def test_frames_of_one_shot_are_no_odder_than_one_of_them():
    """The mean of what is alike is as far as each: more frames of the same are not more evidence."""
    still = some_videos(seed=7, count=1, frames=1)[0]
    assert DOMAIN.distances(np.repeat(still, 40, axis=0)).mean() == pytest.approx(DOMAIN.distances(still)[0])


def test_limits_of_more_frames_than_the_videos_have_are_those_of_all_they_have():
    assert DOMAIN.limits.shape == (len(COUNTS),)
    assert len(set(DOMAIN.limits[2:].round(12))) == 1


def test_so_many_components_are_kept_that_something_lies_outside():
    wide = [np.random.default_rng(seed).normal(size=(30, 200)) for seed in range(12)]
    assert EmbeddingDomain.fit(wide).axes.shape == (200, 64)
    narrow = EmbeddingDomain.fit([each[:, :10] for each in wide])
    assert narrow.axes.shape == (10, 5)
    assert narrow.excess(wide[0][:, :10]) < 1.5
    nothing = EmbeddingDomain.fit([np.ones((3, 4))] * 10)  # all the same
    assert nothing.excess(np.ones((1, 4))) < 1 < nothing.excess(np.eye(4)[:1])
    assert np.isfinite(nothing.excess(np.zeros((1, 4))))


def test_it_is_the_same_after_a_rest(tmp_path):
    save_domain(DOMAIN, tmp_path / "domain.npz")
    for again in (domain_from(DOMAIN.to_answer()), load_domain(tmp_path / "domain.npz")):
        assert isinstance(again, EmbeddingDomain)
        assert again.excess(TRAINING[0]) == pytest.approx(DOMAIN.excess(TRAINING[0]), rel=1e-4)
