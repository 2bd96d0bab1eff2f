"""Narration as WebVTT, in two styles: sentences as a person subtitles them, and YouTube's rolling automatic captions.

In the rolling style a line grows word by word in the lower row while the line before it stays above; when it is
complete it is held for 10 ms, and moves up. After a pause the screen is empty.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from mmcc.kitchen.asr import as_automatic, mishear
from mmcc.kitchen.narration import Spoken

LONGEST_LINE = 42  # letters, as subtitlers have it
LONGEST_ROLLING_LINE = 40
HOLD = 10  # milliseconds
BREATH = 700  # milliseconds of silence that break a line
PAUSE = 2000  # milliseconds from a line's last word to the next line, after which the screen is empty


class TimedWord(NamedTuple):
    """A word and its start in milliseconds."""

    start: int
    text: str


def write_clean(spoken: Iterable[Spoken]) -> str:
    """A cue for each utterance, with capitals and punctuation."""
    cues = [
        f"{_stamp(_milliseconds(said.start))} --> {_stamp(_milliseconds(said.end))}\n{_in_lines(said.text)}\n"
        for said in spoken
    ]
    return "\n".join(["WEBVTT\n", *cues])


def write_rolling(spoken: Sequence[Spoken]) -> str:
    """What a recognizer heard, word by word, in lower case, with some errors."""
    return roll(as_heard(spoken))


def as_heard(spoken: Sequence[Spoken]) -> list[Spoken]:
    """The same utterances in the words of a recognizer."""
    heard = mishear([said.text for said in spoken])
    return [replace(said, text=text) for said, text in zip(spoken, heard, strict=True)]


def roll(spoken: Sequence[Spoken]) -> str:
    """A file of rolling captions with exactly these words."""
    out = ["WEBVTT\nKind: captions\nLanguage: en\n"]
    lines = list(_rolling_lines(spoken))
    above = " "
    for line, following in zip(lines, [*lines, None][1:], strict=True):
        words, until = line
        ends = following.words[0].start - HOLD if following else until
        growing = "".join([words[0].text, *(f"<{_stamp(word.start)}><c> {word.text}</c>" for word in words[1:])])
        complete = " ".join(word.text for word in words)
        is_cleared = following is not None and following.words[0].start - words[-1].start > PAUSE
        out.append(_rolling_cue(words[0].start, ends, above, growing))
        above = " " if is_cleared else complete
        if following:
            out.append(_rolling_cue(ends, ends + HOLD, above, " "))
    return "\n".join(out)


def timed_words(said: Spoken) -> list[TimedWord]:
    """The words of an utterance in automatic style; a long word takes longer."""
    words = as_automatic(said.text).split()
    start, end = _milliseconds(said.start), _milliseconds(said.end)
    weights = [len(word) + 2 for word in words]
    timed = []
    before = 0
    for word, weight in zip(words, weights, strict=True):
        timed.append(TimedWord(start + (end - start) * before // sum(weights), html.escape(word, quote=False)))
        before += weight
    return timed


class _Line(NamedTuple):
    words: list[TimedWord]
    until: int  # when its last word ends


def _rolling_lines(spoken: Sequence[Spoken]) -> Iterator[_Line]:
    """As many words as fit in a line, regardless of sentences; a pause breaks the line."""
    words: list[TimedWord] = []
    letters = until = 0
    for said in spoken:
        for word in timed_words(said):
            if words and (letters + len(word.text) >= LONGEST_ROLLING_LINE or word.start - until > BREATH):
                yield _Line(words, until)
                words, letters = [], 0
            words.append(word)
            letters += len(word.text) + 1
            until = _milliseconds(said.end)
    if words:
        yield _Line(words, until)


def _rolling_cue(start: int, end: int, above: str, below: str) -> str:
    return f"{_stamp(start)} --> {_stamp(end)} align:start position:0%\n{above}\n{below}\n"


def _in_lines(text: str) -> str:
    """One line, or two that are broken at the space nearest to the middle."""
    text = html.escape(text, quote=False)
    if len(text) <= LONGEST_LINE:
        return text
    spaces = [at for at, letter in enumerate(text) if letter == " "]
    middle = min(spaces, key=lambda at: abs(2 * at - len(text)), default=None)
    return text if middle is None else f"{text[:middle]}\n{text[middle + 1 :]}"


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _stamp(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"
