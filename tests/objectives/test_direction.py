"""The direction loss of MMCC+."""

import math
from itertools import product

import pytest
import torch
from hypothesis import given, settings

from mmcc.models.nodes import TEXT, VISION
from mmcc.objectives.config import DirectionConfig
from mmcc.objectives.cycle import cycle_back
from mmcc.objectives.direction import direction_loss
from mmcc.objectives.log_sums import batch_keys
from tests.objectives import by_hand
from tests.objectives.stand_in import (
    NoIdea,
    StandIn,
    assert_same_gradients,
    descend,
    flat_nodes,
    random_nodes,
    seeds,
    segment_sizes,
    some_starts,
    starts_at,
)

WAYS = list(product((VISION, TEXT), ("within", "across"), (True, False)))
PARTS = {"future_within", "future_across", "past_within", "past_across"}


def fast(model, nodes, starts, config, path="within", constrain=True):
    cycle = cycle_back(model, nodes, starts, constrain=constrain, path=path)
    return direction_loss(nodes, batch_keys(nodes), cycle, config)


def slow(model, nodes, starts, config, path, constrain=True):
    parts = {}
    everything = by_hand.segments(nodes)
    for b, _, alpha, found in by_hand.walks(model, nodes, starts, path=path, constrain=constrain):
        options = {"gap": config.gap, "batch_nodes": config.batch_nodes}
        by_hand.direction_terms(parts, everything, b, starts.modality, alpha, found, **options)
    return parts


@pytest.mark.parametrize(("modality", "path", "batch_nodes"), WAYS)
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=6, deadline=None)
def test_equals_the_equation(modality, path, batch_nodes, sizes, seed):
    model = StandIn(seed=seed)
    nodes = random_nodes(model, sizes, seed, padding=seed % 3)
    starts = some_starts(nodes, modality, path, seed)
    config, constrain = DirectionConfig(batch_nodes=batch_nodes), bool(seed % 2)
    sum_counts = fast(model, nodes, starts, config, path, constrain)
    terms = slow(model, nodes, starts, config, path, constrain)
    assert set(sum_counts) == PARTS
    for name, sum_count in sum_counts.items():
        assert sum_count.count == len(terms.get(name, []))
        mean = by_hand.mean(terms.get(name, []))
        torch.testing.assert_close(sum_count.total / sum_count.count.clamp(min=1), mean, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("modality", "path", "batch_nodes"), WAYS)
def test_gradients_equal_those_of_the_equation(modality, path, batch_nodes):
    model = StandIn(torch.float64)
    nodes = random_nodes(model, [(5, 4), (3, 3), (6, 3)], 1, padding=2, dtype=torch.float64)
    starts = some_starts(nodes, modality, path)
    config = DirectionConfig(gap=1.0, batch_nodes=batch_nodes)
    sum_counts = fast(model, nodes, starts, config, path)
    terms = slow(model, nodes, starts, config, path)
    assert set(terms) == PARTS
    for name, sum_count in sum_counts.items():
        mean = by_hand.mean(terms[name])
        assert_same_gradients(sum_count.total / sum_count.count, mean, model, nodes[VISION].z, nodes[TEXT].z)


def test_uninformed_the_loss_is_the_log_of_the_share_ahead():
    """Frames at 0, 2, ..., 8 s, start at 2 s, and so index(β) at 4 s. Utterances at 1, 4, 4.5 and 9 s: two of four are
    more than 2 s after 2 s, one is more than 2 s before 4 s. A second segment adds three utterances to the batch."""
    model = NoIdea()
    nodes = random_nodes(model, [(5, 4), (0, 3)])
    nodes[VISION].times[0] = torch.tensor([0.0, 2, 4, 6, 8])
    nodes[TEXT].times[0] = torch.tensor([1.0, 4.0, 4.5, 9])
    starts = starts_at(VISION, [[1], [0]], valid=[[True], [False]])
    for batch_nodes, utterances in ((False, 4), (True, 7)):
        sum_counts = fast(model, nodes, starts, DirectionConfig(batch_nodes=batch_nodes))
        shares = {"future_within": 3 / 5, "past_within": 2 / 5}
        shares |= {"future_across": 2 / utterances, "past_across": 1 / utterances}
        for name, share in shares.items():
            assert sum_counts[name].count == 1
            assert sum_counts[name].total.item() == pytest.approx(-math.log(share), abs=1e-5)


def test_anchors_without_a_node_on_the_wanted_side_are_dropped():
    """The only utterance lies 1 s after the start: ahead, but not by more than the gap."""
    pi = {VISION: [[1.0, 0.0]] * 3, TEXT: [[1.0, 0.0]]}
    nodes = flat_nodes({VISION: [0.0, 2.0, 4.0], TEXT: [1.0]}, pi)

    class Flat(NoIdea):
        def project(self, z, modality):
            return z

        def combine(self, z_vision, z_text):
            return z_vision

    sum_counts = fast(Flat(), nodes, starts_at(VISION, [[0]]), DirectionConfig())
    assert {name: sum_count.count.item() for name, sum_count in sum_counts.items()} == {
        "future_within": 1,
        "future_across": 0,
        "past_within": 1,
        "past_across": 0,
    }
    assert sum_counts["future_across"].total == 0


def test_each_half_can_be_switched_off():
    model = StandIn()
    nodes = random_nodes(model, [(5, 4)])
    starts = some_starts(nodes, VISION, "within")
    for within, across in product((True, False), repeat=2):
        kinds = {name.split("_")[1] for name in fast(model, nodes, starts, DirectionConfig(within, across))}
        assert kinds == ({"within"} if within else set()) | ({"across"} if across else set())


def test_its_gradient_turns_the_forward_edge_forward():
    model = StandIn()
    nodes = random_nodes(model, [(6, 4)] * 3, seed=5)
    nodes = {m: type(s)(s.z.detach(), s.pi.detach(), s.valid, s.times) for m, s in nodes.items()}
    starts = starts_at(VISION, [[1, 2]] * 3)

    def share_ahead():
        edge = cycle_back(model, nodes, starts).future_edge
        return sum(edge[:, s, index + 1 :].sum() for s, index in enumerate((1, 2))).item() / 6

    before = share_ahead()
    for _ in range(30):
        descend(model, fast(model, nodes, starts, DirectionConfig(across=False))["future_within"].total, 0.05)
    assert share_ahead() > max(before, 0.9)
