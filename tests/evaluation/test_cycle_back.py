"""Cycles on held-out videos: the same figures as validation's, by video."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mmcc.data import UsableVideos, Vocabulary, validation_batches
from mmcc.errors import InputError
from mmcc.evaluation.cycle_back import evaluate
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.models.model import MMCC
from mmcc.objectives.config import CycleConfig
from mmcc.training.config import Config
from mmcc.training.processes import ProcessGroup
from mmcc.training.validation import validate

DATA, CYCLE = Config().data, CycleConfig(starts_per_segment=1)
SHARES = ("exact_return", "exact_return_hard", "goes_forward", "stays_in_place")
RANKS = ("cycle_rank", "cycle_rank_hard", "future_rank", "travelled_rank", "cross_modal_rank", "cross_modal_rank_steps")
IN_BATCH = "cross_modal_rank_batch"  # the one figure that depends on the batch


@pytest.fixture(scope="module")
def kitchen(vectors_corpus):
    videos = UsableVideos(vectors_corpus, "train", DATA)
    vocabulary = Vocabulary.of_corpus(vectors_corpus, videos.ids, DATA)
    return vectors_corpus, videos, vocabulary


def small_model(kitchen, change=None):
    torch.manual_seed(3)
    corpus, _, vocabulary = kitchen
    config = ModelConfig(dims=16, frame_encoder=FeatureSettings(feature_dims=corpus.manifest.size))
    model = MMCC(config, len(vocabulary))
    if change:
        change(model)
    return model


def result_of(kitchen, model, ids=None, cycle=CYCLE, **options):
    corpus, videos, vocabulary = kitchen
    return evaluate(model, vocabulary, corpus, videos.ids if ids is None else ids, DATA, cycle, **options)


def test_what_is_no_number_has_no_rank(kitchen):
    def spoil(model):
        model.predictors.forward_head[0].weight.data[0, 0] = torch.nan

    with pytest.raises(InputError, match=r"the model: contains NaN or Inf in .*weight"):
        result_of(kitchen, small_model(kitchen, spoil))

    class Overflowing(torch.nn.Module):
        def forward(self, frames):
            return frames[:, :16] * torch.inf

    model = small_model(kitchen)
    model.frame_encoder = Overflowing()
    with pytest.raises(InputError, match=r"the embedding of .* contains NaN"):
        result_of(kitchen, model)


def test_figures_are_those_of_validation(kitchen):
    """Over the same segments; there shares are shares, here percents."""
    corpus, videos, vocabulary = kitchen
    model = small_model(kitchen).train()
    batches = validation_batches(videos, vocabulary, batch_size=8)
    expected = validate(model, batches, corpus, CYCLE, starts=8, world=ProcessGroup())
    result = result_of(kitchen, model, batch_size=8)
    assert model.training  # as it was
    for name in (*SHARES, *RANKS, IN_BATCH):
        scale = 100 if name in SHARES else 1
        for prefix in ("", "vision/", "text/"):
            assert result.figures[prefix + name].mean == pytest.approx(scale * expected[prefix + name], abs=0.01), name
    assert result.references["chance/exact_return"] == pytest.approx(100 * expected["exact_return_chance"], abs=1e-3)
    assert result.references["chance/goes_forward"] == pytest.approx(100 * expected["goes_forward_chance"], abs=0.01)
    assert result.references["chance/cycle_rank"] == 50


def test_batches_have_no_influence_and_uniform_starts_are_others(kitchen):
    """Except on the rank among all nodes of a batch: alone in it, a segment has the rank of the segment."""
    model = small_model(kitchen)
    one, other = result_of(kitchen, model, batch_size=5), result_of(kitchen, model, batch_size=32)
    alone = result_of(kitchen, model, batch_size=1).figures
    assert alone[IN_BATCH].totals == pytest.approx(alone["cross_modal_rank"].totals)
    assert one.figures[IN_BATCH].mean != pytest.approx(other.figures[IN_BATCH].mean)
    assert one.figures.keys() == other.figures.keys()
    for name, figure in one.figures.items():
        if name.endswith(IN_BATCH):
            continue
        assert figure.totals == pytest.approx(other.figures[name].totals, rel=1e-4, abs=1e-2), name
        assert figure.counts == pytest.approx(other.figures[name].counts)
    uniform = one.figures["cycle_rank/uniform_starts"]
    assert uniform.counts.sum() > 0 and uniform.mean != one.figures["cycle_rank"].mean


def test_uniform_starts_are_the_same_for_every_model(kitchen):
    """They do not depend on concreteness, so that the chance to go forward is one number."""

    def untrained(seed):
        return small_model(kitchen, lambda model: [torch.manual_seed(seed), model.apply(_again)])

    one, other = (result_of(kitchen, untrained(seed)).references for seed in (1, 2))
    assert one["chance/goes_forward/uniform_starts"] == other["chance/goes_forward/uniform_starts"]
    assert one["chance/goes_forward"] != other["chance/goes_forward"]


def _again(module):
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()


def test_each_video_counts_its_own(kitchen):
    """Correspondence knows no dice: a video alone has the totals that it has among others."""
    model = small_model(kitchen)
    figure = result_of(kitchen, model).figures["vision/cross_modal_rank"]
    assert figure.videos == tuple(kitchen[1].ids)
    for at in (0, 4):
        alone = result_of(kitchen, model, [figure.videos[at]]).figures["vision/cross_modal_rank"]
        assert alone.videos == (figure.videos[at],)
        assert alone.totals[0] == pytest.approx(figure.totals[at], rel=1e-5) and alone.counts[0] == figure.counts[at]


def test_a_model_that_sees_no_difference_scores_exactly_50(kitchen):
    def collapse(model):
        for layer in (model.projections["vision"], model.projections["text"]):
            torch.nn.init.zeros_(layer[-1].weight)
            torch.nn.init.ones_(layer[-1].bias)

    result = result_of(kitchen, small_model(kitchen, collapse))
    for name in ("cycle_rank", "cycle_rank_hard", "future_rank", "cross_modal_rank", "cycle_rank/uniform_starts"):
        assert result.figures[name].mean == pytest.approx(50), name
    for name in (IN_BATCH, f"text/{IN_BATCH}"):
        assert result.figures[name].mean == pytest.approx(50), name
    assert result.figures["exact_return"].mean == pytest.approx(result.references["chance/exact_return"])


@pytest.mark.parametrize("change", [{"p_unimodal": 1.0}, {"path": "across"}])
def test_cycles_are_walked_as_they_were_trained(kitchen, change):
    model = small_model(kitchen)
    usual, other = result_of(kitchen, model), result_of(kitchen, model, cycle=replace(CYCLE, **change))
    assert usual.figures["cycle_rank"].mean != other.figures["cycle_rank"].mean
    assert usual.figures["cross_modal_rank"].mean == other.figures["cross_modal_rank"].mean
    half = result_of(kitchen, model, cycle=replace(CYCLE, p_unimodal=0.25))
    assert half.figures["cycle_rank"].mean == usual.figures["cycle_rank"].mean  # both modalities at test


def test_videos_without_a_segment_are_noted_or_refused(kitchen):
    corpus, videos, vocabulary = kitchen
    strict = replace(DATA, min_utterances=14)
    unusable = [each for each in videos.ids if UsableVideos(corpus, "train", strict).unusable.get(each)]
    assert unusable and len(unusable) < len(videos.ids)
    result = evaluate(small_model(kitchen), vocabulary, corpus, videos.ids, strict, CYCLE)
    assert len(result.notes) == 1 and result.notes[0].startswith(f"{len(unusable)} videos yield no segment: ")
    assert not set(unusable) & set(result.figures["cycle_rank"].videos)
    with pytest.raises(InputError, match="none of its 4 test videos is usable"):
        evaluate(small_model(kitchen), vocabulary, corpus, unusable, strict, CYCLE)
    with pytest.raises(InputError, match="videos is for test"):
        evaluate(small_model(kitchen), vocabulary, corpus, [], DATA, CYCLE)


def test_results_survive_json(kitchen):
    result = result_of(kitchen, small_model(kitchen), kitchen[1].ids[:3])
    again = type(result).from_json(result.to_json())
    assert again.references == result.references
    assert np.array_equal(again.figures["cycle_rank"].totals, result.figures["cycle_rank"].totals)
