"""Probabilities: the regression against scipy, the error by hand, and that "none of these" rises where none is."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from mmcc.corpus.source import LabelledClip, Task
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.calibration import (
    Asked,
    Bin,
    Calibration,
    ask,
    calibrate,
    calibration_error,
    logistic,
    none_comes,
    reliability,
    uncalibrated,
)
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.models.nodes import TEXT, VISION

TASKS = {
    name: Task(name, name, tuple(f"{name} {number}" for number in range(5))) for name in ("tea", "jam", "soup", "bread")
}
TEXTS = [text for task in TASKS.values() for text in task.steps]


class Knowing:
    """Frames are one-hot numbers of steps; the future of one is the sum of the later ones, seen through noise."""

    name, modalities, temperature, combine = "knowing", (VISION, TEXT), 0.1, None

    def __init__(self, noise=0.3):
        self.noise, self.generator = noise, torch.Generator().manual_seed(0)

    def embed_texts(self, texts):
        return Embedding.of(torch.eye(len(TEXTS))[[TEXTS.index(text) for text in texts]])

    def future(self, node):
        return self._towards(node, 1)

    def past(self, node):
        return self._towards(node, -1)

    def _towards(self, node, sign):
        rows = []
        for z in node.z:
            task, step = divmod(int(z.argmax()), 5)
            target = torch.zeros(len(TEXTS))
            for other in range(5):
                target[5 * task + other] = 0.6 + 0.4 * sign * np.sign(other - step)
            rows.append(target + self.noise * torch.randn(len(TEXTS), generator=self.generator))
        return Embedding.of(torch.stack(rows)).pi


def video(number, task, steps=(1, 2, 3, 4, 5)):
    place = 5 * list(TASKS).index(task)
    return EmbeddedVideo(
        id=f"{task}{number}",
        tasks=(task,),
        steps=[LabelledClip(step, float(at), at + 1.0) for at, step in enumerate(steps)],
        times=np.arange(len(steps)) + 0.5,
        frames=Embedding.of(torch.eye(len(TEXTS))[[place + step - 1 for step in steps]]),
        text_times=np.empty(0),
        utterances=None,
    )


@pytest.fixture(scope="module")
def asked():
    adapter = Knowing()
    fit, test = ([video(n, task) for n in range(first, first + 8) for task in TASKS] for first in (0, 100))
    return ask(adapter, fit, TASKS), ask(adapter, test, TASKS)


def test_what_is_asked_of_a_clip_by_hand():
    """Of the third step, the fourth and fifth are yet to come; of another task's list none is."""
    found = ask(Knowing(), [video(0, "tea", (3, 5))], TASKS)
    lists = [found.comes[found.of_list == number].tolist() for number in range(len(found.own))]
    assert lists[:3] == [[False, False, False, True, True], [False, False, True], [False]]
    assert lists[3:6] == [[False] * 5, [False] * 3, [False]]
    assert not any(any(each) for each in lists[6:])  # of the last step
    assert found.own.tolist() == [True, True, True, False, False, False] * 2
    assert found.last.tolist() == [False] * 6 + [True] * 6
    assert none_comes(found).tolist() == [False, False] + [True] * 10
    assert found.evidence.shape == (len(found.comes), 3)


@given(st.integers(0, 10_000))
@settings(max_examples=10)
def test_the_regression_is_the_likeliest(seed):
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(200, 3))
    true = chance.random(200) < 1 / (1 + np.exp(-(x @ [1.0, -2.0, 0.0] + 0.5)))

    def loss(weights):
        logits = x @ weights[:3] + weights[3]
        ridge = 1e-3 * (weights[:3] @ weights[:3] + 1e-3 * weights[3] ** 2) / 2
        return np.mean(np.logaddexp(0, logits) - true * logits) + ridge

    assert logistic(x, true) == pytest.approx(minimize(loss, np.zeros(4)).x, abs=1e-3)


def test_what_can_be_told_without_fault_has_finite_weights():
    weights = logistic(np.array([[-1.0], [1.0]]), np.array([False, True]))
    assert 1 < weights[0] < 20 and abs(weights[1]) < 1e-6
    assert np.isfinite(logistic(np.zeros((4, 2)), np.ones(4, bool))).all()


def test_the_error_by_hand():
    """Two bins: 0.1 and 0.3 of which none came true, 0.5 and 0.9 of which both did."""
    p, true = np.array([0.9, 0.1, 0.5, 0.3]), np.array([True, False, True, False])
    assert reliability(p, true, 2) == [Bin(pytest.approx(0.2), 0.0, 2), Bin(pytest.approx(0.7), 1.0, 2)]
    assert calibration_error(p, true, 2) == pytest.approx((2 * 0.2 + 2 * 0.3) / 4)
    assert np.isnan(calibration_error(np.empty(0), np.empty(0, bool)))


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60), st.integers(1, 20))
def test_the_error_equals_a_loop_over_bins_of_equal_mass(told, bins):
    ranked = sorted(enumerate(told), key=lambda each: (each[1][0], each[0]))
    total, start = 0.0, 0
    for number in range(bins):
        size = len(told) // bins + (number < len(told) % bins)
        part = [each for _, each in ranked[start : start + size]]
        start += size
        if part:
            total += abs(sum(p for p, _ in part) - sum(true for _, true in part))
    p, true = (np.array(column) for column in zip(*told, strict=True))
    assert calibration_error(p, true, bins) == pytest.approx(total / len(told), abs=1e-9)


def test_probabilities_of_a_list_by_hand():
    found = Calibration((2.0, 0.0, -1.0, 0.5, 0.0, 0.0, -0.25), (-1.0, 0.0, 0.0, 0.1, 0.2))
    evidence = np.array([[0.5, 9.0, 0.0], [-0.1, 9.0, 0.4]])
    logits = [2 * 0.5 + 0.5 * 0.2 - 0.25, -0.2 - 0.4 + 0.5 * 0.2 - 0.25]
    steps, none = found(evidence)
    assert steps.tolist() == pytest.approx([1 / (1 + np.exp(-each)) for each in logits])
    free = 1 / (1 + np.exp(-(-0.2 + 0.1 * np.log(2) + 0.2)))
    assert none == pytest.approx(min(max(free, 1 - steps.sum()), 1 - steps.max()))


def test_of_a_single_step_none_is_the_rest(asked):
    found = calibrate(asked[0])
    (step,), none = found(np.array([[0.3, 0.1, 0.2]]))
    assert step + none == pytest.approx(1)


def test_errors_shrink_on_videos_it_was_not_fitted_on(asked):
    figures = calibrate(*asked).figures
    for what in ("steps", "none"):
        assert figures[f"ece/{what}/after"] < 0.5 * figures[f"ece/{what}/before"]
        assert figures[f"ece/{what}/after"] < 0.08
    before, _ = uncalibrated(asked[1].evidence, asked[1].of_list, 0.1)
    assert figures["ece/steps/before"] == calibration_error(before, asked[1].comes)


def test_none_of_these_rises_for_other_tasks_and_after_the_last_step(asked):
    figures = calibrate(*asked).figures
    assert figures["none_mean/own"] + 0.2 < figures["none_mean/last"]
    assert figures["none_mean/own"] + 0.2 < figures["none_mean/other"]


def test_without_a_past_two_kinds_of_evidence_do(asked):
    two = [Asked(each.evidence[:, :2], *each[1:]) for each in asked]
    found = calibrate(*two)
    assert (len(found.steps_weights), len(found.none_weights)) == (5, 4)
    with pytest.raises(ValueError, match="does not fit 6 columns"):
        found(asked[0].evidence)


def test_it_survives_json(asked):
    found = calibrate(*asked)
    assert Calibration.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found


@pytest.mark.parametrize(
    "spoilt",
    [
        {"schema": 2},
        {"steps_weights": [1.0]},
        {"none_weights": None},
        {"steps_weights": [float("nan")] * 7},
        {"reliability": {"steps/after": [[1]]}},
    ],
)
def test_what_is_no_calibration_is_refused(asked, spoilt):
    with pytest.raises(ValueError):
        Calibration.from_json(calibrate(asked[0]).to_json() | spoilt)
    with pytest.raises(ValueError):
        Calibration.from_json([])


def test_nothing_labelled_is_nothing_asked():
    assert ask(Knowing(), [], TASKS) is None
    assert ask(Knowing(), [video(0, "tea", (5,))], TASKS) is None  # the last step: nothing comes, of any list
    assert ask(Knowing(), [video(0, "tea")], {}) is None
