"""How a video is filmed."""

import itertools

import pytest

from mmcc.kitchen.recipes import PRIMARY
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.shots import DISTRACTORS, WORK, draw_shots
from mmcc.kitchen.timeline import Shown, Timeline, draw_timeline


@pytest.fixture(scope="module")
def filmed():
    """300 videos: timelines with their shots."""
    videos = []
    for number in range(300):
        recipe = PRIMARY[number % len(PRIMARY)]
        timeline = draw_timeline(recipe, Rng("filmed", number))
        videos.append((recipe, timeline, draw_shots(recipe, timeline, Rng("shots", number))))
    return videos


def test_shots_follow_each_other_from_end_to_end(filmed):
    for _, timeline, shots in filmed:
        assert shots[0].start == 0 and shots[-1].end == timeline.duration
        assert all(last.end == following.start for last, following in itertools.pairwise(shots))
        assert all(shot.end > shot.start for shot in shots)
        assert len({shot.seed for shot in shots}) == len(shots)


def overlap(shot, start, end):
    return max(0.0, min(shot.end, end) - max(shot.start, start))


def test_a_sixth_of_a_step_is_cut_away_from_but_no_step_is_hidden(filmed):
    away = total = 0.0
    for recipe, timeline, shots in filmed:
        for shown in timeline.shown:
            at_work = [shot for shot in shots if shot.kind == WORK and overlap(shot, shown.start, shown.end)]
            assert at_work and all(shot.focus == recipe.steps[shown.step].vessel for shot in at_work)
            total += shown.end - shown.start
            away += sum(overlap(shot, shown.start, shown.end) for shot in shots if shot.kind != WORK)
    assert away / total == pytest.approx(0.15, abs=0.02)


def test_over_half_of_the_time_shows_no_step(filmed):
    stepping = sum(shown.end - shown.start for _, timeline, _ in filmed for shown in timeline.shown)
    duration = sum(timeline.duration for _, timeline, _ in filmed)
    assert stepping * 0.85 / duration < 0.5


def test_every_distractor_comes_at_any_time(filmed):
    early, late = dict.fromkeys(DISTRACTORS, 0), dict.fromkeys(DISTRACTORS, 0)
    for _, timeline, shots in filmed:
        for shot in shots:
            if shot.kind != WORK:
                half = early if shot.start + shot.end < timeline.duration else late
                half[shot.kind] += 1
    for kind in DISTRACTORS:
        share = early[kind] / (early[kind] + late[kind])
        deviation = 0.5 / (early[kind] + late[kind]) ** 0.5
        assert abs(share - 0.5) < 4 * deviation, kind


def test_real_steps_may_overlap_or_lie_inside_each_other():
    recipe = PRIMARY[0]
    timeline = Timeline((Shown(0, 2.0, 20.0), Shown(1, 5.0, 8.0), Shown(2, 19.0, 30.0)), 33.0)
    shots = draw_shots(recipe, timeline, Rng("overlap"))
    assert shots[0].start == 0 and shots[-1].end == 33.0
    assert all(last.end == following.start for last, following in itertools.pairwise(shots))
