"""Π, f and g: the order of their layers, and what is shared."""

import pytest
import torch
from torch import nn

from mmcc.models.mlp import TemporalPredictors, mlp, unit_norm


def names(sequence):
    return [type(part).__name__ for part in sequence]


def test_relu_and_norm_follow_every_layer_but_the_last():
    layers = mlp(8, 4, 3, 2)
    assert names(layers) == ["Linear", "ReLU", "LayerNorm", "Linear", "ReLU", "LayerNorm", "Linear"]
    assert [tuple(part.weight.shape) for part in layers if isinstance(part, nn.Linear)] == [(4, 8), (3, 4), (2, 3)]
    assert names(mlp(8, 4)) == ["Linear"]


def normed_by_hand(x):
    centred = x - x.mean()
    return centred / ((centred**2).mean() + 1e-5).sqrt()


@pytest.mark.parametrize("direction", ["future", "past"])
def test_a_predictor_is_four_layers_and_a_unit_norm(direction):
    torch.manual_seed(0)
    g = TemporalPredictors(6).double()
    head = g.forward_head if direction == "future" else g.backward_head
    z = torch.randn(6, dtype=torch.float64)
    linear = [part for part in (*g.shared, *head) if isinstance(part, nn.Linear)]
    assert len(linear) == 4
    x = z
    for layer in linear[:3]:
        x = normed_by_hand((layer.weight @ x + layer.bias).clamp(min=0))
    x = linear[3].weight @ x + linear[3].bias
    torch.testing.assert_close(getattr(g, direction)(z), x / (x @ x).sqrt())


def test_the_predictors_share_exactly_their_first_two_layers():
    g = TemporalPredictors(6)
    z = torch.randn(3, 6)
    reached = []
    for predict in (g.future, g.past):
        g.zero_grad(set_to_none=True)
        predict(z)[:, 0].sum().backward()
        reached.append({name for name, parameter in g.named_parameters() if parameter.grad is not None})
    shared = reached[0] & reached[1]
    assert {name for name in shared if name.endswith(".weight")} == {f"shared.{i}.weight" for i in (0, 2, 3, 5)}
    assert reached[0] | reached[1] == {name for name, _ in g.named_parameters()}
    assert len(reached[0] - shared) == len(reached[1] - shared) == 6


@pytest.mark.parametrize("rank", [0, 2])
def test_both_predictions_at_once_are_those_of_each(rank):
    torch.manual_seed(0)
    g = TemporalPredictors(6, rank).double()
    z = torch.randn(3, 2, 6, dtype=torch.float64)
    for both, alone in zip(g.future_and_past(z), (g.future(z), g.past(z)), strict=True):
        torch.testing.assert_close(both, alone)


def test_unit_norm_keeps_zero_and_its_gradient_finite():
    x = torch.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
    y = unit_norm(x)
    torch.testing.assert_close(y, torch.tensor([[0.6, 0.8], [0.0, 0.0]]))
    y.sum().backward()
    assert x.grad.isfinite().all()


def test_unit_norm_of_half_precision_is_a_full_precision_unit_vector():
    y = unit_norm(torch.randn(50, 7).bfloat16())
    assert y.dtype == torch.float32
    torch.testing.assert_close(y.norm(dim=-1), torch.ones(50))
    assert unit_norm(torch.ones(2, dtype=torch.float64)).dtype == torch.float64
