"""How far vectors are from those of training videos: the equations, the limits, and their files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.errors import InputError
from mmcc.tools.cache import Answer
from mmcc.tools.domain import Domain, domain_from, load_domain, save_domain
from mmcc.tools.limits import COUNTS
from mmcc.tools.looks import Photographs

RIDGE = 0.03


def distance_by_hand(domain, vectors_nD):
    """The equation, with an inverse in place of a solver."""
    x = (np.mean(vectors_nD, axis=0) - domain.mean) @ domain.projection
    covariance = domain.between + domain.within / len(vectors_nD) + RIDGE * np.eye(len(x))
    return np.sqrt(x @ np.linalg.inv(covariance) @ x / len(x))


def some_videos(seed=0, count=60, dims=3):
    """Videos differ, and their frames do."""
    random = np.random.default_rng(seed)
    return [random.normal(size=dims) + 0.3 * random.normal(size=(40, dims)) for _ in range(count)]


@pytest.fixture(scope="module")
def videos():
    return some_videos()


@pytest.fixture(scope="module")
def far_photographs():
    """As varied as the videos, five units further along the first figure."""
    return Photographs(np.array([5.0, 0, 0]), np.eye(3))


@pytest.fixture(scope="module")
def domain(videos, far_photographs):
    return Domain.fit(videos[:40], videos[40:], photographs=far_photographs)


def test_distance_equals_the_equation(domain, videos):
    for vectors in (videos[50], videos[3][:1], videos[7][:5] + 4):
        assert domain.distance(vectors) == pytest.approx(distance_by_hand(domain, vectors))


def test_by_hand_in_one_figure():
    never = np.full(len(COUNTS), np.inf)
    one = np.ones((1, 1))
    domain = Domain(np.array([2.0]), 2 * one, 0.6 * one, 0.4 * one, never, np.array([0.1]), never)
    vectors = np.array([[2.5], [3.5], [2.0], [4.0]])
    # (3 - 2) * 2 = 2 apart; 0.6 + 0.4 / 4 + 0.03 = 0.73
    assert domain.distance(vectors) == pytest.approx(2 / np.sqrt(0.73))
    assert domain.likeness(vectors) == pytest.approx(0.2)


def test_likeness_is_one_at_the_photographs_and_zero_at_the_training_data(domain, far_photographs, videos):
    assert domain.likeness(far_photographs.mean[None]) == pytest.approx(1)
    assert domain.likeness(np.concatenate(videos[:40])) == pytest.approx(0, abs=1e-9)
    beside = far_photographs.mean + np.array([0, 3, 0])  # as much a photograph
    assert domain.likeness(beside[None]) == pytest.approx(1, abs=0.3)


def test_held_out_videos_stay_below_the_limits_whatever_the_number_of_frames(domain):
    random, fresh = np.random.default_rng(1), some_videos(seed=5, count=200)
    for count in COUNTS:
        shown = [each[random.permutation(len(each))[:count]] for each in fresh]
        assert np.mean([domain.excess(each) > 1 for each in shown]) <= 0.05


def test_a_single_photograph_is_found_where_the_distance_alone_would_not(videos, domain, far_photographs):
    alone = Domain.fit(videos[:40], videos[40:])
    near = np.linspace(0, 1, 50)[:, None] * far_photographs.mean  # on the way to them
    first = [next(at for at, x in enumerate(near) if each.excess(x[None]) > 1) for each in (domain, alone)]
    assert first[0] < first[1]  # it is found earlier
    between = near[first[0]][None]
    assert domain.excess(-between) < 1  # towards photographs, not away from them
    assert alone.likeness(between) == 0


def test_more_frames_make_it_surer(domain):
    odd = np.full((1, 3), 2.5)
    assert domain.excess(odd) < domain.excess(np.repeat(odd, 8, axis=0)) < domain.excess(np.repeat(odd, 40, axis=0))


FEW = some_videos(count=12)
SCALE = np.array([1000.0, 1, 0.01])
PLAIN, SCALED = Domain.fit(FEW), Domain.fit([each * SCALE for each in FEW])


@given(st.floats(-3, 3), st.integers(1, 50))
def test_the_unit_of_a_figure_does_not_matter(shift, count):
    scale, asked, plain, scaled = SCALE, FEW[0][:count] + shift, PLAIN, SCALED
    assert scaled.distance(asked * scale) == pytest.approx(plain.distance(asked), rel=1e-3, abs=1e-3)


def test_it_is_the_same_after_a_rest(videos, far_photographs, tmp_path):
    domain = Domain.fit(videos, photographs=far_photographs)
    save_domain(domain, tmp_path / "domain.npz")
    for again in (domain_from(domain.to_answer()), load_domain(tmp_path / "domain.npz")):
        assert isinstance(again, Domain)
        for count in (1, 3, 40):
            assert again.excess(videos[0][:count]) == pytest.approx(domain.excess(videos[0][:count]), rel=1e-4)


def test_a_damaged_file_is_named(domain, tmp_path):
    path = tmp_path / "domain.npz"
    for damage in (b"damaged", b""):
        path.write_bytes(damage)
        with pytest.raises(InputError, match=r"domain\.npz: cannot be read"):
            load_domain(path)
    np.savez(path, mean=np.zeros(3))
    with pytest.raises(InputError, match="Install mmcc again"):
        load_domain(path)
    with pytest.raises(ValueError, match="kind 'taste' is unknown"):
        domain_from(Answer(domain.to_answer().arrays, {"kind": "taste"}))
