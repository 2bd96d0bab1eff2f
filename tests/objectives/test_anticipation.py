"""RA (Eq. 10) and TAP (Eq. 11)."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives import RAConfig, SampleRng, TAPConfig
from mmcc.objectives.representation_anticipation import RepresentationAnticipation, no_frame_ahead
from mmcc.objectives.time_agnostic import TimeAgnosticPrediction
from tests.objectives import baselines_by_hand, by_hand
from tests.objectives.stand_in import (
    D,
    StandIn,
    assert_same_gradients,
    flat_nodes,
    gradients,
    random_nodes,
    seeds,
    segment_sizes,
)

BASELINES = {"ra": RepresentationAnticipation, "tap": TimeAgnosticPrediction}
CONFIGS = {"ra": RAConfig, "tap": TAPConfig}
TARGETS = {"ra": baselines_by_hand.ra_targets, "tap": baselines_by_hand.tap_targets}
FIELDS = ("z", "pi", "valid", "times")
RIGHT, UP, LEFT = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]


def objective(name, across=False):
    return BASELINES[name](CONFIGS[name](across=across))


def losses(name, model, nodes, across=False):
    rng = SampleRng(0, torch.arange(len(nodes[VISION].valid)))
    return objective(name, across)(model, nodes, None, {}, rng)


def frozen(nodes):
    """π of another, frozen model, so that the loss reaches z and f alone."""
    return {m: Nodes(side.z, side.pi.detach(), side.valid, side.times) for m, side in nodes.items()}


def slow_total(name, model, nodes, across):
    segments, targets = by_hand.segments(nodes), TARGETS[name]
    parts = [baselines_by_hand.anticipation_terms(model, segments, targets, across=each) for each in (False, True)]
    return sum(map(by_hand.mean, parts[: 1 + across])), parts


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("name", BASELINES)
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=8)
def test_equals_the_equation(name, across, sizes, seed):
    model = StandIn(seed=seed)
    nodes = frozen(random_nodes(model, sizes, seed, padding=seed % 3))
    expected, parts = slow_total(name, model, nodes, across)
    found = objective(name, across).sum_counts(model, nodes)
    for term, terms in zip(("anticipation", "anticipation_across")[: 1 + across], parts, strict=False):
        assert found[term].count == len(terms)
    total = losses(name, model, nodes, across).total
    torch.testing.assert_close(total, expected.reshape(()), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("name", BASELINES)
def test_gradients_equal_those_of_the_equation(name, across):
    model = StandIn(torch.float64)
    nodes = frozen(random_nodes(model, [(6, 4), (3, 0), (0, 2), (5, 5)], 1, padding=2, dtype=torch.float64))
    total = losses(name, model, nodes, across).total
    expected, (within, _) = slow_total(name, model, nodes, across)
    assert len(within) >= 8
    assert_same_gradients(total, expected, model, nodes[VISION].z, nodes[TEXT].z)
    assert nodes[VISION].z.grad is None and any(g.abs().max() > 0 for g in gradients(total, nodes[VISION].z))


class Identity(StandIn):
    """Predicts the present."""

    def future(self, z):
        return z


def film(times, pi, text_times=(0.0,), text_pi=(RIGHT,)):
    return flat_nodes({VISION: list(times), TEXT: list(text_times)}, {VISION: list(pi), TEXT: list(text_pi)})


def test_tap_takes_the_easiest_future_by_hand():
    """From frame 0 (right): up costs 0, left 1, and right, the last, -1. From frame 1 (up): 0. From 2 (left): 1."""
    nodes = film([0.0, 2.0, 4.0, 6.0], [RIGHT, UP, LEFT, RIGHT])
    found = objective("tap").sum_counts(Identity(), nodes)["anticipation"]
    assert found.count == 3  # the last frame, and the only utterance, have no future
    assert found.total.item() == pytest.approx(-1 + 0 + 1)


def test_ra_takes_the_frame_a_second_ahead_by_hand():
    """At 2 fps frame i predicts frame i + 2; the utterances predict one another, however far off."""
    nodes = film([0.0, 0.5, 1.0, 1.5], [RIGHT, UP, LEFT, UP], [0.0, 30.0, 31.0], [RIGHT, RIGHT, UP])
    found = objective("ra").sum_counts(Identity(), nodes)
    assert found["anticipation"].count == 2 + 2
    assert found["anticipation"].total.item() == pytest.approx((1 - 1) + (-1 + 0))
    assert (found["target_share/vision"].total, found["target_share/vision"].count) == (2, 4)


@pytest.mark.parametrize(("rate", "ahead"), [(0.5, None), (0.25, None), (1, 1), (2, 2), (3, 3), (0.85, 1), (1.5, None)])
@given(phase=st.floats(0, 60))
@settings(max_examples=5)
def test_ra_looks_one_second_ahead_at_any_frame_rate(rate, ahead, phase):
    count = 9
    times = (phase + torch.arange(count) / rate).float()[None]
    z = torch.ones(1, count, D)  # targets are a matter of times alone
    text = Nodes(z[:, :1], z[:, :1], torch.ones(1, 1, dtype=torch.bool), torch.zeros(1, 1))
    nodes = {VISION: Nodes(z, z, torch.ones(1, count, dtype=torch.bool), times), TEXT: text}
    targets = objective("ra").targets(nodes, VISION, VISION)[0]
    expected = torch.zeros(count, count, dtype=torch.bool)
    if ahead:
        expected = torch.arange(count)[None] == torch.arange(count)[:, None] + ahead
    assert torch.equal(targets, expected)
    assert bool(no_frame_ahead(RAConfig(), times[0])) == (ahead is None)


def test_across_ra_takes_what_is_nearest_a_second_ahead():
    nodes = film([0.0, 1.0, 8.0], [RIGHT, UP, LEFT], [0.5, 1.2, 6.0], [RIGHT, RIGHT, RIGHT])
    targets = objective("ra", across=True).targets(nodes, VISION, TEXT)[0].tolist()
    assert targets == [[False, True, False], [False, True, False], [False, False, False]]
    assert objective("ra").targets(nodes, TEXT, VISION)[0, 2].tolist() == [False, False, True]


@pytest.mark.parametrize("name", BASELINES)
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=5)
def test_padding_and_the_order_of_segments_have_no_influence(name, sizes, seed):
    model = StandIn(seed=seed)
    one = losses(name, model, random_nodes(model, sizes, seed), across=True).total
    padded = random_nodes(model, sizes, seed, padding=4)
    turned = {m: Nodes(*(getattr(side, field).flip(0) for field in FIELDS)) for m, side in padded.items()}
    for nodes in (padded, turned):
        torch.testing.assert_close(one, losses(name, model, nodes, across=True).total, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", BASELINES)
def test_nothing_to_predict_is_no_loss_and_no_nan(name):
    model = StandIn()
    nodes = random_nodes(model, [(1, 1), (1, 0)])
    found = losses(name, model, nodes)
    assert found.total.item() == 0
    assert all(torch.isfinite(gradient).all() for gradient in gradients(found.total, model))


@pytest.mark.parametrize("name", BASELINES)
def test_the_targets_are_never_moved(name):
    """Whatever π came from, the loss does not reach it: Ψ is frozen."""
    model = StandIn()
    nodes = random_nodes(model, [(6, 4), (5, 5)])
    found = gradients(losses(name, model, nodes, across=True).total, model.layers[VISION], model.layers[TEXT])
    assert all(not gradient.any() for gradient in found)


@pytest.mark.parametrize(
    ("config", "setting"),
    [(lambda: RAConfig(seconds=0), "seconds"), (lambda: RAConfig(tolerance=-1), "tolerance")],
)
def test_impossible_settings_are_named(config, setting):
    with pytest.raises(ValueError, match=f"^{setting} must be"):
        config()
