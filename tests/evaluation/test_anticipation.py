"""Anticipation: figures worked out by hand, against a slow loop, and on a real corpus."""

import math
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.corpus.source import LabelledClip, Task
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.anticipation import (
    by_pictures,
    evaluate,
    evaluate_with_memory,
    references,
    shown_in_several,
)
from mmcc.evaluation.clips import clip_nodes, clips_so_far
from mmcc.evaluation.embedding import EmbeddedVideo, embed_videos
from mmcc.evaluation.features_only import random_adapter
from tests.evaluation.step_videos import TASKS, TEA, TEXTS, Blind, Table, step_video


def means(result):
    return {name: figure.mean for name, figure in result.figures.items()}


def test_what_only_recognises_the_present_is_wrong_until_that_is_removed():
    """Of "add tea", seen as itself, the later steps tie with what is of no task at all: two of the five others."""
    result = evaluate(Table(), [step_video("v", "tea", 2)], TASKS)
    found = means(result)
    assert found["recall@1"] == 0 and found["recall@10"] == 100
    assert found["recall@5"] == pytest.approx(100)  # four of the five others: both later steps cannot be missed
    assert found["percentile_mean"] == pytest.approx(100 * (4 / 2) / 5)
    assert found["recall@1/current_removed"] == pytest.approx(40)
    assert found["percentile_mean/current_removed"] == pytest.approx(50)
    assert found["percentile_current"] == 100
    away = means(evaluate(Table(lambda z: -z), [step_video("v", "tea", 2)], TASKS))
    assert away["percentile_current"] == 0 and away["percentile_mean"] == pytest.approx(100 * (1 + 4 / 2) / 5)


def test_worst_mean_and_best_by_hand():
    """From "boil water" the right order is told but for "add tea", which comes last."""
    scores = torch.tensor([0.9, 0.0, 0.3, 0.2, 0.1, 0.8], dtype=torch.float64)  # by TEXTS
    found = means(evaluate(Table(lambda z: scores.expand(len(z), -1)), [step_video("v", "tea", 1)], TASKS))
    assert (found["percentile_worst"], found["percentile_best"]) == (0, 100)
    assert found["percentile_mean"] == pytest.approx((0 + 80 + 100) / 3)
    assert found["recall@1"] == 100
    assert found["percentile_mean/current_removed"] == pytest.approx((0 + 75 + 100) / 3)  # "boil water" was below


def test_last_steps_ask_nothing_and_every_clip_counts_once():
    videos = [step_video("a", "tea", 4, 1, 1), step_video("b", "jam", 3), step_video("c", "jam", 2)]
    figure = evaluate(Table(), videos, TASKS).figures["recall@1"]
    assert figure.videos == ("a", "b", "c") and figure.counts.tolist() == [2, 0, 1]


def test_dyn_asks_every_clip_and_has_references():
    """In the second video the last step is shown first: who goes by the recipe expects nothing after it."""
    videos = [step_video("a", "tea", 1, 2, 3), step_video("b", "tea", 4, 2, 3), step_video("c", "tea", 1, 2)]
    ahead = torch.roll(torch.eye(6, dtype=torch.float64), 1, dims=1)  # each text becomes the next of TEXTS
    result = evaluate(Table(lambda z: z @ ahead), videos, TASKS)
    assert result.figures["dyn"].counts.tolist() == [1, 1, 0]
    # "add tea": from "boil water" and "pour water" it is one of five that tie; from "add sugar", it is first.
    assert result.figures["dyn"].totals.tolist() == [50, 100, 0]
    assert result.references["chance/dyn"] == result.references["task_known/dyn"] == 50
    assert result.references["step_known/dyn"] == 75  # 100 of the first; of the second neither clip expects it
    assert result.references["done_known/dyn"] == 100


class Remembers(Table):
    """It expects whatever it has not seen yet, next of its task first; the present alone tells it nothing."""

    def remember(self, node, before):
        return Embedding(node.z + 10 * before, node.pi)


def test_with_what_came_before_a_model_knows_what_is_over():
    """By hand: clips of steps 1, 2, 3. Expecting what was not seen, "add tea" ranks above from "boil water", not after
    it was shown; asked with the clip alone, all that is not in view ties."""
    videos = [step_video("a", "tea", 1, 2, 3)]
    adapter = Remembers(lambda z: -z)
    figures = {name: figure.mean for name, figure in evaluate_with_memory(adapter, videos, TASKS).figures.items()}
    assert figures["dyn"] == 50 and figures["dyn/so_far"] == 100
    # From step 1 three of five others are later; from 2, two of the four that were not seen; from 3, one of three.
    ties = [3 / 5, 2 / 4, 1 / 3]
    assert figures["recall@1/so_far"] == pytest.approx(100 * np.mean(ties))
    assert figures["recall@1"] == pytest.approx(100 * np.mean([3 / 5, 2 / 5, 1 / 5]))
    assert not any(name.endswith("so_far") for name in evaluate_with_memory(Table(), videos, TASKS).figures)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_a_clip_comes_with_the_mean_of_the_frames_before_it(steps, seed):
    video = step_video("v", "tea", *steps)
    chance = np.random.default_rng(seed)
    clips = [LabelledClip(1, start, start + 1.5) for start in sorted(chance.uniform(0, len(steps), size=3))]
    found = clips_so_far(video, clips, lambda node, before: Embedding(node.z + 10 * before, node.pi))
    alone = clip_nodes(video, clips)
    assert torch.equal(found.pi, alone.pi)
    for at, clip in enumerate(clips):
        before = [z for z, time in zip(video.frames.z, video.times, strict=True) if time < clip.start]
        expected = alone.z[at] + 10 * sum(before) / len(before) if before else alone.z[at]
        torch.testing.assert_close(found.z[at], expected)


def test_what_is_late_in_every_recipe_is_above_what_is_early():
    """One query for all clips can tell later from earlier steps; it has no dyn to speak of."""
    late = torch.zeros(6, dtype=torch.float64)
    late[[TEXTS.index(text) for text in ("boil water", "add tea", "pour water", "add sugar")]] = torch.arange(
        4.0
    ).double()
    result = evaluate(Table(lambda z: late.expand(len(z), -1)), [step_video("v", "tea", 1, 2, 3, 4)], TASKS)
    figure = result.figures["later_above_earlier"]
    assert figure.mean == 100 and figure.counts.tolist() == [2]  # the first and the last step lack one side
    assert result.references["step_known/later_above_earlier"] == 100 and means(result)["dyn"] == 50


def test_a_later_step_with_the_same_text_keeps_it_among_the_candidates():
    twice = {"tea": Task("tea", "", ("boil water", "add tea", "boil water", "add sugar"))}
    found = means(evaluate(Table(), [step_video("v", "tea", 1)], twice))
    assert found["recall@1"] == found["recall@1/current_removed"] == 100


def test_clips_are_means_of_their_frames_or_the_nearest_one():
    z = torch.tensor([[1.0, 0], [0, 3], [5, 0], [0, 7]], dtype=torch.float64)
    seen = EmbeddedVideo("v", (), [], np.arange(4.0), Embedding.of(z), np.empty(0), None)
    nodes = clip_nodes(
        seen,
        [LabelledClip(1, 0.0, 2.0), LabelledClip(1, 1.0, 3.5), LabelledClip(1, 1.6, 1.9), LabelledClip(1, 90.0, 95.0)],
    )
    assert nodes.z.tolist() == [[0.5, 1.5], pytest.approx([5 / 3, 10 / 3]), [5, 0], [0, 7]]
    assert nodes.pi[0].tolist() == pytest.approx([2**-0.5, 2**-0.5])
    assert nodes.pi[1].tolist() == pytest.approx([5**-0.5, 2 * 5**-0.5])


def test_without_text_a_step_is_what_other_videos_show_of_it():
    """Both show steps 1 and 2; step 3 is shown by one alone, so that nobody can know it. Nor step 4."""
    videos = [step_video("a", "tea", 1, 2, 3), step_video("b", "tea", 1, 2)]
    result = evaluate(Blind(lambda z: z[:, [0, 3, 2, 1, 4, 5]]), videos, TASKS)  # "boil water" becomes "add tea"
    assert result.figures["recall@1"].counts.tolist() == [1, 1]  # of step 2 no later one is known
    assert means(result)["recall@1"] == 100
    assert "4 of 6 texts are left out" in result.notes[0]


def clips_drawn():
    return st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=14)


@given(clips_drawn(), st.integers(0, 99))
def test_by_pictures_equals_a_loop(clips, seed):
    generator = torch.Generator().manual_seed(seed)
    future, pi = (torch.randn(len(clips), 3, generator=generator, dtype=torch.float64) for _ in range(2))
    number, text = np.array(clips).T
    own = np.eye(5, dtype=bool)[text]
    known = shown_in_several(own, number)
    scores = by_pictures(future, pi, own, number)
    for column in range(5):
        assert known[column] == (len({v for v, t in clips if t == column}) > 1)
        for row, (here, _) in enumerate(clips):
            elsewhere = [pi[at] for at, (v, t) in enumerate(clips) if t == column and v != here]
            if known[column]:
                mean = torch.stack(elsewhere).mean(dim=0)
                assert scores[row, column] == pytest.approx(float(future[row] @ mean / mean.norm()))


@settings(max_examples=25)
@given(st.integers(2, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n), st.data())))
def test_references_are_means_over_all_orders(drawn):
    """Every order of the texts, with those of the task, or the later ones, put first."""
    n, task, data = drawn
    later = data.draw(st.integers(1, task))
    positive, of_task = np.arange(n) < later, np.arange(n) < task
    found = references(positive[None], of_task[None])
    for name, first in (("chance", np.ones(n, bool)), ("task_known", of_task), ("step_known", positive)):
        orders = [order for order in permutations(range(n)) if first[list(order[: first.sum()])].all()]
        percent = [sorted(100 * (n - 1 - order.index(at)) / (n - 1) for at in range(later)) for order in orders]
        assert found[f"{name}/percentile_worst"] == pytest.approx(np.mean([each[0] for each in percent]))
        assert found[f"{name}/percentile_mean"] == pytest.approx(np.mean(percent))
        assert found[f"{name}/percentile_best"] == pytest.approx(np.mean([each[-1] for each in percent]))
        hits = [any(at < later for at in order[:1]) for order in orders]
        assert found[f"{name}/recall@1"] == pytest.approx(100 * np.mean(hits))


def test_what_is_left_out_is_told():
    stranger = step_video("s", "jam", 1)
    empty = EmbeddedVideo("e", ("tea",), [], np.arange(2.0), stranger.frames, np.empty(0), None)
    result = evaluate(Table(), [step_video("v", "tea", 1), stranger, empty], {"tea": TEA})
    assert result.notes == ["1 videos belong to other tasks", "1 videos have no labelled step or no frame"]
    assert result.figures["recall@1"].counts.tolist() == [1, 0, 0]


def test_a_prediction_that_is_no_number_is_told():
    with pytest.raises(InputError, match="table: its predictions contain NaN or Inf"):
        evaluate(Table(lambda z: z * torch.nan), [step_video("v", "tea", 1)], TASKS)


@pytest.mark.parametrize("videos", [[], [step_video("v", "tea", 4)]])
def test_nothing_to_ask_about_is_no_figure_but_a_note(videos):
    result = evaluate(Table(), videos, TASKS)
    assert result.figures == {} and "no labelled clip" in result.notes[-1]


def test_of_two_texts_none_can_be_removed():
    two = {"tea": Task("tea", "", ("boil water", "add tea"))}
    result = evaluate(Table(), [step_video("v", "tea", 1)], two)
    assert means(result)["recall@1"] == 0 and not any("removed" in name for name in result.figures)


def test_alone_in_its_task_a_model_without_text_has_nothing_to_go_by():
    result = evaluate(Blind(), [step_video("v", "tea", 1, 2)], TASKS)
    assert result.figures == {} and "6 of 6 texts are left out" in result.notes[0]


def test_on_a_real_corpus_chance_is_what_constant_scores_give(vectors_corpus):
    class Constant(Table):
        def embed_texts(self, texts):
            return Embedding.of(torch.ones(len(texts), 4))

        def embed_frames(self, frames):
            return Embedding.of(torch.ones(len(frames), 4))

    adapter = random_adapter(vectors_corpus, dims=8)
    constant = Constant(lambda z: torch.ones(len(z), 4))
    ids = vectors_corpus.ids
    seen = [
        EmbeddedVideo(v.id, v.tasks, v.steps, v.times, constant.embed_frames(v.frames.z), v.text_times, None)
        for v in embed_videos(adapter, vectors_corpus, ids)
    ]
    result = evaluate(constant, seen, vectors_corpus.tasks)
    for name in ("recall@1", "recall@5", "recall@10", "percentile_mean"):
        assert result.figures[name].mean == pytest.approx(result.references[f"chance/{name}"])
        assert not math.isnan(result.figures[name].mean)
