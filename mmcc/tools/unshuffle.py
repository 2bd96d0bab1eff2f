"""A bag of photos, or a video's own segments, put in order (Section 4.3): the order, and how sure it is.

A model is asked once about a bag: log P(u → v) of each pair of it is kept, and every order follows from that without
the model. Neither the names of photos nor the order in which they are given has a part in it: pictures are numbered
by their content, and segments as the evaluation shuffles them.

Shapes: n things of a bag.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.folder import VIDEO_SUFFIXES
from mmcc.corpus.format import is_corpus
from mmcc.corpus.source import LabelledClip, Skipped
from mmcc.errors import InputError
from mmcc.evaluation.set_order import By, SetOrder, order_set
from mmcc.metrics import kendall_tau
from mmcc.text import one_line, storable
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.domain import domain_warning, domain_warnings
from mmcc.tools.footage import Begin, Footage, open_footage
from mmcc.tools.model import ToolModel

if TYPE_CHECKING:
    from torch import Tensor

    from mmcc.evaluation.adapter import Embedding, ModelAdapter
    from mmcc.media.pictures import Pixels

Floats = NDArray[np.float64]
Progress = Callable[[list[str]], Iterable[str]]  # wraps the names that are gone through, as mmcc.progress.bar does

STRETCHES = 8  # of a video without labelled steps: a row that can be looked at
PHOTOS, LABELLED, EQUAL = "photos", "labelled segments", "equal stretches"
_AT_ONCE = 64  # pictures that are embedded together


@dataclass(frozen=True)
class Thing:
    """A photo, or a segment of a video."""

    name: str  # for people
    path: Path | None = None  # of a photo
    copies: tuple[Path, ...] = ()  # other files that show the same picture
    start: float = 0.0  # of a segment, seconds
    end: float = 0.0
    text: str = ""  # the step it is labelled with
    true_place: int | None = None  # from 1; nothing is known of photos


@dataclass(frozen=True)
class Unshuffled:
    """One bag in order."""

    name: str  # of the folder or the video; "" for photos that were named one by one
    kind: str  # photos, labelled segments or equal stretches
    by: By
    things: list[Thing]  # as `found` numbers them
    found: SetOrder
    log_P_nn: Floats  # of Eq. 12
    footage: Footage | None = field(default=None, repr=False)
    warning: str | None = None  # of photos unlike what the model has seen; a video's is told with the others'

    @property
    def ordered(self) -> list[Thing]:
        return [self.things[at] for at in self.found.order]

    @property
    def kendall_tau(self) -> float | None:
        """Agreement with the true order, where it is known: 1 is the same, -1 the opposite, 0 chance."""
        places = [thing.true_place for thing in self.ordered if thing.true_place is not None]
        return float(kendall_tau(places)) if places else None


@dataclass(frozen=True)
class UnshuffleResult:
    """All that was asked for."""

    sets: list[Unshuffled]
    skipped: list[Skipped]
    warnings: list[str]  # for people: what had to be assumed


def unshuffle(
    model: ToolModel,
    sources: Sequence[Path],
    cache: Cache,
    *,
    by: By = "pairs",
    stretches: int = STRETCHES,
    begin: Begin = lambda total: lambda path, share: None,
    progress: Progress | None = None,
) -> UnshuffleResult:
    """Photos that are named one by one are a bag, and so is each folder of photos and each video."""
    photo_sets, videos = _sorted_by_kind(sources)
    sets: list[Unshuffled] = []
    skipped: list[Skipped] = []
    failed: list[InputError] = []
    warnings: list[str] = []
    for name, photos in photo_sets.items():
        with _noting(failed):
            found = unshuffle_photos(model, name, photos, cache, skipped, by=by, progress=progress)
            sets.append(found)
            warnings += [f"{found.name or 'the photos'}: {found.warning}"] if found.warning else []
    for source, video in videos:
        with _noting(failed):
            opened = open_footage(model, [source], cache, progress=begin)
            skipped += opened.skipped
            warnings += [note for note in opened.notes if note not in warnings]
            asked = _asked_for(opened.footage, source, video)
            warnings += domain_warnings(model, asked, cache)
            for footage in asked:
                with _noting(failed):
                    sets.append(unshuffle_footage(model, footage, cache, by=by, stretches=stretches))
    if not sets:
        raise failed[0]
    return UnshuffleResult(sets, [*skipped, *map(_skipped, failed)], warnings)


@contextmanager
def _noting(failed: list[InputError]) -> Iterator[None]:
    """What cannot be used is noted, and the rest is not the worse for it."""
    try:
        yield
    except InputError as error:
        failed.append(error)


def _skipped(error: InputError) -> Skipped:
    return Skipped(storable(error.path), f"{error.cause}. {error.remedy}".strip())


def _sorted_by_kind(sources: Sequence[Path]) -> tuple[dict[str, list[Path]], list[tuple[Path, str | None]]]:
    """Photos by the bag they belong to; and where videos are, with the one that is wanted of a corpus (CORPUS:ID)."""
    from mmcc.media.photos import find_photos

    sets: dict[str, list[Path]] = {}
    footage: list[tuple[Path, str | None]] = []
    for source in dict.fromkeys(sources):
        corpus, _, video = str(source).rpartition(":")
        if corpus and is_corpus(Path(corpus)):
            footage.append((Path(corpus), video))
        elif is_corpus(source) or (source.is_file() and source.suffix.lower() in VIDEO_SUFFIXES):
            footage.append((source, None))
        elif not source.is_dir():
            sets.setdefault("", []).append(source)
        elif photos := find_photos(source):
            sets[str(source)] = photos
        else:
            footage.append((source, None))
    return sets, footage


def _asked_for(footage: list[Footage], source: Path, video: str | None) -> list[Footage]:
    found = [each for each in footage if video in (None, each.video.id)]
    if not found:
        raise InputError(source, f"has no video {video!r} with frames", "mmcc inspect CORPUS --json tells what it has.")
    return found


def unshuffle_photos(
    model: ToolModel,
    name: str,
    photos: Sequence[Path],
    cache: Cache,
    skipped: list[Skipped],
    *,
    by: By = "pairs",
    progress: Progress | None = None,
) -> Unshuffled:
    """Photos in order; those that cannot be read are added to `skipped`, InputError where fewer than two remain."""
    from mmcc.media.photos import photo_checksum, reads_heic

    if model.feature_dims:
        cause = f"is a photo, and {model.name} reads vectors of {model.feature_dims} dims, not pictures"
        raise InputError(photos[0], cause, "Name a model of pictures.")
    files: dict[str, list[Path]] = {}  # by content
    unread: list[InputError] = []
    for path in {os.path.abspath(path): path for path in sorted(photos)}.values():  # noqa: PTH100 (knows "..")
        with _noting(unread):
            files.setdefault(photo_checksum(path), []).append(path)
    skipped += map(_skipped, unread)
    key = [model.checksum, str(model.size), model.fit, str(reads_heic()), *sorted(files)]
    answer = cache.remember("photos", key, lambda: _look_at_photos(model, files, cache, progress))
    shown: dict[int, list[Path]] = {}
    for content, paths in files.items():
        if (reason := answer.facts["refused"].get(content)) is None:
            shown.setdefault(answer.facts["pictures"][content], []).extend(paths)
        else:
            skipped += [Skipped(storable(str(path)), reason) for path in paths]
    if len(shown) < 2:
        _too_few(photos, shown, skipped)
    things = [_photo(sorted(shown[at])) for at in range(len(shown))]
    log_P = answer.arrays["log_P"]
    found, warning = order_set(log_P, by), answer.facts["warning"]
    return Unshuffled(one_line(Path(name).name), PHOTOS, by, things, found, log_P, warning=warning)


def _photo(paths: list[Path]) -> Thing:
    return Thing(one_line(paths[0].name), paths[0], tuple(paths[1:]))


def _too_few(photos: Sequence[Path], shown: Mapping[int, list[Path]], skipped: Sequence[Skipped]) -> None:
    mine = {storable(str(path)) for path in photos}
    refused = [each for each in skipped if each.path in mine]
    if refused:
        left = f"and {len(shown)} of {len(photos)} photos is left" if shown else "and no photo is left"
        raise InputError(refused[0].path, f"{refused[0].reason.rstrip('. ')}; {left}", "An order needs two or more.")
    cause = "is one photo" if len(photos) == 1 else f"is one of {len(photos)} photos that all show the same"
    raise InputError(photos[0], cause, "An order needs two different ones or more.")


def _look_at_photos(
    model: ToolModel, files: Mapping[str, Sequence[Path]], cache: Cache, progress: Progress | None
) -> Answer:
    """log P(u → v) of the pictures; which of them each content shows; and why a content is none."""
    from mmcc.media.photos import fitted, read_photo
    from mmcc.media.pictures import Fit

    pictures: dict[str, Pixels] = {}
    shown: dict[str, str] = {}
    refused: dict[str, str] = {}
    contents = sorted(files)
    for content in progress(contents) if progress else contents:
        path = files[content][0]
        try:
            pixels = fitted(read_photo(path), path, model.size, cast(Fit, model.fit))
        except InputError as error:
            refused[content] = f"{error.cause}. {error.remedy}".strip()
            continue
        shown[content] = hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()
        pictures[shown[content]] = pixels
    numbers = {picture: number for number, picture in enumerate(sorted(pictures))}
    log_P = _transitions_of(model, [pictures[each] for each in numbers]) if len(numbers) > 1 else np.empty((0, 0))
    facts = {"pictures": {content: numbers[picture] for content, picture in shown.items()}, "refused": refused}
    facts["warning"] = domain_warning(model, list(pictures.values()), cache)
    return Answer({"log_P": log_P}, facts)


def _transitions_of(model: ToolModel, pictures: Sequence[Pixels]) -> Floats:
    """log P(u → v) by Eq. 12. Nothing is said of photos: all are equally concrete."""
    import torch

    from mmcc.evaluation.adapter import Embedding

    alike = len({picture.shape for picture in pictures}) == 1
    at_once = _AT_ONCE if alike else 1
    with torch.inference_mode():
        parts = [
            model.adapter.embed_frames(torch.from_numpy(np.stack(pictures[first : first + at_once])))
            for first in range(0, len(pictures), at_once)
        ]
        nodes = Embedding(*(torch.cat(side) for side in zip(*parts, strict=True)))
        return np.asarray(_log_transitions(model.adapter, nodes).numpy() - 2 * np.log(len(pictures)), np.float64)


def _log_transitions(adapter: ModelAdapter, nodes: Embedding) -> Tensor:
    """Those of the evaluation, for three things or more. Of two, each has but the other to go to, and Eq. 12 says
    nothing: there the likeness of one way stands against that of the other.

    P(u → v) = e^{s(u, v)} / (e^{s(u, v)} + e^{s(v, u)}),  s(u, v) = (g_fwd(u) · π_v + g_back(v) · π_u) / τ
    """
    from torch.nn.functional import logsigmoid

    from mmcc.evaluation.adapter import finite
    from mmcc.evaluation.unshuffling import log_transitions

    if len(nodes.pi) > 2:
        return log_transitions(adapter, nodes)
    likeness = adapter.future(nodes) @ nodes.pi.T
    if adapter.past is not None:
        likeness = likeness + (adapter.past(nodes) @ nodes.pi.T).T
    scores = likeness.double() / adapter.temperature
    return finite(logsigmoid(scores - scores.T), adapter)


def unshuffle_footage(
    model: ToolModel, footage: Footage, cache: Cache, *, by: By = "pairs", stretches: int = STRETCHES
) -> Unshuffled:
    """A video's labelled segments in order; where it has no two of them, stretches of equal length."""
    video = footage.video
    kind = LABELLED if len(video.steps) > 1 else EQUAL
    segments = list(video.steps) if kind == LABELLED else _equal_stretches(footage, stretches)
    seen_at = "as is" if model.assumed else str(model.size)
    key = [model.checksum, footage.key, seen_at, json.dumps(segments)]
    answer = cache.remember("segments", key, lambda: _look_at_segments(model, footage, segments, cache))
    texts = _step_texts(footage) if kind == LABELLED else ()
    things = [
        _segment(LabelledClip(*segment), place, texts)
        for segment, place in zip(answer.facts["segments"], answer.facts["places"], strict=True)
    ]
    log_P = answer.arrays["log_P"]
    return Unshuffled(footage.name, kind, by, things, order_set(log_P, by), log_P, footage)


def _segment(segment: LabelledClip, place: int, texts: Sequence[str]) -> Thing:
    from mmcc.report.sheets import clock

    text = texts[segment.step - 1] if 1 <= segment.step <= len(texts) else ""
    name = f"{clock(segment.start)} to {clock(segment.end)}"
    return Thing(name, start=segment.start, end=segment.end, text=text, true_place=place + 1)


def _step_texts(footage: Footage) -> Sequence[str]:
    tasks = footage.video.tasks
    task = footage.corpus.tasks.get(tasks[0]) if tasks else None
    return task.steps if task else ()


def _equal_stretches(footage: Footage, stretches: int) -> list[LabelledClip]:
    """Of two frames or more each."""
    times = footage.video.times
    count = min(stretches, len(times) // 2)
    if count < 2:
        cause = f"has {len(times)} frames, too few to cut it in two"
        raise InputError(footage.name, cause, "Name a longer video, or photos.")
    edges = np.linspace(times[0], max(footage.video.duration, times[-1] + 1e-3), count + 1).tolist()
    return [LabelledClip(0, start, end) for start, end in pairwise(edges)]


def _look_at_segments(model: ToolModel, footage: Footage, segments: list[LabelledClip], cache: Cache) -> Answer:
    """log P(u → v) by Eq. 12 of the segments, as the evaluation does it; and what their true places are."""
    import torch

    from mmcc.evaluation.clips import clip_nodes
    from mmcc.evaluation.unshuffling import log_prior, shuffled

    video = replace(footage.embedded(model, cache), steps=segments)
    set_ = shuffled(video)
    with torch.inference_mode():
        state = clip_nodes(video, set_.clips)
        prior = log_prior(model.adapter, video, state)
        log_P = _log_transitions(model.adapter, state) + prior[:, None] + prior
    return Answer({"log_P": log_P.numpy()}, {"segments": set_.clips, "places": set_.places.tolist()})
