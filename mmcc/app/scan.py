"""The whole library as one model sees it: embedded in the background, video by video, once somebody asks about it.

Its clearest changes can be asked for meanwhile, and get better; what comes next is searched when all is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from functools import partial
from heapq import nlargest
from typing import Any

from mmcc.api import Model
from mmcc.app.worker import Stopped, Urgency, Worker
from mmcc.errors import InputError, MissingDependency
from mmcc.tools.library import VideoLibrary
from mmcc.tools.search import Searcher
from mmcc.tools.transitions import Change

_PER_VIDEO = 20  # changes kept of each video
_KEPT = 500  # and of all


class Scan:
    """Begins when it is made."""

    def __init__(self, library: VideoLibrary, model: Model, worker: Worker) -> None:
        self._library, self._model, self._worker = library, model, worker
        self.changes: list[Change] = []  # the clearest so far
        self.searcher: Searcher | None = None
        self._videos, self._reason = 0, ""
        self._task = asyncio.ensure_future(self._run())

    def progress(self) -> dict[str, Any]:
        state = "failed" if self._reason else "ready" if self.searcher else "embedding"
        total = len(self._library)
        return {
            "state": state,
            "done": 1.0 if self.searcher else min(0.99, self._videos / total),
            "videos": self._videos,
            "total": total,
            "reason": self._reason or None,
        }

    async def wait(self) -> None:
        await asyncio.shield(self._task)

    async def _run(self) -> None:
        try:
            for card in self._library.cards:
                found = await asyncio.wrap_future(self._worker.ask(partial(self._look, card.key), Urgency.BACKGROUND))
                self.changes = nlargest(_KEPT, [*self.changes, *found], key=lambda change: change.score)
                self._videos += 1
            self.searcher = await asyncio.wrap_future(self._worker.ask(self._index, Urgency.BACKGROUND))
        except (InputError, MissingDependency) as error:
            self._reason = error.cause
        except (Stopped, asyncio.CancelledError):
            self._reason = "The server is stopping."
        except Exception:
            self._reason = "Something went wrong; the terminal says more."
            raise

    def _look(self, key: str) -> list[Change]:
        """Embed a video; a bad one has no changes, and the next one is looked at."""
        try:
            return self._model.transitions(self._library.footage(key), top=_PER_VIDEO)
        except InputError:
            return []

    def _index(self) -> Searcher:
        return self._model.open_searcher(self._library, progress=self._passing)

    def _passing(self, items: list[str]) -> Iterator[str]:
        """Reading thousands of embedded videos takes a while: others pass."""
        for item in items:
            self._worker.between(1.0)
            yield item


def apart(changes: Iterable[Change], top: int, gap: float) -> list[Change]:
    """The first so many whose frames are far enough apart."""
    return [each for each in changes if abs(each.to_time - each.from_time) >= gap][:top]
