"""MemDPC's contrast, forward and backward in time."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.models import MemDPC, ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.models.mlp import unit_norm
from mmcc.models.nodes import VISION, Nodes
from mmcc.objectives import MemDPCConfig, SampleRng
from mmcc.objectives.memdpc import MemDPCObjective
from tests.objectives import baselines_by_hand, by_hand
from tests.objectives.stand_in import StandIn, assert_same_gradients, descend, gradients, random_side, seeds

D = 6
FIELDS = ("z", "pi", "valid", "times")
frame_counts = st.lists(st.integers(0, 6), min_size=1, max_size=3).filter(any)


def memdpc(dtype=torch.float32, seed=0, slots=5):
    torch.manual_seed(seed)
    return MemDPC(ModelConfig(dims=D, frame_encoder=FeatureSettings(feature_dims=4)), slots).to(dtype)


def frames(counts, seed=0, padding=0, dtype=torch.float32):
    side = random_side(StandIn(dtype), VISION, counts, seed, padding, dtype)
    return Nodes(side.z, torch.where(side.valid[..., None], unit_norm(side.z), 0), side.valid, side.times)


def objective(horizon=3, temperature=0.1):
    return MemDPCObjective(MemDPCConfig(horizon=horizon, temperature=temperature))


def losses(model, side, horizon=3):
    rng = SampleRng(0, torch.arange(len(side.valid)))
    return objective(horizon)(model, {VISION: side}, None, {}, rng)


def films(side):
    return [[side.pi[b, i] for i in range(side.valid.shape[1]) if side.valid[b, i]] for b in range(len(side.valid))]


def slow(model, side, **settings):
    return {way: baselines_by_hand.memdpc_terms(model, films(side), way, **settings) for way in ("future", "past")}


@pytest.mark.parametrize(("horizon", "temperature"), [(1, 0.1), (3, 0.1), (4, 0.4)])
@given(counts=frame_counts, seed=seeds)
@settings(max_examples=6)
def test_equals_the_equation(horizon, temperature, counts, seed):
    model, side = memdpc(seed=seed), frames(counts, seed, padding=seed % 3)
    found = objective(horizon, temperature).sum_counts(model, side)
    for way, terms in slow(model, side, horizon=horizon, temperature=temperature).items():
        assert found[way].count == len(terms)
        mean = found[way].total / found[way].count.clamp(min=1)
        torch.testing.assert_close(mean, by_hand.mean(terms), rtol=1e-5, atol=1e-5)


def test_gradients_equal_those_of_the_equation():
    """Through the GRUs, the addresses, the memory, what is predicted and what it is told from."""
    model, side = memdpc(torch.float64), frames([5, 1, 0, 4], 1, padding=2, dtype=torch.float64)
    total = losses(model, side).total
    expected = sum(map(by_hand.mean, slow(model, side).values()))
    trained = [p for name, p in model.named_parameters() if not name.startswith("frame_encoder")]
    assert_same_gradients(total, expected, *trained, side.z)
    assert all(gradient.abs().max() > 0 for gradient in gradients(total, *trained, side.z))


def test_how_many_predictions_there_are():
    """Of 5 nodes 4 have one after them, 3 two, 2 three; of 2 nodes one. The last, and a node alone, predict nothing."""
    found = objective(horizon=3).sum_counts(memdpc(), frames([5, 2, 1, 0]))
    assert found["future"].count == found["past"].count == (4 + 3 + 2) + 1


def test_worked_by_hand():
    """All memories alike: every prediction is that memory, whatever was seen."""
    model = memdpc()
    model.memory.data[:] = torch.eye(D)[0]
    pi = torch.eye(D)[:2][None]  # the second node is at a right angle to the memory
    side = Nodes(pi, pi, torch.ones(1, 2, dtype=torch.bool), torch.tensor([[0.0, 1.0]]))
    found = objective().sum_counts(model, side)
    assert found["future"].total.item() == pytest.approx(10 + math.log(1 + math.exp(-10)), abs=1e-5)
    assert found["past"].total.item() == pytest.approx(math.log(1 + math.exp(-10)), abs=1e-5)


def test_the_past_is_the_future_of_time_reversed():
    """With the two directions' networks exchanged, and every segment turned around, the two losses change places."""
    model, other, side = memdpc(seed=1), memdpc(seed=1), frames([5, 3, 1], padding=2)
    for networks in ("aggregators", "addresses"):
        for way, opposite in (("future", "past"), ("past", "future")):
            getattr(other, networks)[way].load_state_dict(getattr(model, networks)[opposite].state_dict())
    turned = torch.zeros_like(side.pi)
    for b, count in enumerate([5, 3, 1]):
        turned[b, :count] = side.pi[b, :count].flip(0)
    ours = objective().sum_counts(model, side)
    theirs = objective().sum_counts(other, Nodes(turned, turned, side.valid, side.times))
    for way, opposite in (("future", "past"), ("past", "future")):
        torch.testing.assert_close(ours[way].total, theirs[opposite].total)


@given(counts=frame_counts, seed=seeds)
@settings(max_examples=5)
def test_padding_and_the_order_of_segments_have_no_influence(counts, seed):
    model = memdpc(seed=seed)
    one, padded = losses(model, frames(counts, seed)).total, frames(counts, seed, padding=4)
    turned = Nodes(*(getattr(padded, name).flip(0) for name in FIELDS))
    for side in (padded, turned):
        torch.testing.assert_close(one, losses(model, side).total, rtol=1e-5, atol=1e-5)


def test_the_order_of_nodes_is_what_it_learns_from():
    model, side = memdpc(), frames([6])
    shuffled = Nodes(*(getattr(side, name)[:, [3, 0, 5, 1, 4, 2]] for name in ("z", "pi")), side.valid, side.times)
    assert abs(losses(model, side).total - losses(model, shuffled).total) > 1e-3


@pytest.mark.parametrize("counts", [[1], [0], [1, 0]])
def test_nothing_to_predict_is_no_loss_and_no_nan(counts):
    model = memdpc()
    total = losses(model, frames(counts)).total
    assert total.item() == 0
    assert all(not gradient.any() for gradient in gradients(total, model))


def test_it_learns_a_short_film_by_heart():
    model, side = memdpc(slots=12), frames([6])
    fixed = Nodes(side.z.detach(), side.pi.detach(), side.valid, side.times)
    before = losses(model, fixed).total.item()
    for _ in range(60):
        descend(model, losses(model, fixed).total, 0.02)
    assert losses(model, fixed).total.item() < before / 4


@pytest.mark.parametrize("setting", ["slots", "horizon", "temperature"])
def test_impossible_settings_are_named(setting):
    with pytest.raises(ValueError, match=f"^{setting} must be"):
        MemDPCConfig(**{setting: 0})
