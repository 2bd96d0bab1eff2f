"""The kitchen's timelines are sound, and only the steps done reveal the time."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcc.kitchen.recipes import PRIMARY, RELATED, Recipe, needs
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.timeline import END, LONGEST, SHORTEST, Timeline, draw_timeline

recipes = st.sampled_from(PRIMARY + RELATED)
seeds = st.integers(0, 10**6)


@given(recipes, seeds)
def test_a_timeline_is_sound(recipe: Recipe, seed: int) -> None:
    timeline = draw_timeline(recipe, Rng(seed))
    low, high = END
    assert timeline.shown
    assert low <= timeline.shown[0].start <= high
    assert low <= timeline.duration - timeline.shown[-1].end <= high + 1e-9
    assert timeline.duration <= LONGEST
    assert all(0 <= shown.step < len(recipe.steps) for shown in timeline.shown)
    assert all(shown.end - shown.start >= SHORTEST - 1e-9 for shown in timeline.shown)
    for earlier, later in pairwise(timeline.shown):
        assert earlier.end <= later.start


@given(recipes, seeds)
def test_two_decimals_hold_every_time(recipe: Recipe, seed: int) -> None:
    timeline = draw_timeline(recipe, Rng(seed))
    times = [timeline.duration, *(time for shown in timeline.shown for time in (shown.start, shown.end))]
    assert [float(f"{time:.2f}") for time in times] == times


@given(recipes, seeds)
def test_the_name_of_the_rng_decides(recipe: Recipe, seed: int) -> None:
    timeline = draw_timeline(recipe, Rng("clock", seed))
    assert timeline == draw_timeline(recipe, Rng("clock", seed))
    assert timeline != draw_timeline(recipe, Rng("clock", seed + 1))


Video = tuple[Recipe, Timeline]


@pytest.fixture(scope="module")
def videos() -> list[Video]:
    drawn = [(PRIMARY[number % len(PRIMARY)], Rng("videos", number)) for number in range(1200)]
    return [(recipe, draw_timeline(recipe, rng)) for recipe, rng in drawn]


def durations(timeline: Timeline) -> list[float]:
    return [shown.end - shown.start for shown in timeline.shown]


def gaps(timeline: Timeline) -> list[float]:
    return [later.start - earlier.end for earlier, later in pairwise(timeline.shown)]


def ends(timeline: Timeline) -> list[float]:
    return [timeline.shown[0].start, timeline.duration - timeline.shown[-1].end]


@pytest.mark.parametrize("lengths", [durations, gaps, ends])
def test_the_halves_of_a_video_last_equally_long(videos: list[Video], lengths) -> None:
    """As shares of the whole, as the tails are heavy; the middle one of an odd number belongs to neither half."""
    drawn = [lengths(timeline) for _, timeline in videos]
    differences = [half_difference(values) for values in drawn if len(values) > 1]
    assert abs(fmean(differences)) < 3 * stdev(differences) / len(differences) ** 0.5


def half_difference(values: Sequence[float]) -> float:
    """Of the shares of a video's halves, second - first."""
    half = len(values) // 2
    first, second = sum(values[:half]), sum(values[-half:])
    return (second - first) / max(first + second, 1e-9)


def test_early_and_late_steps_of_a_recipe_last_equally_long(videos: list[Video]) -> None:
    early: list[float] = []
    late: list[float] = []
    for recipe, timeline in videos:
        middle = (len(recipe.steps) - 1) / 2
        for shown in timeline.shown:
            if shown.step != middle:
                (early if shown.step < middle else late).append(shown.end - shown.start)
    noise = (stdev(early) ** 2 / len(early) + stdev(late) ** 2 / len(late)) ** 0.5
    assert abs(fmean(early) - fmean(late)) < 3 * noise


def test_free_steps_swap_more_often_than_bound_ones(videos: list[Video]) -> None:
    swapped: dict[bool, list[bool]] = {True: [], False: []}
    for recipe, timeline in videos:
        order = list(dict.fromkeys(shown.step for shown in timeline.shown))
        for at, first in enumerate(order):
            for second in order[at + 1 :]:
                bound = min(first, second) in needs(recipe)[max(first, second)]
                swapped[bound].append(first > second)
    assert 0.05 < fmean(swapped[True]) < 0.6 * fmean(swapped[False])


def test_most_repeats_come_soon(videos: list[Video]) -> None:
    """Of the same step, or in a round of two or three."""
    distances = []
    for _, timeline in videos:
        last_at: dict[int, int] = {}
        for at, shown in enumerate(timeline.shown):
            if shown.step in last_at:
                distances.append(at - last_at[shown.step])
            last_at[shown.step] = at
    assert fmean(distance <= 3 for distance in distances) > 0.8
    assert fmean(distance == 1 for distance in distances) < 0.6


def test_videos_last_three_minutes(videos: list[Video]) -> None:
    assert fmean(timeline.duration for _, timeline in videos) == pytest.approx(180, rel=0.05)
