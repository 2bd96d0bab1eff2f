"""Visual diversity, Eq. 8."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings

from mmcc.models.nodes import TEXT, VISION
from mmcc.objectives.cycle import cycle_back
from mmcc.objectives.similarity import similarity_loss
from tests.objectives import by_hand
from tests.objectives.stand_in import (
    StandIn,
    assert_same_gradients,
    flat_nodes,
    random_nodes,
    seeds,
    segment_sizes,
    some_starts,
    starts_at,
)

WAYS = list(product((VISION, TEXT), ("within", "across")))


def slow_loss(model, nodes, starts, margin, path):
    segments = by_hand.segments(nodes)
    return by_hand.mean(
        [
            by_hand.similarity_term(found, margin)
            for b, _, _, found in by_hand.walks(model, nodes, starts, path=path)
            if len(found.returns) > 1 and segments[b][VISION].z
        ]
    )


@pytest.mark.parametrize(("modality", "path"), WAYS)
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=6, deadline=None)
def test_equals_the_equation(modality, path, sizes, seed):
    model = StandIn(seed=seed)
    nodes = random_nodes(model, sizes, seed, padding=seed % 3)
    starts = some_starts(nodes, modality, path, seed)
    sum_count = similarity_loss(model, nodes, cycle_back(model, nodes, starts, constrain=True, path=path), margin=0.1)
    slow = slow_loss(model, nodes, starts, 0.1, path)
    torch.testing.assert_close(sum_count.total / sum_count.count.clamp(min=1), slow, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("modality", "path"), WAYS)
def test_gradients_equal_those_of_the_equation(modality, path):
    model = StandIn(torch.float64)
    nodes = random_nodes(model, [(5, 4), (3, 3), (6, 3)], 1, padding=2, dtype=torch.float64)
    starts = some_starts(nodes, modality, path)
    sum_count = similarity_loss(model, nodes, cycle_back(model, nodes, starts, constrain=True, path=path), margin=-0.5)
    slow = slow_loss(model, nodes, starts, -0.5, path)
    assert slow > 0
    assert_same_gradients(sum_count.total / sum_count.count, slow, model, nodes[VISION].z, nodes[TEXT].z)


@pytest.mark.parametrize("modality", [VISION, TEXT])
@pytest.mark.parametrize("unimodal", [True, False])
def test_a_film_of_one_picture_costs_half_a_cosine_twice(modality, unimodal):
    """Whatever is said, in unimodal cycles too: for text starts the pictures come through cross-modal edges."""
    texts = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
    nodes = flat_nodes({VISION: [0.0, 2.0, 4.0], TEXT: [0.0, 2.0, 4.0]}, {VISION: [[0.6, 0.8]] * 3, TEXT: texts})
    cycle = cycle_back(SmallStandIn(), nodes, starts_at(modality, [[1]], unimodal))
    assert similarity_loss(SmallStandIn(), nodes, cycle).total.item() == pytest.approx(1.0)


class SmallStandIn:
    """π is z; the future of a node is the next one."""

    def project(self, z, modality):
        return z

    def combine(self, z_vision, z_text):
        return z_vision + z_text

    def future(self, z):
        return z.roll(1, dims=-1)

    past = future


def test_the_margin_holds_in_both_terms():
    """Pictures at right angles are different enough; of the two terms only the one above the margin costs."""
    nodes = flat_nodes({VISION: [0.0, 2.0], TEXT: [0.0]}, {VISION: [[1.0, 0.0], [0.0, 1.0]], TEXT: [[1.0, 0.0]]})
    cycle = cycle_back(SmallStandIn(), nodes, starts_at(VISION, [[0]], True), temperature=0.01)
    assert cycle.future.index.item() == 1
    for margin, cost in ((0.0, 0.0), (0.5, 0.0), (-0.25, 0.5)):
        found = similarity_loss(SmallStandIn(), nodes, cycle, margin=margin, temperature=0.01).total.item()
        assert found == pytest.approx(cost, abs=1e-4)


def test_segments_without_pictures_do_not_count():
    model = StandIn()
    nodes = random_nodes(model, [(0, 5), (5, 5)])
    starts = some_starts(nodes, TEXT, "within")
    cycle = cycle_back(model, nodes, starts)
    sum_count = similarity_loss(model, nodes, cycle)
    assert (sum_count.count.item(), cycle.with_choice.sum().item()) == (3, 6)
