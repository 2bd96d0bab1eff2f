"""Cues to utterances: sentence-like units of about one to four seconds.

Captions are cut for reading, not for meaning: a line of automatic captions ends in mid-sentence, a transcript's segment
may last half a minute. Cues are first split: at sentence ends, at pauses, at clauses where a piece is too long, and
into equal parts where it still is. Neighbouring pieces are then joined again as long as the result is short enough and
spoken in one breath. Every word of the cues is in exactly one utterance, in order.

Where words are not timed, a cue's time is divided among them by length, from the cue's start and no slower than people
speak: captions stay on the screen through silences.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from operator import attrgetter
from typing import NamedTuple

from mmcc.media.captions import Cue, Word, collector_paused


class Utterance(NamedTuple):
    """Something said between start and end, in seconds: a node of the text modality."""

    start: float
    end: float
    text: str


@dataclass(frozen=True)
class Pace:
    """How speech is cut; times in seconds."""

    shortest: float = 1.0  # three words or so; a shorter sentence ("Okay.") says little alone, and joins the next
    longest: float = 4.0  # the paper samples a frame every second or two; a longer node would span several actions
    pause: float = 0.5  # within a phrase gaps stay below 0.3 s; half a second is a breath between phrases
    silence: float = 1.5  # afterwards something else may be happening, so even a short utterance ends
    per_word: float = 0.3  # with per_letter: the slowest speech, about 5 letters per second, half the usual rate
    per_letter: float = 0.1
    most_letters: int = 160  # 4 s of the fastest speech (40 letters per second); bounds cues that share one time


_Piece = tuple[float, float, str, bool]  # start, end, text, whether it ends a sentence


@collector_paused()
def to_utterances(cues: Iterable[Cue], pace: Pace = Pace()) -> list[Utterance]:  # noqa: B008 (frozen)
    """Turn cues, in any order, into utterances sorted by start."""
    utterances: list[Utterance] = []
    said = ""
    start = end = 0.0
    letters = 0
    complete = False
    for piece_start, piece_end, text, ends_sentence in _pieces(sorted(cues, key=attrgetter("start")), pace):
        gap = piece_start - end
        if said and not (
            piece_end - start > pace.longest
            or gap > pace.silence
            or ((complete or gap > pace.pause) and end - start >= pace.shortest)
            or letters + len(text) > pace.most_letters
        ):
            said = f"{said} {text}"
            letters += len(text)
        else:
            if said:
                utterances.append(Utterance(start, end, said))
            start, said, letters = piece_start, text, len(text)
        end, complete = piece_end, ends_sentence
    if said:
        utterances.append(Utterance(start, end, said))
    return utterances


def _pieces(cues: list[Cue], pace: Pace) -> Iterator[_Piece]:
    limits = [cue.start for cue in cues[1:]] + [float("inf")]
    for (start, end, text, words), limit in zip(cues, limits, strict=False):
        end = limit if limit < end else end
        if words:
            yield from _timed_pieces(start, max(start, end), words, pace)
        elif text:
            slowest = start + pace.per_letter * len(text) + pace.per_word * (text.count(" ") + 1)
            end = slowest if slowest < end else end
            end = end if end > start else start
            stop = _STOP.search(text)
            if end - start > pace.longest or (stop and _SENTENCE_END.search(text, stop.start())):
                yield from _split_pieces(start, end, text, pace)
            else:
                yield start, end, text, stop is not None and _ends_sentence(text)


# --- words with times -----------------------------------------------------------------------------------------------


def _timed_pieces(start: float, end: float, words: tuple[Word, ...], pace: Pace) -> Iterator[_Piece]:
    """Pieces that end where a sentence does, before a pause, or at the length limit."""
    words = _one_word_each(words, end)
    per_word, per_letter, longest, pause = pace.per_word, pace.per_letter, pace.longest, pace.pause
    texts: list[str] = []
    first = last = start
    for (time, text), (border, _) in zip(words, (*words[1:], Word(end, "")), strict=True):
        word_start = last if time < last else time if time < end else end
        border = border if border < end else end
        upto = word_start + per_word + per_letter * len(text)
        if upto > border:
            upto = border if border > word_start else word_start
        if texts and upto - first > longest:
            yield first, last, " ".join(texts), False
            texts = []
        if not texts:
            first = word_start
        texts.append(text)
        last = upto
        stop = text[-1] in _CLOSING and _ends_sentence(text)
        if stop or border - upto > pause:
            yield first, upto, " ".join(texts), stop
            texts = []
    if texts:
        yield first, last, " ".join(texts), False


def _one_word_each(words: tuple[Word, ...], end: float) -> tuple[Word, ...]:
    """Several words under one time divide the time until the next by length."""
    if not any(" " in word.text for word in words):
        return words
    parted: list[Word] = []
    for word, following in zip(words, (*words[1:], Word(end, "")), strict=True):
        rate = max(0.0, following.start - word.start) / max(1, len(word.text))
        offset = 0
        for text in word.text.split():
            parted.append(Word(word.start + rate * offset, text))
            offset += len(text) + 1
    return tuple(parted)


# --- words without --------------------------------------------------------------------------------------------------

_STOP = re.compile(r"[.!?…。！？]")
_CLOSING = frozenset(".!?…。！？\"'”’)")
_NO_TITLE = r"(?<!\bMr.)(?<!\bMrs.)(?<!\bMs.)(?<!\bDr.)(?<!\bSt.)(?<!\bvs.)"
_SENTENCE_END = re.compile(  # not "2 tbsp. of"
    rf"[.!?…。！？]{_NO_TITLE}[\"'”’)]{{0,3}}(?:(?<=[。！？])|(?=\s)(?!\s+[a-z]))"
)
_LAST_STOP = re.compile(rf"[.!?…。！？]{_NO_TITLE}[\"'”’)]{{0,3}}$")
_CLAUSE_END = re.compile(r"[,;:–—，、；：](?:(?<=[，、；：])|(?=\s))")
_REACH = 64  # letters around an equal part's border in which to look for a space; longer words are not cut


def _split_pieces(start: float, end: float, text: str, pace: Pace) -> list[_Piece]:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    rate = (end - start) / len(text)
    most = pace.longest / rate if rate else float("inf")  # letters
    pieces: list[_Piece] = []
    first = 0
    for last in (*ends, len(text)):
        complete = last < len(text) or _ends_sentence(text)
        for left, right in [(first, last)] if last - first <= most else _short_parts(text, first, last, most):
            if part := text[left:right].strip():
                pieces.append((start + rate * left, start + rate * right, part, complete and right == last))
        first = last
    return pieces


def _short_parts(text: str, first: int, last: int, most: float) -> list[tuple[int, int]]:
    """A sentence cut at its clauses, and clauses longer than `most` letters into equal parts."""
    parts: list[tuple[int, int]] = []
    for begin, stop in _cut(first, last, [match.end() for match in _CLAUSE_END.finditer(text, first, last)]):
        if stop - begin <= most:
            parts.append((begin, stop))
        else:
            parts += _cut(begin, stop, _equal_parts(text, begin, stop, ceil((stop - begin) / most)))
    return parts


def _cut(first: int, last: int, cuts: list[int]) -> list[tuple[int, int]]:
    if not cuts:
        return [(first, last)]
    borders = [first, *(cut for cut in cuts if first < cut < last), last]
    return list(pairwise(borders))


def _equal_parts(text: str, first: int, last: int, parts: int) -> list[int]:
    """The spaces nearest to the borders of equal parts."""
    cuts: list[int] = []
    for part in range(1, parts):
        target = first + (last - first) * part // parts
        before = text.rfind(" ", max(first, target - _REACH), target)
        after = text.find(" ", target, min(last, target + _REACH))
        cut = after if after >= 0 and (before < 0 or after - target < target - before) else before
        if cut > (cuts[-1] if cuts else first):
            cuts.append(cut)
    return cuts


def _ends_sentence(text: str) -> bool:
    return _LAST_STOP.search(text, max(0, len(text) - 4)) is not None
