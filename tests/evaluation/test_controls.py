"""The controls: a segment's mean, and a regressor of relative position, against slow versions."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus.source import LabelledClip
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.controls import _fit, fit_position, segment_means, unshuffle_by_position
from mmcc.evaluation.embedding import EmbeddedVideo


def video(name: str, times: list[float], z: torch.Tensor, steps: list[LabelledClip] | None = None) -> EmbeddedVideo:
    moments = np.array(times, float)
    return EmbeddedVideo(name, (), steps or [], moments, Embedding.of(z), np.empty(0), None)


@given(st.lists(st.floats(0, 400), max_size=30), st.integers(0, 99))
def test_every_frame_has_the_mean_of_its_segment(times, seed):
    times = sorted(times)
    z = torch.randn(len(times), 3, generator=torch.Generator().manual_seed(seed))
    given_video = video("a", times, z)
    (made,) = segment_means([given_video])
    for at, time in enumerate(times):
        alike = [z[other] for other, when in enumerate(times) if int(when // 64) == int(time // 64)]
        assert torch.allclose(made.frames.z[at], torch.stack(alike).mean(dim=0), atol=1e-5)
    assert torch.equal(made.frames.pi, given_video.frames.pi) and made.times is given_video.times


def test_the_regression_is_that_of_the_equation():
    chance = torch.Generator().manual_seed(0)
    z, place = torch.randn(40, 3, generator=chance).double(), torch.rand(40, generator=chance).double()
    fitted = _fit(z, place, 0.1)
    x = ((z - z.mean(dim=0)) / z.std(dim=0, correction=0)).numpy()
    # ridge as least squares with rows of its own: sqrt(λ n) w should be 0
    rows = np.vstack([np.hstack([x, np.ones((40, 1))]), np.hstack([np.sqrt(0.1 * 40) * np.eye(3), np.zeros((3, 1))])])
    weights = np.linalg.lstsq(rows, np.concatenate([place.numpy(), np.zeros(3)]), rcond=None)[0]
    assert np.allclose(fitted.weights_D.numpy(), weights[:3]) and fitted.offset == pytest.approx(weights[3])


def moving(name: str, seconds: int, steps: list[LabelledClip] | None = None) -> EmbeddedVideo:
    """A video whose first dimension is how far it is, the others being noise."""
    times = np.arange(seconds, dtype=float)
    noise = torch.randn(seconds, 3, generator=torch.Generator().manual_seed(len(name) + seconds))
    z = torch.cat([torch.from_numpy(times / times[-1]).float()[:, None], noise], dim=1)
    return video(name, times.tolist(), z, steps)


def test_position_is_found_where_it_shows():
    fitted = fit_position([moving(f"v{n}", 60 + n) for n in range(10)])
    told = fitted(moving("test", 50).frames.z)
    assert torch.allclose(told, torch.linspace(0, 1, 50).double(), atol=0.02)


def test_segments_are_put_in_order_of_their_position():
    train = [moving(f"v{n}", 60 + n) for n in range(10)]
    steps = [LabelledClip(3, 0, 5), LabelledClip(1, 20, 24), LabelledClip(2, 40, 45), LabelledClip(2, 50, 55)]
    test = [moving("long", 60, steps), moving("one", 60, steps[:1]), moving("other", 70, steps[1:])]
    found = unshuffle_by_position(train, test)
    assert found.figures["kendall_tau"].mean == 1 and found.figures["edit_distance"].mean == 0
    assert found.figures["kendall_tau"].counts.tolist() == [1, 0, 1]
    assert found.notes == ["1 videos have fewer than two labelled clips"]


def test_a_position_that_tells_nothing_is_chance_not_truth():
    """Equal positions must not fall into the true order, in which the clips are labelled."""
    train = [video(f"v{n}", list(range(20)), torch.ones(20, 2)) for n in range(10)]
    steps = [LabelledClip(1, 2.0 * at, 2.0 * at + 2) for at in range(10)]
    test = [video(f"t{n}", list(range(20)), torch.ones(20, 2), steps) for n in range(40)]
    assert abs(unshuffle_by_position(train, test).figures["kendall_tau"].mean) < 0.15
