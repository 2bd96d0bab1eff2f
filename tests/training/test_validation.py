"""Validation of whole models; its figures are tested beside mmcc/objectives/scoring.py."""

import numpy as np
import pytest
import torch

from mmcc.corpus import Corpus
from mmcc.data import UsableVideos, Vocabulary, validation_batches
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.models.model import MMCC
from mmcc.objectives.config import CycleConfig
from mmcc.training.config import Config
from mmcc.training.processes import ProcessGroup
from mmcc.training.validation import FIGURES, step_spans, summary_line, validate


@pytest.fixture(scope="module")
def held_out(vectors_path):
    corpus = Corpus.open(vectors_path)
    videos = UsableVideos(corpus, "validation", Config().data)
    vocabulary = Vocabulary.of_corpus(corpus, videos.ids, Config().data)
    return corpus, videos, vocabulary


def figures_of(held_out, model, batch_size=4, **options):
    corpus, videos, vocabulary = held_out
    batches = validation_batches(videos, vocabulary, batch_size=batch_size, limit=10)
    return validate(model, batches, corpus, CycleConfig(), starts=4, world=ProcessGroup(), **options)


def small_model(held_out, change=None):
    torch.manual_seed(3)
    corpus, _, vocabulary = held_out
    config = ModelConfig(dims=16, frame_encoder=FeatureSettings(feature_dims=corpus.manifest.size))
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
