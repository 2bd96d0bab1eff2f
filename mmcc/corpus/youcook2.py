"""YouCook2 as stills and sentences: a `videos.json` beside a folder of pictures.

    {"<video id>": {"recipe_type": "321",                                            optional: the kind of dish
                    "segments": [{"start": 77, "end": 98, "sentence": "mix …"}, …],
                    "frames": [{"file": "frames/….jpg", "segment": 0, "time": 87.5}, …]}, …}

Each labelled segment is an utterance: its sentence says what is done from start to end. A frame is a still at its
time, or in the middle of its segment where its time is unknown. A video without frames has text only. What is not
known is null: a segment without times or sentence, and a frame without a time, are left out and counted.

What is really said in some of the videos can be read from a file of its own, with when each sentence starts and
whether a person marked it as useful for cooking (`--captions narration.json`):

    {"<video id>": {"sentences": [{"start": 15.9, "text": "so this is the dough", "useful": false}, …]}, …}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mmcc.corpus.source import CaptionFile, Item, Skipped, Source, Still, Task
from mmcc.errors import InputError
from mmcc.media.utterances import Utterance
from mmcc.text import storable
from mmcc.untrusted import read_json

_VIDEOS = "videos.json"
_SPLITS = ("train", "validation", "test")
_REMEDY = "It maps ids to objects with segments (start, end, sentence) and frames (file, segment, time)."
_NARRATION_REMEDY = "It maps ids to objects with sentences (start, text, useful)."
_LAST_SENTENCE = 5.0  # seconds; the others end where the next one starts


def is_youcook2(root: Path) -> bool:
    """Whether a folder holds such a file."""
    try:
        return (root / _VIDEOS).is_file()
    except OSError:
        return False


def read_youcook2(root: Path, narration: Path | None = None, *, apart: bool = True, useful: bool = False) -> Source:
    """Every video with a usable sentence or frame; all are for training unless they name another `split`.

    `narration`: a file of what is said. `apart`: it becomes videos of its own, "<id> narration", of the videos
    without stills only, so that whichever stills are kept for testing, nothing said over them has been trained on;
    else its sentences are further utterances of their videos. `useful`: the sentences marked as useful alone.
    """
    path = root / _VIDEOS
    listed = _load(path, _REMEDY)
    source = Source()
    said = _read_narration(narration, useful, source.skipped) if narration else {}
    left_out = 0
    for video_id, entry in listed.items():
        try:
            item, without = _item(root, str(video_id), entry)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            source.skipped.append(Skipped(storable(f"{path}: {video_id}"), f"malformed ({error!r}). {_REMEDY}"))
            continue
        left_out += without
        if narration and item.id in said and (item.stills or not apart):
            heard = said.pop(item.id)
            if not apart:
                both = tuple(sorted(item.utterances + heard))
                item = replace(item, utterances=both, captions=CaptionFile(narration, "automatic"))
        if item.stills or item.utterances:
            source.items.append(item)
            source.tasks |= {task: Task(task, f"recipe type {task}", ()) for task in item.tasks}
        else:
            source.skipped.append(Skipped(storable(f"{path}: {video_id}"), "has neither a sentence nor a frame"))
    for video_id, heard in said.items():
        captions = CaptionFile(narration or path, "automatic")
        source.items.append(Item(f"{video_id} narration", None, captions, split="train", utterances=heard))
    stills = sum(bool(item.stills) for item in source.items)
    sentences = sum(len(item.utterances) for item in source.items)
    source.summary.append(f"{len(source.items):,} videos with {sentences:,} sentences, {stills:,} of them with stills")
    if left_out:
        source.summary.append(f"{left_out:,} segments and frames without a time or a sentence are left out")
    return source


def _load(path: Path, remedy: str) -> dict[str, Any]:
    try:
        return read_json(path, dict)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})", remedy) from None


def _read_narration(path: Path, useful: bool, skipped: list[Skipped]) -> dict[str, tuple[Utterance, ...]]:
    """What is said in each video; a malformed entry is skipped."""
    said = {}
    for video_id, entry in _load(path, _NARRATION_REMEDY).items():
        try:
            sentences = sorted(entry["sentences"], key=lambda each: _seconds(each["start"]))
            starts = [_seconds(each["start"]) for each in sentences]
            ends = [*starts[1:], starts[-1] + _LAST_SENTENCE] if starts else []
            heard = tuple(
                Utterance(start, end, str(each["text"]))
                for start, end, each in zip(starts, ends, sentences, strict=True)
                if each["useful"] or not useful
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            skipped.append(Skipped(storable(f"{path}: {video_id}"), f"malformed ({error!r}). {_NARRATION_REMEDY}"))
            continue
        if heard:
            said[video_id] = heard
    return said


def _item(root: Path, video_id: str, entry: Mapping[str, Any]) -> tuple[Item, int]:
    """The video, and how much of it was left out."""
    segments, frames = list(entry.get("segments", ())), list(entry.get("frames", ()))
    said = [
        Utterance(_seconds(each["start"]), _seconds(each["end"]), str(each["sentence"]))
        for each in segments
        if None not in (each["start"], each["end"], each["sentence"])
    ]
    stills = [Still(root / frame["file"], time) for frame in frames if (time := _time(frame, segments)) is not None]
    stills.sort(key=lambda still: still.time)
    recipe, split = entry.get("recipe_type"), entry.get("split") or "train"
    if split not in _SPLITS:
        raise ValueError(f"split {split!r} is none of {', '.join(_SPLITS)}")
    item = Item(
        video_id,
        media=stills[0].path.parent if stills else None,
        captions=CaptionFile(root / _VIDEOS, "manual") if said else None,
        tasks=(str(recipe),) if recipe else (),
        split=split,
        stills=tuple(stills),
        utterances=tuple(sorted(said)),
    )
    return item, len(segments) - len(said) + len(frames) - len(stills)


def _time(frame: Mapping[str, Any], segments: list[Mapping[str, Any]]) -> float | None:
    if frame.get("time") is not None:
        return _seconds(frame["time"])
    segment = segments[frame["segment"]]
    return None if None in (segment["start"], segment["end"]) else (segment["start"] + segment["end"]) / 2


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError(f"{value!r} is not a time")
    return seconds
