"""Soft attention against Eq. 1, one query at a time.

Shapes: B segments, S queries, N keys, D dims.
"""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.models import log_attention, soft_attention


def attention_by_hand(query, key, value, allowed, temperature):
    """Softmax(q·k/τ) over the allowed keys of each query, then the weighted sum of their values."""
    mixtures, weights = [], []
    for b in range(query.shape[0]):
        for s in range(query.shape[1]):
            zero = (query[b, s] * 0).sum()
            exponentials = [
                torch.exp(query[b, s] @ key[b, n] / temperature) if allowed[b, s, n] else zero
                for n in range(key.shape[1])
            ]
            share = [e / sum(exponentials) if allowed[b, s].any() else zero for e in exponentials]
            weights.append(torch.stack(share))
            mixtures.append(sum(w * v for w, v in zip(share, value[b], strict=True)))
    shape = query.shape[:2]
    return torch.stack(mixtures).unflatten(0, shape), torch.stack(weights).unflatten(0, shape)


def example(seed, dtype, B=3, S=4, N=5, D=6):
    """Random unit-norm queries and keys; about half of the keys allowed, and one query that may see none."""
    random = torch.Generator().manual_seed(seed)
    draw = [torch.randn(B, n, D, generator=random, dtype=torch.float64) for n in (S, N, N)]
    query, key, value = (torch.nn.functional.normalize(x, dim=-1).to(dtype) for x in draw)
    allowed = torch.rand(B, S, N, generator=random) < 0.5
    allowed[0, 0] = False
    allowed[1, 1] = True
    return query, key, value, allowed


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.07, 0.1, 1.0]))
def test_equals_the_equation(seed, temperature):
    batch = example(seed, torch.float32)
    by_hand = attention_by_hand(*batch, temperature)
    for ours, theirs in zip(soft_attention(*batch, temperature), by_hand, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    query, key, _, allowed = batch
    log_weights = log_attention(query, key, allowed, temperature)
    torch.testing.assert_close(log_weights.exp(), by_hand[1], atol=1e-5, rtol=1e-5)
    assert torch.equal(log_weights == -torch.inf, ~allowed)


def test_gradients_equal_those_of_the_equation_in_float64():
    query, key, value, allowed = example(0, torch.float64)
    inputs = [x.requires_grad_() for x in (query, key, value)]
    target = torch.randn(3, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def gradients(attention):
        mixture, weights = attention(*inputs, allowed, 0.1)
        loss = (mixture * target).sum() + (weights * target[..., :5]).sum()
        return torch.autograd.grad(loss, inputs)

    for ours, theirs in zip(gradients(soft_attention), gradients(attention_by_hand), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-10)
    assert torch.autograd.gradcheck(lambda q, k: log_attention(q, k, allowed, 0.1)[allowed], (query, key))


def test_by_hand_on_two_keys():
    query, key = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    value = torch.tensor([[[10.0], [20.0]]])
    mixture, weights = soft_attention(query, key, value, torch.ones(1, 1, 2, dtype=torch.bool), 0.5)
    first = math.exp(2) / (math.exp(2) + 1)
    assert weights.flatten().tolist() == pytest.approx([first, 1 - first])
    assert mixture.item() == pytest.approx(10 * first + 20 * (1 - first))


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.parametrize("attend", [soft_attention, log_attention])
def test_a_query_without_keys_gives_zeros_and_affects_no_other(attend):
    query, key, value, allowed = example(2, torch.float32)
    query.requires_grad_()
    key.requires_grad_()
    with torch.autograd.detect_anomaly(
        check_nan=True
    ):  # no intermediate NaN either, so that anomaly detection stays usable
        if attend is soft_attention:
            mixture, weights = soft_attention(query, key, value, allowed, 0.1)
            assert not mixture[0, 0].any() and not weights[0, 0].any()
            mixture.square().sum().backward()
        else:
            log_weights = log_attention(query, key, allowed, 0.1)
            assert (log_weights[0, 0] == -torch.inf).all()
            log_weights[allowed].sum().backward()
    assert query.grad.isfinite().all() and key.grad.isfinite().all()
    assert not query.grad[0, 0].any() and query.grad[1, 1].any()


def test_a_key_that_is_not_allowed_has_no_influence_however_similar():
    query, key, value, allowed = example(3, torch.float32)
    allowed[..., -1] = False
    before = soft_attention(query, key, value, allowed, 0.1)
    key[:, -1], value[:, -1] = 1e4, 1e4
    for old, new in zip(before, soft_attention(query, key, value, allowed, 0.1), strict=True):
        assert torch.equal(old, new)


def test_shuffled_nodes_give_the_same_mixture_and_shuffled_weights():
    query, key, value, allowed = example(4, torch.float64)
    order = torch.tensor([3, 0, 4, 1, 2])
    mixture, weights = soft_attention(query, key, value, allowed, 0.1)
    shuffled, moved = soft_attention(query, key[:, order], value[:, order], allowed[..., order], 0.1)
    torch.testing.assert_close(shuffled, mixture)
    torch.testing.assert_close(moved, weights[..., order])


def test_very_different_scores_do_not_overflow():
    query, key = torch.tensor([[[1e4]]]), torch.tensor([[[1.0], [-1.0], [0.0]]])
    allowed = torch.tensor([[[True, True, False]]])
    mixture, weights = soft_attention(query, key, key, allowed, 0.01)
    assert weights.flatten().tolist() == [1, 0, 0] and mixture.item() == 1
    assert log_attention(query, key, allowed, 0.01).flatten().tolist() == [0, -2e6, -math.inf]


def test_one_mask_may_serve_all_queries_of_a_segment():
    query, key, value, allowed = example(5, torch.float32)
    one = allowed[:, 1:2]
    for ours, full in zip(
        soft_attention(query, key, value, one, 0.1),
        soft_attention(query, key, value, one.expand_as(allowed), 0.1),
        strict=True,
    ):
        assert torch.equal(ours, full)
