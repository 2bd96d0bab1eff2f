"""Orders of photos and clips: what `mmcc unshuffle` answers, and as JSON.

Shapes: n things in a set.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.source import Skipped
from mmcc.evaluation.set_order import SHARPNESS, By, SetOrder, confidence_by_chance
from mmcc.metrics import kendall_tau
from mmcc.text import storable
from mmcc.tools.footage import Footage

Floats = NDArray[np.float64]
PHOTOS, LABELLED, EQUAL = "photos", "labelled segments", "equal stretches"  # as JSON has them
SCHEMA = 1


@dataclass(frozen=True)
class Thing:
    """A photo, or a clip of a video."""

    name: str  # for people
    path: Path | None = None  # of a photo
    copies: tuple[Path, ...] = ()  # other files that show the same picture
    start: float = 0.0  # of a clip, seconds
    end: float = 0.0
    text: str = ""  # the step it is labelled with, or the description of a photo
    true_place: int | None = None  # from 1; unknown for photos

    def to_json(self) -> list[Any]:
        """Paths of photos, those of the same picture side by side; a clip with its times."""
        if self.path is not None:
            return [storable(str(path)) for path in (self.path, *self.copies)]
        return [{"start": self.start, "end": self.end, "text": self.text, "true_place": self.true_place}]

    @property
    def key(self) -> str | float:
        """Identifies it in JSON: a path, or a start."""
        return self.start if self.path is None else storable(str(self.path))


@dataclass(frozen=True)
class Unshuffled:
    """One set in order."""

    name: str  # of the folder or the video; "" for photos named one by one
    kind: str  # PHOTOS, LABELLED or EQUAL
    by: By
    things: list[Thing]  # as `found` numbers them
    found: SetOrder
    log_P_nn: Floats  # of Eq. 12
    footage: Footage | None = field(default=None, repr=False)
    note: str = ""  # on how photos compare with the training data; those on videos are in UnshuffleResult
    strange: str = ""  # why the model is not to be trusted here: it was trained on something else
    calibrated: bool = False  # whether the probabilities were fitted for this model, and for such pictures
    sharpness: float = SHARPNESS  # by which they were computed
    folder: str = ""  # of the photos, as it was given

    @property
    def ordered(self) -> list[Thing]:
        return [self.things[at] for at in self.found.order]

    @cached_property
    def guess(self) -> str:
        """Why the order is no better than a guess; "" if it may be."""
        if self.strange:
            return self.strange
        bound = confidence_by_chance(self.log_P_nn, self.by, self.sharpness)
        confidence = f"its confidence, {self.found.confidence:.2f}, is less than random scores reach ({bound:.2f})"
        return confidence if self.found.confidence < bound else ""

    @property
    def full_path(self) -> str | None:
        """Of the video or the folder; None for photos named one by one."""
        if self.footage is not None:
            return self.footage.full_path
        return storable(str(Path(self.folder).absolute())) if self.folder else None

    @property
    def kendall_tau(self) -> float | None:
        """Agreement with the true order, if known: 1 is the same, -1 the opposite, 0 chance."""
        places = [thing.true_place for thing in self.ordered if thing.true_place is not None]
        return float(kendall_tau(places)) if places else None

    def to_json(self) -> dict[str, Any]:
        found, things = self.found, self.ordered
        P = np.exp(self.log_P_nn[found.order[:-1], found.order[1:]]).tolist()
        links = zip(things[:-1], things[1:], found.links.tolist(), P, strict=True)
        content: dict[str, Any] = {
            "name": storable(self.name),
            "path": self.full_path,
            "of": self.kind,
            "by": self.by,
            "order": [each for thing in things for each in thing.to_json()],
            "links": [
                {"from": a.key, "to": b.key, "probability": before, "transition": transition}
                for a, b, before, transition in links
            ],
            "guess": bool(self.guess),
            "confidence": found.confidence,
            "calibrated": self.calibrated,
            "probability": found.probability,
            "runner_up": {
                "order": [each for at in found.runner_up for each in self.things[at].to_json()],
                "ratio": found.runner_up_ratio,
            },
            "exact": found.exact,
        }
        if self.kind != PHOTOS:
            return content | {"kendall_tau": self.kendall_tau}
        same = [{"path": storable(str(copy)), "of": thing.key} for thing in things for copy in thing.copies]
        texts = [{"path": thing.key, "text": thing.text} for thing in things if thing.text]
        return content | {"duplicates": same} | ({"texts": texts} if texts else {})


@dataclass(frozen=True)
class UnshuffleResult:
    """All sets in order."""

    sets: list[Unshuffled]
    skipped: list[Skipped]
    warnings: list[str]  # for people: assumptions, and footage unlike the training data

    def to_json(self) -> dict[str, Any]:
        """One set at the top level; several in a list, "sequences"."""
        sets = [set_.to_json() for set_ in self.sets]
        content = sets[0] if len(sets) == 1 else {"sequences": sets}
        skipped = [each._asdict() for each in self.skipped]
        return {"schema": SCHEMA, **content, "skipped": skipped, "warnings": self.warnings}
