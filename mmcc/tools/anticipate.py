"""What comes after a clip: the steps of a list by how probable they are, and "none of these".

Probabilities are calibrated (mmcc.evaluation.calibration): by the calibration that comes with the model
(calibration.json beside its weights), or by one fitted once on the held-out videos of its training corpus. Without
either, and for a clip unlike the training data, the answer says that they are not.

Shapes: T steps, E kinds of evidence.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mmcc.corpus import Corpus
from mmcc.corpus.format import is_corpus
from mmcc.corpus.source import Skipped, Task
from mmcc.errors import InputError
from mmcc.evaluation.calibration import Calibration, uncalibrated
from mmcc.storage import place, split_id
from mmcc.text import clock, storable
from mmcc.tools.alike import ENOUGH, all_alike
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.familiar import familiarity
from mmcc.tools.footage import Begin, Footage
from mmcc.tools.model import ToolModel
from mmcc.tools.queries import Node, frame_at, is_photo, look_at, look_at_photo, look_over_photo, open_video, read_texts
from mmcc.tools.stored import stored_corpus
from mmcc.untrusted import read_json

if TYPE_CHECKING:
    from mmcc.evaluation.adapter import TextAdapter

CALIBRATION = "calibration.json"
LAST = 20.0  # seconds at a video's end that make the clip by default: about one step
_TEST_VIDEOS = 200  # enough for an error of half a percent, and a minute on a small machine
_MAX_STEPS, _MAX_LETTERS = 10_000, 1000  # anything longer is not a list of steps
_MAX_BYTES = 4 * _MAX_STEPS * _MAX_LETTERS
Progress = Callable[[list[str]], Iterable[str]]


@dataclass(frozen=True)
class Clip:
    """A span of a video, or a photo."""

    name: str
    node: Node
    start: float | None = None
    end: float | None = None
    notes: tuple[str, ...] = ()  # assumptions and warnings for the user
    strange: bool = False  # unlike what the model was trained on
    footage: Footage | None = None

    @property
    def full_path(self) -> str:
        """Of the video (CORPUS:ID in a corpus), or of the photo."""
        return self.footage.full_path if self.footage else storable(str(Path(self.name).absolute()))


@dataclass(frozen=True)
class RankedSteps:
    """Steps, the most probable first; those of which the model does not know every word after all others, since their
    probabilities do not compare."""

    clip: Clip
    steps: list[tuple[str, float]]
    none: float
    calibration: Calibration | None
    skipped: list[Skipped]  # steps without a content word the model knows
    warnings: list[str]
    unknown: Mapping[str, list[str]] = field(default_factory=dict)  # by step: its words that the model does not know

    @property
    def calibrated(self) -> bool:
        """Whether the probabilities are those of held-out videos: not on footage unlike the training data."""
        return self.calibration is not None and not self.clip.strange

    @property
    def calibration_error(self) -> float | None:
        """On held-out videos, if it was measured and holds here."""
        return self.calibration.figures.get("ece/steps/after") if self.calibration and self.calibrated else None

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        return {
            "schema": 1,
            "clip": self.clip.name,
            "path": self.clip.full_path,
            "from": self.clip.start,
            "to": self.clip.end,
            "steps": [
                {"text": text, "probability": probability, "unknown": self.unknown.get(text, [])}
                for text, probability in self.steps[:top]
            ],
            "none": self.none,
            "calibrated": self.calibrated,
            "calibration_error": self.calibration_error,
            "skipped": [{"path": each.path, "reason": each.reason} for each in self.skipped],
            "warnings": self.warnings,
        }


def anticipate(
    model: ToolModel, clip: Clip, steps: Sequence[str], cache: Cache, fit: Progress | None = None
) -> RankedSteps:
    """How probable it is that each step comes later, and that none of them does."""
    listed = list(dict.fromkeys(steps))
    texts = read_texts(model, listed, cache)
    known = [at for at, text in enumerate(listed) if text not in texts.strangers]
    asked = [listed[at] for at in known]
    kinds = [clip.node.future, clip.node.present] + ([] if clip.node.past is None else [clip.node.past])
    evidence_TE = np.stack([texts.pi[known] @ kind for kind in kinds], axis=1).astype(np.float64)
    calibration, warnings = find_calibration(model, cache, fit)
    if calibration is None:
        of_list = np.zeros(len(asked), np.int64)
        probabilities, none_1 = uncalibrated(evidence_TE, of_list, float(_temperature(model)))
        none = float(none_1[0])
    else:
        probabilities, none = calibration(evidence_TE)
    unknown = {text: texts.unknown_of[text] for text in asked if texts.unknown_of[text]}
    order = sorted(range(len(asked)), key=lambda at: (asked[at] in unknown, -probabilities[at]))
    ranked = [(asked[at], float(probabilities[at])) for at in order]
    skipped = [
        Skipped(text, f"{model.name} does not know {', '.join(texts.unknown_of[text]) or 'any of its words'}")
        for text in texts.strangers
    ]
    told = [*clip.notes, *_whatever_it_is_shown(model, asked, cache), *_partly(model, unknown), *warnings]
    return RankedSteps(clip, ranked, none, calibration, skipped, told, unknown)


def _whatever_it_is_shown(model: ToolModel, steps: Sequence[str], cache: Cache) -> list[str]:
    """One line if the model expects the same after each of these steps, and so after any clip."""
    some = list(steps[:: -(-len(steps) // ENOUGH) or 1])  # a list may have thousands

    def compare() -> Answer:
        adapter = cast("TextAdapter", model.adapter)
        futures_TD = adapter.future(adapter.embed_texts(some))
        return Answer(facts={"alike": all_alike(futures_TD.numpy())})

    if not some or not cache.remember("futures", [model.checksum, *some], compare).facts["alike"]:
        return []
    return [f"{model.name} expects the same after every picture: it ranks steps by how late they sound."]


def _partly(model: ToolModel, unknown: Mapping[str, list[str]]) -> list[str]:
    """One line on steps of which some words are unknown."""
    if not unknown:
        return []
    words = ", ".join(dict.fromkeys(word for each in unknown.values() for word in each))
    steps = "1 step is" if len(unknown) == 1 else f"{len(unknown)} steps are"
    return [f"{model.name} does not know the words: {words}. {steps} judged by the other words, and listed last."]


def open_clip(
    model: ToolModel,
    source: str,
    cache: Cache,
    *,
    start: float | None = None,
    end: float | None = None,
    progress: Begin | None = None,
) -> Clip:
    """A photo, a video file or CORPUS:ID; of a video, the span from `start` to `end`, by default its last 20 s."""
    if is_photo(source):
        if start is not None or end is not None:
            raise InputError(source, "is a photo, which has no span of time", "Leave out --from and --to.")
        path = Path(source)
        known = look_over_photo(model, path, cache)
        node = look_at_photo(model, path, cache)
        return Clip(source, node, notes=tuple(known.warnings), strange=bool(known.strange))
    footage = open_video(model, source, cache, progress)
    notes = [model.note] if model.note and Path(source).exists() else []  # frames of a corpus are taken as they are
    return look_over_clip(model, footage, cache, start=start, end=end, notes=notes)


def look_over_clip(
    model: ToolModel,
    footage: Footage,
    cache: Cache,
    *,
    start: float | None = None,
    end: float | None = None,
    notes: Sequence[str] = (),
) -> Clip:
    """The same of an opened video, with a warning if it is unlike the training data."""
    known = familiarity(model, [footage], cache)
    last = max(footage.video.duration, float(footage.video.times[-1])) if end is None else end
    first = max(0.0, last - LAST) if start is None else start
    if first >= last:
        raise InputError(footage.name, f"{clock(first)} is not before {clock(last)}", "Choose a span within the video.")
    told = (*notes, *known.warnings)
    return replace(clip_of(model, footage, first, last, cache), notes=told, strange=bool(known.strange))


def clip_of(model: ToolModel, footage: Footage, start: float, end: float, cache: Cache) -> Clip:
    """A span of a video; one that falls between two frames is seen by the frame nearest to its middle."""
    times = footage.video.times
    inside = np.flatnonzero((times >= start) & (times < end))
    if not len(inside):
        inside = np.array([frame_at(footage, (start + end) / 2)])
    frames = slice(int(inside[0]), int(inside[-1]) + 1)
    return Clip(footage.name, look_at(model, footage, frames, cache), start, end, footage=footage)


def read_steps(path: Path) -> list[str]:
    """One step per line; empty lines are ignored. "-" is stdin."""
    try:
        content = sys.stdin.buffer.read(_MAX_BYTES) if str(path) == "-" else _start_of(path, _MAX_BYTES)
        lines = content.decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise InputError(path, f"cannot be read ({cause})", "Write a text file with one step per line.") from None
    steps = [" ".join(line.split()) for line in lines if line.strip()]
    if not steps:
        raise InputError(path, "contains no steps", "Write one step per line.")
    if len(steps) > _MAX_STEPS or max(map(len, steps)) > _MAX_LETTERS:
        raise InputError(path, "is not a list of steps", "Write one step per line, of a few words each.")
    return steps


def _start_of(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)


def steps_of_task(name: str, folder: Path | None, clip: str) -> list[str]:
    """The steps of a task of a CrossTask release or a corpus; by default, of the clip's own corpus."""
    from mmcc.corpus.crosstask import is_crosstask, read_crosstask

    release = folder or split_id(place(clip))[0]
    if is_crosstask(release):
        tasks = read_crosstask(release).tasks
    elif is_corpus(release):
        tasks = Corpus.open(release).tasks
    else:
        cause = "is neither a CrossTask release nor a corpus" if folder else "is not in a corpus that names tasks"
        raise InputError(folder or clip, cause, "Name one with --crosstask, or list the steps with --steps.")
    return list(find_task(name, tasks.values(), str(release)).steps)


def find_task(name: str, known: Iterable[Task], where: str) -> Task:
    """By id or title, in any case; or by part of a title, if only one task matches."""
    tasks = [task for task in known if task.steps]
    wanted = name.strip().lower()
    found = [task for task in tasks if wanted in (task.id.lower(), task.title.lower())]
    found = found or [task for task in tasks if wanted and wanted in task.title.lower()]
    if len(found) != 1:
        titles = [task.title or task.id for task in found or tasks]
        cause = f"has {len(found) or 'no'} tasks named {name!r}"
        raise InputError(
            where, cause, f"Choose one of: {', '.join(titles[:20])}." if titles else "It contains no steps."
        )
    return found[0]


def _is_here(corpus: Path) -> bool:
    """Whether there is a corpus; not where its storage does not answer."""
    try:
        return is_corpus(corpus)
    except InputError:
        return False


def find_calibration(
    model: ToolModel, cache: Cache, progress: Progress | None = None
) -> tuple[Calibration | None, list[str]]:
    """The model's own, or one fitted now and cached; else None and the reason."""
    path = model.folder / CALIBRATION
    if path.is_file():
        try:
            return Calibration.from_json(read_json(path, dict)), []
        except (OSError, ValueError) as error:
            raise InputError(path, f"cannot be read ({error})", "Remove it, or copy it again.") from None
    said = "probabilities are not calibrated"
    if model.trained_on is None:
        return None, [f"{said}: {model.name} comes without a calibration"]
    if not _is_here(model.trained_on):
        return None, [f"{said}: the corpus that {model.name} was trained on ({model.trained_on}) is not here"]
    key = [model.checksum, str(model.trained_on.resolve())]
    trained_on = Corpus.open(model.trained_on)

    def make() -> Answer:
        found = fit_calibration(model, trained_on, progress)
        return Answer(facts={"calibration": found.to_json() if found else None})

    kept = cache.remember("calibration", key, make).facts["calibration"]
    if kept is None:
        return None, [f"{said}: no held-out video of {model.trained_on} has a labelled step that others follow"]
    return Calibration.from_json(kept), []


def fit_calibration(model: ToolModel, corpus: Corpus, progress: Progress | None = None) -> Calibration | None:
    """Fitted on the validation videos, measured on the test videos; None without labelled steps."""
    from mmcc.data.splits import videos_for
    from mmcc.evaluation.calibration import ask, calibrate
    from mmcc.evaluation.embedding import embed_videos

    data = model.settings.get("data")
    held_out = float(data.get("held_out", 0.05)) if isinstance(data, dict) else 0.05
    fitting, testing = (
        [video for video in videos_for(corpus, purpose, held_out) if corpus[video].steps and len(corpus[video].times)]
        for purpose in ("validation", "test")
    )
    if not fitting:
        return None
    testing = testing[:: -(-len(testing) // _TEST_VIDEOS) or 1]
    seen = embed_videos(model.adapter, stored_corpus(model, corpus), [*fitting, *testing], progress=progress)
    fit, test = (ask(model.adapter, part, corpus.tasks) for part in (seen[: len(fitting)], seen[len(fitting) :]))
    return calibrate(fit, test, temperature=model.adapter.temperature) if fit else None


def _temperature(model: ToolModel) -> float:
    """That of the model's edges, without loading the model."""
    value: Any = model.settings
    for name in ("objective", "cycle", "temperature"):
        value = value.get(name) if isinstance(value, dict) else None
    return float(value or 0.1)
