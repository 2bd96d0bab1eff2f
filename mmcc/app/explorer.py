"""What the routes share: the library, the models and the thread that owns them, and what is kept in memory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from mmcc.api import Model
from mmcc.app.failures import Failure, unknown_video
from mmcc.app.memory import Recent
from mmcc.app.scan import Scan
from mmcc.app.worker import Urgency, Worker
from mmcc.errors import InputError, MissingDependency
from mmcc.tools.footage import Footage
from mmcc.tools.library import Card, VideoLibrary
from mmcc.tools.marks import Annotations
from mmcc.tools.queries import photo_pixels
from mmcc.tools.walks import SeenVideo

Found = TypeVar("Found")
State = Literal["none", "queued", "embedding", "ready", "failed"]
_SEEN_BYTES = 512 << 20  # embedded videos: some hundred hours
_ANSWER_BYTES = 64 << 20  # answers and pictures


class Ready(NamedTuple):
    """A video that a model can be asked about."""

    seen: SeenVideo
    cautions: list[str]

    @property
    def warning(self) -> str | None:
        return " ".join(self.cautions) or None


@dataclass
class Status:
    """How far the embedding of a video is."""

    state: State = "none"
    done: float = 0.0
    reason: str | None = None

    def hear(self, share: float) -> None:
        self.state, self.done = "embedding", share


@dataclass(frozen=True)
class Limits:
    """Of uploads."""

    photos: int = 30
    bytes: int = 24 << 20  # of one photo: phones write 2 to 15 MB
    all_bytes: int = 160 << 20  # of one request
    pixels: int = field(default_factory=photo_pixels)


@dataclass
class Explorer:
    """One server's state. Everything but the worker's jobs runs in the event loop, so that nothing needs a lock."""

    library: VideoLibrary
    models: dict[str, Model]  # by id; the first is the one asked by default
    worker: Worker
    marks: Annotations
    limits: Limits = field(default_factory=Limits)
    kept: Recent[bytes] = field(default_factory=lambda: Recent(_ANSWER_BYTES))
    _ready: Recent[Ready] = field(default_factory=lambda: Recent(_SEEN_BYTES))
    _statuses: dict[tuple[str, str], Status] = field(default_factory=dict)
    _scans: dict[str, Scan] = field(default_factory=dict)
    _pending: dict[tuple[str, str], asyncio.Future[Ready]] = field(default_factory=dict)

    @property
    def can_mark(self) -> bool:
        """Whether annotations can be written beside the library."""
        place = self.marks.folder
        return os.access(place if place.exists() else place.parent, os.W_OK | os.X_OK)

    @property
    def can_upload(self) -> bool:
        """Whether a model reads pictures."""
        return any(model.reads_pictures for model in self.models.values())

    def model(self, name: str | None) -> tuple[str, Model]:
        """By id; the first one by default."""
        known = name or next(iter(self.models))
        if known not in self.models:
            raise Failure(404, "unknown_model", "There is no such model here.", "GET /api/v1/about lists them.")
        return known, self.models[known]

    def card(self, video: str) -> Card:
        if video not in self.library:
            raise unknown_video()
        return self.library.card(video)

    def footage(self, video: str) -> Footage:
        self.card(video)
        return self.library.footage(video)

    async def ask(self, job: Callable[[], Found], urgency: Urgency = Urgency.QUESTION) -> Found:
        """A question to a model; what takes longer than milliseconds is less urgent."""
        return await asyncio.wrap_future(self.worker.ask(job, urgency))

    def scan(self, name: str) -> Scan:
        """The library as a model sees it, as far as it is embedded."""
        if name not in self._scans:
            self._scans[name] = Scan(self.library, self.models[name], self.worker)
        return self._scans[name]

    def status(self, video: str, model: str) -> Status:
        return self._statuses.get((video, model), Status())

    async def is_ready(self, video: str, name: str) -> bool:
        """Whether it is embedded: in memory, or in the cache on disk."""
        if self._ready.get((video, name)) is not None or self.status(video, name).state == "ready":
            return True
        model, footage = self.models[name], self.footage(video)
        found = await asyncio.to_thread(model.has_seen, footage)
        if found and self.status(video, name).state == "none":
            self._statuses[video, name] = Status("ready", 1.0)
        return found

    async def ready(self, video: str, name: str) -> Ready:
        """A video that can be asked about; it is embedded first, once for all who wait."""
        key = video, name
        if (found := self._ready.get(key)) is not None:
            return found
        return await asyncio.shield(self.begin(video, name))

    def begin(self, video: str, name: str) -> asyncio.Future[Ready]:
        """Start embedding a video, unless it is being done."""
        key = video, name
        if key not in self._pending:
            footage = self.footage(video)
            self._statuses[key] = Status("queued")
            task = asyncio.ensure_future(self._embed(key, footage))
            self._pending[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
        return self._pending[key]

    def _ended(self, key: tuple[str, str], done: asyncio.Future[Ready]) -> None:
        self._pending.pop(key, None)
        if not done.cancelled():
            done.exception()  # has been told in the status; nobody may be waiting

    async def _embed(self, key: tuple[str, str], footage: Footage) -> Ready:
        if (kept := self._ready.get(key)) is not None:
            self._statuses[key] = Status("ready", 1.0)
            return kept
        model = self.models[key[1]]
        known = await asyncio.to_thread(model.has_seen, footage)
        status = self._statuses[key]

        def look() -> Ready:
            seen = model.see(footage)
            return Ready(seen, model.cautions(footage))

        try:
            urgency = Urgency.QUESTION if known else Urgency.WORK
            found = await asyncio.wrap_future(self.worker.ask(look, urgency, status.hear))
        except (InputError, MissingDependency) as error:
            status.state, status.reason = "failed", error.cause
            raise
        except BaseException:
            status.state, status.reason = "failed", "Something went wrong; the terminal says more."
            raise
        status.state, status.done = "ready", 1.0
        self._ready.put(key, found, found.seen.bytes)
        return found

    def close(self) -> None:
        self.worker.close()
