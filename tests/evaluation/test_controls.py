"""The controls: queries without the clip, a past mean, a regressor of relative position, against slow versions."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcc.corpus.source import LabelledClip
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.anticipation import evaluate
from mmcc.evaluation.controls import (
    _fit,
    constant_query,
    fit_position,
    mean_elsewhere,
    past_means,
    task_query,
    unshuffle_by_position,
)
from mmcc.evaluation.embedding import EmbeddedVideo
from tests.evaluation.step_videos import TASKS, Blind, Table, step_video


def video(name: str, times: list[float], z: torch.Tensor, steps: list[LabelledClip] | None = None) -> EmbeddedVideo:
    moments = np.array(times, float)
    return EmbeddedVideo(name, (), steps or [], moments, Embedding.of(z), np.empty(0), None)


@given(st.lists(st.floats(0, 400), max_size=30), st.integers(0, 99))
def test_every_frame_has_the_mean_of_what_it_has_seen(times, seed):
    times = sorted(times)
    z = torch.randn(len(times), 3, generator=torch.Generator().manual_seed(seed))
    given_video = video("a", times, z)
    (made,) = past_means([given_video])
    for at, time in enumerate(times):
        seen = [z[other] for other, when in enumerate(times) if time - 64 <= when <= time]
        assert torch.allclose(made.frames.z[at], torch.stack(seen).mean(dim=0), atol=1e-5)
    assert torch.equal(made.frames.pi, given_video.frames.pi) and made.times is given_video.times


def test_the_past_does_not_depend_on_what_comes_later():
    times, z = list(range(100)), torch.randn(100, 3, generator=torch.Generator().manual_seed(0))
    changed = z.clone()
    changed[60:] = 99
    (one,), (other,) = past_means([video("a", times, z)]), past_means([video("a", times, changed)])
    assert torch.equal(one.frames.z[:60], other.frames.z[:60]) and not torch.equal(one.frames.z, other.frames.z)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=12), st.integers(0, 99))
def test_a_query_without_the_clip_is_the_mean_of_other_videos(clips, seed):
    future = torch.randn(len(clips), 3, generator=torch.Generator().manual_seed(seed))
    group, number = (np.array(part) for part in zip(*clips, strict=True))
    queries, known = mean_elsewhere(future, group, number)
    for at, (own_group, own_video) in enumerate(clips):
        elsewhere = [future[c] for c, (g, v) in enumerate(clips) if g == own_group and v != own_video]
        assert known[at] == bool(elsewhere)
        if elsewhere:
            mean = torch.stack(elsewhere).double().mean(dim=0)
            assert torch.allclose(queries[at].double(), mean / mean.norm(), atol=1e-4)


@pytest.mark.parametrize("model", [Table, Blind])
@pytest.mark.parametrize("query", [constant_query, task_query])
def test_queries_without_the_clip_have_a_dyn_of_exactly_50(query, model):
    """Whatever the model: here one that looks ahead, and so has another dyn when it sees the clip."""
    orders = ((1, 2, 3, 4), (1, 3, 2, 4), (2, 1, 3, 4), (1, 2, 4, 3))
    videos = [step_video(f"v{n}", "tea", *order) for n, order in enumerate(orders)]
    videos += [step_video(f"w{n}", "jam", 1, 2, 3) for n in range(3)]
    weights = torch.randn(6, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    adapter = model(lambda z: z @ weights)
    assert evaluate(adapter, videos, TASKS).figures["dyn"].mean != 50
    found = evaluate(adapter, videos, TASKS, query)
    assert found.figures["dyn"].totals.tolist() == [50.0] * 7 and not found.notes


def test_who_is_alone_in_a_task_has_no_mean_of_others():
    videos = [step_video("a", "tea", 1, 2, 3), step_video("b", "tea", 1, 2, 3), step_video("c", "jam", 1, 2, 3)]
    found = evaluate(Table(), videos, TASKS, task_query)
    assert found.figures["recall@1"].counts.tolist() == [3, 3, 0]
    assert found.notes == ["3 clips are left out: no other video gives them a query"]


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
