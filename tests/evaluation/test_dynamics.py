"""dyn: worked out by hand, against a slow loop from its definition, and by what it must not depend on."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mmcc.evaluation.dynamics import dyn, later_above_earlier, still_to_do
from mmcc.metrics import mid_ranks

TEXTS = 4


def one_video(*texts, seconds=1.0):
    """own [C, T], video, start and end of clips that follow each other."""
    start = np.arange(len(texts), dtype=float)
    return np.eye(TEXTS, dtype=bool)[list(texts)], np.zeros(len(texts), int), start, start + seconds


def test_by_hand():
    """Text 1 is shown by the middle one of three clips: only for it is there a clip on either side."""
    showings = one_video(0, 1, 2)
    ranks = np.array([[0, 3, 0, 0], [0, 9, 0, 0], [0, 1, 0, 0]], float)
    assert [part.tolist() for part in dyn(ranks, *showings)] == [[100.0], [0]]
    assert dyn(ranks[::-1], *showings)[0].tolist() == [0.0]
    assert dyn(np.zeros((3, TEXTS)), *showings)[0].tolist() == [50.0]


def test_a_step_shown_twice_is_before_its_first_and_after_its_last_showing():
    """Text 1 at 1 and 3 s: the clip at 0 is before, those at 4 and 5 are after; the one between is neither. Of text 2,
    two clips are before and three after; of text 3, four and one."""
    ranks = np.zeros((6, TEXTS))
    ranks[:, 1] = [5, 0, 99, 0, 4, 6]
    ranks[:, 2] = [1, 3, 0, 2, 2, 0]
    ranks[:, 3] = [1, 1, 1, 1, 0, 1]
    found = dyn(ranks, *one_video(0, 1, 2, 1, 3, 0))[0]
    of_2 = np.mean([1 > 2, 1 > 2, 1 > 0, 3 > 2, 3 > 2, 3 > 0])
    assert found.tolist() == [pytest.approx(100 * np.mean([0.5, of_2, 0.5]))]


def test_clips_that_overlap_the_showing_are_on_neither_side():
    own, video, start, _ = one_video(0, 1, 2)
    assert not len(dyn(np.zeros((3, TEXTS)), own, video, start, start + 1.5)[0])
    assert len(dyn(np.zeros((3, TEXTS)), own, video, start, start + 1.0)[0])  # ends as the other begins


def test_a_videos_texts_are_averaged_and_a_video_without_any_is_left_out():
    showings = [one_video(0, 1, 2, 3), one_video(0, 1), one_video(3, 1, 0)]
    own, start, end = (np.concatenate([each[at] for each in showings]) for at in (0, 2, 3))
    video = np.repeat([7, 8, 9], [4, 2, 3])
    ranks = np.zeros((9, TEXTS))
    ranks[0, 1] = 1  # of text 1 the one clip before wins against both after; text 2 ties: 75
    values, numbers = dyn(ranks, own, video, start, end)
    assert numbers.tolist() == [7, 9] and values.tolist() == [75.0, 50.0]


@st.composite
def labelled(draw):
    """Clips of two videos with random times, which may overlap; few different scores, so that ties are common."""
    clips = draw(st.lists(st.tuples(*[st.integers(0, n) for n in (1, TEXTS - 1, 8)], st.integers(1, 3)), min_size=1))
    video, text, start, seconds = (np.array(part) for part in zip(*clips, strict=True))
    row = st.lists(st.integers(0, 3), min_size=TEXTS, max_size=TEXTS)
    scores = np.array(draw(st.lists(row, min_size=len(clips), max_size=len(clips))), float)
    return scores, np.eye(TEXTS, dtype=bool)[text], video, start.astype(float), (start + seconds).astype(float)


def dyn_by_loops(scores, own, video, start, end):
    """The definition, one pair of clips at a time."""
    found = {}
    for number in sorted(set(video.tolist())):
        here = [c for c in range(len(video)) if video[c] == number]
        of_texts = []
        for text in range(TEXTS):
            shown = [c for c in here if own[c, text]]
            if not shown:
                continue
            first, last = min(start[c] for c in shown), max(end[c] for c in shown)
            points = []
            for u in here:
                for v in here:
                    if end[u] <= first and start[v] >= last:
                        ranks = [
                            sum(other < scores[c, text] for other in scores[c])
                            + (scores[c].tolist().count(scores[c, text]) - 1) / 2
                            for c in (u, v)
                        ]
                        points.append(1.0 if ranks[0] > ranks[1] else 0.5 if ranks[0] == ranks[1] else 0.0)
            if points:
                of_texts.append(sum(points) / len(points))
        if of_texts:
            found[number] = 100 * sum(of_texts) / len(of_texts)
    return found


@given(labelled())
def test_equals_a_loop(given_clips):
    scores, *showings = given_clips
    values, numbers = dyn(mid_ranks(scores), *showings)
    assert dict(zip(numbers.tolist(), values.tolist(), strict=True)) == pytest.approx(dyn_by_loops(scores, *showings))


@given(labelled(), st.lists(st.integers(-5, 5), min_size=1))
def test_what_shifts_all_scores_of_a_query_changes_nothing(given_clips, shifts):
    scores, *showings = given_clips
    by = np.resize(shifts, len(scores))[:, None]
    assert dyn(mid_ranks(scores + by), *showings)[0].tolist() == dyn(mid_ranks(scores), *showings)[0].tolist()


@given(labelled())
def test_time_reversed_gives_what_is_left_to_100(given_clips):
    scores, own, video, start, end = given_clips
    forward, backward = (dyn(mid_ranks(scores), own, video, *times)[0] for times in ((start, end), (-end, -start)))
    assert backward == pytest.approx(100 - forward)


@given(labelled())
def test_a_query_for_the_whole_video_gives_exactly_50(given_clips):
    scores, own, video, start, end = given_clips
    same = scores[[video.tolist().index(number) for number in video]]
    assert set(dyn(mid_ranks(same), own, video, start, end)[0].tolist()) <= {50.0}


@given(labelled())
def test_who_knows_what_was_done_is_always_right(given_clips):
    _, own, video, start, end = given_clips
    to_do = still_to_do(own, video, start)
    for c in range(len(video)):
        begun = [w for w in range(len(video)) if video[w] == video[c] and start[w] <= start[c]]
        assert to_do[c].tolist() == [not any(own[w, text] for w in begun) for text in range(TEXTS)]
    found = dyn(to_do.astype(float), own, video, start, end)[0]
    assume(len(found))
    assert set(found.tolist()) == {100.0}


def test_later_above_earlier_by_hand():
    """The third text is both later and earlier, as in "stir … add milk … stir", so it says nothing."""
    later, earlier = np.array([[1, 1, 1, 0]] * 2, bool), np.array([[0, 0, 1, 1]] * 2, bool)
    found = later_above_earlier(np.array([[3.0, 1.0, 9.0, 1.0], [0, 1, 9, 2]]), later, earlier)
    assert found.tolist() == [75.0, 0.0]
    assert np.isnan(later_above_earlier(np.zeros((2, 4)), later, later)).all()
