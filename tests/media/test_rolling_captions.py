"""Rolling captions give every spoken word once; no other file is mistaken for rolling."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcc.media.captions import Cue, looks_automatic, parse_captions
from mmcc.media.rolling_captions import seconds

DATA = Path(__file__).parents[2].parent / "shared" / "data"

Line = tuple[list[str], bool]  # its words, and whether the screen is cleared after it


def stamp(milliseconds: int, mark: str = ".") -> str:
    rest, millis = divmod(milliseconds, 1000)
    return f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}{mark}{millis:03}"


def youtube(lines: list[Line], inline: bool = True) -> tuple[str, list[tuple[float, str]]]:
    """The lines as YouTube's rolling WebVTT, and the words with their times."""
    out, spoken = ["WEBVTT\nKind: captions\nLanguage: en\n"], []
    now, upper = 0, " "
    for words, cleared in lines:
        line_start = now
        tagged = []
        for word in words:
            spoken.append((now / 1000, word))
            tagged.append(word if now == line_start or not inline else f"<{stamp(now)}><c> {word}</c>")
            now += 320
        finished = " ".join(words)
        lower = "".join(tagged) if inline else finished
        setting = " align:start position:0%"
        out.append(f"{stamp(line_start)} --> {stamp(now)}{setting}\n{upper}\n{lower}\n")
        upper = " " if cleared else finished
        out.append(f"{stamp(now)} --> {stamp(now + 10)}{setting}\n{upper}\n \n")
        now += 10
    return "\n".join(out), spoken


def timed(cues: list[Cue]) -> list[tuple[float, str]]:
    """Each word with its time; a line of one word has no inline time, and starts with its cue."""
    return [pair for cue in cues for pair in ([tuple(word) for word in cue.words] or [(cue.start, cue.text)])]


WORDS = st.sampled_from("no yes stir it the pan don't onion mother-in-law &amp; 2".split())
LINES = st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=6), st.booleans()), min_size=1, max_size=12)


@given(LINES)
@settings(max_examples=300, deadline=None)
def test_a_rolling_file_gives_back_exactly_its_words_and_times(lines):
    vtt, spoken = youtube(lines)
    cues = parse_captions(vtt.encode(), "a.vtt")
    read = timed(cues)
    assert [text for _, text in read] == [text.replace("&amp;", "&") for _, text in spoken]
    assert [time for time, _ in read] == pytest.approx([time for time, _ in spoken])


@given(LINES)
@settings(max_examples=200, deadline=None)
def test_without_inline_times_every_word_is_kept_once(lines):
    vtt, spoken = youtube(lines, inline=False)
    cues = parse_captions(vtt.encode(), "a.vtt")
    assert " ".join(cue.text for cue in cues).split() == [text.replace("&amp;", "&") for _, text in spoken]
    assert all(before.end <= after.start for before, after in itertools.pairwise(cues))


def srt(*cues: tuple[float, float, str]) -> bytes:
    times = [(stamp(int(start * 1000), ","), stamp(int(end * 1000), ","), text) for start, end, text in cues]
    return "\n".join(f"{n}\n{start} --> {end}\n{text}\n" for n, (start, end, text) in enumerate(times, 1)).encode()


def texts(data: bytes, name: str = "a.srt") -> list[str]:
    return [cue.text for cue in parse_captions(data, name)]


def test_each_cue_repeating_the_line_before_is_unrolled():
    rolling = srt(
        (0, 2, "hello and welcome"),
        (2, 4, "hello and welcome\ntoday we make soup"),
        (4, 6, "today we make soup\nfirst chop the onion"),
        (9, 11, "first chop the onion"),
    )
    assert texts(rolling) == ["hello and welcome", "today we make soup", "first chop the onion", "first chop the onion"]
    assert looks_automatic(rolling + b"\n5\n00:00:11,0")


def test_three_rolling_lines_are_unrolled():
    assert texts(srt((0, 1, "a"), (1, 2, "a\nb"), (2, 3, "a\nb\nc"), (3, 4, "b\nc\nd"))) == ["a", "b", "c", "d"]


def test_rolling_without_line_breaks_is_unrolled():
    rolling = srt(
        (0, 2, "hello there"),
        (2, 4, "hello there we make soup"),
        (4, 6, "we make soup chop it"),
        (6, 8, "chop it and fry"),
        (8, 9, "and fry"),
    )
    assert texts(rolling) == ["hello there", "we make soup", "chop it", "and fry"]


def test_words_appearing_one_by_one_are_kept_once():
    growing = srt((0, 1, "we"), (1, 2, "we make"), (2, 3, "we make hot"), (3, 4, "we make hot soup"))
    assert texts(growing) == ["we", "make", "hot", "soup"]


def test_a_refrain_in_an_ordinary_file_is_not_rolling():
    song = [(n, n + 1, f"line {n}\nrow {n}") for n in range(8)] + [(8, 9, "row 7\nrow again")]
    assert texts(srt(*song))[-1] == "row 7 row again"
    assert not looks_automatic(srt(*song, (9, 10, "end")))


def test_the_same_sentence_in_two_cues_is_said_twice():
    twice = srt((0, 1, "no no no"), (1, 2, "no no no"), (2, 3, "no"), (3, 4, "no no"))
    assert texts(twice) == ["no no no", "no no no", "no", "no no"]


def test_a_line_carried_over_a_silence_is_kept_once():
    text = (
        "WEBVTT\n\n00:01.000 --> 00:02.990\n \nlight<00:01.500><c> the</c><00:02.000><c> match</c>\n\n"
        "00:02.990 --> 00:03.000\nlight the match\n \n\n"
        "00:09.000 --> 00:10.990\nlight the match\nthe<00:09.500><c> wax</c><00:10.000><c> melts</c>\n\n"
    )
    assert [cue.text for cue in parse_captions(text.encode(), "a.vtt")] == ["light the match", "the wax melts"]


def test_a_line_spoken_twice_in_a_rolling_file_is_kept_twice():
    wait, for_it = ["wait"], ["for", "it"]
    vtt, _ = youtube([(wait, False), (wait, False), (for_it, False), (for_it, True), (for_it, True)])
    assert texts(vtt.encode(), "a.vtt") == ["wait", "wait", "for it", "for it", "for it"]


def test_inline_times_without_rolling_time_the_words():
    vtt = b"WEBVTT\n\n00:01.000 --> 00:04.000\n<00:01.500>Chop <00:02.000>the <00:01.800>on<00:02.500>ion\nnow\n"
    (cue,) = parse_captions(vtt, "a.vtt")
    assert cue.text == "Chop the onion now"
    assert [(word.start, word.text) for word in cue.words] == [
        (1.5, "Chop"),
        (2.0, "the"),
        (2.0, "onion"),
        (2.5, "now"),
    ]


def test_a_description_between_timed_words_leaves_the_times_of_the_others():
    vtt = (
        b"WEBVTT\n\n00:01.000 --> 00:04.000\n"
        b"&gt;&gt;<00:01.200><c> [loud</c><00:01.500><c> music]</c><00:02.000><c> chop</c><00:03.000><c> it</c>\n"
    )
    (cue,) = parse_captions(vtt, "a.vtt")
    assert [(word.start, word.text) for word in cue.words] == [(2.0, "chop"), (3.0, "it")]


@pytest.mark.skipif(not DATA.is_dir(), reason="the real samples of ../shared/data are not here")
def test_the_real_rolling_file_times_its_words():
    cues = parse_captions((DATA / "clips/manifesto.vtt").read_bytes(), "manifesto.vtt")
    assert [(word.start, word.text) for word in cues[0].words][:3] == [
        (1.599, "this"),
        (1.92, "audiobook"),
        (2.48, "is"),
    ]
    assert cues[-1].text == "languages"
    starts = [time for time, _ in timed(cues)]
    assert starts == sorted(starts)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("00:00:01,599", 1.599),
        ("01:02:03.4", 3723.4),
        ("02:03", 123.0),
        ("123:00:00.000", 442800.0),
        ("-00:01.500", -1.5),
        ("99:99.000", 6039.0),
        ("", None),
        ("1e3", None),
        ("00:00:1_0,000", None),
        ("nan", None),
        ("٠٠:٠١.٠٠٠", None),
    ],
)
def test_time_stamps(text, time):
    assert seconds(text) == (time if time is None else pytest.approx(time))
