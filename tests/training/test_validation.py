"""Validation against slow loops and by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.corpus import Corpus
from mmcc.data import UsableVideos, Vocabulary, validation_batches
from mmcc.metrics import percentile_rank as ranks_of_metrics
from mmcc.models.config import ModelConfig
from mmcc.models.model import MMCC
from mmcc.models.nodes import Nodes
from mmcc.objectives.config import CycleConfig
from mmcc.training.config import Config
from mmcc.training.processes import World
from mmcc.training.validation import (
    FIGURES,
    above_share,
    cross_modal_tallies,
    percentile_rank,
    share_of_first,
    step_spans,
    summary_line,
    validate,
    within_spans,
)

few_values = st.lists(st.integers(-2, 2), min_size=2, max_size=7)  # many ties


@given(few_values, st.data())
def test_ranks_are_those_of_metrics_and_padding_has_no_influence(scores, data):
    target = data.draw(st.integers(0, len(scores) - 1))
    padded = torch.tensor(
        [[*map(float, scores), *data.draw(st.lists(st.sampled_from([-math.inf, 0.0, 9.0]), max_size=3))]]
    )
    seen = torch.arange(padded.shape[1])[None] < len(scores)
    expected = ranks_of_metrics(np.array([scores]), np.array([target]))
    assert percentile_rank(padded, torch.tensor([target]), seen).item() == pytest.approx(expected.item())


@given(few_values, st.data())
def test_share_of_first_by_hand(scores, data):
    target = data.draw(st.integers(0, len(scores) - 1))
    expected = (scores[target] == max(scores)) / scores.count(max(scores))
    values = torch.tensor([[*map(float, scores), 9.0]])  # the last is padding
    seen = torch.arange(len(scores) + 1)[None] < len(scores)
    assert share_of_first(values, torch.tensor([target]), seen).item() == pytest.approx(expected)


@given(few_values, st.data())
def test_above_share_by_pairs(scores, data):
    sides = data.draw(st.lists(st.sampled_from("ul-"), min_size=len(scores), max_size=len(scores)))
    marked = list(zip(scores, sides, strict=True))
    pairs = [(a > b) + (a == b) / 2 for a, s in marked for b, t in marked if (s, t) == ("u", "l")]
    upper, lower = (torch.tensor([[side == which for side in sides]]) for which in "ul")
    found = above_share(torch.tensor([scores]).float(), upper, lower).item()
    assert found == pytest.approx(sum(pairs) / max(len(pairs), 1))


def random_nodes(generator, lengths, dims=6):
    longest = max(lengths)
    valid = torch.arange(longest)[None] < torch.tensor(lengths)[:, None]
    z = torch.randn(len(lengths), longest, dims, generator=generator) * valid[..., None]
    times = (torch.rand(len(lengths), longest, generator=generator) * 20 + 100 * ~valid).sort(dim=1).values * valid
    return Nodes(z, torch.nn.functional.normalize(z, dim=-1), valid, times)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=3))
def test_cross_modal_rank_by_loops(seed, lengths):
    generator = torch.Generator().manual_seed(seed)
    own = random_nodes(generator, [a for a, _ in lengths])
    other = random_nodes(generator, [b for _, b in lengths])
    spans = torch.tensor([[[0.0, 5.0], [9.0, 12.0]]]).expand(len(lengths), -1, -1)
    ranks, in_steps = [], []
    for b, (count, others) in enumerate(lengths):
        for i in range(count):
            if others < 2:
                continue
            time = own.times[b, i].item()
            away = [abs(time - other.times[b, j].item()) for j in range(others)]
            scores = [(own.pi[b, i] @ other.pi[b, j]).item() for j in range(others)]
            rank = ranks_of_metrics(np.array([scores]), np.array([away.index(min(away))])).item()
            ranks.append(rank)
            if 0 <= time <= 5 or 9 <= time <= 12:
                in_steps.append(rank)
    found = cross_modal_tallies(own, other, spans)
    for name, expected in {"cross_modal_rank": ranks, "cross_modal_rank_steps": in_steps}.items():
        assert found[name].count == len(expected)
        assert found[name].total.item() == pytest.approx(sum(expected), abs=1e-3)


def test_moments_within_steps():
    spans = torch.tensor([[[1.0, 2.0], [math.inf, -math.inf]], [[math.inf, -math.inf]] * 2])
    times = torch.tensor([[0.5, 1.0, 2.0, 2.5], [1.0, 1.5, 2.0, 0.0]])
    assert within_spans(times, spans).tolist() == [[False, True, True, False], [False] * 4]
    assert within_spans(times, torch.zeros(2, 0, 2)).sum() == 0


@pytest.fixture(scope="module")
def held_out(vectors_path):
    corpus = Corpus.open(vectors_path)
    videos = UsableVideos(corpus, "validation", Config().data)
    vocabulary = Vocabulary.of_corpus(corpus, videos.ids, Config().data)
    return corpus, videos, vocabulary


def figures_of(held_out, model, batch_size=4, **options):
    corpus, videos, vocabulary = held_out
    batches = validation_batches(videos, vocabulary, batch_size=batch_size, limit=10)
    return validate(model, batches, corpus, CycleConfig(), starts=4, world=World(), **options)


def small_model(held_out, change=None):
    torch.manual_seed(3)
    corpus, _, vocabulary = held_out
    config = ModelConfig(dims=16, frame_encoder="features", feature_dims=corpus.manifest.size)
    model = MMCC(config, len(vocabulary))
    if change:
        change(model)
    return model


def test_an_untrained_model_is_near_chance_and_every_figure_is_there(held_out):
    model = small_model(held_out).train()
    figures = figures_of(held_out, model)
    assert set(FIGURES) < figures.keys() and all(value is not None for value in figures.values())
    assert 35 < figures["score"] < 65
    assert model.training  # as it was


def test_a_model_that_sees_no_difference_scores_exactly_50(held_out):
    """Constant embeddings: all candidates tie, so nothing can look better than chance."""

    def collapse(model):
        for layer in (model.projections["vision"], model.projections["text"]):
            torch.nn.init.zeros_(layer[-1].weight)
            torch.nn.init.ones_(layer[-1].bias)

    figures = figures_of(held_out, small_model(held_out, collapse))
    for name in ("score", "cycle_rank", "cycle_rank_hard", "future_rank", "cross_modal_rank", "travelled_rank"):
        assert figures[name] == pytest.approx(50), name
    assert figures["exact_return"] == pytest.approx(figures["exact_return_chance"])


def test_looping_in_place_returns_perfectly_and_gains_nothing(held_out, monkeypatch):
    """A model whose predictors point at the node they stand on: the collapse of Section 3.4."""
    model = small_model(held_out)
    monkeypatch.setattr(MMCC, "combine", lambda self, z_vision, z_text: z_vision)
    monkeypatch.setattr(MMCC, "future", lambda self, z: self.project(z, "vision"))
    monkeypatch.setattr(MMCC, "past", lambda self, z: self.project(z, "vision"))
    figures = figures_of(held_out, model)
    assert figures["vision/cycle_rank_hard"] > 99 and figures["vision/exact_return_hard"] > 0.9
    assert figures["vision/stays_in_place"] > 0.9 and figures["vision/goes_forward"] < 0.1
    assert figures["vision/travelled_rank"] < 55
    assert "COLLAPSED" in summary_line(3, figures | {"stays_in_place": figures["vision/stays_in_place"]})


def test_batches_have_no_influence(held_out):
    model = small_model(held_out)
    one, many = figures_of(held_out, model, batch_size=10), figures_of(held_out, model, batch_size=3)
    assert one == {name: pytest.approx(value, abs=1e-3) for name, value in many.items()}


def test_it_leaves_off_when_told(held_out):
    assert figures_of(held_out, small_model(held_out), stopped=lambda: True) is None


def test_spans_come_from_the_annotations(held_out):
    corpus, videos, _ = held_out
    spans = step_spans(corpus, videos.ids)
    for video, row in zip(videos.ids, spans.tolist(), strict=True):
        real = [[step.start, step.end] for step in corpus[video].steps]
        assert np.allclose([span for span in row if span[0] <= span[1]], real, atol=1e-3)


def test_a_line_for_people_says_what_is_missing():
    line = summary_line(4, {"score": 51.23, "cycle_rank": None})
    assert line.startswith("step 4: score 51.2 · cycle rank –") and "COLLAPSED" not in line
