"""Transitions against Eq. 12 written out, and against a greedy search over all pairs."""

from dataclasses import replace
from itertools import permutations
from math import exp, log

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.corpus.source import LabelledClip
from mmcc.errors import InputError
from mmcc.evaluation.adapter import Embedding
from mmcc.evaluation.transitions import (
    concreteness,
    evaluate,
    log_prior,
    salient_transitions,
    transition_factors,
)
from tests.evaluation.drawn_videos import ByTable, LinearAdapter, drawn_video, one_hot_video


def log_probabilities_by_hand(adapter, video):
    """Eq. 12, one pair at a time; the diagonal is None."""
    n, tau = len(video.times), adapter.temperature
    pi = video.frames.pi.tolist()

    def dot(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    concrete = [0.0] * n
    if video.utterances is not None and len(video.utterances.pi):
        concrete = [max(dot(p, said) for said in video.utterances.pi.tolist()) for p in pi]
    prior = [exp(c / tau) / sum(exp(d / tau) for d in concrete) for c in concrete]
    future = adapter.future(video.frames).tolist()
    past = adapter.past(video.frames).tolist() if adapter.past else None
    table = [[None] * n for _ in range(n)]
    for u in range(n):
        for v in range(n):
            if u != v:
                p = exp(dot(future[u], pi[v]) / tau) / sum(exp(dot(future[u], pi[m]) / tau) for m in range(n) if m != u)
                if past:
                    others = sum(exp(dot(past[v], pi[m]) / tau) for m in range(n) if m != v)
                    p *= exp(dot(past[v], pi[u]) / tau) / others
                table[u][v] = log(p * prior[u] * prior[v])
    return table


def greedy_by_hand(scores, times, top, window, forward_only, gap=0.0, left_out=()):
    """All pairs, best first; a pair is passed over when both its times are near those of one taken before."""
    n = len(times)
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and not (forward_only and v < u)]
    pairs = [(u, v) for u, v in pairs if abs(times[u] - times[v]) >= gap and not {u, v} & set(left_out)]
    taken = []
    for u, v in sorted(pairs, key=lambda pair: -scores[pair[0]][pair[1]]):
        if len(taken) == top:
            break
        if not any(abs(times[u] - times[a]) <= window and abs(times[v] - times[b]) <= window for a, b in taken):
            taken.append((u, v))
    return taken


adapters = st.builds(LinearAdapter, temperature=st.sampled_from([0.05, 0.1, 1.0]), has_past=st.booleans())


@settings(max_examples=25)
@given(
    adapters, st.integers(2, 9), st.sampled_from([None, 0, 1, 4]), st.integers(0, 10**6), st.sampled_from([1, 3, 50])
)
def test_log_probabilities_are_eq_12(adapter, frames, utterances, seed, block):
    video = drawn_video(frames, utterances, seed=seed)
    from_nE, to_nE = transition_factors(adapter, video, block)
    found = from_nE @ to_nE.T
    expected = log_probabilities_by_hand(adapter, video)
    for u, v in permutations(range(frames), 2):
        assert found[u, v].item() == pytest.approx(expected[u][v], abs=1e-8)


@settings(max_examples=40)
@given(
    adapters,
    st.integers(3, 110),  # of two frames both ways are as probable
    st.integers(0, 10**6),
    st.sampled_from([0.0, 3.0, 10.0, 60.0, 1e4]),
    st.sampled_from([1, 10, 25]),
    st.sampled_from([32, 64, 1024]),
    st.booleans(),
)
def test_the_search_in_blocks_is_greedy_over_all_pairs(adapter, frames, seed, window, top, block, forward_only):
    video = drawn_video(frames, seed=seed, uneven=bool(seed % 2))
    from_nE, to_nE = transition_factors(adapter, video)
    scores = (from_nE @ to_nE.T).tolist()
    expected = greedy_by_hand(scores, video.times.tolist(), top, window, forward_only)
    found = salient_transitions(adapter, video, top=top, window=window, block=block, forward_only=forward_only)
    assert [(each.from_frame, each.to_frame) for each in found] == expected
    for each in found:
        assert each.from_time == video.times[each.from_frame] and each.to_time == video.times[each.to_frame]
        assert each.log_probability == pytest.approx(scores[each.from_frame][each.to_frame], abs=1e-9)


@settings(max_examples=25)
@given(
    adapters,
    st.integers(3, 110),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 3.0, 25.0, 1e4]),
    st.sets(st.integers(0, 109)),
    st.booleans(),
)
def test_pairs_too_close_and_frames_left_out_are_passed_over(adapter, frames, seed, gap, hidden, forward_only):
    video = drawn_video(frames, seed=seed, uneven=bool(seed % 2))
    from_nE, to_nE = transition_factors(adapter, video)
    scores = (from_nE @ to_nE.T).tolist()
    left_out = np.isin(np.arange(frames), list(hidden))
    expected = greedy_by_hand(scores, video.times.tolist(), 10, 5.0, forward_only, gap, np.flatnonzero(left_out))
    options = {"top": 10, "window": 5.0, "forward_only": forward_only, "gap": gap, "left_out": left_out}
    found = salient_transitions(adapter, video, block=32, **options)
    assert [(each.from_frame, each.to_frame) for each in found] == expected
    for each in found:  # still normalized over all frames
        assert each.log_probability == pytest.approx(scores[each.from_frame][each.to_frame], abs=1e-9)


def test_with_no_window_all_pairs_come_in_order():
    video = drawn_video(9, seed=3)
    found = salient_transitions(LinearAdapter(), video, top=10**6, window=0)
    assert len(found) == 9 * 8 == len({each[3:] for each in found})
    values = [each.log_probability for each in found]
    assert values == sorted(values, reverse=True)


def test_single_precision_agrees_with_double():
    video = drawn_video(200, seed=5)
    single = replace(video, frames=Embedding(*(x.float() for x in video.frames)), utterances=None)

    class Single(LinearAdapter):
        def future(self, node):
            return super().future(Embedding(*(x.double() for x in node))).to(node.z.dtype)

    adapter = Single(has_past=False)
    one, other = (salient_transitions(adapter, each) for each in (single, replace(video, utterances=None)))
    for a, b in zip(one, other, strict=True):
        assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)


def test_a_cold_temperature_keeps_its_digits():
    """e^{1/τ} would be far beyond any float at τ = 0.001."""
    adapter = LinearAdapter(temperature=0.001)
    video = drawn_video(50, seed=1)
    best = salient_transitions(adapter, video)[0]
    assert np.isfinite(best.log_probability) and best.log_probability < 0


def test_the_prior_is_the_softmax_of_concreteness_and_uniform_in_silence():
    video = drawn_video(6, 4)
    expected = (video.frames.pi @ video.utterances.pi.T).max(dim=1).values
    assert torch.allclose(concreteness(video, 4), expected)
    assert torch.allclose(log_prior(LinearAdapter(), video).exp(), (expected / 0.1).softmax(dim=0))
    for silent in (drawn_video(6, 0), drawn_video(6, None)):
        assert torch.allclose(log_prior(LinearAdapter(), silent).exp(), torch.full((6,), 1 / 6).double())


def test_short_videos_and_broken_embeddings():
    assert salient_transitions(LinearAdapter(), drawn_video(1)) == []
    assert salient_transitions(LinearAdapter(), drawn_video(0)) == []
    both = salient_transitions(LinearAdapter(), drawn_video(2))
    assert {each[3:] for each in both} == {(0, 1)} or {each[3:] for each in both} == {(1, 0)}  # the other is near
    broken = drawn_video(40)
    broken.frames.pi[7, 0] = np.nan
    with pytest.raises(InputError, match="contains NaN or Inf"):
        salient_transitions(LinearAdapter(), broken)


def test_a_model_that_sees_no_difference_still_gives_transitions():
    video = drawn_video(70)
    same = Embedding.of(torch.ones_like(video.frames.z))
    found = salient_transitions(LinearAdapter(), replace(video, frames=same), top=5)
    assert len(found) == 5 and all(each.from_frame != each.to_frame for each in found)


def test_shares_by_hand():
    """Frames 0-9; step 1 at 1-2, step 2 at 4-5. Each frame becomes what the table says, one apart for the window 0."""
    steps = [LabelledClip(1, 1.0, 3.0), LabelledClip(2, 4.0, 6.0)]
    table = [9, 4, 5, 0, 1, 2, 8, 8, 7, 0]
    found = salient_transitions(ByTable(table), one_hot_video(10), top=10, window=0)
    assert sorted(each[3:] for each in found) == list(enumerate(table))
    result = evaluate(ByTable(table), [one_hot_video(10, steps=steps)], top=10, window=0)
    means = {name: figure.mean for name, figure in result.figures.items()}
    # 0→9, 1→4, 2→5, 6→8, 7→8 go forward; 1→4, 2→5 and back 4→1, 5→2 join the steps
    assert means == pytest.approx({"forward": 50, "joins_steps": 40, "ordered_steps": 20, "ordered_of_joined": 50})
    assert result.references["chance/joins_steps"] == pytest.approx(100 * 8 / 90)  # 2 · 2 · 2 of 10 · 9
    assert result.references["chance/ordered_steps"] == pytest.approx(100 * 4 / 90)


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 11), st.integers(1, 6)), min_size=1, max_size=5), st.booleans()
)
def test_chance_is_the_share_among_all_pairs(spans, forward_only):
    """Overlapping steps too: frames that share a step join nothing."""
    steps = [LabelledClip(number, start, start + length) for number, start, length in spans]
    video = drawn_video(12, steps=steps)
    shown = [{step.step for step in steps if step.start <= t < step.end} for t in range(12)]
    pairs = [(u, v) for u, v in permutations(range(12), 2) if u < v or not forward_only]
    joins = [bool(shown[u] and shown[v] and not shown[u] & shown[v]) for u, v in pairs]
    ordered = [join and u < v for join, (u, v) in zip(joins, pairs, strict=True)]
    references = evaluate(LinearAdapter(), [video], forward_only=forward_only).references
    assert references["chance/joins_steps"] == pytest.approx(100 * np.mean(joins))
    assert references["chance/ordered_steps"] == pytest.approx(100 * np.mean(ordered))


def test_what_cannot_be_evaluated_is_named():
    steps = [LabelledClip(1, 0.0, 3.0), LabelledClip(2, 4.0, 6.0)]
    videos = [drawn_video(9, steps=steps, name="a"), drawn_video(1, steps=steps, name="b"), drawn_video(5, name="c")]
    result = evaluate(LinearAdapter(), videos, top=4)
    assert result.figures["forward"].videos == ("a",)
    assert result.notes == ["1 of 3 videos have fewer than two frames", "1 of 3 videos have no labelled step"]
    nothing = evaluate(LinearAdapter(), videos[1:])
    assert np.isnan(nothing.figures["ordered_steps"].mean)
