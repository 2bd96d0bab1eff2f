"""Rolling captions give every spoken word once; nothing else is taken for rolling."""

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
        begun = now
        tagged = []
        for word in words:
            spoken.append((now / 1000, word))
            tagged.append(word if now == begun or not inline else f"<{stamp(now)}><c> {word}</c>")
            now += 320
        finished = " ".join(words)
        lower = "".join(tagged) if inline else finished
        setting = " align:start position:0%"
        out.append(f"{stamp(begun)} --> {stamp(now)}{setting}\n{upper}\n{lower}\n")
        upper = " " if cleared else finished
        out.append(f"{stamp(now)} --> {stamp(now + 10)}{setting}\n{upper}\n \n")
        now += 10
    return "\n".join(out), spoken


WORDS = st.sampled_from("no yes stir it the pan don't onion mother-in-law &amp; 2".split())
LINES = st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=6), st.booleans()), min_size=1, max_size=12)


@given(LINES)
@settings(max_examples=300, deadline=None)
def test_a_rolling_file_gives_back_exactly_its_words_and_times(lines):
    vtt, spoken = youtube(lines)
    cues = parse_captions(vtt.encode(), "a.vtt")
    read = [(word.start, word.text) for cue in cues for word in cue.words or [Cue(*cue[:2], cue.text)]
            for word in ([word] if cue.words else [type(cue.words or ())])] if False else timed(cues)
    assert [text for _, text in read] == [text.replace("&amp;", "&") for _, text in spoken]
    assert [time for time, _ in read] == pytest.approx([time for time, _ in spoken])


def timed(cues: list[Cue]) -> list[tuple[float, str]]:
    """Each word with its time; a line of one word has no inline time, and begins with its cue."""
    return [pair for cue in cues for pair in ([tuple(word) for word in cue.words] or [(cue.start, cue.text)])]


@given(LINES)
@settings(max_examples=200, deadline=None)
def test_without_inline_times_every_word_is_kept_once(lines):
    vtt, spoken = youtube(lines, inline=False)
    cues = parse_captions(vtt.encode(), "a.vtt")
    assert " ".join(cue.text for cue in cues).split() == [text.replace("&amp;", "&") for _, text in spoken]
    assert all(before.end <= after.start for before, after in zip(cues, cues[1:], strict=False))
