"""Which came first: the classifiers against their definition, and the table's cells."""

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from mmcc.corpus.source import LabelledClip
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.arrow_of_time import (
    GRADIENT_TOLERANCE,
    STRENGTHS,
    Examples,
    PairNetwork,
    Scratch,
    Split,
    differences,
    evaluate,
    fit_linear,
    linear_accuracy,
    scratch_accuracy,
)
from mmcc.evaluation.embedding import EmbeddedVideo, embed_videos
from mmcc.evaluation.features_only import FeaturesAdapter
from mmcc.evaluation.pairs import sample_pairs
from mmcc.models.mlp import unit_norm
from tests.evaluation.drawn_videos import LinearAdapter, drawn_video


def videos_of(count, prefix, *, frames=20, noise=1.0, slope=0.3):
    """Vectors of noise, of which the first dimension also grows with time."""
    videos = []
    for number in range(count):
        video = drawn_video(frames, name=f"{prefix}{number}", seed=crc32(f"{prefix}{number}".encode()))
        z = noise * video.frames.z
        z[:, 0] += slope * torch.arange(frames)
        videos.append(replace(video, frames=Embedding.of(z)))
    return videos


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_fit_is_the_best_layer_of_both_frames_with_both_orders_shown(seed):
    """The gradient of the whole problem, [z_a, z_b] → w and bias, is zero where the two halves are opposite."""
    generator = torch.Generator().manual_seed(seed)
    a, b = torch.randn(2, 60, 3, generator=generator, dtype=torch.float64)
    label = (a - b)[:, 0] + torch.randn(60, generator=generator, dtype=torch.float64) > 0
    weights = fit_linear(a - b, label, torch.arange(60) % 5 == 0)
    layer = torch.cat([weights, -weights, torch.zeros(1)]).requires_grad_()
    both = torch.cat([torch.cat([a, b], dim=1), torch.cat([b, a], dim=1)])
    target = torch.cat([label, ~label]).double()
    log_loss = F.binary_cross_entropy_with_logits(both @ layer[:6] + layer[6], target)
    gradients = []
    for strength in STRENGTHS:  # |w|² / 2 of one half is that of both, halved
        loss = log_loss + strength / 4 * layer[:6].square().sum()
        gradients.append(torch.autograd.grad(loss, layer, retain_graph=True)[0].abs().max().item())
    assert min(gradients) < GRADIENT_TOLERANCE / 2 + 1e-12  # w counts in both halves; rounding is about 1e-16


def test_the_fit_is_scipys_minimum():
    """Of the objective as it is written, at the strength that was chosen."""
    generator = torch.Generator().manual_seed(4)
    x = torch.randn(90, 4, generator=generator, dtype=torch.float64)
    label = x[:, 1] + torch.randn(90, generator=generator, dtype=torch.float64) > 0
    weights = fit_linear(x, label, torch.arange(90) % 5 == 0).numpy()
    turned = (x * torch.where(label, 1.0, -1.0)[:, None]).numpy()

    def objective(w, strength):
        return np.logaddexp(0, -turned @ w).mean() + strength / 2 * w @ w

    best = [minimize(objective, np.zeros(4), args=(strength,), tol=1e-12).x for strength in STRENGTHS]
    assert min(np.abs(weights - each).max() for each in best) < 1e-4


def test_the_strength_is_chosen_on_what_was_held_out():
    """Many dimensions of noise: a weak penalty learns the pairs by heart, so a strong one must win."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(80, 60, generator=generator, dtype=torch.float64)
    label = torch.rand(80, generator=generator) < 0.5
    assert fit_linear(x, label, torch.arange(80) % 5 == 0).norm() < 0.1


def test_differences_by_loop():
    videos = [drawn_video(5, name="a"), drawn_video(7, name="b", seed=1)]
    pairs = sample_pairs(videos, per_video=4)
    found = differences(videos, pairs)
    for row, at, first, second in zip(found, pairs.of_video, pairs.first, pairs.second, strict=True):
        assert torch.equal(row, videos[at].frames.z[first] - videos[at].frames.z[second])


def test_time_in_the_features_is_found_and_noise_is_not():
    train, test = videos_of(60, "train"), videos_of(30, "test")
    examples = Examples(sample_pairs(train), sample_pairs(test))
    assert linear_accuracy(Split(train, test), examples).mean > 80
    clear = Split(videos_of(60, "train", noise=0.01), videos_of(30, "test", noise=0.01))
    assert linear_accuracy(clear, examples).mean > 99
    blind = Split(videos_of(60, "train", slope=0), videos_of(30, "test", slope=0))
    assert 42 < linear_accuracy(blind, examples).mean < 58


def test_features_that_are_all_the_same_are_half_right():
    train, test = ([replace(v, frames=Embedding.of(torch.ones(20, 4))) for v in videos_of(9, p)] for p in "ab")
    found = linear_accuracy(Split(train, test), Examples(sample_pairs(train), sample_pairs(test)))
    assert found.mean == 50


class Named(LinearAdapter):
    def __init__(self, name):
        super().__init__()
        self.name = name


class Onward(Named):
    """Knows time, and chooses the frame a little later."""

    def future(self, node):
        return unit_norm(node.z + torch.tensor([5.0, 0, 0, 0]).double())


def test_the_table_has_all_cells_and_averages():
    rows = {
        "one": Split(videos_of(40, "train"), videos_of(15, "test")),
        "two": Split(videos_of(40, "train", slope=0), videos_of(15, "test", slope=0)),
    }
    columns = {"random": None, "model": Onward("one"), "alike": Named("two")}
    result = evaluate(columns, rows, per_video=8)
    means = {name: figure.mean for name, figure in result.figures.items()}
    for row in rows:
        cells = [means[f"accuracy/{row}/{column}"] for column in columns]
        assert means[f"accuracy/{row}/average"] == pytest.approx(np.mean(cells))
    for column in columns:
        cells = [means[f"accuracy/{row}/{column}"] for row in rows]
        assert means[f"accuracy/average/{column}"] == pytest.approx(np.mean(cells))
    assert means["accuracy/average/average"] == pytest.approx(
        np.mean([means[f"accuracy/{row}/{column}"] for row in rows for column in columns])
    )
    assert means["accuracy/one/random"] > 65 > means["accuracy/two/random"]
    assert means["forward/model"] > 65
    assert result.references["chance/accuracy"] == 50
    assert result.references["steps_known/random"] == 50  # no step is labelled
    assert result.notes == ["40 training videos, 15 test videos"]


def test_steps_known_by_hand():
    """Two steps of ten frames each: pairs across them are told, pairs within are guessed."""
    steps = [LabelledClip(1, 0.0, 10.0), LabelledClip(2, 10.0, 20.0)]
    train, test = ([replace(v, steps=steps) for v in videos_of(10, part)] for part in ("train", "test"))
    result = evaluate({"random": None}, {"x": Split(train, test)})
    pairs = sample_pairs(test)
    across = ((pairs.first < 10) != (pairs.second < 10)).mean()
    assert result.references["steps_known/random"] == pytest.approx(100 * across + 50 * (1 - across))
    assert result.figures["seconds_apart/random"].mean == pytest.approx(np.abs(pairs.first - pairs.second).mean())


def test_videos_must_be_the_same_and_test_videos_unseen():
    one, other = videos_of(5, "train"), videos_of(5, "test")
    with pytest.raises(ValueError, match="same videos"):
        evaluate({"random": None}, {"a": Split(one, other), "b": Split(one, other[:4])})
    with pytest.raises(ValueError, match="both the training and the test part"):
        evaluate({"random": None}, {"a": Split(one, [*other, one[0]])})


def test_the_network_gives_the_opposite_for_the_other_order():
    network = PairNetwork(torch.nn.Linear(3, 8), 8)
    a, b = torch.randn(2, 5, 3)
    assert torch.allclose(network(a, b), -network(b, a), atol=1e-6)


def test_from_scratch_learns_on_a_real_corpus_and_is_the_same_each_time(vectors_corpus):
    corpus = vectors_corpus
    identity = FeaturesAdapter("identity", lambda frames: frames)
    videos = embed_videos(identity, corpus, corpus.ids)
    split = Split(videos[:18], videos[18:])
    examples = Examples(*(sample_pairs(part, per_video=12) for part in split))
    scratch = Scratch(corpus, steps=40, dims=32)
    state = torch.get_rng_state()
    found = scratch_accuracy(examples, scratch)
    assert torch.equal(torch.get_rng_state(), state)
    assert found.to_json() == scratch_accuracy(examples, scratch).to_json()
    seen = scratch_accuracy(Examples(examples.train, examples.train), replace(scratch, steps=150))
    assert seen.mean > 75  # it learns at least its own pairs


def test_a_short_video_is_noted():
    train, test = videos_of(6, "train"), [*videos_of(4, "test"), drawn_video(1, name="short")]
    result = evaluate({"random": None}, {"x": Split(train, test)})
    assert result.notes[1] == "1 of them have fewer than two frames"
    assert isinstance(test[-1], EmbeddedVideo) and result.figures["accuracy/x/random"].counts[-1] == 0


def test_two_videos_suffice_to_learn_from_and_one_does_not():
    short = drawn_video(1, name="short")
    trained_on, tested = (videos_of(2, part, noise=0.01) for part in ("train", "test"))
    result = evaluate({"random": None}, {"x": Split([short, *trained_on], tested)})
    assert result.figures["accuracy/x/random"].mean > 90
    for split in (Split([short, *videos_of(1, "train")], videos_of(3, "test")), Split(videos_of(3, "train"), [short])):
        with pytest.raises(InputError, match="two frames to compare"):
            evaluate({"random": None}, {"x": split})
