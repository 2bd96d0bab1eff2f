"""Log-sums of scores: by one exponential for several of them, and safely where scores are far apart or missing."""

import pytest
import torch

from mmcc.objectives.log_sums import log_sum, log_sum_where, log_sums


@pytest.mark.parametrize("spread", [1.0, 10.0, 1000.0])
def test_sums_over_several_dimensions_are_those_over_each(spread):
    """With a spread of 1,000 most powers vanish beside the largest one, and rows without it would sum to 0."""
    scores = torch.randn(4, 2, 7, generator=torch.Generator().manual_seed(0)) * spread
    scores.requires_grad_()
    for sums, dim in zip(log_sums(scores, -1, 0), (-1, 0), strict=True):
        expected = scores.double().logsumexp(dim=dim)
        torch.testing.assert_close(sums.double(), expected, rtol=1e-5, atol=1e-5)
        weight = torch.arange(1.0, 1 + sums.numel()).view_as(sums)
        (found,) = torch.autograd.grad((weight * sums).sum(), scores, retain_graph=True)
        (wanted,) = torch.autograd.grad((weight.double() * expected).sum(), scores)
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_without_scores_every_sum_is_the_lowest_number():
    nothing = torch.finfo(torch.float32).min
    rows, columns = log_sums(torch.zeros(0, 3), -1, 0)
    assert rows.shape == (0,) and columns.tolist() == [nothing] * 3
    assert log_sum(torch.zeros(2, 0)).tolist() == [nothing] * 2


def test_what_does_not_count_is_left_out_in_either_dimension():
    scores = torch.tensor([[0.0, 1.0], [2.0, 3.0]], requires_grad=True)
    counts = torch.tensor([[True, False], [True, False]])
    rows, columns = log_sum_where(scores, counts), log_sum_where(scores, counts, dim=0)
    torch.testing.assert_close(rows, torch.tensor([0.0, 2.0]))
    assert columns[0].item() == pytest.approx(torch.tensor([0.0, 2.0]).exp().sum().log().item())
    assert columns[1].item() == torch.finfo(torch.float32).min
    columns.sum().backward()
    assert scores.grad.isfinite().all() and not scores.grad[:, 1].any()
