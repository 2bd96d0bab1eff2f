"""Rolling captions to what is said: each word once.

YouTube's automatic captions imitate a two-line screen. A line is built up word by word in the lower row, is held for
about 10 ms when it is complete, and is then carried in the upper row while the next line is built:

    1.60 --> 3.91   (blank)                      this<00:00:01.920><c> audiobook</c>...
    3.91 --> 3.92   this audiobook is in the     (blank)                                    held
    3.92 --> 5.35   this audiobook is in the     you<00:00:04.080><c> can</c>...            carried, and a new line

Converters drop the inline times, sometimes the held cues, sometimes the line breaks; the repetition stays. A speaker
may also repeat himself, and then every repetition counts. The rule that distinguishes the two:

1. Rolling is a property of a file, not of two cues. The evidence for it is what nobody would write by hand:
   a cue that begins with the last lines of the cue before it, without a gap in time, *and adds a new line*; or a cue
   shorter than 50 ms that is blank or only repeats. A file rolls when at least a third of its cues are such evidence.
   The same sentence in two cues, or "no" then "no no no", is not evidence, so ordinary files lose nothing.
2. Where line breaks are lost ("A", "A B", "B C" on one line each), a cue that begins with the whole text that was new
   in the cue before is evidence, but weaker: half of the cues, and at least three, must agree.
3. In a rolling file only lines carried over from the previous screen are dropped, and only while the screen did not go
   blank, or above a line with inline word times: where spoken words are timed, a line without times was carried over.
   The same line spoken twice is shown twice at once (["no", "no"]), and is kept twice.
4. A line with inline word times is being spoken, so it is never a repetition.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from typing import NamedTuple

BRIEF = 0.05  # seconds; YouTube holds a finished line for 10 ms, and nobody reads or says anything in 50 ms
UNBROKEN = 0.1  # seconds; converters round times to a frame (40 ms) and some drop the 10 ms cues
SCREEN = 4  # lines; broadcast captions roll two to four
SAMPLE = 1000  # cues that decide whether a file rolls: plenty, and a long ordinary file is not read twice

TAG = re.compile(r"</?[A-Za-z][^<>\x1e]*>")  # "3 < 4" and "<3" are not tags
INLINE_TIME = re.compile(r"<([0-9]+:[0-9:.,]+)>")
_HOURS_MINUTES = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):", re.ASCII)
_STAMP = re.compile(r"(-?)(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,9}))?", re.ASCII)
_SECONDS = {f"{n:02}": n for n in range(60)}
_MILLISECONDS = {f"{mark}{n:03}": n / 1000 for mark in ".," for n in range(1000)}
_MILLISECONDS_CLOSED = {f"{decimals}>": value for decimals, value in _MILLISECONDS.items()}


class Word(NamedTuple):
    """A word, or a few that share one time, and when it starts."""

    start: float
    text: str


_new_word = partial(tuple.__new__, Word)  # a third of the cost of calling Word, once per spoken word


class ShownCue(NamedTuple):
    """What a file shows from start to end: its non-blank lines, markup included, joined by \\n."""

    start: float
    end: float
    text: str
    words: Sequence[Word] = ()  # where the file times words outside the text (Whisper)


def seconds(stamp: str) -> float | None:
    """The time of `01:02:03,400`, with dot or comma, without hours or fraction; None for anything else."""
    try:  # by tables: this is most of the cost of reading captions
        return _minutes(stamp[:-6]) + _SECONDS[stamp[-6:-4]] + _MILLISECONDS[stamp[-4:]]
    except KeyError:
        match = _STAMP.fullmatch(stamp)
    if not match:
        return None
    sign, hours, minutes, rest, decimals = match.groups()
    time = int(hours or 0) * 3600 + int(minutes) * 60 + int(rest) + float(f"0.{decimals or 0}")
    return -time if sign else time


@lru_cache(maxsize=1 << 14)
def _minutes(stamp: str) -> int:
    match = _HOURS_MINUTES.fullmatch(stamp)
    if not match:
        raise KeyError(stamp)
    return int(match[1] or 0) * 3600 + int(match[2]) * 60


@lru_cache(maxsize=1 << 14)
def _opened_minutes(opening: str) -> int:
    """Parse `<01:02:`, the opening of an inline time."""
    if opening[:1] != "<":
        raise KeyError(opening)
    return _minutes(opening[1:])


def timed_words(cue: ShownCue) -> Sequence[Word]:
    """The words of a cue with their start times, not cleaned, in order; () where the file does not time them."""
    start, end, text, words = cue
    if words or "<" not in text:
        return words
    parts = text.replace("<", " <").split()
    stamps = parts[1::2]
    if text.count("<") == len(stamps) == len(parts) // 2 and len(parts) % 2:
        try:  # the usual case: a word, the next word's time, a word; nothing else is in all three tables
            times = [
                _opened_minutes(stamp[:-7]) + _SECONDS[stamp[-7:-5]] + _MILLISECONDS_CLOSED[stamp[-5:]]
                for stamp in stamps
            ]
        except KeyError:
            return _unusual_words(cue)
        return list(map(_new_word, zip(_in_order([start, *times], max(start, end)), parts[::2], strict=True)))
    return _unusual_words(cue)


def _unusual_words(cue: ShownCue) -> list[Word]:
    """Timed words with tags among them, several or no words per time, or times in another form."""
    words: list[Word] = []
    if not INLINE_TIME.search(cue.text):
        return words
    time, latest = cue.start, max(cue.start, cue.end)
    for line in TAG.sub("", cue.text).split("\n"):
        parts = INLINE_TIME.split(line)
        times = _in_order([time, *(seconds(stamp) or 0.0 for stamp in parts[1::2])], latest)
        time = times[-1]
        words += words_of(times, parts[::2])
    return words


def _in_order(times: list[float], latest: float) -> list[float]:
    if times[-1] > latest or sorted(times) != times:
        return [min(time, latest) for time in accumulate(times, max)]
    return times


def words_of(times: list[float], texts: list[str]) -> list[Word]:
    """Timed texts as words; texts without a space between them make one word: "mother", "-in", "-law"."""
    spelled = "".join(texts).split()
    if len(spelled) == len(texts) and " ".join(texts).split() == spelled:  # the usual case: one word each
        return list(map(_new_word, zip(times, spelled, strict=True)))
    words: list[Word] = []
    syllables: list[str] = []
    word_start = 0.0
    for time, text in zip(times, texts, strict=True):
        if not text:
            continue
        if syllables and (text[0].isspace() or syllables[-1][-1].isspace()):
            words.append(Word(word_start, " ".join("".join(syllables).split())))
            syllables = []
        if not syllables:
            word_start = time
        syllables.append(text)
    words.append(Word(word_start, " ".join("".join(syllables).split())))
    return [word for word in words if word.text]


def is_rolling(cues: Sequence[ShownCue]) -> bool:
    """Whether the cues imitate a rolling screen (the rule is at the top of this file)."""
    return _way_of_rolling(cues[:SAMPLE]) is not None


def unroll(cues: Sequence[ShownCue]) -> Sequence[ShownCue]:
    """The cues with every line only in the cue where it was new; ordinary cues are returned unchanged."""
    way = _way_of_rolling(cues[:SAMPLE])
    return cues if way is None else _walk(cues, way)[0]


# Given the screen, a cue and its lines without markup: the cue's new text, and the screen afterwards.
Carry = Callable[[list[str], ShownCue, list[str]], tuple[str, list[str]]]


def _way_of_rolling(cues: Sequence[ShownCue]) -> Carry | None:
    pairs = len(cues) - 1
    if _walk(cues, _carry_lines)[1] >= max(1, pairs / 3):
        return _carry_lines
    if _walk(cues, _carry_text)[1] >= max(3, pairs / 2):
        return _carry_text
    return None


def _walk(cues: Sequence[ShownCue], carry: Carry) -> tuple[list[ShownCue], int]:
    """The cues reduced to their new text, and how many of them are evidence that the file rolls."""
    spoken: list[ShownCue] = []
    evidence = 0
    screen: list[str] = []
    until = float("-inf")
    for cue in cues:
        start, end, text, _ = cue
        if start > until + UNBROKEN and "<" not in text:
            screen = []
        until = end
        if text and screen and text == screen[-1] and end - start < BRIEF:
            new, screen = "", [text]  # every other cue of a YouTube file
        else:
            new, screen = carry(screen, cue, _plain_lines(text))
        if new:
            if new is not text:
                evidence += 1
                cue = ShownCue(start, end, new)
            spoken.append(cue)
        elif end - start < BRIEF:
            evidence += 1
            if spoken:
                last = spoken[-1]
                spoken[-1] = ShownCue(last.start, end, last.text, last.words)
    return spoken, evidence


def _plain_lines(text: str) -> list[str]:
    if "<" in text:
        text = INLINE_TIME.sub("", text)
        if "<" in text:
            text = TAG.sub("", text)
    if "  " in text or "\t" in text:
        text = "\n".join([" ".join(line.split()) for line in text.split("\n")])
    return [line.strip() for line in text.split("\n")] if text else []


def _carry_lines(screen: list[str], cue: ShownCue, plain: list[str]) -> tuple[str, list[str]]:
    if not plain or plain[0] not in screen[-SCREEN:]:
        return cue.text, plain
    most = min(len(screen), len(plain), SCREEN)
    counts = list(range(most, 0, -1))
    if most == len(plain) and cue.end - cue.start >= BRIEF:
        counts = counts[1:] + counts[:1]  # prefer the reading in which a lasting cue shows something new
    for count in counts:
        if screen[-count:] == plain[:count]:
            lines = cue.text.split("\n", count)
            carried = "\n".join(lines[:count])
            if "<" not in carried or not INLINE_TIME.search(carried):
                return lines[count] if len(lines) > count else "", plain
    return cue.text, plain


def _carry_text(screen: list[str], cue: ShownCue, plain: list[str]) -> tuple[str, list[str]]:
    text = " ".join(plain)
    for count in (len(screen), *range(min(len(screen) - 1, SCREEN), 0, -1)):
        carried = screen[-count:] if count else []
        shown = " ".join(carried)
        if shown and text.startswith(shown) and text[len(shown) : len(shown) + 1] in ("", " "):
            new = text[len(shown) + 1 :]
            return new, [*carried, new] if new else carried
    return cue.text, plain
