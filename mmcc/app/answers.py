"""Answers as OpenAPI describes them. Routes build them as plain values; a test checks that they fit."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Modality = Literal["vision", "text"]


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Reason(Answer):
    cause: str
    remedy: str | None
    code: str


class Error(Answer):
    error: Reason


class ModelAbout(Answer):
    id: str
    name: str
    size: int
    calibrated: bool
    warning: str | None


class CorpusAbout(Answer):
    name: str
    videos: int
    hours: float
    frames: int
    utterances: int


class Can(Answer):
    mark: bool
    compare: bool
    upload: bool


class LimitsAbout(Answer):
    photos: int
    bytes: int
    pixels: int


class About(Answer):
    version: str
    models: list[ModelAbout]
    corpus: CorpusAbout
    can: Can
    limits: LimitsAbout


class VideoCard(Answer):
    id: str
    title: str
    duration: float
    task: str | None
    coverage: float | None
    utterances: int
    split: str
    poster: str


class Videos(Answer):
    total: int
    videos: list[VideoCard]


class Playable(Answer):
    url: str
    type: str


class Frames(Answer):
    count: int
    times: list[float]
    width: int
    height: int


class Said(Answer):
    index: int
    start: float
    end: float
    text: str


class Step(Answer):
    step: int
    text: str
    start: float
    end: float


class VideoDetails(Answer):
    id: str
    title: str
    duration: float
    task: str | None
    playable: Playable | None
    frames: Frames
    utterances: list[Said]
    steps: list[Step]
    status: str
    embedded: bool


class Status(Answer):
    state: Literal["none", "queued", "embedding", "ready", "failed"]
    done: float
    reason: str | None


class Station(Answer):
    role: str
    modality: Modality
    index: int
    time: float
    end: float | None
    text: str | None


class Edge(Answer):
    role: str
    modality: Modality
    weights: list[float]


class Walk(Answer):
    stations: list[Station]
    edges: list[Edge]
    returns: bool


class Settings(Answer):
    temperature: float
    unimodal: bool
    constrain: bool


class Cycle(Answer):
    forward: Walk | None
    backward: Walk | None
    model: str
    settings: Settings
    warning: str | None


class Comparison(Answer):
    a: Cycle
    b: Cycle


class VideoName(Answer):
    id: str
    title: str


class Change(Answer):
    from_time: float
    to_time: float
    from_frame: int
    to_frame: int
    from_text: str | None
    to_text: str | None
    score: float
    video: VideoName | None = None


class Progress(Answer):
    """How much of the library has been embedded; answers cover that much."""

    state: Literal["embedding", "ready", "failed"]
    done: float
    videos: int
    total: int
    reason: str | None


class Changes(Answer):
    changes: list[Change]
    warning: str | None
    library: Progress | None = None


class Hit(Answer):
    video: VideoName
    frame: int
    time: float
    text: str | None
    score: float


class RankedStep(Answer):
    text: str
    probability: float


class Next(Answer):
    futures: list[Hit]
    pasts: list[Hit]
    steps: list[RankedStep] | None
    none: float | None
    warning: str | None
    library: Progress


class Order(Answer):
    order: list[int]
    links: list[float]
    confidence: float
    guess: bool
    warning: str | None


class TaskSteps(Answer):
    title: str
    steps: list[str]


class Mark(Answer):
    step: int
    start: float
    end: float


class Marks(Answer):
    task: TaskSteps | None
    marks: list[Mark]
    revision: int
