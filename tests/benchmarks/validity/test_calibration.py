"""Statistics of labelled videos: by hand, against slow loops written from their definitions, on the real release."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.validity.calibration import BOUNDS, Statistics, measure, of_kitchen, of_release, out_of_bounds
from mmcc.corpus.source import LabelledClip

TASKS = {"soup": 4, "toast": 2}
PUBLISHED = Statistics(**{name: target for name, _, target, _ in BOUNDS})


def step(number: int, start: float, end: float) -> LabelledClip:
    return LabelledClip(number, start, end)


def test_by_hand() -> None:
    soup = [step(2, 10, 14), step(1, 20, 21), step(4, 20.5, 30), step(2, 40, 46)]
    toast = [step(1, 5, 7)]
    found = measure(TASKS, [("soup", soup[::-1]), ("toast", toast)])
    assert (found.least_steps, found.most_steps, found.steps) == (2, 4, 3)
    assert found.clips == 2.5
    assert (found.duration_median, found.duration_mean) == (4, pytest.approx(22.5 / 5))
    assert (found.gap_median, found.gap_mean) == (6, pytest.approx((6 - 0.5 + 10) / 3))
    assert found.missing == pytest.approx(100 * (1 / 4 + 1 / 2) / 2)
    assert found.repeats == 0.5
    assert found.in_order == 50  # 2, 1, 4; toast shows one step, which has no order
    assert found.tau == pytest.approx(1 / 3)
    assert found.coverage == pytest.approx(100 * (4 + 10 + 6 + 2) / (36 + 2))


@st.composite
def labelled_videos(draw: st.DrawFn) -> list[tuple[str, list[LabelledClip]]]:
    """Times in tenths of a second, so that some are equal; the first video shows at least two different steps."""
    videos = []
    for task in ["soup", *draw(st.lists(st.sampled_from(sorted(TASKS)), max_size=4))]:
        numbers = draw(st.lists(st.integers(1, TASKS[task]), min_size=1, max_size=6))
        numbers += [1, 3] if not videos else []
        starts = draw(st.lists(st.integers(0, 300), min_size=len(numbers), max_size=len(numbers)))
        lengths = draw(st.lists(st.integers(1, 90), min_size=len(numbers), max_size=len(numbers)))
        timed = zip(numbers, starts, lengths, strict=True)
        videos.append((task, [step(number, at / 10, (at + length) / 10) for number, at, length in timed]))
    return videos


@given(labelled_videos())
def test_equals_the_definitions(videos: list[tuple[str, list[LabelledClip]]]) -> None:
    found = measure(TASKS, videos)
    gaps, adjacent, taus = [], [], []
    covered = spanned = 0
    for _, clips in videos:
        clips = sorted(clips, key=lambda clip: (clip.start, clip.end))
        order: list[int] = []
        for clip in clips:
            if clip.step not in order:
                order.append(clip.step)
        for at in range(1, len(clips)):
            gaps.append(clips[at].start - clips[at - 1].end)
        for at in range(1, len(order)):
            adjacent.append(order[at] > order[at - 1])
        pairs = [order[b] > order[a] for a in range(len(order)) for b in range(a + 1, len(order))]
        if pairs:
            taus.append((pairs.count(True) - pairs.count(False)) / len(pairs))
        tenths: set[int] = set()
        for clip in clips:
            tenths |= set(range(round(clip.start * 10), round(clip.end * 10)))
        covered += len(tenths)
        spanned += max(tenths) + 1 - min(tenths)
    assert found.gap_mean == pytest.approx(sum(gaps) / len(gaps))
    assert found.in_order == pytest.approx(100 * sum(adjacent) / len(adjacent))
    assert found.tau == pytest.approx(sum(taus) / len(taus))
    assert found.coverage == pytest.approx(100 * covered / spanned)
    shown = [(TASKS[task], len({clip.step for clip in clips}), len(clips)) for task, clips in videos]
    assert found.missing == pytest.approx(100 * sum(1 - distinct / of for of, distinct, _ in shown) / len(shown))
    assert found.repeats == pytest.approx(sum(count - distinct for _, distinct, count in shown) / len(shown))


def test_the_real_release_gives_the_published_figures(shared: Path) -> None:
    release = shared / "crosstask" / "crosstask_release"
    if not release.is_dir():
        pytest.skip("the CrossTask release is not in ../shared/data")
    found = of_release(release)
    assert found.repeats == pytest.approx(PUBLISHED.repeats, abs=0.005)
    assert found.tau == pytest.approx(PUBLISHED.tau, abs=0.005)
    for name in ("duration_long", "missing", "in_order", "coverage"):  # published in whole numbers
        assert getattr(found, name) == pytest.approx(getattr(PUBLISHED, name), abs=0.5), name
    for name in ("steps", "clips", "duration_median", "duration_mean", "gap_median", "gap_mean"):
        assert getattr(found, name) == pytest.approx(getattr(PUBLISHED, name), abs=0.05), name


def test_statistics_out_of_bounds_are_named() -> None:
    assert out_of_bounds(PUBLISHED) == []
    for name, _, target, tolerance in BOUNDS:
        at_the_bound = replace(PUBLISHED, **{name: target - tolerance})
        assert out_of_bounds(at_the_bound) == []
        assert out_of_bounds(replace(PUBLISHED, **{name: target + tolerance + 0.01})) == [name]


def test_every_statistic_has_a_bound() -> None:
    assert [name for name, *_ in BOUNDS] == list(asdict(PUBLISHED))


def test_the_kitchen_is_within_bounds() -> None:
    assert out_of_bounds(of_kitchen(seed=0)) == []
