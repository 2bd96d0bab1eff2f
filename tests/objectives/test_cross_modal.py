"""Cross-modal correspondence in its plain form: MIL-NCE, before the appendix's three changes."""

import math

import pytest
import torch
from hypothesis import given, settings

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives import CrossModalConfig, CrossModalObjectiveConfig, SampleRng
from mmcc.objectives.correspondence import cross_modal_loss
from mmcc.objectives.cross_modal import CrossModalObjective
from mmcc.objectives.log_sums import batch_keys
from tests.objectives import baselines_by_hand, by_hand
from tests.objectives.stand_in import StandIn, assert_same_gradients, flat_nodes, random_nodes, seeds, segment_sizes

PLAIN = CrossModalConfig(form="mil_nce")
CONFIGS = [PLAIN, CrossModalConfig(form="mil_nce", window=0, temperature=0.3)]
FIELDS = ("z", "pi", "valid", "times")


def fast(nodes, config=PLAIN):
    return cross_modal_loss(nodes, batch_keys(nodes), config)


def slow(nodes, config):
    segments = by_hand.segments(nodes)
    return baselines_by_hand.mil_nce_terms(segments, window=config.window, temperature=config.temperature)


def joined(*films):
    return {m: Nodes(*(torch.cat([getattr(film[m], name) for film in films]) for name in FIELDS)) for m in films[0]}


@pytest.mark.parametrize("config", CONFIGS)
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=8)
def test_equals_the_equation(config, sizes, seed):
    nodes = random_nodes(StandIn(seed=seed), sizes, seed, padding=seed % 3)
    sum_count, terms = fast(nodes, config), slow(nodes, config)
    assert sum_count.count == len(terms)
    expected = by_hand.mean(terms).float()  # zero, an integer tensor, where there is no other segment
    torch.testing.assert_close(sum_count.total / sum_count.count.clamp(min=1), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("config", CONFIGS)
def test_gradients_equal_those_of_the_equation(config):
    model = StandIn(torch.float64)
    nodes = random_nodes(model, [(5, 4), (3, 0), (0, 2), (6, 3)], 1, padding=2, dtype=torch.float64)
    sum_count, terms = fast(nodes, config), slow(nodes, config)
    assert len(terms) == 18
    assert_same_gradients(sum_count.total / sum_count.count, by_hand.mean(terms), model, nodes[VISION].z, nodes[TEXT].z)


def test_worked_by_hand():
    """Two films of one frame and one utterance each, at right angles: one positive (e^10), two negatives (1 each)."""
    films = [flat_nodes({VISION: [1.0], TEXT: [40.0]}, {VISION: [pi], TEXT: [pi]}) for pi in ([1.0, 0.0], [0.0, 1.0])]
    sum_count = fast(joined(*films))
    assert sum_count.count == 4  # 39 s apart, and positives all the same
    assert sum_count.total.item() == pytest.approx(4 * math.log(1 + 2 * math.exp(-10)), abs=1e-6)


def test_nodes_of_the_same_video_are_not_negatives():
    """A film alone has no negatives; in the weighted form its other nodes are negatives."""
    nodes = random_nodes(StandIn(), [(9, 9)])
    assert fast(nodes).total.item() == pytest.approx(0, abs=1e-5)
    assert fast(nodes, CrossModalConfig()).total.item() > 1


def test_padding_and_the_order_of_segments_have_no_influence():
    model = StandIn()
    sizes = [(5, 4), (2, 6), (4, 1)]
    one = fast(random_nodes(model, sizes))
    padded = random_nodes(model, sizes, padding=4)
    turned = {m: Nodes(*(getattr(side, name).flip(0) for name in FIELDS)) for m, side in padded.items()}
    for other in (fast(padded), fast(turned)):
        torch.testing.assert_close(one.total, other.total, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", ["weighted", "mil_nce"])
def test_the_objective_is_the_loss_alone(form):
    model, nodes = StandIn(), random_nodes(StandIn(), [(5, 4), (4, 4)])
    config = CrossModalObjectiveConfig(cross_modal=CrossModalConfig(form=form))
    losses = CrossModalObjective(config)(model, nodes, None, {}, SampleRng(0, torch.arange(2)))
    sum_count = fast(nodes, config.cross_modal)
    assert losses.total.item() == pytest.approx((sum_count.total / sum_count.count).item(), rel=1e-6)
    assert set(losses.terms) == {"cross_modal"} and not losses.terms["cross_modal"].requires_grad


def test_an_unknown_form_is_named():
    with pytest.raises(ValueError, match=r"^form must be one of weighted, mil_nce"):
        CrossModalConfig(form="nce")
