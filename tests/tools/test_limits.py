"""Limits by number of frames, from videos that were left out of the fit."""

import numpy as np
import pytest

from mmcc.tools.limits import COUNTS, left_out_in_turn, limit_for, limits_of


def test_no_video_is_judged_by_what_was_fitted_on_it():
    training, held_out = [np.full((2, 1), at) for at in range(12)], [np.full((2, 1), 99)]
    fitted, judged = left_out_in_turn(training, held_out, lambda videos: {int(each[0, 0]) for each in videos})
    assert fitted == set(range(12))
    seen = [(draft, int(each[0, 0])) for draft, each in judged]
    assert [number for _, number in seen] == [*range(12), 99]
    assert all(number not in draft for draft, number in seen)
    assert all(len(draft) >= 9 for draft, _ in seen)


def test_a_limit_is_the_quantile_over_videos_of_as_many_frames():
    videos = [np.full((40, 1), float(at)) for at in range(101)]
    limits = limits_of([(each, lambda some: (some.mean(), len(some))) for each in videos], 0.9)
    assert limits.shape == (len(COUNTS), 2)
    np.testing.assert_allclose(limits[:, 0], 90, atol=0.5)
    np.testing.assert_array_equal(limits[:, 1], COUNTS)


@pytest.mark.parametrize(("frames", "at"), [(1, 0), (2, 1), (3, 1), (4, 2), (7, 2), (31, 3), (32, 4), (500, 4)])
def test_the_limit_of_the_next_smaller_number_holds(frames, at):
    assert limit_for(np.arange(5.0), frames) == at
