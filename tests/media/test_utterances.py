"""Utterances hold every word once, in order, in units of one to four seconds."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.media.captions import Cue, Word, read_captions
from mmcc.media.utterances import Pace, Utterance, to_utterances

DATA = Path(__file__).parents[2].parent / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real samples of ../shared/data are not here")

TIMES = st.floats(0, 1000, allow_nan=False).map(lambda time: round(time, 2))
WORDS = ["stir", "it.", "and", "then,", "Mr.", "Now!", 'what?"', "x" * 90, "好。好", "a"]
SPEECH = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30)


@st.composite
def cues(draw: st.DrawFn) -> Cue:
    start, length, texts = draw(TIMES), draw(st.floats(0, 40)), draw(SPEECH)
    if draw(st.booleans()):
        return Cue(start, start + length, " ".join(texts))
    offsets = sorted(draw(st.lists(st.floats(-1, 41), min_size=len(texts), max_size=len(texts))))
    return Cue(start, start + length, " ".join(texts), tuple(map(Word, [start + offset for offset in offsets], texts)))


@given(st.lists(cues(), max_size=12))
@settings(max_examples=300, deadline=None)
def test_every_word_once_in_order_and_in_time(spoken):
    utterances = to_utterances(spoken)
    expected = " ".join(cue.text for cue in sorted(spoken, key=lambda cue: cue.start)).split()
    got = " ".join(utterance.text for utterance in utterances).split()
    assert "".join(got) == "".join(expected)  # "好。好" may be cut between its sentences
    assert [word for word in got if word.isascii()] == [word for word in expected if word.isascii()]
    assert all(utterance.text.strip() and utterance.end >= utterance.start for utterance in utterances)
    starts = [utterance.start for utterance in utterances]
    assert starts == sorted(starts)


def test_sentences_are_split_and_short_ones_join_the_next():
    (first, second) = to_utterances([Cue(0, 4, "Okay. Take the big pan. Now add some oil to it.")])
    assert (first.text, second.text) == ("Okay. Take the big pan.", "Now add some oil to it.")
    assert first.end == pytest.approx(second.start)


def test_neighbouring_lines_of_one_sentence_are_joined():
    lines = [Cue(0, 1.5, "you can find the text"), Cue(1.5, 3, "version of this book")]
    assert to_utterances(lines) == [Utterance(0, 3, "you can find the text version of this book")]


def test_nothing_is_joined_over_a_long_silence():
    assert [u.text for u in to_utterances([Cue(0, 0.4, "so"), Cue(2.0, 2.4, "yes")])] == ["so", "yes"]
    assert [u.text for u in to_utterances([Cue(0, 0.4, "so"), Cue(1.0, 1.4, "yes")])] == ["so yes"]


def test_a_pause_between_timed_words_ends_an_utterance():
    words = tuple(map(Word, [0.0, 0.5, 1.0, 3.5, 4.0], ["chop", "the", "onion", "fry", "it"]))
    first, second = to_utterances([Cue(0, 5, "chop the onion fry it", words)])
    assert (first.text, second.text, second.start) == ("chop the onion", "fry it", 3.5)
    assert 1.0 < first.end < 2.0


def test_a_long_cue_is_cut_at_clauses_then_evenly():
    spoken = "we take the rice that was cooked yesterday, and then we fry it in the pan with the kimchi and eggs"
    utterances = to_utterances([Cue(0, 12, spoken)])
    assert any(utterance.text.endswith("yesterday,") for utterance in utterances)
    assert all(1 <= u.end - u.start <= 4 for u in utterances)


def test_words_do_not_stretch_over_a_caption_left_on_the_screen():
    (only,) = to_utterances([Cue(0, 60, "okay")])
    assert only.end <= 1


def test_abbreviations_and_decimals_do_not_end_a_sentence():
    texts = [u.text for u in to_utterances([Cue(0, 3.9, "Add 2.5 tbsp. of oil for Mr. Smith today please")])]
    assert texts == ["Add 2.5 tbsp. of oil for Mr. Smith today please"]


def test_words_under_one_time_share_it():
    words = (Word(0.0, "take the big red pan from"), Word(6.0, "the shelf"))
    utterances = to_utterances([Cue(0, 8, "take the big red pan from the shelf", words)])
    assert len(utterances) > 1
    assert " ".join(u.text for u in utterances) == "take the big red pan from the shelf"


def test_a_thousand_cues_at_one_moment_stay_readable():
    utterances = to_utterances([Cue(1, 1, "word")] * 1000)
    assert max(len(u.text) for u in utterances) <= 2 * Pace().most_letters
    assert sum(len(u.text.split()) for u in utterances) == 1000


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        "clips/manifesto.vtt",
        "clips/manifesto.srt",
        "clips/wannaworktogether.moonshine-asr.srt",
        "crosstask/narration_samples_105222/data/105222/subtitles/105222_5sOPNTbFe6A.srt",
        "crosstask/narration_samples_105222/data/105222/subtitles/105222_L0MVdMNihGI.srt",
    ],
)
def test_real_narration_becomes_units_of_one_to_four_seconds(name):
    cues = read_captions(DATA / name)
    utterances = to_utterances(cues)
    lengths = [utterance.end - utterance.start for utterance in utterances]
    assert sum(1 <= length <= 4.001 for length in lengths) >= 0.9 * len(lengths)
    assert " ".join(u.text for u in utterances).split() == " ".join(cue.text for cue in cues).split()
