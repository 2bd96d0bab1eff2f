"""What validation and evaluation count, against slow loops and by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mmcc.metrics import percentile_rank as ranks_of_metrics
from mmcc.models.nodes import TEXT, VISION
from mmcc.objectives.anchors import OTHER
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.cycle import cycle_back
from mmcc.objectives.rng import SampleRng
from mmcc.objectives.scoring import (
    Scores,
    above_share,
    correspondence_scores,
    cross_modal_scores,
    cycle_scores,
    direction_scores,
    padded_spans,
    percentile_rank,
    return_scores,
    scored_walk,
    share_of_first,
    trained_scores,
    within_spans,
)
from mmcc.objectives.spec import COMBINE, FUTURE, PAST, SKILLS, TEXT_SKILL, ObjectiveConfig, ObjectiveSpec
from mmcc.objectives.starts import sample_starts
from tests.objectives.stand_in import NoIdea, StandIn, random_nodes

few_values = st.lists(st.integers(-2, 2), min_size=2, max_size=7)  # many ties
segment_sizes = st.lists(st.tuples(st.integers(2, 6), st.integers(2, 5)), min_size=1, max_size=3)


@given(few_values, st.data())
def test_ranks_are_those_of_metrics_and_padding_has_no_influence(scores, data):
    target = data.draw(st.integers(0, len(scores) - 1))
    padding = data.draw(st.lists(st.sampled_from([-math.inf, 0.0, 9.0]), max_size=3))
    padded = torch.tensor([[*map(float, scores), *padding]])
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


@settings(max_examples=30)
@given(st.integers(0, 10**6), segment_sizes)
def test_cross_modal_rank_by_loops(seed, sizes):
    nodes = random_nodes(StandIn(), sizes, seed, padding=2)
    own, other = nodes[VISION], nodes[TEXT]
    spans = torch.tensor([[[0.0, 5.0], [9.0, 12.0]]]).expand(len(sizes), -1, -1)
    ranks, in_steps = [], []
    for b, (count, others) in enumerate(sizes):
        for i in range(count):
            time = own.times[b, i].item()
            away = [abs(time - other.times[b, j].item()) for j in range(others)]
            scores = [(own.pi[b, i] @ other.pi[b, j]).item() for j in range(others)]
            rank = ranks_of_metrics(np.array([scores]), np.array([away.index(min(away))])).item()
            ranks.append(rank)
            if 0 <= time <= 5 or 9 <= time <= 12:
                in_steps.append(rank)
    found = cross_modal_scores(own, other, spans)
    for name, expected in {"cross_modal_rank": ranks, "cross_modal_rank_steps": in_steps}.items():
        sum_count = found[name].sum_count()
        assert sum_count.count == len(expected)
        assert sum_count.total.item() == pytest.approx(sum(expected), abs=1e-3)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4)), min_size=1, max_size=3))
def test_cross_modal_rank_in_the_batch_by_loops(seed, sizes):
    """The nearest node of the same segment, among all nodes of all segments; segments without one do not count."""
    assume(any(others for _, others in sizes))
    nodes = random_nodes(StandIn(), sizes, seed, padding=2)
    own, other = nodes[VISION], nodes[TEXT]
    other.pi[~other.valid] = torch.nan  # nothing of the padding may matter
    found = cross_modal_scores(own, other, torch.zeros(len(sizes), 0, 2))["cross_modal_rank_batch"]
    everywhere = [(c, j) for c, (_, others) in enumerate(sizes) for j in range(others)]
    for b, (count, others) in enumerate(sizes):
        totals, counts = found.by_segment()
        ranks = []
        for i in range(count if others and len(everywhere) > 1 else 0):
            away = [abs(own.times[b, i].item() - other.times[b, j].item()) for j in range(others)]
            scores = [(own.pi[b, i] @ other.pi[c, j]).item() for c, j in everywhere]
            target = everywhere.index((b, away.index(min(away))))
            ranks.append(ranks_of_metrics(np.array([scores]), np.array([target])).item())
        assert counts[b] == len(ranks) and totals[b].item() == pytest.approx(sum(ranks), abs=1e-2)


def test_in_a_batch_of_one_segment_both_ranks_are_the_same():
    nodes = random_nodes(StandIn(), [(6, 5)], padding=1)
    found = cross_modal_scores(nodes[VISION], nodes[TEXT], torch.zeros(1, 0, 2))
    within, in_batch = found["cross_modal_rank"], found["cross_modal_rank_batch"]
    assert torch.equal(within.counts, in_batch.counts) and torch.equal(
        within.values[within.counts], in_batch.values[in_batch.counts]
    )


@settings(max_examples=30)
@given(st.integers(0, 10**6), segment_sizes, st.sampled_from([VISION, TEXT]), st.sampled_from(["within", "across"]))
def test_figures_of_cycles_by_loops(seed, sizes, modality, path):
    model = StandIn()
    nodes = random_nodes(model, sizes, seed, padding=1)
    config = CycleConfig(path=path, starts_per_segment=3, p_unimodal=0)
    starts = sample_starts(nodes, modality, SampleRng(0, torch.arange(len(sizes))), config)
    cycle = cycle_back(model, nodes, starts, hard=True, path=path)
    found = {**return_scores(cycle), **direction_scores(cycle, nodes)}
    ahead = modality if path == "within" else OTHER[modality]
    for b, size in enumerate(sizes):
        own_count, ahead_count = (size[side == TEXT] for side in (modality, ahead))
        own_times, ahead_times = nodes[modality].times[b].tolist(), nodes[ahead].times[b].tolist()
        for s in range(3):
            if not starts.valid[b, s]:
                assert not any(scores.counts[b, s] for scores in found.values())
                continue
            start, future = starts.index[b, s].item(), cycle.future.index[b, s].item()
            away = [abs(ahead_times[i] - own_times[start]) for i in range(ahead_count)]
            if path == "within":
                later, earlier = range(start + 1, own_count), range(start)
                here = start
            else:
                later = [i for i in range(ahead_count) if ahead_times[i] > own_times[start]]
                earlier = [i for i in range(ahead_count) if ahead_times[i] < own_times[start]]
                here = away.index(min(away))
            back = cycle.return_scores[b, s, :own_count].tolist()
            rank = ranks_of_metrics(np.array([back]), np.array([start])).item()
            forward = [(cycle.future_query[b, s] @ nodes[ahead].pi[b, i]).item() for i in range(ahead_count)]
            wins = [forward[i] > forward[j] for i in later for j in earlier]
            expected = {
                "cycle_rank": rank,
                "exact_return": float(back[start] == max(back)),
                "goes_forward": float(future in later),
                "goes_forward_chance": len(later) / ahead_count,
                "stays_in_place": float(future == here),
                "exact_return_chance": 1 / own_count,
                "travelled_rank": 50 if future == here else rank,
            }
            if wins:
                expected["future_rank"] = 100 * sum(wins) / len(wins)
            else:
                assert not found["future_rank"].counts[b, s]
            for name, value in expected.items():
                assert found[name].counts[b, s], name
                assert found[name].values[b, s].item() == pytest.approx(value, abs=1e-3), name


def test_sums_by_segment_skip_what_does_not_count():
    scores = Scores(
        torch.tensor([[1.0, math.inf, 3.0], [math.nan, 5.0, 6.0]]), torch.tensor([[1, 0, 1], [0, 1, 0]]) > 0
    )
    totals, counts = scores.by_segment()
    assert totals.tolist() == [4, 5] and counts.tolist() == [2, 1]
    assert scores.sum_count().total == 9 and scores.sum_count().count == 3


def test_an_uninformed_model_scores_exactly_50():
    nodes = random_nodes(NoIdea(), [(6, 4), (3, 5)], padding=1)
    found = cycle_scores(NoIdea(), nodes, torch.arange(2), CycleConfig(p_unimodal=0))
    for name in ("cycle_rank", "cycle_rank_hard", "future_rank"):
        for modality in (VISION, TEXT):
            scores = found[f"{modality}/{name}"]
            assert set(scores.values[scores.counts].tolist()) == {50.0}, name
    names = ("cross_modal_rank", "cross_modal_rank_steps", "cross_modal_rank_batch")
    correspondence = correspondence_scores(nodes, torch.zeros(2, 0, 2))
    assert set(correspondence) == {f"{modality}/{name}" for modality in (VISION, TEXT) for name in names}


def test_random_numbers_belong_to_the_sample():
    """A segment's figures do not depend on the segments beside it."""
    model, config = StandIn(), CycleConfig(p_unimodal=0)
    nodes = random_nodes(model, [(6, 4), (3, 5)])
    both = cycle_scores(model, nodes, torch.tensor([7, 9]), config)
    second = {side: replace(each, **{f: getattr(each, f)[1:] for f in vars(each)}) for side, each in nodes.items()}
    alone = cycle_scores(model, second, torch.tensor([9]), config)
    for name, scores in alone.items():
        assert torch.equal(scores.counts[0], both[name].counts[1]), name
        kept = scores.counts[0]
        assert torch.allclose(scores.values[0][kept], both[name].values[1][kept], atol=1e-4), name


def test_cycles_are_scored_with_both_modalities_unless_untrained():
    assert scored_walk(CycleConfig(p_unimodal=0.5, starts="random", path="across"), 4) == CycleConfig(
        p_unimodal=0.0, starts="concreteness", path="across", starts_per_segment=4
    )
    assert scored_walk(CycleConfig(p_unimodal=1.0), 4).p_unimodal == 1
    assert scored_walk(CycleConfig(p_unimodal=0.0), 4).p_unimodal == 0


def test_times_within_steps():
    spans = padded_spans([[(1.0, 2.0)], []])
    assert spans.tolist() == [[[1.0, 2.0]], [[math.inf, -math.inf]]]
    times = torch.tensor([[0.5, 1.0, 2.0, 2.5], [1.0, 1.5, 2.0, 0.0]])
    assert within_spans(times, spans).tolist() == [[False, True, True, False], [False] * 4]
    assert within_spans(times, padded_spans([[], []])).sum() == 0


class Skilled(StandIn):
    """What it was never trained in gives NaN."""

    def __init__(self, skills):
        super().__init__()
        for skill in (FUTURE, PAST, COMBINE):
            if skill not in skills:
                setattr(self, skill, lambda z, *_: torch.full_like(z, math.nan))


@pytest.mark.parametrize(
    "skills",
    [SKILLS, {TEXT_SKILL, FUTURE, PAST}, {TEXT_SKILL, FUTURE}, {FUTURE, PAST}, {FUTURE}, {TEXT_SKILL}, frozenset()],
)
def test_nothing_untrained_takes_part_in_a_score(skills):
    spec = ObjectiveSpec(ObjectiveConfig, "", "", lambda config: None, skills=frozenset(skills))
    walk = scored_walk(spec.walk_of(ObjectiveConfig()), starts=3)
    nodes = random_nodes(StandIn(), [(5, 4), (6, 3)])
    spans = padded_spans([[(0.0, 9.0)], []])
    found = trained_scores(Skilled(skills), nodes, torch.arange(2), spans, walk, frozenset(skills))
    assert all(scores.values[scores.counts].isfinite().all() and scores.counts.any() for scores in found.values())
    names = {name.split("/")[1] for name in found}
    assert ("cross_modal_rank" in names) == (TEXT_SKILL in skills)
    assert ("future_rank" in names) == (FUTURE in skills)
    assert ("cycle_rank" in names) == ({FUTURE, PAST} <= set(skills))
    assert any(name.startswith(TEXT) for name in found) == (TEXT_SKILL in skills)
