"""Transcripts in tables: HowTo100M's CSV and JSON, and the JSON of Whisper and its relatives.

HowTo100M publishes one `caption.json` of up to 10 GB: {"<video id>": {"start": [...], "end": [...], "text": [...]}}.
`index_caption_json` finds each video's value in one pass over the mapped file, so that a video costs one small read.
"""

import csv
import io
import math
import mmap
import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from mmcc.errors import InputError
from mmcc.media.rolling_captions import ShownCue, Word, words_of
from mmcc.untrusted import parse_json

SILENT = 0.6  # Whisper's own default no_speech_threshold: above it, Whisper treats a segment as hallucinated

JSON_REMEDY = (
    "Expected HowTo100M's caption.json, one entry of it (start, end and text lists), or Whisper's JSON (segments)."
)
CSV_REMEDY = "Expected a header line that names the columns start, end and text, as in HowTo100M's <video id>.csv."

# Possessive, so that a value of any size costs one pass and a broken one no backtracking.
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_FLAT_OBJECT = rb'\{[^"{}]*+(?:' + _STRING + rb'[^"{}]*+)*+\}'
_ENTRY = re.compile(rb"\s*+(" + _STRING + rb")\s*+:\s*+(" + _FLAT_OBJECT + rb")\s*+([,}])", re.DOTALL)
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?\s*+\{")
_EMPTY_REST = re.compile(rb"\s*+\}")


_MOST = 1 << 30  # values: what a file of many videos may have is limited by the memory of the worker that reads it


def index_caption_json(path: Path, wanted: Container[str] | None = None) -> dict[str, tuple[int, int]]:
    """Where each wanted video's value lies in a caption.json: {id: (offset, length)} in bytes."""
    remedy = "Download it again: it should be one JSON object {video id: {start, end, text}, ...} to its last byte."
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _index(data, path, wanted, remedy)
    except ValueError as error:
        raise InputError(path, "is empty, so it has no captions", remedy) from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})", "Check that it is a file you may read.") from error


def _index(data: mmap.mmap, path: Path, wanted: Container[str] | None, remedy: str) -> dict[str, tuple[int, int]]:
    spans: dict[str, tuple[int, int]] = {}
    opening = _OPENING.match(data)
    if not opening:
        raise InputError(path, "does not begin as a JSON object", remedy)
    position = opening.end()
    if empty := _EMPTY_REST.match(data, position):
        position, closed = empty.end(), True
    else:
        closed = False
    while not closed:
        entry = _ENTRY.match(data, position)
        if not entry:
            raise InputError(path, f"is cut off or not valid after byte {position:,} of {len(data):,}", remedy)
        try:
            video_id = str(parse_json(entry[1], object))
        except ValueError as error:
            raise InputError(path, f"has an unreadable video id at byte {position:,}", remedy) from error
        if wanted is None or video_id in wanted:
            spans[video_id] = (entry.start(2), entry.end(2) - entry.start(2))
        position, closed = entry.end(), entry[3] == b"}"
    return spans


def read_json(text: str, name: str, video_id: str | None = None) -> list[ShownCue]:
    """The cues of a JSON transcript in any known layout; `video_id` picks one video where the file holds many."""
    try:
        content: Any = parse_json(text, object, finite=False, most=_MOST)  # Whisper writes NaN
    except ValueError as error:
        raise InputError(name, f"cannot be used: {str(error)[:100]}", JSON_REMEDY) from error
    if isinstance(content, dict) and not _is_lists(content):
        content = _one_video(content, name, video_id)
    if isinstance(content, dict):
        if _is_lists(content):
            return _from_lists(content)
        content = next((content[key] for key in ("segments", "transcription", "chunks") if key in content), None)
    if not isinstance(content, list) or not all(isinstance(segment, dict) for segment in content):
        raise InputError(name, "is JSON, but not a transcript", JSON_REMEDY)
    return [cue for segment in content if (cue := _from_segment(segment)) is not None]


def _is_lists(content: dict[str, Any]) -> bool:
    return all(isinstance(content.get(key), list) for key in ("start", "end", "text"))


def _one_video(content: dict[str, Any], name: str, video_id: str | None) -> dict[str, Any]:
    videos = [key for key, value in content.items() if isinstance(value, dict) and _is_lists(value)]
    if not videos:
        return content
    if video_id is None and len(videos) == 1:
        video_id = videos[0]
    if video_id not in videos:
        cause = f"contains the captions of {len(videos):,} videos, none of them {video_id!r}"
        remedy = "Check the video id."
        if video_id is None:
            cause, remedy = f"contains the captions of {len(videos):,} videos", "Say which video's captions to read."
        raise InputError(name, cause, remedy)
    entry: dict[str, Any] = content[video_id]
    return entry


def _from_lists(entry: dict[str, Any]) -> list[ShownCue]:
    rows = zip(entry["start"], entry["end"], entry["text"], strict=False)
    return [ShownCue(_time(start), _time(end), _shown(text)) for start, end, text in rows]


def _from_segment(segment: dict[str, Any]) -> ShownCue | None:
    """One segment of Whisper or faster-whisper (start, end), Transformers (timestamp) or whisper.cpp (offsets)."""
    silence = segment.get("no_speech_prob")
    if isinstance(silence, float) and silence > SILENT:
        return None
    start, end = segment.get("start"), segment.get("end")
    timestamp, offsets = segment.get("timestamp"), segment.get("offsets")
    if isinstance(timestamp, list) and len(timestamp) == 2:
        start, end = timestamp
    elif isinstance(offsets, dict):
        start, end = _time(offsets.get("from")) / 1000, _time(offsets.get("to")) / 1000
    text = _shown(segment.get("text"))
    first, last = _time(start), _time(start if end is None else end)
    return ShownCue(first, last, text, _words(segment.get("words"), first, last, text))


def _words(words: Any, start: float, end: float, text: str) -> Sequence[Word]:
    """The segment's timed words, or () where they do not add up to its text: the text takes precedence."""
    if not isinstance(words, list):
        return ()
    times: list[float] = []
    texts: list[str] = []
    time = start
    for word in words:
        spelling = word.get("word", word.get("text")) if isinstance(word, dict) else None
        if not isinstance(spelling, str):
            return ()
        spoken = _time(word.get("start"))  # WhisperX gives numerals no time: they then follow the word before
        if math.isfinite(spoken):
            time = min(max(time, spoken), max(start, end))
        times.append(time)
        texts.append(spelling)
    spaced = any(spelling[:1].isspace() for spelling in texts[1:])  # otherwise the words come without their spaces
    timed = words_of(times, texts if spaced else [f" {spelling}" for spelling in texts])
    return timed if " ".join([word.text for word in timed]).split() == text.split() else ()


def read_csv(text: str, name: str) -> list[ShownCue]:
    """The cues of a table with the columns start, end and text, in any order and among others."""
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        header = [column.strip().lower() for column in next(rows, [])]
        if not {"start", "end", "text"} <= set(header):
            raise InputError(name, "has no columns start, end and text", CSV_REMEDY)
        start, end, spoken = (header.index(column) for column in ("start", "end", "text"))
        width = max(start, end, spoken)
        return [ShownCue(_time(row[start]), _time(row[end]), _shown(row[spoken])) for row in rows if len(row) > width]
    except csv.Error as error:
        raise InputError(name, f"is not a valid CSV table ({error})", CSV_REMEDY) from error


def _shown(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    return "\n".join([line for line in text.splitlines() if line and not line.isspace()])


def _time(value: Any) -> float:
    """A time in seconds, or NaN, which the caption reader drops."""
    try:
        return math.nan if isinstance(value, str) and len(value) > 40 else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
