"""CrossTask as released: tasks with their steps, the list of videos, and the labelled clips of 18 primary tasks.

The release contains no video. People download what YouTube still has, so a missing video is not an error: every
listed video becomes an item, and the summary gives the number found for each task.
"""

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mmcc.corpus.disk import (
    VIDEO_SUFFIXES,
    MediaIndex,
    as_walked,
    at_once,
    dataset_id,
    require_folder,
    skip,
    take_listed,
    youtube_title,
)
from mmcc.corpus.pairing import Match, choose, pair
from mmcc.corpus.source import CaptionFile, Item, LabelledClip, Source, Task
from mmcc.errors import InputError
from mmcc.untrusted import Malformed, read_start

_WHOLE_RELEASE = "Unpack the whole CrossTask release into this folder."
_LARGEST = 64 << 20  # bytes of one file; the largest of the release has 300 kB
_TASK_LINES = ("id", "title", "address", "number of steps", "steps")


@dataclass
class _Listed:
    """What the release says about one video."""

    tasks: list[str] = field(default_factory=list)
    steps: tuple[LabelledClip, ...] = ()
    split: str | None = None
    labelled_by: str = ""  # the task it is annotated for


def is_crosstask(root: Path) -> bool:
    """Whether a folder is an unpacked CrossTask release."""
    try:
        return (root / "tasks_primary.txt").is_file()
    except OSError:
        return False


def read_crosstask(
    root: Path,
    *,
    videos: Path | None = None,
    captions: Path | None = None,
    media_suffixes: frozenset[str] = VIDEO_SUFFIXES,
    language: str = "en",
) -> Source:
    """Every video of the release, with its steps, and with its file and captions where found.

    Both are looked up by id under `videos` and `captions`, which default to the release's own folder.
    """
    for folder, what in ((root, "CrossTask release"), (videos, "videos"), (captions, "captions")):
        if folder is not None:
            require_folder(folder, what)
    source = Source()
    source.tasks = read_tasks(root / "tasks_primary.txt", primary=True)
    if (root / "tasks_related.txt").is_file():
        for task in read_tasks(root / "tasks_related.txt", primary=False).values():
            source.tasks.setdefault(task.id, task)
    listed = _read_lists(root, source)
    _read_annotations(root / "annotations", listed, source)

    # The annotations are named like captions of their videos, so the walk skips their folder.
    annotations = [root / "annotations"] if (root / "annotations").is_dir() else []
    index = MediaIndex([videos or root], [captions or root], media_suffixes=media_suffixes, without=annotations)
    found = take_listed(index, listed)
    chosen_folder = as_walked(captions, videos or root) if captions else None
    pairs = pair(found, index.captions, lambda _, stem: _match(stem, listed), chosen_folder)

    def captions_of(video_id: str) -> tuple[CaptionFile | None, list[str]]:
        candidates = pairs.candidates.get(video_id, [])
        return choose(video_id, candidates, index, beside=found.get(video_id), language=language)

    chosen_captions = at_once(captions_of, listed, remote=index.remote)
    for (video_id, entry), (chosen, lines) in zip(listed.items(), chosen_captions, strict=True):
        file = found.get(video_id)
        source.choices += lines
        title = youtube_title(file.stem) if file and file.stem.endswith(f"[{video_id}]") else ""
        source.items.append(
            Item(video_id, file and file.path, chosen, title, tuple(entry.tasks), entry.steps, entry.split)
        )
    source.skipped += index.skipped
    source.choices += index.notes
    source.summary = _summary(source)
    return source


def _match(stem: str, listed: dict[str, _Listed]) -> Match | None:
    video_id = dataset_id(stem, listed)
    return Match(video_id) if video_id else None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The non-empty lines, numbered from 1."""
    try:
        content = io.BytesIO(read_start(path, _LARGEST))
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}", _WHOLE_RELEASE) from None
    except Malformed as error:
        raise InputError(path, f"is no file of the release: {error}", _WHOLE_RELEASE) from None
    for number, line in enumerate(io.TextIOWrapper(content, "utf-8-sig", "replace"), 1):
        if line.strip():
            yield number, line.strip()


def read_tasks(path: Path, *, primary: bool) -> dict[str, Task]:
    """Blocks of five lines. A task read wrongly would mislabel all its videos, so any doubt is an error here."""
    remedy = f"Each task takes five lines: {', '.join(_TASK_LINES)} (comma-separated)."
    tasks: dict[str, Task] = {}
    lines = list(_lines(path))
    for at in range(0, len(lines), len(_TASK_LINES)):
        block = lines[at : at + len(_TASK_LINES)]
        first = block[0][0]
        if len(block) < len(_TASK_LINES):
            raise InputError(path, f"line {first}: this task ends before its {_TASK_LINES[len(block)]}", remedy)
        task_id, title, url, count, names = (text for _, text in block)
        steps = tuple(name.strip() for name in names.split(","))
        if re.search(r"[\s,_/]", task_id):  # the first "_" ends the task in <task>_<video>
            raise InputError(path, f"line {first}: {task_id[:40]!r} is not a task id", remedy)
        if task_id in tasks:
            raise InputError(path, f"line {first}: task {task_id} appears twice", remedy)
        if not (count.isdecimal() and len(count) < 6):
            raise InputError(path, f"line {block[3][0]}: {count[:40]!r} is not a number of steps", remedy)
        if int(count) != len(steps) or not all(steps):
            raise InputError(path, f"line {block[4][0]}: expected {count} steps, found {len(steps)}", remedy)
        tasks[task_id] = Task(task_id, title, steps, url, primary)
    if not tasks:
        raise InputError(path, "has no tasks", remedy)
    return tasks


def _read_lists(root: Path, source: Source) -> dict[str, _Listed]:
    """videos.csv, and videos_val.csv for the data set's own split; without the latter, ingest decides the split."""
    listed: dict[str, _Listed] = {}
    validation = root / "videos_val.csv"
    has_split = validation.is_file()
    lists = [(root / "videos.csv", "train" if has_split else None)]
    if has_split:
        lists.append((validation, "validation"))
    for path, split in lists:
        for number, line in _lines(path):
            fields = [text.strip() for text in line.split(",")]
            if len(fields) != 3 or not fields[0] or not fields[1]:
                source.skipped.append(skip(f"{path}:{number}", "is not task,video,address"))
                continue
            task, video_id, _ = fields
            # tasks_related.txt may be missing: its videos still count, under a task known by id only.
            source.tasks.setdefault(task, Task(task, "", (), primary=False))
            entry = listed.setdefault(video_id, _Listed())
            entry.split = split
            if task not in entry.tasks:
                entry.tasks.append(task)
    return listed


def _read_annotations(folder: Path, listed: dict[str, _Listed], source: Source) -> None:
    try:
        files = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise InputError(folder, f"cannot be read: {error.strerror}", _WHOLE_RELEASE) from None
    for path in files:
        if path.suffix.lower() != ".csv" or path.name.startswith("."):
            continue
        task_id, _, video_id = path.stem.partition("_")
        task = source.tasks.get(task_id)
        if task is None or not task.steps or not video_id:
            source.skipped.append(skip(path, "is not named <task>_<video>.csv after a task with steps"))
            continue
        entry = listed.setdefault(video_id, _Listed())
        if entry.labelled_by:
            source.skipped.append(skip(path, f"this video is already labelled under task {entry.labelled_by}"))
            continue
        entry.labelled_by = task_id
        entry.tasks = [task_id, *(other for other in entry.tasks if other != task_id)]
        entry.steps = read_steps(path, len(task.steps), source)


def read_steps(path: Path, known: int, source: Source) -> tuple[LabelledClip, ...]:
    steps = []
    try:
        for number, line in _lines(path):
            try:
                steps.append(_parse_step(line, known))
            except ValueError as problem:
                source.skipped.append(skip(f"{path}:{number}", str(problem)))
    except InputError as error:
        source.skipped.append(skip(path, error.cause))
    return tuple(steps)


def _parse_step(line: str, known: int) -> LabelledClip:
    fields = line.split(",")
    if len(fields) != 3:
        raise ValueError(f"expected 3 fields, found {len(fields)}")
    try:
        step, start, end = int(fields[0]), float(fields[1]), float(fields[2])
    except ValueError:
        raise ValueError("is not step,start,end in numbers") from None
    if not 1 <= step <= known:
        raise ValueError(f"step {step} of a task that has {known}")
    if not (math.isfinite(start) and math.isfinite(end)) or start < 0:
        raise ValueError("start and end must be finite and not negative")
    if end < start:
        raise ValueError("ends before it starts")
    return LabelledClip(step, start, end)


def _summary(source: Source) -> list[str]:
    """Found/total per task; a video of two tasks counts for both, and once in the last line."""
    of_task: dict[str, list[Item]] = {task: [] for task in source.tasks}
    for item in source.items:
        for task in item.tasks:
            of_task[task].append(item)
    rows = [("task", "videos", "captions", "annotated")]
    rows += [_row(source.tasks[task].title or task, items) for task, items in of_task.items() if items]
    rows.append(_row("all tasks", source.items))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([title.ljust(widths[0]), *map(str.rjust, counts, widths[1:])]) for title, *counts in rows]


def _row(title: str, items: list[Item]) -> tuple[str, str, str, str]:
    videos = sum(item.media is not None for item in items)
    captions = sum(item.captions is not None for item in items)
    return title, f"{videos}/{len(items)}", str(captions), str(sum(bool(item.steps) for item in items))
