"""Cross-modal correspondence, Eq. 13 with the appendix's changes."""

import math

import pytest
import torch
from hypothesis import given, settings

from mmcc.models.nodes import TEXT, VISION, Nodes
from mmcc.objectives.config import CrossModalConfig
from mmcc.objectives.correspondence import cross_modal_loss
from mmcc.objectives.log_sums import batch_keys
from tests.objectives import by_hand
from tests.objectives.stand_in import StandIn, assert_same_gradients, flat_nodes, random_nodes, seeds, segment_sizes

CONFIGS = [
    CrossModalConfig(),
    CrossModalConfig(window=0),
    CrossModalConfig(window=1, sigma=0.7, temperature=0.5),
    CrossModalConfig(least_weight=0.0),
]


def fast(nodes, config=CrossModalConfig()):  # noqa: B008 (frozen)
    return cross_modal_loss(nodes, batch_keys(nodes), config)


def slow(nodes, config):
    return by_hand.cross_modal_terms(
        by_hand.segments(nodes),
        window=config.window,
        sigma=config.sigma,
        least_weight=config.least_weight,
        temperature=config.temperature,
    )


@pytest.mark.parametrize("config", CONFIGS)
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=6, deadline=None)
def test_equals_the_equation(config, sizes, seed):
    nodes = random_nodes(StandIn(seed=seed), sizes, seed, padding=seed % 3)
    sum_count, terms = fast(nodes, config), slow(nodes, config)
    assert sum_count.count == len(terms)
    torch.testing.assert_close(
        sum_count.total / sum_count.count.clamp(min=1), by_hand.mean(terms), rtol=1e-5, atol=1e-5
    )
    assert sum_count.total >= -1e-5


@pytest.mark.parametrize("config", CONFIGS)
def test_gradients_equal_those_of_the_equation(config):
    model = StandIn(torch.float64)
    nodes = random_nodes(model, [(5, 4), (3, 0), (0, 2), (6, 3)], 1, padding=2, dtype=torch.float64)
    sum_count = fast(nodes, config)
    terms = slow(nodes, config)
    assert len(terms) > 8
    assert_same_gradients(sum_count.total / sum_count.count, by_hand.mean(terms), model, nodes[VISION].z, nodes[TEXT].z)


def test_worked_by_hand():
    """Two frames, one utterance at the second: frame 0 is 3 s off (weight e^-2), frame 1 on the spot.

    There is one utterance, so row and column together are both pairs for each of the three anchors, above and below.
    """
    nodes = flat_nodes({VISION: [0.0, 3.0], TEXT: [3.0]}, {VISION: [[1.0, 0.0], [0.0, 1.0]], TEXT: [[0.0, 1.0]]})
    sum_count = fast(nodes)
    above = math.exp(-2) * 1 + 1 * math.exp(10)
    assert sum_count.count == 3
    assert sum_count.total.item() == pytest.approx(-3 * math.log(above / (1 + math.exp(10))), abs=1e-5)


def test_an_anchor_without_positives_is_dropped():
    """The frame at 60 s has no narration near; to the others it is a negative."""
    far = flat_nodes({VISION: [0.0, 60.0], TEXT: [0.0]}, {VISION: [[1.0, 0.0], [0.0, 1.0]], TEXT: [[1.0, 0.0]]})
    sum_count = fast(far)
    assert sum_count.count == 2
    assert sum_count.total.item() == pytest.approx(2 * math.log(1 + math.exp(-10)), abs=1e-5)


def test_a_segment_with_one_modality_is_dropped():
    nodes = random_nodes(StandIn(), [(4, 0), (0, 3)])
    sum_count = fast(nodes)
    assert (sum_count.count.item(), sum_count.total.item()) == (0, 0)
    sum_count.total.backward()
    assert torch.equal(nodes[VISION].z.grad, torch.zeros_like(nodes[VISION].z))


def test_other_videos_are_negatives():
    """Two films of one frame and one utterance each, at right angles: each anchor has one pair above, three below."""
    films = [flat_nodes({VISION: [1.0], TEXT: [1.0]}, {VISION: [pi], TEXT: [pi]}) for pi in ([1.0, 0.0], [0.0, 1.0])]
    nodes = {
        m: Nodes(*(torch.cat([getattr(film[m], name) for film in films]) for name in ("z", "pi", "valid", "times")))
        for m in (VISION, TEXT)
    }
    assert fast(films[0]).total.item() == pytest.approx(0, abs=1e-6)
    assert fast(nodes).total.item() == pytest.approx(4 * math.log(1 + 2 * math.exp(-10)), abs=1e-5)


@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=6, deadline=None)
def test_padding_and_the_order_of_segments_have_no_influence(sizes, seed):
    model = StandIn(seed=seed)
    one = fast(random_nodes(model, sizes, seed))
    padded = random_nodes(model, sizes, seed, padding=4)
    turned = {
        m: Nodes(*(getattr(side, name).flip(0) for name in ("z", "pi", "valid", "times"))) for m, side in padded.items()
    }
    for other in (fast(padded), fast(turned)):
        torch.testing.assert_close(one.total, other.total, rtol=1e-5, atol=1e-5)
        assert one.count == other.count
