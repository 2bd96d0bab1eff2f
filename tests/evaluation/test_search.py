"""Search is exact: against loops over all nodes and all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.evaluation.search import BLOCK, SearchableNodes, best_apart, changes, hide_near, scores_of


def nodes_of(lengths, dims=4, seed=0):
    chance = np.random.default_rng(seed)
    pi = chance.normal(size=(sum(lengths), dims)).astype(np.float32)
    video = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    time = np.concatenate([np.cumsum(chance.uniform(0.5, 2, length)) for length in lengths])
    return SearchableNodes(pi / np.linalg.norm(pi, axis=1, keepdims=True), video, time)


def greedy(scores, video, times, top, window):
    """One after another of all, best first, unless a better one is near."""
    found = []
    for at in sorted(range(len(scores)), key=lambda at: (-scores[at], at)):
        if len(found) == top or scores[at] == -np.inf:
            break
        if not any(
            video[at] == video[other] and any(abs(time[at] - time[other]) <= window for time in times)
            for other in found
        ):
            found.append(at)
    return found


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_scores_in_blocks_are_inner_products(block):
    nodes = nodes_of([5, 9])
    query = nodes.pi[3]
    expected = [sum(float(a) * float(b) for a, b in zip(row, query, strict=True)) for row in nodes.pi]
    assert scores_of(nodes.pi, query, block).tolist() == pytest.approx(expected, abs=1e-6)


def test_few_megabytes_of_nodes_are_in_memory_at_a_time():
    read = []

    class Rows:
        def __len__(self):
            return 3 * BLOCK + 1

        def __getitem__(self, which):
            read.append(len(range(len(self))[which]))
            return np.zeros((read[-1], 128), np.float32)

    assert len(scores_of(Rows(), np.zeros(128, np.float32))) == sum(read) == 3 * BLOCK + 1
    assert max(read) * 128 * 4 <= 4 << 20


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
    st.integers(1, 6),
    st.sampled_from([0.0, 3.0, 1000.0]),
    st.integers(0, 99),
)
def test_the_best_apart_equal_a_greedy_loop(lengths, top, window, seed):
    nodes = nodes_of(lengths, seed=seed)
    scores = np.round(scores_of(nodes.pi, nodes.pi[0]), 1)  # ties
    best = best_apart(scores, nodes.video, (nodes.time,), top, window)
    assert best.tolist() == greedy(scores, nodes.video, (nodes.time,), top, window)


def test_a_long_stretch_of_near_frames_does_not_use_up_the_hits():
    """A thousand frames of one moment are better than all else: the other nine hits are looked for further down."""
    scores = np.concatenate([np.linspace(1, 0.9, 5000), np.linspace(0.5, 0, 50)]).astype(np.float32)
    video = np.repeat(np.arange(51, dtype=np.int32), [5000, *[1] * 50])
    time = np.concatenate([np.linspace(0, 9, 5000), np.zeros(50)])
    assert best_apart(scores, video, (time,), 10, 10.0).tolist() == [0, *range(5000, 5009)]


def test_by_hand_near_in_time_hides_only_in_the_same_video():
    scores = np.array([5, 4, 3, 2, 1], np.float32)
    video, time = np.array([0, 0, 0, 1, 1], np.int32), np.array([0.0, 10.0, 10.5, 0.0, 30.0])
    assert best_apart(scores, video, (time,), 9, 10.0).tolist() == [0, 2, 3, 4]
    ends = np.array([50.0, 80.0, 55.0, 0.0, 90.0])  # of pairs, near at either end is near
    assert best_apart(scores, video, (time, ends), 9, 10.0).tolist() == [0, 3, 4]


def test_the_frame_itself_is_hidden():
    nodes = SearchableNodes(
        np.eye(4, dtype=np.float32), np.array([0, 1, 1, 2], np.int32), np.array([7.0, 5.0, 20.0, 5.0])
    )
    scores = np.ones(4, np.float32)
    hide_near(scores, nodes, 1, 6.0, 10.0)
    assert scores.tolist() == [1, -np.inf, 1, 1]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(0, 99), st.sampled_from([0.25, 1.0, 4.0, 1e3]))
def test_changes_equal_a_loop_over_all_pairs(lengths, seed, gap):
    nodes = nodes_of(lengths, seed=seed)
    first, second = np.random.default_rng(seed).normal(size=(2, 4)).astype(np.float32)
    scores, partners = changes(nodes, first, second, gap)
    for u in range(len(nodes.pi)):
        pairs = {
            v: float(nodes.pi[u] @ first + nodes.pi[v] @ second) / 2
            for v in range(u + 1, len(nodes.pi))
            if nodes.video[v] == nodes.video[u] and nodes.time[v] - nodes.time[u] >= gap
        }
        if pairs:
            assert scores[u] == pytest.approx(max(pairs.values()), abs=1e-5)
            assert pairs[int(partners[u])] == pytest.approx(max(pairs.values()), abs=1e-5)
        else:
            assert scores[u] == -np.inf


def test_two_frames_of_one_second_are_no_change():
    pi = np.array([[1, 0], [0, 1], [0, 0.5]], np.float32)
    nodes = SearchableNodes(pi, np.zeros(3, np.int32), np.array([0.0, 0.4, 1.0]))
    scores, partners = changes(nodes, pi[0], pi[1])
    assert scores.tolist() == [0.75, -np.inf, -np.inf] and partners[0] == 2
