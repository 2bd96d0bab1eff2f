"""What the kitchen writes as captions, our own reader reads back: the same words at the same times."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.kitchen.captions import as_heard, roll, timed_words, write_clean, write_rolling
from mmcc.kitchen.narration import Spoken, narrate
from mmcc.kitchen.recipes import PRIMARY
from mmcc.kitchen.rng import Rng
from mmcc.kitchen.timeline import draw_timeline
from mmcc.media.captions import Cue, looks_automatic, parse_captions
from mmcc.media.utterances import to_utterances


def narration(number: int) -> tuple[Spoken, ...]:
    recipe = PRIMARY[number % len(PRIMARY)]
    clock = draw_timeline(recipe, Rng("clock", number))
    return narrate(recipe, clock.shown, clock.duration, Rng("captions", number))


@st.composite
def narrations(draw) -> list[Spoken]:
    """Any words, including repeated ones, at any times."""
    words = st.sampled_from("No no yes Stir it the pan, don't onions. all-purpose 2 & okay? <3 I".split())
    now = 0
    spoken = []
    for text in draw(st.lists(st.lists(words, min_size=1, max_size=14), min_size=1, max_size=12)):
        start = now + draw(st.integers(20, 6000))
        now = start + len(text) * draw(st.integers(200, 600))
        spoken.append(Spoken(start / 1000, now / 1000, " ".join(text), None, None))
    return spoken


def words_read(cues: list[Cue]) -> list[tuple[float, str]]:
    return [pair for cue in cues for pair in ([tuple(word) for word in cue.words] or [(cue.start, cue.text)])]


def words_spoken(spoken: list[Spoken]) -> list[tuple[float, str]]:
    return [
        (word.start / 1000, word.text.replace("&lt;", "<").replace("&amp;", "&"))
        for said in spoken
        for word in timed_words(said)
    ]


def check_clean(spoken: list[Spoken]) -> None:
    cues = parse_captions(write_clean(spoken).encode(), "a.vtt")
    assert [cue.text for cue in cues] == [said.text for said in spoken]
    assert [(round(cue.start, 3), round(cue.end, 3)) for cue in cues] == [(said.start, said.end) for said in spoken]


def check_rolling(spoken: list[Spoken]) -> None:
    read = words_read(parse_captions(roll(spoken).encode(), "a.vtt"))
    expected = words_spoken(spoken)
    assert [text for _, text in read] == [text for _, text in expected]
    assert [time for time, _ in read] == pytest.approx([time for time, _ in expected], abs=1e-6)


@given(narrations())
@settings(max_examples=200, deadline=None)
def test_rolling_captions_give_back_every_word_at_its_time(spoken):
    check_rolling(spoken)


@given(narrations())
@settings(max_examples=200, deadline=None)
def test_clean_captions_give_back_every_utterance_at_its_time(spoken):
    check_clean(spoken)


@pytest.mark.parametrize("number", range(len(PRIMARY)))
def test_a_narration_survives_both_styles(number):
    spoken = list(narration(number))
    check_clean(spoken)
    check_rolling(spoken)
    check_rolling(as_heard(spoken))
    assert write_rolling(spoken) == roll(as_heard(spoken))


def test_the_reader_distinguishes_the_styles():
    assert looks_automatic(write_rolling(narration(0)).encode()[:2048])
    assert not looks_automatic(write_clean(narration(0)).encode()[:2048])


def test_the_rolling_style_is_that_of_youtube():
    spoken = [Spoken(1.0, 2.0, "Stir it, now.", None, None), Spoken(6.0, 7.0, "Okay.", None, None)]
    assert roll(spoken) == (
        "WEBVTT\nKind: captions\nLanguage: en\n\n"
        "00:00:01.000 --> 00:00:05.990 align:start position:0%\n \n"
        "stir<00:00:01.400><c> it</c><00:00:01.666><c> now</c>\n\n"
        "00:00:05.990 --> 00:00:06.000 align:start position:0%\n \n \n\n"
        "00:00:06.000 --> 00:00:07.000 align:start position:0%\n \nokay\n"
    )


def test_clean_captions_have_lines_that_fit():
    for line in write_clean(narration(1)).splitlines():
        assert len(line) <= 60


def test_utterances_keep_the_words_in_order():
    spoken = narration(2)
    for vtt, expected in (
        (write_clean(spoken), [word for said in spoken for word in said.text.split()]),
        (roll(spoken), [word for _, word in words_spoken(list(spoken))]),
    ):
        utterances = to_utterances(parse_captions(vtt.encode(), "a.vtt"))
        assert [word for utterance in utterances for word in utterance.text.split()] == expected


def test_a_video_without_narration_has_a_valid_file():
    for write in (write_clean, write_rolling, roll):
        assert parse_captions(write([]).encode(), "a.vtt") == []
