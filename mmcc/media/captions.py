"""Caption files of the common formats, read into timed, clean cues.

    bytes --decode--> text --by format--> shown cues --unroll--> new text only --clean--> cues

One parser reads SRT and WebVTT. It looks for timing lines and takes everything between two of them, because real files
break their own formats: blank lines inside cues, missing indexes, a dot or a comma as the decimal mark. Everything is
linear in the size of the file, even for hostile files.

How bad times are handled: a cue is dropped unless both its times are finite and within a thousand hours; a start
before 0 becomes 0, and a cue wholly before 0 is dropped; an end that is not after the start is replaced by an estimate
from the length of the text. Cues are sorted by start. Where they overlap, the earlier one ends when the next begins:
YouTube leaves a line on the screen while the next one is spoken. A cue that appears twice with the same times and text
(captions drawn in layers) counts once.
"""

import codecs
import gc
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from operator import attrgetter
from pathlib import Path, PurePath
from typing import NamedTuple

from mmcc.errors import InputError
from mmcc.media.rolling_captions import (
    BRIEF,
    INLINE_TIME,
    TAG,
    ShownCue,
    Word,
    is_rolling,
    seconds,
    timed_words,
    unroll,
)
from mmcc.media.transcripts import index_caption_json, read_csv, read_json

LATEST = 3_600_000.0  # seconds; a later time is a mistake, and arithmetic with 1e308 overflows
LETTERS_PER_SECOND = 15.0  # of ordinary speech; for cues whose end is unusable
LARGEST = 1 << 28  # bytes; one video's captions never come near, and a larger file would fill the memory
LONGEST = 100_000  # letters of one cue: almost two hours of speech, and nobody knows what of it was said when

__all__ = ["Cue", "Word", "looks_automatic", "parse_captions", "read_captions"]

REMEDY = "Expected SubRip (.srt), WebVTT (.vtt), HowTo100M's CSV or JSON, or Whisper's JSON."


class Cue(NamedTuple):
    """Something said between start and end, in seconds."""

    start: float
    end: float
    text: str
    words: tuple[Word, ...] = ()  # only where the file times them; joined by spaces they give the text


def read_captions(path: Path, span: tuple[int, int] | None = None, video_id: str | None = None) -> list[Cue]:
    """The cues of a caption file. `span`: read only these bytes (one entry of a caption.json), as (offset, length).

    Without a span, `video_id` picks one video's entry from a caption.json of many.
    """
    try:
        size = path.stat().st_size
        if span is None and video_id is not None and size > LARGEST and path.suffix.lower() == ".json":
            span = index_caption_json(path, {video_id}).get(video_id)
            if span is None:
                raise InputError(path, f"has no captions for the video {video_id!r}", "Check the video id.")
        offset, length = span or (0, size)
        if offset < 0 or length < 0 or offset + length > size:
            cause = f"is shorter than its index says ({size:,} bytes, captions at {offset:,} to {offset + length:,})"
            raise InputError(path, cause, "The file changed after it was indexed: ingest it again.")
        if length > LARGEST:
            raise InputError(path, f"is too large for one video's captions ({length:,} bytes)", REMEDY)
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(length)
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "Check that it is a file you may read.") from error
    return _parse(data, str(path), video_id)


def parse_captions(data: bytes, name: str) -> list[Cue]:
    """The cues in the bytes of a caption file; its name helps to detect the format, and appears in messages."""
    return _parse(data, name, None)


def looks_automatic(head: bytes) -> bool:
    """Whether the first bytes (2 KB are enough) of a caption file come from speech recognition.

    The signs are word times, rolling lines, or lines that mostly stay on while the next one is spoken: nobody times
    subtitles like that by hand.
    """
    text = decode(head)
    if INLINE_TIME.search(text):
        return True
    shown = _timing_cues(text)[:-1]  # the last cue may be cut off
    overlaps = sum(cue.end > following.start + BRIEF for cue, following in pairwise(shown))
    return overlaps > max(3, 0.6 * len(shown)) or is_rolling(shown)


def cues_from_shown(shown: Iterable[ShownCue]) -> list[Cue]:
    """Turn what a screen shows into what is said: valid times, no repetition, clean text, no overlap."""
    usable = [
        mended
        for cue in shown
        if (mended := cue if 0 <= cue.start <= LATEST and 0 <= cue.end <= LATEST else _mended(cue)) is not None
    ]
    usable.sort(key=attrgetter("start"))
    cues: list[Cue] = []
    waiting: Cue | None = None
    for cue in unroll(usable):
        start, end, text, words = cue
        if words or "<" in text:
            words = timed_words(cue)
        if words:
            text = " ".join([word.text for word in words])
            if _SUSPECT.search(text):
                words = _clean_words(words)
                text = " ".join([word.text for word in words])
        else:
            text = clean(text)
        if not text:
            continue
        if end <= start:
            end = start + len(text) / LETTERS_PER_SECOND
        if waiting is not None:
            if waiting.end > start:
                if waiting[:3] == (start, end, text):
                    continue
                waiting = _ending(waiting, start)
            cues.append(waiting)
        waiting = Cue(start, end, text, tuple(words))
    return cues if waiting is None else [*cues, waiting]


def _mended(cue: ShownCue) -> ShownCue | None:
    """A cue with a time out of range, mended by the rule at the top of this file; None drops it."""
    if not (-LATEST <= cue.start <= LATEST and -LATEST <= cue.end <= LATEST) or (cue.start < 0 and cue.end <= 0):
        return None
    return cue._replace(start=max(0.0, cue.start), words=[Word(max(0.0, start), text) for start, text in cue.words])


def _ending(cue: Cue, end: float) -> Cue:
    return Cue(cue.start, end, cue.text, tuple([Word(min(word.start, end), word.text) for word in cue.words]))


# --- formats --------------------------------------------------------------------------------------------------------

_CSV_HEADER = re.compile(r'(?:[^,\n]{0,40},)?\s*"?start"?\s*,\s*"?end"?\s*,\s*"?text"?\s*(?:\n|,|$)', re.IGNORECASE)
_COMMENT_BLOCK = re.compile(r"\n\n(?:NOTE|STYLE|REGION)(?=[ \t\n]|$)[^\n]*(?:\n[^\n]+)*")


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection: searching a million tuples for cycles takes a third of the time of reading captions."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@collector_paused()
def _parse(data: bytes, name: str, video_id: str | None) -> list[Cue]:
    text = decode(data)
    suffix = PurePath(name).suffix.lower()
    opening = text[:1000].lstrip()
    if suffix == ".json" or (opening[:1] in ("{", "[") and suffix not in (".srt", ".vtt")):
        shown = read_json(text, name, video_id)
    elif suffix == ".csv" or _CSV_HEADER.match(opening):
        shown = read_csv(text, name)
    else:
        shown = _timing_cues(text)
        if not shown and not opening.startswith("WEBVTT"):
            raise InputError(name, "is empty" if not opening else "has no captions in a known format", REMEDY)
    if (longest := max([len(cue.text) for cue in shown], default=0)) > LONGEST:
        remedy = f"Split it into captions with times of their own, each of {LONGEST:,} letters at most."
        raise InputError(name, f"has a caption of {longest:,} letters", remedy)
    return cues_from_shown(shown)


def _timing_cues(text: str) -> list[ShownCue]:
    """SRT and WebVTT: split at the arrows, keep those between two times, and take the text between two such lines."""
    is_vtt = text[:100].lstrip().startswith("WEBVTT")
    if is_vtt and ("\nNOTE" in text or "\nSTYLE" in text or "\nREGION" in text):
        text = _COMMENT_BLOCK.sub("\n", text)
    text = text.replace("<c>", "").replace("</c>", "")  # around each of YouTube's timed words; costly one by one
    before, *chunks = text.split("-->")
    cues: list[ShownCue] = []
    start = end = 0.0  # of the cue whose lines are being gathered
    gathered: list[str] = []  # its text so far, where the text itself contains arrows
    indexed = index_apart = False  # cues are numbered; a blank line separates the number from the times
    started = False
    end_stamp = "?"  # usually the next cue's start too
    at_line = True  # whether `before` starts a line
    for chunk in chunks:
        body, newline, stamp = before.rpartition("\n")
        rest_of_line, _, rest = chunk.partition("\n")
        stamp = stamp.strip()
        next_start = None if not newline and not at_line else end if stamp == end_stamp else seconds(stamp)
        next_end_stamp = rest_of_line.strip().partition(" ")[0]
        next_end = seconds(next_end_stamp)
        if next_start is None or next_end is None:
            gathered.append(before)
            before, at_line = chunk, False
            continue
        if gathered:
            body = " ".join([*gathered, body])
            gathered = []
        if started:
            if index_apart or not body.endswith("\n"):
                body = _without_label(body.rstrip() if index_apart else body, is_vtt, indexed)
            cues.append(ShownCue(start, end, _without_blanks(body)))
        else:
            started = True
            indexed = body.rstrip().rpartition("\n")[2].strip().isdecimal()
            index_apart = indexed and body.endswith("\n")
        start, end, end_stamp, before, at_line = next_start, next_end, next_end_stamp, rest, True
    if started:
        cues.append(ShownCue(start, end, _without_blanks(" ".join([*gathered, before]))))
    return cues


def _without_label(body: str, is_vtt: bool, indexed: bool) -> str:
    """A cue's lines without the next cue's number or name, which stand above the next cue's times."""
    above, newline, label = body.rpartition("\n")
    if indexed and label.strip().isdecimal():
        return above
    if is_vtt and newline and label.strip() and (not above or above.endswith("\n")):
        return above
    return body


def _without_blanks(body: str) -> str:
    body = body.strip()
    if "\n" not in body:
        return body
    if "\n\n" in body or "\n " in body or "\n\t" in body:
        return "\n".join([line for line in body.split("\n") if line and not line.isspace()])
    return body


# --- bytes to text --------------------------------------------------------------------------------------------------

# Line and page breaks are not among them: they separate words, and are folded with the other white space.
_UNPRINTABLE = "\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\ud800-\udfff\ufeff\ufffd\uffff"
_CONTROL = re.compile(f"[{_UNPRINTABLE}]")


def decode(data: bytes) -> str:
    """Decode UTF-8, UTF-16 (with or without a BOM) or Windows-1252; lines end in \\n, control characters go."""
    text = _decoded(data)
    if "\r" in text:
        text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def _decoded(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    head = data[:4096]
    zeros_even, zeros_odd = head[::2].count(0), head[1::2].count(0)
    if max(zeros_even, zeros_odd) > len(head) / 8 and min(zeros_even, zeros_odd) < len(head) / 32:
        return data.decode("utf-16-be" if zeros_even > zeros_odd else "utf-16-le", "replace")
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if broken and broken > (len(text) - len(text.encode("ascii", "ignore"))) / 2:
        return data.decode("cp1252", "replace")  # more broken characters than valid ones: it never was UTF-8
    return text


# --- text to words --------------------------------------------------------------------------------------------------

_PART = "\x1e"  # separates timed words while they are cleaned as one text; a control, so no text contains it
_SUSPECT = re.compile(rf"[-–—<>&:\[\](){{}}\\【】♩♪♫♬{_UNPRINTABLE}]")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")  # int() has limits
_PRONUNCIATION = re.compile(r"<rt\b[^<>\x1e]*>[^<>\x1e]*(?:</rt>)?")  # repeats the character in phonetic letters
_LINE_BREAK = re.compile(r"<br ?/?>|\\N")
_OVERRIDE = re.compile(r"\{\\[^{}]*\}")
_BRACKETED = re.compile(r"\[[^\[\]]*\]:?|【[^【】]*】")
_PARENTHESIS = re.compile(r"\(([^()]{1,60})\)")
_SUNG = re.compile(r"[♩♪♫♬]+([^♩♪♫♬\n]*)[♩♪♫♬]+")
_STRAY = re.compile(r"[\[\]♩♪♫♬]+")
_NAME = r"[A-Z][\w.'’-]{0,30}(?:[ \x1e]{1,2}[A-Z0-9][\w.'’-]{0,30}){0,2}"
_TURN = re.compile(rf">{{2,}}[ \t\x1e]*(?:{_NAME}:(?=\s|\x1e|$))?")
_DASH = re.compile(r"^[ \t\x1e]*[-–—]+(?:[ \t\x1e]+|$|(?=[^\d\s]))", re.MULTILINE)
# In capitals before ordinary text; a prefix such as "STEP 2:" names a part of the talk, not a speaker.
_SPEAKER = re.compile(
    r"^[ \t\x1e]*(?!STEP|TIP|NOTE|PART|CHAPTER)[A-Z][A-Z.'’-]{0,30}(?:[ \x1e]{1,2}[A-Z0-9][A-Z0-9.'’-]{0,30}){0,2}:"
    r"(?=[\s\x1e][^\n]*[a-z])",
    re.MULTILINE,
)
_SOUND = re.compile(
    r"\b(?:music|applau\w+|clap(?:s|ping)|laugh\w*|chuckl\w+|giggl\w+|cheer(?:s|ing)|sigh(?:s|ing)?|cough(?:s|ing)|"
    r"gasp(?:s|ing)|sneez\w+|sniff\w+|sobbing|crying|scream\w*|shouting|groan\w*|grunt\w*|whisper\w*|whistl\w+|humming|"
    r"singing|speaking|inaudible|indistinct|unintelligible|crosstalk|silence|static|beep\w*|buzz\w*|ringing|knock\w*|"
    r"footsteps|barking|meow\w*|sizzling|whirring|clattering|throat|noises?|chatter\w*|instrumental|jingle|foreign)\b",
    re.IGNORECASE,
)
_SENTENCE_WORD = re.compile(r"\b(?:until|when|while|if|or|about|you|your|it|i|we|for|to|so|like|not?)\b", re.IGNORECASE)


def clean(text: str) -> str:
    """The spoken words alone: no markup, entities, sound descriptions, speakers' names or dashes; spaces folded."""
    if _SUSPECT.search(text):
        text = _spoken(_CONTROL.sub("", text))
    if "  " not in text and text.isprintable():
        return text.strip()
    return " ".join(text.split())


def _clean_words(words: Sequence[Word]) -> list[Word]:
    texts = _spoken(_PART.join([_CONTROL.sub("", word.text) for word in words])).split(_PART)
    folded = [" ".join(text.split()) for text in texts]
    return [Word(word.start, text) for word, text in zip(words, folded, strict=True) if text]


def _spoken(text: str) -> str:
    """Speech without its annotations. Every _PART is kept, so that words keep their times."""
    for _ in range(2):  # some files are escaped twice
        if "&" in text:
            text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    if "<" in text or "\\" in text:
        text = _PRONUNCIATION.sub("", text)
        text = TAG.sub("", INLINE_TIME.sub("", _OVERRIDE.sub("", _LINE_BREAK.sub("\n", text))))
    if ">>" in text:
        text = _TURN.sub(_gap, text)
    text = _BRACKETED.sub(_gap, text)
    text = _SUNG.sub(_gap_for_sound, _PARENTHESIS.sub(_gap_for_sound, text))
    text = _STRAY.sub(" ", text)
    return _SPEAKER.sub(_gap, _DASH.sub(_gap, text))


def _gap(match: re.Match[str]) -> str:
    return " " + _PART * match[0].count(_PART)


def _gap_for_sound(match: re.Match[str]) -> str:
    """Drop "(upbeat music)"; keep "(about two cups)" and sung words, which are speech."""
    inside = match[1].replace(_PART, " ")
    is_sound = len(inside.split()) <= 4 and _SOUND.search(inside) and not _SENTENCE_WORD.search(inside)
    return _gap(match) if is_sound else match[0]
