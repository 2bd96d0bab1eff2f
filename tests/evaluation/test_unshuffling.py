"""Unshuffling: Eq. 12 by a slow loop, orders by every permutation, variants, references, and what is left out."""

import json
import math
from itertools import pairwise, permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.corpus.source import LabelledClip, Task
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.adapters import TrainedAdapter, Words
from mmcc.evaluation.clips import clip_nodes, said_in
from mmcc.evaluation.embedding import EmbeddedVideo, embed_videos
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.unshuffling import (
    evaluate,
    log_prior,
    log_transitions,
    order_figures,
    references,
    shuffled,
)
from mmcc.metrics import edit_distance, kendall_tau
from mmcc.models.config import ModelConfig
from mmcc.models.encoders import FeatureSettings
from mmcc.models.mlp import unit_norm
from mmcc.models.model import MMCC
from mmcc.models.nodes import VISION
from tests.evaluation.drawn_videos import LinearAdapter, drawn_video


def log_transitions_by_hand(adapter, z, pi):
    """Eq. 12 without P(x), one pair at a time."""
    n = len(z)

    def log_share(query, target, own):
        among = [math.exp(float(query @ pi[m]) / adapter.temperature) for m in range(n) if m != own]
        return float(query @ pi[target]) / adapter.temperature - math.log(sum(among))

    found = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            if u != v:
                found[u, v] = log_share(adapter.future(Embedding(z[u], pi[u])), v, u)
                if adapter.past is not None:
                    found[u, v] += log_share(adapter.past(Embedding(z[v], pi[v])), u, v)
    return found


def steps(*spans):
    return [LabelledClip(at + 1, start, end) for at, (start, end) in enumerate(spans)]


def segments(count):
    return steps(*((2.0 * at, 2.0 * at + 2) for at in range(count)))


@given(st.integers(2, 6), st.integers(0, 99), st.booleans())
def test_log_transitions_equal_the_equation(n, seed, has_past):
    adapter = LinearAdapter(has_past=has_past, seed=seed)
    nodes = drawn_video(n, seed=seed).frames
    found = log_transitions(adapter, nodes).numpy()
    assert np.allclose(found, log_transitions_by_hand(adapter, nodes.z, nodes.pi), atol=1e-9)


@given(st.integers(1, 6), st.integers(0, 5), st.integers(0, 99))
def test_the_prior_is_the_softmax_of_concreteness(n, said, seed):
    adapter, video = LinearAdapter(temperature=0.3), drawn_video(n, said, seed=seed)
    best = [max((float(pi @ other) for other in video.utterances.pi), default=0) for pi in video.frames.pi]
    weights = [math.exp(each / 0.3) for each in best]
    expected = [weight / sum(weights) for weight in weights]
    assert log_prior(adapter, video, video.frames).exp().tolist() == pytest.approx(expected)
    silent = drawn_video(n, None, seed=seed)
    assert log_prior(adapter, silent, silent.frames).exp().tolist() == pytest.approx([1 / n] * n)


@settings(max_examples=25)
@given(st.integers(3, 5), st.integers(0, 99), st.booleans())
def test_the_orders_are_the_best_of_all(n, seed, has_past):
    """From frames to Kendall's τ, for the three ways to order that vision alone allows."""
    adapter = LinearAdapter(has_past=has_past, seed=seed)
    video = drawn_video(2 * n, 3, seed=seed, steps=segments(n))
    nodes = clip_nodes(video, video.steps)
    free = log_transitions_by_hand(adapter, nodes.z, nodes.pi)
    prior = log_prior(adapter, video, nodes).numpy()
    with_prior = free + prior[:, None] + prior

    def path(matrix):
        return max(permutations(range(n)), key=lambda order: sum(matrix[u, v] for u, v in pairwise(order)))

    def pairs(order):
        return sum(free[order[i], order[j]] - free[order[j], order[i]] for i in range(n) for j in range(i + 1, n))

    expected = {"": path(with_prior), "/no_prior": path(free), "/all_pairs": max(permutations(range(n)), key=pairs)}
    found = evaluate(adapter, [video]).figures
    for variant, order in expected.items():
        assert found[f"kendall_tau{variant}"].mean == pytest.approx(float(kendall_tau(order)))
        assert found[f"edit_distance{variant}"].mean == float(edit_distance(order))


class Clock:
    """Frames are (cos, sin) of the time; the future is a little later, the past a little earlier."""

    name, modalities, temperature, combine, lag = "clock", (VISION,), 0.1, None, 0.2

    def embed_frames(self, times):
        return Embedding.of(torch.stack([times.cos(), times.sin()], dim=-1))

    def _turned(self, node, by):
        x, y = node.pi.unbind(dim=-1)
        return torch.stack([x * math.cos(by) - y * math.sin(by), x * math.sin(by) + y * math.cos(by)], dim=-1)

    def future(self, node):
        return self._turned(node, self.lag)

    def past(self, node):
        return self._turned(node, -self.lag)


def clock_video(count, name="clock", order=None):
    times = torch.arange(count, dtype=torch.float64) * 0.2
    frames = Clock().embed_frames(times if order is None else times[order])
    return EmbeddedVideo(name, (), segments(count), np.arange(count) * 2.0 + 1, frames, np.empty(0), None)


@pytest.mark.parametrize("count", [3, 7, 15, 20])
def test_a_model_that_knows_the_time_puts_everything_in_order(count):
    result = evaluate(Clock(), [clock_video(count)])
    for variant in ("", "/no_prior", "/all_pairs"):
        assert result.figures[f"kendall_tau{variant}"].mean == 1
        assert result.figures[f"edit_distance{variant}"].mean == 0


def test_a_video_shown_backwards_comes_out_turned_round():
    backwards = clock_video(6, order=list(reversed(range(6))))
    found = evaluate(Clock(), [backwards]).figures
    assert found["kendall_tau"].mean == found["spearman_rho/all_pairs"].mean == -1


def test_what_says_nothing_is_not_put_in_the_true_order():
    """All segments alike: every order is as good, and the true one must not come out by itself."""

    class Still(Clock):
        lag = 0.0

    videos = [
        EmbeddedVideo(
            str(number), (), segments(6), np.arange(6) * 2.0, Embedding.of(torch.ones(6, 2)), np.empty(0), None
        )
        for number in range(200)
    ]
    found = evaluate(Still(), videos).figures
    for variant in ("", "/no_prior", "/all_pairs"):
        assert abs(found[f"kendall_tau{variant}"].mean) < 0.1


def test_of_two_segments_the_equation_tells_nothing():
    """Each is the other's only candidate, so that both orders have probability P(u) P(v): a coin is tossed."""
    nodes = Clock().embed_frames(torch.tensor([0.0, 0.2], dtype=torch.float64))
    assert log_transitions(Clock(), nodes).tolist() == [[0, 0], [0, 0]]
    found = evaluate(Clock(), [clock_video(2, str(number)) for number in range(100)]).figures
    assert abs(found["kendall_tau"].mean) < 0.3 and abs(found["kendall_tau/all_pairs"].mean) < 0.3


def test_a_bag_is_the_same_for_everybody_and_another_for_each_video():
    one, again, other = shuffled(clock_video(9)), shuffled(clock_video(9)), shuffled(clock_video(9, "other"))
    assert one.places.tolist() == again.places.tolist() != other.places.tolist()
    assert sorted(one.places.tolist()) == list(range(9))
    assert [clip.step - 1 for clip in one.clips] == one.places.tolist()
    assert one.steps_in_time == list(range(1, 10))


def test_a_name_that_is_no_unicode_is_shuffled_too():
    assert sorted(shuffled(clock_video(9, "caf\udce9")).places) == list(range(9))


TASK = Task("soup", "Make Soup", ("cut leek", "boil water", "stir"))


def talking(adapter, seed=0):
    """Three segments; in the second one nothing is said."""
    torch.manual_seed(seed)
    text_times = np.array([0.5, 1.5, 5.0])
    said = adapter.embed_texts(["cut the leek", "the leek", "stir it"])
    frames = adapter.embed_frames(torch.randn(6, 4))
    return EmbeddedVideo("soup", ("soup",), segments(3), np.arange(6.0), frames, text_times, said)


@pytest.fixture
def reader():
    torch.manual_seed(1)
    vocabulary = Vocabulary(["cut", "leek", "boil", "water", "stir", "it"])
    model = MMCC(ModelConfig(dims=8, frame_encoder=FeatureSettings(feature_dims=4)), len(vocabulary))
    return TrainedAdapter(model, words=Words(vocabulary), name="mmcc")


def test_what_is_said_in_a_segment_goes_into_its_state(reader):
    video = talking(reader)
    said, anything = said_in(video, video.steps)
    assert anything.tolist() == [True, False, True]
    assert torch.allclose(said.z[0], video.utterances.z[:2].mean(dim=0), atol=1e-6)
    assert torch.allclose(said.pi[0], unit_norm(video.utterances.pi[:2].mean(dim=0)), atol=1e-6)

    class Spy:
        name, modalities, temperature, past, embed_texts = "spy", reader.modalities, 0.1, None, reader.embed_texts

        def __init__(self):
            self.futures = []

        def combine(self, vision, text):
            return Embedding(vision.z + 100 * text.z, vision.pi)

        def future(self, node):
            self.futures.append(node.z)
            return node.pi

    spy, nodes = Spy(), clip_nodes(video, video.steps)
    result = evaluate(spy, [video], {"soup": TASK})
    alone, with_text, with_description = spy.futures
    order = shuffled(video).places.tolist()
    assert torch.allclose(alone, nodes.z[order], atol=1e-6)
    expected = nodes.z + 100 * torch.tensor(anything)[:, None] * said.z
    assert torch.allclose(with_text, expected[order], atol=1e-4)
    described = nodes.z + 100 * reader.embed_texts(TASK.steps).z
    assert torch.allclose(with_description, described[order], atol=1e-4)
    assert "1 of 3 clips have no utterance: figures with text use their frames alone" in result.notes


def test_the_figures_have_all_their_variants(reader):
    video = talking(reader)
    names = {
        f"{metric}{given}{way}"
        for metric in ("kendall_tau", "spearman_rho", "edit_distance")
        for given in ("", "/text", "/step_text")
        for way in ("", "/no_prior", "/all_pairs")
    }
    assert set(evaluate(reader, [video], {"soup": TASK}).figures) == names
    assert set(evaluate(reader, [video]).figures) == {name for name in names if "step_text" not in name}
    blind = evaluate(Clock(), [clock_video(3)], {"soup": TASK})
    assert set(blind.figures) == {name for name in names if "text" not in name}


def test_a_video_with_one_segment_is_left_out_and_told():
    result = evaluate(Clock(), [clock_video(1, "one"), clock_video(3, "three")])
    assert result.notes == ["1 videos have fewer than two labelled clips"]
    assert result.figures["kendall_tau"].counts.tolist() == [0, 1]
    nothing = evaluate(Clock(), [clock_video(1)])
    assert nothing.references == {} and not any(figure.counts.any() for figure in nothing.figures.values())


def test_a_prediction_that_is_no_number_is_told():
    class Broken(Clock):
        def past(self, node):
            return node.pi * torch.nan

    with pytest.raises(InputError, match="clock: its predictions contain NaN or Inf"):
        evaluate(Broken(), [clock_video(3)])


def test_references_by_hand():
    """Steps 1, 2, 2: between the showings of 2 there is a guess, so τ is 1 or 1/3."""
    found = references([[1, 2, 2]])
    assert found["chance/kendall_tau"] == found["chance/spearman_rho"] == 0
    assert found["chance/edit_distance"] == pytest.approx((0 + 2 + 2 + 2 + 2 + 2) / 6)
    assert found["step_known/kendall_tau"] == pytest.approx(2 / 3, abs=0.1)  # the mean of 20 guesses
    assert found["step_known/spearman_rho"] == pytest.approx((1 + 0.5) / 2, abs=0.1)
    assert references([[1, 2, 3], [2, 5]])["step_known/spearman_rho"] == 1


def test_orders_are_counted_for_their_video():
    found = order_figures({"b": np.array([1, 0]), "c": np.array([0, 1, 2])}, ["a", "b", "c"])
    assert found["kendall_tau"].totals.tolist() == [0, -1, 1] and found["kendall_tau"].counts.tolist() == [0, 1, 1]
    assert found["edit_distance"].totals.tolist() == [0, 2, 0]


def test_on_a_real_corpus_from_frames_to_json(vectors_corpus):
    torch.manual_seed(0)
    vocabulary = Vocabulary(["egg", "milk", "pan"])
    config = ModelConfig(dims=8, frame_encoder=FeatureSettings(feature_dims=vectors_corpus.manifest.size))
    adapter = TrainedAdapter(MMCC(config, len(vocabulary)), words=Words(vocabulary), name="mmcc")
    videos = embed_videos(adapter, vectors_corpus, vectors_corpus.ids)
    result = evaluate(adapter, videos, vectors_corpus.tasks)
    again = TaskResult.from_json(json.loads(json.dumps(result.to_json())))
    assert {name: figure.mean for name, figure in again.figures.items()} == pytest.approx(
        {name: figure.mean for name, figure in result.figures.items()}
    )
    assert (again.task, again.references, again.notes) == (result.task, result.references, result.notes)
    counted = sum(len(video.steps) > 1 for video in videos)
    assert all(figure.counts.sum() == counted for figure in result.figures.values())
    assert result.references["chance/edit_distance"] > result.references["step_known/edit_distance"]
