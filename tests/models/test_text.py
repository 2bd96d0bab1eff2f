"""The text encoder against a loop over utterances and words."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.models.text import BagOfWordsSettings, build_text_encoder

VOCABULARY, DIMS = 12, 5
utterances = st.lists(st.lists(st.integers(1, VOCABULARY - 1), max_size=6), min_size=1, max_size=6)


def encoder(dtype=torch.float64):
    torch.manual_seed(0)
    return build_text_encoder(BagOfWordsSettings(), DIMS, VOCABULARY).to(dtype)


def padded(sentences, more=0):
    width = max(len(words) for words in sentences) + more
    rows = [words + [0] * (width - len(words)) for words in sentences]
    return torch.tensor(rows, dtype=torch.int64).reshape(len(rows), width)


def embedded_by_hand(encoder, sentences):
    """z = w2 · max over words of ReLU(w1 · W[word]), word by word; zeros stand in for the maximum over no words."""
    rows = []
    for words in sentences:
        seen = [(encoder.w1.weight @ encoder.words.weight[word] + encoder.w1.bias).clamp(min=0) for word in words]
        largest = torch.stack(seen).amax(dim=0) if seen else torch.zeros(DIMS, dtype=encoder.w1.weight.dtype)
        rows.append(encoder.w2.weight @ largest + encoder.w2.bias)
    return torch.stack(rows)


@settings(max_examples=50, deadline=None)
@given(utterances)
def test_equals_a_loop_over_words_with_its_gradients(sentences):
    model = encoder()
    ours, by_hand = model(padded(sentences)), embedded_by_hand(model, sentences)
    torch.testing.assert_close(ours, by_hand, atol=1e-12, rtol=0)
    weights = list(model.parameters())
    target = torch.randn(by_hand.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    gradients = (torch.autograd.grad((z * target).sum(), weights, materialize_grads=True) for z in (ours, by_hand))
    for mine, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-12, rtol=0)


@settings(max_examples=25, deadline=None)
@given(utterances, st.integers(1, 4))
def test_padding_has_no_influence(sentences, more):
    model = encoder()
    assert torch.equal(model(padded(sentences)), model(padded(sentences, more)))


def test_padding_stays_unseen_even_with_a_large_embedding():
    model = encoder()
    before = model(padded([[3, 4], [5]]))
    with torch.no_grad():
        model.words.weight[0] = 1e6
    assert torch.equal(model(padded([[3, 4], [5]])), before)


def test_the_order_of_words_does_not_count_and_repeating_one_neither():
    model = encoder()
    first, second = model(padded([[3, 4, 5], [5, 3, 4, 3, 3]]))
    assert torch.equal(first, second)


def test_w1_runs_once_for_each_distinct_word():
    model, rows = encoder(), []
    model.w1.register_forward_hook(lambda module, inputs, output: rows.append(len(output)))
    model(padded([[3, 4, 4, 4], [4, 3], [5]]))
    assert rows == [4]  # the words 3, 4, 5, and padding


@pytest.mark.parametrize("words", [torch.zeros(2, 3), torch.zeros(2, 0)])
def test_utterances_without_words_embed_alike_and_finite(words):
    model = encoder()
    z = model(words.long())
    assert torch.equal(z, model.w2.bias.expand(2, DIMS))
    z.sum().backward()
    assert not model.words.weight.grad.any()


def test_no_utterance_at_all_is_no_error():
    assert encoder()(torch.zeros(0, 3, dtype=torch.int64)).shape == (0, DIMS)
