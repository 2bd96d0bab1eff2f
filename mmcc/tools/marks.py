"""Steps that a person marks in videos, kept beside the library in CrossTask's format, so that `mmcc ingest` reads them:

    tasks_primary.txt               tasks, each with its id, title, address and steps
    videos.csv                      the task of each video
    annotations/<task>_<video>.csv  step,start,end

    mmcc ingest cooking.annotations -o marked.corpus --videos ~/Videos/cooking

The library itself is never written to. A task is known by its title and steps, so its videos never disagree on what a
step's number means; a longer list of steps takes over the videos of the shorter one that it begins with.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from threading import Lock

from mmcc.corpus.crosstask import read_steps, read_tasks
from mmcc.corpus.source import LabelledClip, Source, Task
from mmcc.errors import InputError, UsageError
from mmcc.files import replace_text, writing
from mmcc.locks import only_writer
from mmcc.text import one_line

__all__ = ["Annotations", "Conflict", "LabelledClip", "VideoMarks"]

MOST_STEPS, MOST_MARKS, LONGEST_NAME = 200, 5000, 120
_LONGEST_VIDEO = 7 * 24 * 3600.0  # seconds
_NO_ADDRESS = "-"  # a task's third line must not be empty


class Conflict(Exception):
    """Somebody else has changed the marks of a video since they were read."""


@dataclass(frozen=True)
class VideoMarks:
    """What is marked in one video."""

    title: str = ""  # of the task
    steps: tuple[str, ...] = ()
    marks: tuple[LabelledClip, ...] = ()

    @property
    def revision(self) -> int:
        """Another number whenever something else is marked; 0 for nothing."""
        if not self.title and not self.marks:
            return 0
        return zlib.crc32(repr((self.title, self.steps, self.marks)).encode()) or 1


@dataclass
class Annotations:
    """A folder of them. Any thread may use it, and several processes."""

    folder: Path
    videos: Iterable[str]  # ids of the library
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._uses = Counter(_name_in_files(video) for video in self.videos)

    def read(self, video: str) -> VideoMarks | None:
        """None if nothing was saved of a video. InputError for a folder that cannot be read."""
        with self._lock:
            tasks = self._tasks()
            return self._read(self._name(video), tasks)

    def write(self, video: str, marks: VideoMarks, revision: int) -> VideoMarks:
        """Replace what is marked in a video; Conflict unless `revision` is that of what is there (0 for nothing)."""
        name = self._name(video)
        checked = _checked(marks)
        with self._lock, writing(self.folder):
            (self.folder / "annotations").mkdir(parents=True, exist_ok=True)
            with only_writer(self.folder):
                tasks = self._tasks()
                before = self._read(name, tasks)
                if (before.revision if before else 0) != revision:
                    raise Conflict
                self._replace(name, checked, tasks)
        return checked

    def _replace(self, name: str, marks: VideoMarks, tasks: dict[str, Task]) -> None:
        """Every file is whole at every moment; the annotation comes after the task that it names."""
        files = self._files()
        moved: dict[str, str] = {}
        if marks.title:
            task = Task(_id_of(marks.title, marks.steps), marks.title, marks.steps)
            shorter = [
                each
                for each in tasks.values()
                if each.title == task.title and each.id != task.id and task.steps[: len(each.steps)] == each.steps
            ]
            moved = {each.id: task.id for each in shorter}
            replace_text(self.folder / "tasks_primary.txt", _tasks_text({**tasks, task.id: task}))
            replace_text(self._annotation(task.id, name), _marks_text(marks.marks))
            files[name] = [task.id]
        else:
            files.pop(name, None)
        for path in self._paths():
            of, _, video = path.stem.partition("_")
            if video == name and of not in files.get(name, ()):
                path.unlink()
            elif of in moved:
                path.replace(self._annotation(moved[of], video))
                files[video] = [moved[of]]
        used = {of for each in files.values() for of in each}
        kept = {name: each for name, each in {**tasks, **self._tasks()}.items() if name in used}
        lines = [f"{task},{video},\n" for video, each in sorted(files.items()) for task in each]
        replace_text(self.folder / "videos.csv", "".join(lines))
        replace_text(self.folder / "tasks_primary.txt", _tasks_text(kept))

    def _read(self, name: str, tasks: dict[str, Task]) -> VideoMarks | None:
        known = [tasks[task] for task in self._files().get(name, ()) if task in tasks]
        if not known:
            return None
        task = known[0]
        skipped = Source()
        clips = read_steps(self._annotation(task.id, name), len(task.steps), skipped)
        return VideoMarks(task.title, task.steps, clips)

    def _tasks(self) -> dict[str, Task]:
        path = self.folder / "tasks_primary.txt"
        return read_tasks(path, primary=True) if path.is_file() and path.stat().st_size else {}

    def _files(self) -> dict[str, list[str]]:
        """The tasks of each video with an annotation, the latest first."""
        found: dict[str, list[str]] = {}
        for path in sorted(self._paths(), key=lambda path: -path.stat().st_mtime_ns):
            task, _, video = path.stem.partition("_")
            found.setdefault(video, []).append(task)
        return found

    def _paths(self) -> list[Path]:
        return [path for path in (self.folder / "annotations").glob("*_*.csv") if not path.name.startswith(".")]

    def _annotation(self, task: str, name: str) -> Path:
        return self.folder / "annotations" / f"{task}_{name}.csv"

    def _name(self, video: str) -> str:
        name = _name_in_files(video)
        if not name or "," in name or name != one_line(name) or len(name.encode()) > 200:
            raise InputError(video, "has a name that annotations cannot have", "Rename the file, without commas.")
        if self._uses[name] > 1:
            raise InputError(video, f"is one of {self._uses[name]} videos named {name}", "Give them different names.")
        return name


def _name_in_files(video: str) -> str:
    """The last part of an id that is a path: as CrossTask's videos are found, in whatever folder they are."""
    return PurePath(video).name


def _checked(given: VideoMarks) -> VideoMarks:
    """UsageError says what the format has no room for."""
    title, steps = " ".join(given.title.split()), tuple(" ".join(step.split()) for step in given.steps)
    if not title and (steps or given.marks):
        raise UsageError("The task needs a title.")
    if not title:
        return VideoMarks()
    if not steps or not all(steps):
        raise UsageError("A task needs steps, and each of them a name.")
    if len(steps) > MOST_STEPS or len(given.marks) > MOST_MARKS:
        raise UsageError(f"A task has at most {MOST_STEPS} steps, and a video {MOST_MARKS} marks.")
    for name in (title, *steps):
        if len(name) > LONGEST_NAME or name != one_line(name):
            raise UsageError(f"{one_line(name)[:40]}…: a name has at most {LONGEST_NAME} letters, all printable.")
    if bad := [step for step in steps if "," in step]:
        raise UsageError(f"{bad[0]}: a step's name cannot contain a comma, which separates steps in the file.")
    for step, start, end in given.marks:
        if not 1 <= step <= len(steps):
            raise UsageError(f"There is no step {step}: the task has {len(steps)}.")
        if not (math.isfinite(start) and math.isfinite(end) and 0 <= start <= end <= _LONGEST_VIDEO):
            raise UsageError(f"A mark cannot last from {start} to {end} s.")
    clips = [LabelledClip(step, round(float(start), 3), round(float(end), 3)) for step, start, end in given.marks]
    return VideoMarks(title, steps, tuple(sorted(clips, key=lambda clip: (clip.start, clip.end, clip.step))))


def _id_of(title: str, steps: Sequence[str]) -> str:
    return hashlib.sha256("\n".join([title, *steps]).encode()).hexdigest()[:10]


def _tasks_text(tasks: dict[str, Task]) -> str:
    blocks = [
        "\n".join([task.id, task.title, task.url or _NO_ADDRESS, str(len(task.steps)), ",".join(task.steps)])
        for task in sorted(tasks.values(), key=lambda task: (task.title, task.id))
    ]
    return "".join(f"{block}\n\n" for block in blocks)


def _marks_text(marks: Iterable[LabelledClip]) -> str:
    return "".join(f"{step},{start:.3f},{end:.3f}\n" for step, start, end in marks)
