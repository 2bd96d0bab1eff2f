"""Every pair in its order: the loss equals the equation, term by term, and padding has no influence."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from mmcc.models.nodes import Nodes
from mmcc.objectives.pairs import pair_loss

TAU = 0.2


class Maps:
    """g as two linear maps."""

    def __init__(self, dims, seed=0):
        rng = torch.Generator().manual_seed(seed)
        self.maps = torch.randn(2, dims, dims, generator=rng, dtype=torch.float64)

    def future(self, z):
        return F.normalize(z @ self.maps[0], dim=-1)

    def past(self, z):
        return F.normalize(z @ self.maps[1], dim=-1)

    def future_and_past(self, z):
        return self.future(z), self.past(z)


def nodes_of(lengths, dims=3, seed=0, padding=0):
    rng = torch.Generator().manual_seed(seed)
    longest = max(lengths) + padding
    valid = torch.arange(longest)[None] < torch.tensor(lengths)[:, None]
    z = torch.randn(len(lengths), longest, dims, generator=rng, dtype=torch.float64)
    if padding:  # the same valid nodes as without it, and rubbish behind them
        z[:, :-padding] = nodes_of(lengths, dims, seed).z
    return Nodes(z, F.normalize(z, dim=-1), valid, torch.arange(longest).expand_as(valid).float())


def by_hand(model, nodes):
    """The equation, one pair at a time."""
    losses = []
    for b in range(len(nodes.valid)):
        places = [i for i in range(nodes.valid.shape[1]) if nodes.valid[b, i]]
        if len(places) < 2:
            continue
        future, past = model.future(nodes.z[b]), model.past(nodes.z[b])

        def log_P(u, v, b=b, places=places, future=future, past=past):
            def log_share(query, wanted, itself):
                powers = {m: math.exp(float(query @ nodes.pi[b, m]) / TAU) for m in places if m != itself}
                return math.log(powers[wanted] / sum(powers.values()))

            return log_share(future[u], v, u) + log_share(past[v], u, v)

        terms = [math.log1p(math.exp(log_P(j, i) - log_P(i, j))) for i in places for j in places if i < j]
        losses.append(sum(terms) / len(terms))
    return sum(losses), len(losses)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 20))
def test_equals_the_equation(lengths, seed):
    model, nodes = Maps(3, seed), nodes_of([*lengths, 2], seed=seed)
    found, (total, count) = pair_loss(model, nodes, TAU), by_hand(model, nodes)
    assert float(found.total) == pytest.approx(total, rel=1e-9) and int(found.count) == count


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 20))
def test_padding_has_no_influence(lengths, padding, seed):
    plain, padded = (pair_loss(Maps(3), nodes_of(lengths, seed=seed, padding=each), TAU) for each in (0, padding))
    assert float(plain.total) == pytest.approx(float(padded.total)) and int(plain.count) == int(padded.count)


def test_uninformed_the_loss_is_log_two():
    nodes = nodes_of([4, 3])
    same = Nodes(torch.ones_like(nodes.z), F.normalize(torch.ones_like(nodes.z), dim=-1), nodes.valid, nodes.times)
    found = pair_loss(Maps(3), same, TAU)
    assert float(found.total) / int(found.count) == pytest.approx(math.log(2))


def test_its_gradient_puts_a_pair_in_order():
    model, nodes = Maps(3), nodes_of([2, 5, 1, 0])
    model.maps.requires_grad_(True)
    before = pair_loss(model, nodes, TAU)
    (before.total / before.count).backward()
    assert model.maps.grad.isfinite().all()
    with torch.no_grad():
        model.maps -= 0.01 * model.maps.grad
    assert pair_loss(model, nodes, TAU).total < before.total


def test_gradient_in_float64():
    model, nodes = Maps(3), nodes_of([3, 2])

    def loss(maps):
        model.maps = maps
        return pair_loss(model, nodes, TAU).total

    assert torch.autograd.gradcheck(loss, model.maps.clone().requires_grad_(True))
