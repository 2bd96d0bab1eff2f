"""Puts a set of photos, or the clips of a video, in order (Section 4.3), and says how sure the order is.

The model is needed once per set: log P(u → v) of each pair is cached, and every order follows from that. Neither the
names of photos nor the order in which they are given matters: pictures are numbered by their content, and clips as the
evaluation shuffles them.

Shapes: n things in a set.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.folder import NO_VIDEOS, VIDEO_SUFFIXES
from mmcc.corpus.format import is_corpus
from mmcc.corpus.source import LabelledClip, Skipped
from mmcc.errors import InputError
from mmcc.evaluation.set_order import SHARPNESS, By, order_set
from mmcc.storage import split_id
from mmcc.text import clock, distinct, one_line, storable
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.described import TEXTS, describe, description_of, score_texts
from mmcc.tools.familiar import familiarity, picture_warnings, why_strange
from mmcc.tools.footage import Begin, Footage, Opened, encoded_once, open_footage, told_apart
from mmcc.tools.model import ToolModel
from mmcc.tools.orders import EQUAL, LABELLED, PHOTOS, Thing, Unshuffled, UnshuffleResult
from mmcc.tools.pair_scores import log_scores, score_pictures

if TYPE_CHECKING:
    from mmcc.media.pictures import Pixels

Floats = NDArray[np.float64]
Progress = Callable[[list[str]], Iterable[str]]  # wraps the names to process, as mmcc.progress.bar does

CLIPS = 8  # that a video without labelled clips is cut into: a row that fits on a sheet


def unshuffle(
    model: ToolModel,
    sources: Sequence[Path],
    cache: Cache,
    *,
    by: By = "pairs",
    clips: int = CLIPS,
    texts: Sequence[str] | None = None,
    texts_from: str | Path = TEXTS,
    begin: Begin = lambda total: lambda path, share: None,
    progress: Progress | None = None,
) -> UnshuffleResult:
    """Photos named one by one are one set; each folder of photos and each video is a set of its own.

    `texts` describe the photos of a single set, in the order given, or by the names of a folder's."""
    photo_sets, videos = _sorted_by_kind(sources)
    described = None if texts is None else describe(photo_sets, len(videos), texts, str(texts_from))
    sets: list[Unshuffled] = []
    skipped: list[Skipped] = []
    failed: list[InputError] = []
    warnings: list[str] = []
    called = distinct([_names(folder) for folder in photo_sets])
    for (folder, photos), name in zip(photo_sets.items(), called, strict=True):
        with _noting(failed):
            found = unshuffle_photos(model, name, photos, cache, skipped, by=by, described=described, progress=progress)
            sets.append(replace(found, folder=folder))
            warnings += [f"{found.name or 'the photos'}: {found.note}"] if found.note else []
    asked_in: list[list[Footage]] = []
    for source, video in videos:
        with _noting(failed):
            opened = _open(model, source, cache, begin)
            skipped += opened.skipped
            warnings += [note for note in opened.notes if note not in warnings]
            asked_in.append(_asked_for(opened.footage, source, video))
    named = iter(told_apart([footage for asked in asked_in for footage in asked]))
    for asked in ([next(named) for _ in asked] for asked in asked_in):
        with _noting(failed):
            known = familiarity(model, asked, cache)
            warnings += known.warnings
            for footage in asked:
                with _noting(failed):
                    strange = why_strange(model) if footage.name in known.strange else ""
                    sets.append(unshuffle_footage(model, footage, cache, by=by, clips=clips, strange=strange))
    if not sets:
        raise failed[0]
    return UnshuffleResult(sets, [*skipped, *map(_skipped, failed)], warnings)


@contextmanager
def _noting(failed: list[InputError]) -> Iterator[None]:
    """Collect what cannot be used, so that the rest still gets its order."""
    try:
        yield
    except InputError as error:
        failed.append(error)


def _names(folder: str) -> list[str]:
    """Of a set of photos, shortest first: the folder's, with more and more of its path."""
    parts = Path(folder).absolute().parts if folder else ("",)
    return [one_line("/".join(parts[first:])) for first in range(len(parts) - 1, -1, -1)]


def _skipped(error: InputError) -> Skipped:
    return Skipped(storable(error.path), f"{error.cause}. {error.remedy}".strip())


def _sorted_by_kind(sources: Sequence[Path]) -> tuple[dict[str, list[Path]], list[tuple[Path, str | None]]]:
    """Photos by the set they belong to; and sources of video, each with the one video wanted (of CORPUS:ID)."""
    from mmcc.media.photos import find_photos

    sets: dict[str, list[Path]] = {}
    footage: list[tuple[Path, str | None]] = []
    for source in dict.fromkeys(sources):
        corpus, video = split_id(source)
        if video and is_corpus(corpus):
            footage.append((corpus, video))
        elif is_corpus(source) or (source.is_file() and source.suffix.lower() in VIDEO_SUFFIXES):
            footage.append((source, None))
        elif not source.is_dir():
            sets.setdefault("", []).append(source)
        elif photos := find_photos(source):
            sets[str(source)] = photos
        else:
            footage.append((source, None))
    return sets, footage


def _open(model: ToolModel, source: Path, cache: Cache, begin: Begin) -> Opened:
    try:
        return open_footage(model, [source], cache, progress=begin)
    except InputError as error:
        if error.path == storable(str(source)) and error.cause.startswith(NO_VIDEOS) and source.is_dir():
            remedy = "Name a folder of photos (JPEG, PNG, WebP), photos one by one, or a video."
            raise InputError(source, "has neither photos nor videos", remedy) from None
        raise


def _asked_for(footage: list[Footage], source: Path, video: str | None) -> list[Footage]:
    found = [each for each in footage if video in (None, each.video.id)]
    if not found:
        raise InputError(source, f"has no video {video!r} with frames", "mmcc inspect CORPUS --json lists its videos.")
    return found


def unshuffle_photos(
    model: ToolModel,
    name: str,
    photos: Sequence[Path],
    cache: Cache,
    skipped: list[Skipped],
    *,
    by: By = "pairs",
    described: Mapping[Path, str] | None = None,
    progress: Progress | None = None,
) -> Unshuffled:
    """Photos in order; unreadable ones are added to `skipped`; InputError if fewer than two remain."""
    from mmcc.media.photos import photo_checksum, reads_heic

    if model.feature_dims:
        cause = f"is a photo, but {model.name} expects vectors of {model.feature_dims} dims, not images"
        raise InputError(photos[0], cause, "Choose a model of pictures.")
    files: dict[str, list[Path]] = {}  # by content
    unread: list[InputError] = []
    for path in {os.path.abspath(path): path for path in sorted(photos)}.values():  # noqa: PTH100 (knows "..")
        with _noting(unread):
            files.setdefault(photo_checksum(path), []).append(path)
    skipped += map(_skipped, unread)
    key = ["2", model.checksum, str(model.size), model.fit, str(reads_heic()), *sorted(files)]
    answer = cache.remember("photos", key, lambda: _look_at_photos(model, files, cache, progress))
    shown: dict[int, list[Path]] = {}
    for content, paths in files.items():
        if (reason := answer.facts["refused"].get(content)) is None:
            shown.setdefault(answer.facts["pictures"][content], []).extend(paths)
        else:
            skipped += [Skipped(storable(str(path)), reason) for path in paths]
    if len(shown) < 2:
        _too_few(photos, shown, skipped)
    shown = {at: sorted(shown[at]) for at in range(len(shown))}
    things = [_photo(paths) for paths in shown.values()]
    log_P, note = answer.arrays["log_P"], answer.facts["note"]
    strange = why_strange(model) if answer.facts["strange"] else ""
    calibrated = _is_calibrated(model, strange, len(things)) and described is None
    if described is not None:
        things = [replace(_photo(paths), text=description_of(paths, described)) for paths in shown.values()]
        of_texts, unknown = score_texts(model, [each.text for each in things], cache)
        log_P, note = log_P + of_texts, " ".join(line for line in (note, unknown) if line)
    sharpness = model.sharpness or SHARPNESS
    found = order_set(log_P, by, sharpness)
    return Unshuffled(name, PHOTOS, by, things, found, log_P, None, note, strange, calibrated, sharpness)


def _is_calibrated(model: ToolModel, strange: str, things: int) -> bool:
    """Whether the exponent of the probabilities was fitted for the model, on sets as large, of pictures like those it
    was trained on."""
    fits = model.orders_up_to is None or things <= model.orders_up_to
    return not strange and model.sharpness is not None and fits


def _photo(paths: list[Path]) -> Thing:
    return Thing(one_line(paths[0].name), paths[0], tuple(paths[1:]))


def _too_few(photos: Sequence[Path], shown: Mapping[int, list[Path]], skipped: Sequence[Skipped]) -> None:
    mine = {storable(str(path)) for path in photos}
    refused = [each for each in skipped if each.path in mine]
    if refused:
        left = f"and {len(shown)} of {len(photos)} photos is left" if shown else "and no photo is left"
        raise InputError(refused[0].path, f"{refused[0].reason.rstrip('. ')}; {left}", "An order needs two or more.")
    cause = "is a single photo" if len(photos) == 1 else f"is one of {len(photos)} photos that all show the same"
    raise InputError(photos[0], cause, "An order needs at least two different photos.")


def _look_at_photos(
    model: ToolModel, files: Mapping[str, Sequence[Path]], cache: Cache, progress: Progress | None
) -> Answer:
    """log P(u → v) of the pictures; which picture each file's content shows; and why a content was refused."""
    from mmcc.media import photo_worker
    from mmcc.media.pictures import Fit

    photo_worker.get_ready()
    _ = model.adapter  # loads torch meanwhile
    pictures: dict[str, Pixels] = {}
    shown: dict[str, str] = {}
    refused: dict[str, str] = {}
    contents = sorted(files)
    for content in progress(contents) if progress else contents:
        path = files[content][0]
        try:
            pixels = photo_worker.read_fitted(path, model.size, cast(Fit, model.fit))
        except InputError as error:
            refused[content] = f"{error.cause}. {error.remedy}".strip()
            continue
        shown[content] = hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()
        pictures[shown[content]] = pixels
    numbers = {picture: number for number, picture in enumerate(sorted(pictures))}
    seen = encoded_once(model, [pictures[each] for each in numbers])
    log_P = score_pictures(model, seen) if len(numbers) > 1 else np.empty((0, 0))
    facts = {"pictures": {content: numbers[picture] for content, picture in shown.items()}, "refused": refused}
    note, strange = picture_warnings(model, seen, cache)
    return Answer({"log_P": log_P}, {**facts, "note": note, "strange": strange})


def unshuffle_footage(
    model: ToolModel, footage: Footage, cache: Cache, *, by: By = "pairs", clips: int = CLIPS, strange: str = ""
) -> Unshuffled:
    """A video's labelled clips in order; if it has fewer than two, `clips` of equal length. `strange`: why the model is
    not to be trusted with it."""
    video = footage.video
    kind = LABELLED if len(video.steps) > 1 else EQUAL
    spans = list(video.steps) if kind == LABELLED else _equal_clips(footage, clips)
    seen_at = "as is" if model.assumed else str(model.size)
    key = [model.checksum, footage.key, seen_at, json.dumps(spans)]
    answer = cache.remember("segments", key, lambda: _look_at_clips(model, footage, spans, cache))
    texts = footage.step_texts if kind == LABELLED else ()
    things = [
        _clip(LabelledClip(*span), place, texts)
        for span, place in zip(answer.facts["segments"], answer.facts["places"], strict=True)
    ]
    log_P = answer.arrays["log_P"]
    sharpness, calibrated = model.sharpness or SHARPNESS, _is_calibrated(model, strange, len(things))
    found = order_set(log_P, by, sharpness)
    return Unshuffled(footage.name, kind, by, things, found, log_P, footage, "", strange, calibrated, sharpness)


def _clip(clip: LabelledClip, place: int, texts: Sequence[str]) -> Thing:
    text = texts[clip.step - 1] if 1 <= clip.step <= len(texts) else ""
    name = f"{clock(clip.start)} to {clock(clip.end)}"
    return Thing(name, start=clip.start, end=clip.end, text=text, true_place=place + 1)


def _equal_clips(footage: Footage, clips: int) -> list[LabelledClip]:
    """Of at least two frames each."""
    times = footage.video.times
    count = min(clips, len(times) // 2)
    if count < 2:
        cause = f"has {len(times)} frames, too few to cut it in two"
        raise InputError(footage.name, cause, "Choose a longer video, or photos.")
    edges = np.linspace(times[0], max(footage.video.duration, times[-1] + 1e-3), count + 1).tolist()
    return [LabelledClip(0, start, end) for start, end in pairwise(edges)]


def _look_at_clips(model: ToolModel, footage: Footage, clips: list[LabelledClip], cache: Cache) -> Answer:
    """log P(u → v) of the clips by Eq. 12, as in the evaluation; and their true places."""
    import torch

    from mmcc.evaluation.clips import clip_nodes
    from mmcc.evaluation.unshuffling import log_prior, shuffled

    video = replace(footage.embedded(model, cache), steps=clips)
    set_ = shuffled(video)
    with torch.inference_mode():
        state = clip_nodes(video, set_.clips)
        prior = log_prior(model.adapter, video, state)
        log_P = log_scores(model.adapter, state) + prior[:, None] + prior
    return Answer({"log_P": log_P.numpy()}, {"segments": set_.clips, "places": set_.places.tolist()})
