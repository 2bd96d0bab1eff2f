"""The cycle's edges and loss against the equations, and rules where a mistake would go unnoticed."""

import math
from itertools import product

import pytest
import torch
from hypothesis import given, settings

from mmcc.models.nodes import TEXT, VISION
from mmcc.objectives.cycle import cycle_back, cycle_loss, single_candidate_share
from tests.objectives import by_hand
from tests.objectives.stand_in import (
    NoIdea,
    StandIn,
    assert_same_gradients,
    flat_nodes,
    random_nodes,
    reordered,
    seeds,
    segment_sizes,
    some_starts,
    starts_at,
)

OPTIONS = list(product((VISION, TEXT), ("within", "across"), (True, False), (True, False)))


def slow_loss(model, nodes, starts, **options):
    return by_hand.mean(
        [
            by_hand.cycle_term(found, alpha)
            for _, _, alpha, found in by_hand.walks(model, nodes, starts, **options)
            if len(found.returns) > 1
        ]
    )


def assert_edge(row, weights):
    expected = torch.zeros_like(row)
    for i, weight in weights.items():
        expected[i] = weight
    torch.testing.assert_close(row, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("modality", "path", "constrain", "hard"), OPTIONS)
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=5, deadline=None)
def test_stations_and_loss_equal_the_equations(modality, path, constrain, hard, sizes, seed):
    model = StandIn(seed=seed)
    nodes = random_nodes(model, sizes, seed, padding=seed % 3)
    starts = some_starts(nodes, modality, path, seed)
    cycle = cycle_back(model, nodes, starts, hard, constrain, path=path)
    options = {"path": path, "constrain": constrain, "hard": hard}
    for b, s, _, found in by_hand.walks(model, nodes, starts, **options):
        assert_edge(cycle.start_edge[b, s], found.start_edge)
        assert_edge(cycle.future_edge[b, s], found.future_edge)
        assert_edge(cycle.future_counterpart_edge[b, s], found.counterpart_edge)
        assert_edge(cycle.return_scores[b, s].exp(), found.returns)
        assert int(cycle.future.index[b, s]) == found.index
    sum_count = cycle_loss(cycle)
    slow = slow_loss(model, nodes, starts, **options)
    torch.testing.assert_close(sum_count.total / sum_count.count.clamp(min=1), slow, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("modality", "path", "constrain", "hard"), OPTIONS)
def test_gradients_equal_those_of_the_equations(modality, path, constrain, hard):
    model = StandIn(torch.float64)
    nodes = random_nodes(model, [(5, 4), (3, 2), (6, 3)], 1, padding=2, dtype=torch.float64)
    starts = some_starts(nodes, modality, path)
    sum_count = cycle_loss(cycle_back(model, nodes, starts, hard, constrain, path=path))
    assert sum_count.count > 2
    slow = slow_loss(model, nodes, starts, path=path, constrain=constrain, hard=hard)
    assert_same_gradients(sum_count.total / sum_count.count, slow, model, nodes[VISION].z, nodes[TEXT].z)


@pytest.mark.parametrize(("modality", "path"), list(product((VISION, TEXT), ("within", "across"))))
@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=10, deadline=None)
def test_the_start_is_always_a_candidate_of_the_way_back(modality, path, sizes, seed):
    """Since index(β) is taken among what the forward edge may see; a β at or before α would lose the start."""
    model = StandIn(seed=seed)
    nodes = random_nodes(model, sizes, seed, padding=2)
    starts = some_starts(nodes, modality, path, seed)
    cycle = cycle_back(model, nodes, starts, constrain=True, path=path)
    at_start = cycle.return_candidates.gather(-1, starts.index[..., None]).squeeze(-1)
    assert at_start[starts.valid].all()
    assert torch.isfinite(cycle_loss(cycle).total)
    ahead = nodes[cycle.future.modality]
    assert ahead.valid.gather(1, cycle.future.index)[starts.valid].all()
    assert not cycle.future.index.requires_grad


def test_uninformed_the_loss_is_the_log_of_the_candidates():
    model = NoIdea()
    nodes = random_nodes(model, [(6, 3)])
    constrained = cycle_back(model, nodes, starts_at(VISION, [[3]]), constrain=True)
    assert constrained.future.index.item() == 4  # the first of equals among 4 and 5
    assert cycle_loss(constrained).total.item() == pytest.approx(math.log(4))
    free = cycle_back(model, nodes, starts_at(VISION, [[3]]))
    assert cycle_loss(free).total.item() == pytest.approx(math.log(6))


def test_cycles_with_a_single_candidate_are_dropped_and_counted():
    model = NoIdea()
    nodes = random_nodes(model, [(6, 3), (2, 2), (1, 1)])
    starts = starts_at(VISION, [[0, 2], [0, 0], [0, 0]], valid=[[True], [True], [False]])
    cycle = cycle_back(model, nodes, starts, constrain=True)  # index(β) = α + 1, so α = 0 has only itself to return to
    sum_count, share = cycle_loss(cycle), single_candidate_share(cycle)
    assert sum_count.count == 1
    assert sum_count.total.item() == pytest.approx(math.log(3))
    assert (share.total.item(), share.count.item()) == (3, 4)


def test_the_across_path_masks_by_time():
    pi = {VISION: [[1.0, 0.0]] * 4, TEXT: [[0.0, 1.0]] * 3}
    nodes = flat_nodes({VISION: [0.0, 2.0, 4.0, 6.0], TEXT: [1.0, 4.0, 5.0]}, pi)

    class Flat(NoIdea):
        def project(self, z, modality):
            return z

        def combine(self, z_vision, z_text):
            return z_vision + z_text

    cycle = cycle_back(Flat(), nodes, starts_at(VISION, [[1, 2]]), constrain=True, path="across")
    assert (cycle.future_edge[0] > 0).tolist() == [[False, True, True], [False, False, True]]
    assert cycle.future.time.tolist() == [[4.0, 5.0]]
    assert cycle.return_candidates[0].tolist() == [[True, True, False, False], [True, True, True, False]]


def test_one_coin_rules_both_ends():
    """A unimodal cycle never uses f; any other uses it at the start and at the future."""
    model = StandIn()
    nodes = random_nodes(model, [(6, 4)])
    calls = []

    class Watched(StandIn):
        def combine(self, z_vision, z_text):
            calls.append(z_vision)
            return super().combine(z_vision, z_text) + 100 * len(calls)  # another f at each end

    for unimodal in (True, False):
        starts = starts_at(TEXT, [[1]], unimodal)
        plain, changed = (cycle_back(m, nodes, starts, constrain=False) for m in (model, Watched()))
        assert torch.equal(plain.future_query, changed.future_query) == unimodal
        assert torch.equal(plain.past_query, changed.past_query) == unimodal
    assert len(calls) == 4


def test_a_cycle_mixes_coins_without_mixing_their_states():
    model = StandIn()
    nodes = random_nodes(model, [(6, 4)])
    both = cycle_back(model, nodes, starts_at(VISION, [[1, 1]], [[True, False]]))
    for s, unimodal in enumerate((True, False)):
        alone = cycle_back(model, nodes, starts_at(VISION, [[1]], unimodal))
        torch.testing.assert_close(both.return_scores[:, s], alone.return_scores[:, 0])


def test_eq_4_asks_with_the_projection_of_the_mixture():
    """Not with the mixture of projections, nor with the prediction."""
    model = StandIn()
    nodes = random_nodes(model, [(6, 4)])
    cycle = cycle_back(model, nodes, starts_at(VISION, [[1]]))
    query = model.project(cycle.future_edge @ nodes[VISION].z, VISION)
    expected = (query @ nodes[TEXT].pi.mT / 0.1).softmax(-1)
    torch.testing.assert_close(cycle.future_counterpart_edge, expected)


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_shuffling_the_nodes_shuffles_the_attention(seed):
    """The model never sees times."""
    model = StandIn(seed=seed)
    nodes = random_nodes(model, [(6, 5), (6, 5)], seed)
    generator = torch.Generator().manual_seed(seed)
    orders = {VISION: torch.randperm(6, generator=generator), TEXT: torch.randperm(5, generator=generator)}
    shuffled = {m: reordered(side, orders[m]) for m, side in nodes.items()}
    starts = torch.tensor([[0, 3], [2, 4]])
    moved = orders[VISION].argsort()[starts]
    one = cycle_back(model, nodes, starts_at(VISION, starts))
    two = cycle_back(model, shuffled, starts_at(VISION, moved))
    for name, m in (("start_edge", TEXT), ("future_edge", VISION), ("return_scores", VISION)):
        torch.testing.assert_close(getattr(one, name)[..., orders[m]], getattr(two, name), rtol=1e-4, atol=1e-5)


@given(sizes=segment_sizes, seed=seeds)
@settings(max_examples=10, deadline=None)
def test_padding_has_no_influence(sizes, seed):
    model = StandIn(seed=seed)
    found = []
    for padding in (0, 5):
        nodes = random_nodes(model, sizes, seed, padding)
        starts = some_starts(nodes, TEXT, "within", seed)
        cycle = cycle_back(model, nodes, starts, constrain=True)
        sum_count = cycle_loss(cycle)
        found.append((starts.index, cycle.future.index, sum_count.count, sum_count.total))
    for short, long in zip(*found, strict=True):
        torch.testing.assert_close(short, long)


def test_segments_without_a_start_or_another_modality_give_no_nan():
    model = StandIn()
    nodes = random_nodes(model, [(0, 0), (1, 0), (4, 0), (0, 4)], padding=1)
    for modality, path in product((VISION, TEXT), ("within", "across")):
        starts = some_starts(nodes, modality, path)
        sum_count = cycle_loss(cycle_back(model, nodes, starts, constrain=True, path=path))
        total = sum_count.total + sum(p.sum() * 0 for p in model.parameters())
        total.backward(retain_graph=True)
        assert torch.isfinite(sum_count.total)
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())
