"""Soft attention: every edge of a cycle is one.

    Attn(Q, K, V) = softmax(Q Kᵀ / τ) V                                                              (Eq. 1)

A query attends only to its allowed keys, so padding and the max-index constraint are the same thing: a mask.

Shapes: B segments, S queries (starts), N keys (nodes), D dims.
"""

import torch
from torch import Tensor


def soft_attention(
    query_BSD: Tensor, key_BND: Tensor, value_BND: Tensor, allowed_BSN: Tensor, temperature: float
) -> tuple[Tensor, Tensor]:
    """The mixture of values that each query retrieves [B, S, D], and its weights [B, S, N]; zeros if no key is."""
    scores_BSN = _masked_scores(query_BSD, key_BND, allowed_BSN, temperature)
    weights_BSN = scores_BSN.softmax(dim=-1).masked_fill(~allowed_BSN, 0.0)
    return weights_BSN @ value_BND, weights_BSN


def log_attention(query_BSD: Tensor, key_BND: Tensor, allowed_BSN: Tensor, temperature: float) -> Tensor:
    """Log of the weights of `soft_attention` [B, S, N], -inf where not allowed.

    Pick what you need by index or `torch.where`: 0 · -inf is NaN.
    """
    scores_BSN = _masked_scores(query_BSD, key_BND, allowed_BSN, temperature)
    return scores_BSN.log_softmax(dim=-1).masked_fill(~allowed_BSN, -torch.inf)


def _masked_scores(query_BSD: Tensor, key_BND: Tensor, allowed_BSN: Tensor, temperature: float) -> Tensor:
    """Q Kᵀ / τ, and the lowest finite number where not allowed: a row of -inf alone would have a NaN softmax."""
    scores_BSN = query_BSD @ key_BND.mT / temperature
    return scores_BSN.masked_fill(~allowed_BSN, torch.finfo(scores_BSN.dtype).min)
