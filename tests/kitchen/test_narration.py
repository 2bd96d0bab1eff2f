"""Narration is half chatter, slightly off in time, and reveals neither the time nor the task by itself."""

from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from math import log
from typing import NamedTuple

import pytest

from mmcc.kitchen.asr import as_automatic, mishear
from mmcc.kitchen.narration import BOOKEND, FARTHEST, REACH, Spoken, narrate
from mmcc.kitchen.recipes import PRIMARY, Recipe
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.timeline import Shown, draw_timeline

VIDEOS = 540


class Video(NamedTuple):
    recipe: Recipe
    shown: tuple[Shown, ...]
    duration: float
    spoken: tuple[Spoken, ...]


@cache
def videos() -> list[Video]:
    made = []
    for number in range(VIDEOS):
        recipe, rng = PRIMARY[number % len(PRIMARY)], Rng("narration", number)
        clock = draw_timeline(recipe, rng.child("clock"))
        spoken = narrate(recipe, clock.shown, clock.duration, rng)
        made.append(Video(recipe, clock.shown, clock.duration, spoken))
    return made


@cache
def chatter() -> list[tuple[int, bool, Spoken]]:
    """Every utterance of chatter: its video, and whether it is in the second half."""
    return [
        (number, spoken.start + spoken.end > video.duration, spoken)
        for number, video in enumerate(videos())
        for spoken in video.spoken
        if spoken.about is None
    ]


def words_of(spoken: Spoken) -> list[str]:
    return as_automatic(spoken.text).split()


def test_utterances_are_in_order_within_the_video_and_do_not_overlap():
    for video in videos():
        assert all(spoken.start < spoken.end for spoken in video.spoken)
        assert all(one.end < two.start for one, two in pairwise(video.spoken))
        assert video.spoken[0].start >= 0
        assert video.spoken[-1].end <= video.duration
        assert all(round(time, 3) == time for spoken in video.spoken for time in (spoken.start, spoken.end))


def test_utterances_are_as_long_and_as_dense_as_speech():
    spoken = [spoken for video in videos() for spoken in video.spoken]
    lengths = [one.end - one.start for one in spoken]
    rates = [len(one.text.split()) / length for one, length in zip(spoken, lengths, strict=True)]
    assert 4.0 < sum(video.duration for video in videos()) / len(spoken) < 5.0
    assert min(lengths) > 1.5 and max(lengths) < 5.1
    assert min(rates) > 2.1 and max(rates) < 3.3


def test_half_of_what_is_said_is_chatter():
    spoken = [spoken for video in videos() for spoken in video.spoken]
    assert 0.45 < sum(one.about is None for one in spoken) / len(spoken) < 0.55


def test_mentions_belong_to_what_is_shown():
    for video in videos():
        for spoken in video.spoken:
            if spoken.shown is not None:
                assert video.shown[spoken.shown].step == spoken.about
            elif spoken.about is not None:
                assert spoken.about not in {shown.step for shown in video.shown}


def test_some_steps_are_never_mentioned_and_some_are_not_shown():
    mentioned = sum(len({spoken.shown for spoken in video.spoken} - {None}) for video in videos())
    unseen = sum(spoken.about is not None and spoken.shown is None for video in videos() for spoken in video.spoken)
    assert 0.82 < mentioned / sum(len(video.shown) for video in videos()) < 0.92
    assert 0.35 < unseen / VIDEOS < 0.65


def test_mentions_come_a_few_seconds_early_or_late():
    early = late = inside = 0
    for video in videos():
        for spoken in video.spoken:
            if spoken.shown is not None:
                shown, middle = video.shown[spoken.shown], (spoken.start + spoken.end) / 2
                early += middle < shown.start
                late += middle > shown.end
                inside += shown.start <= middle <= shown.end
                assert shown.start - FARTHEST - REACH - 2 < middle < shown.end + FARTHEST + REACH + 2
    every = early + late + inside
    assert 0.15 < early / every < 0.3
    assert 0.15 < late / every < 0.3


def test_long_steps_are_mentioned_more_than_once():
    counts = Counter(
        (number, spoken.shown)
        for number, video in enumerate(videos())
        for spoken in video.spoken
        if spoken.shown is not None
    )
    long = [count for (number, at), count in counts.items() if _length(videos()[number].shown[at]) > 20]
    brief = [count for (number, at), count in counts.items() if _length(videos()[number].shown[at]) < 5]
    assert sum(long) / len(long) > 2 * sum(brief) / len(brief)


def _length(shown: Shown) -> float:
    return shown.end - shown.start


# --- no leaks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("automatic", [False, True])
def test_no_word_reveals_a_task(automatic):
    tasks: dict[str, Counter[str]] = defaultdict(Counter)
    for video in videos():
        texts = [spoken.text for spoken in video.spoken]
        heard = mishear(texts) if automatic else [as_automatic(text) for text in texts]
        for word in sorted({word for text in heard for word in text.split()}):
            tasks[word][video.recipe.id] += 1
    assert len(tasks) > 700
    for word, counts in tasks.items():
        if counts.total() >= 20:
            assert len(counts) >= 2, word
            assert max(counts.values()) / counts.total() < 0.85, word


def test_words_of_chatter_do_not_reveal_early_or_late():
    """Naive Bayes on bags of words, trained on one half of the videos and tested on the other."""
    counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for number, late, spoken in chatter():
        if number % 2:
            counts[late].update(words_of(spoken))
    totals = {late: counts[late].total() + len(counts[False] | counts[True]) for late in counts}

    def evidence(spoken: Spoken) -> float:
        return sum(
            log((counts[True][word] + 1) / totals[True]) - log((counts[False][word] + 1) / totals[False])
            for word in words_of(spoken)
        )

    right = [(evidence(spoken) > 0) == late for number, late, spoken in chatter() if not number % 2]
    assert abs(sum(right) / len(right) - 0.5) < 0.03


def test_length_and_density_of_speech_do_not_reveal_early_or_late():
    early = [len(words_of(spoken)) for _, late, spoken in chatter() if not late]
    late = [len(words_of(spoken)) for _, late, spoken in chatter() if late]
    assert sum(early) / len(early) == pytest.approx(sum(late) / len(late), rel=0.02)
    halves = Counter(spoken.start + spoken.end > video.duration for video in videos() for spoken in video.spoken)
    assert halves[False] == pytest.approx(halves[True], rel=0.02)


def test_speech_is_as_dense_at_the_ends_as_in_the_middle():
    def said_between(low: float, high: float) -> float:
        """Seconds of speech per second, from one part of the video to another."""
        return sum(
            max(0.0, min(spoken.end, high * video.duration) - max(spoken.start, low * video.duration))
            for video in videos()
            for spoken in video.spoken
        ) / sum((high - low) * video.duration for video in videos())

    middle = said_between(0.4, 0.6)
    assert said_between(0.0, 0.2) == pytest.approx(middle, rel=0.06)
    assert said_between(0.8, 1.0) == pytest.approx(middle, rel=0.06)


# --- bookends ---------------------------------------------------------------------------------------------------------


def test_greetings_and_farewells_only_on_demand():
    for number, video in enumerate(videos()[:60]):
        plain = " ".join(word for spoken in video.spoken for word in words_of(spoken)).split()
        assert not {"hello", "welcome", "bye", "goodbye"} & set(plain)
        rng = Rng("narration", number)
        spoken = narrate(video.recipe, video.shown, video.duration, rng, bookends=True)
        assert spoken[0].end <= BOOKEND
        assert spoken[-1].start >= video.duration - BOOKEND
        assert {"hi", "hello", "hey", "good"} & set(words_of(spoken[0])[:1])
        assert all(one.end < two.start for one, two in pairwise(spoken))


def test_a_very_short_video_and_one_without_steps():
    assert narrate(PRIMARY[0], [], 1.0, Rng(1), bookends=True) == ()
    assert all(spoken.shown is None for spoken in narrate(PRIMARY[0], [], 60.0, Rng(1)))


def test_the_same_rng_says_the_same():
    video = videos()[7]
    assert narrate(video.recipe, video.shown, video.duration, Rng("narration", 7)) == video.spoken
