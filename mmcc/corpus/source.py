"""What a reader finds on disk: narrated videos by name, before any file is opened."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mmcc.media.utterances import Utterance


class LabelledClip(NamedTuple):
    """A labelled stretch of a video: the 1-based step of its task that is shown from start to end."""

    step: int
    start: float
    end: float


@dataclass(frozen=True)
class Task:
    """Something people do in a known sequence of steps, e.g. "Make Jello Shots"."""

    id: str
    title: str
    steps: tuple[str, ...]
    url: str = ""
    primary: bool = True  # CrossTask labels the steps of primary tasks only


@dataclass(frozen=True)
class CaptionFile:
    """The file with a video's narration."""

    path: Path
    kind: str  # "manual" or "automatic"
    span: tuple[int, int] | None = None  # (offset, length) of its entry, if one JSON file covers many videos


class Still(NamedTuple):
    """A picture of a video, and when in the video it was taken."""

    path: Path
    time: float


@dataclass(frozen=True)
class Item:
    """One narrated video on disk. Without `media` it is listed but not found (yet)."""

    id: str
    media: Path | None  # a video file, a feature array (.npy), or the folder of its stills
    captions: CaptionFile | None = None
    title: str = ""
    tasks: tuple[str, ...] = ()  # the task whose steps are labelled comes first
    steps: tuple[LabelledClip, ...] = ()
    split: str | None = None  # the data set's own; None: decided by a hash of the id
    stills: tuple[Still, ...] = ()  # in order of time, where a data set has pictures instead of video
    utterances: tuple[Utterance, ...] = ()  # where a data set's own annotations say what is said, or done, when


class Skipped(NamedTuple):
    """A file that was skipped, and why."""

    path: str
    reason: str


@dataclass
class Source:
    """Everything a reader found."""

    items: list[Item] = field(default_factory=list)
    tasks: dict[str, Task] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)  # lines for people, e.g. found/total per task
    choices: list[str] = field(default_factory=list)  # lines for -v: which captions were taken, and why
