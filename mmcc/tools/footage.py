"""Footage: video files, folders of them and corpora, in any mix; each decoded once and embedded once.

A video file becomes a small corpus of its own in the cache, as `mmcc ingest` would make it, captions included. Its
frames are stored at an integer multiple of the model's size, large enough for people to recognize something.

Shapes: n frames, H × W pixels.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus import Corpus, Video
from mmcc.corpus.format import is_corpus
from mmcc.corpus.source import Item, Skipped, Source, Task
from mmcc.errors import InputError
from mmcc.storage import inner_name, place, stored_name
from mmcc.text import distinct, one_line, storable
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.model import ToolModel

if TYPE_CHECKING:
    from torch import Tensor

    from mmcc.corpus.ingest import Progress
    from mmcc.evaluation.embedding import EmbeddedVideo

# Pixels a side: at 48 a hand is a smudge. Averaged down from 144, a JPEG is to the shipped model what a raw 48 is: on
# the kitchen's 171 test videos π has a cosine of 0.997 (1 % below 0.987), and Kendall's τ is 0.169 for 0.167 by path,
# 0.275 for 0.272 by all pairs.
LOOKABLE = 144
AT_ONCE = 64  # pictures embedded together
_SOME = 32
SAID_WITHIN = 2.0  # seconds: what is said further away is not being said then
Begin = Callable[[int], "Progress"]  # from the number of videos to read, as mmcc.progress.file_progress makes it


@dataclass(frozen=True)
class Footage:
    """One video."""

    name: str  # for people: the file's name, or the id in a corpus; with as much of its path as makes it unique
    path: Path | None  # the video file, if there is one
    corpus: Corpus = field(repr=False)
    video: Video
    file: str = ""  # the full path of the file that was named; "" for a video of a corpus

    @property
    def full_path(self) -> str:
        """For programs: the file, or CORPUS:ID."""
        return self.file or storable(f"{self.corpus.path.absolute()}:{self.video.id}")

    @cached_property
    def key(self) -> str:
        """Identifies content and sampling: the files by size and time, how they were read, the narration."""
        video = self.video
        identity: list[Any] = [video.id, video.details["fingerprint"], self.corpus.manifest.settings()]
        identity += [hashlib.sha256(video.times.tobytes()).hexdigest(), video.utterances]
        return hashlib.sha256(json.dumps(identity).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def task(self) -> Task | None:
        """The how-to task it shows, as far as its corpus knows."""
        return self.corpus.tasks.get(self.video.tasks[0]) if self.video.tasks else None

    @property
    def step_texts(self) -> tuple[str, ...]:
        """The steps of its task: a labelled clip of step 1 shows the first."""
        return self.task.steps if self.task else ()

    def said_at(self, time: float) -> str:
        """The utterance at a time, or the nearest within 2 s of it; "" if there is none."""
        best, text = SAID_WITHIN, ""
        for utterance in self.video.utterances:
            apart = max(utterance.start - time, time - utterance.end, 0.0)
            if apart < best or (apart == best and not text):
                best, text = apart, utterance.text
        return text

    def still(self, frame: int) -> NDArray[np.uint8] | None:
        """A frame [H, W, 3] at its stored size; None in a corpus of vectors."""
        if self.corpus.manifest.encoding == "float32":
            return None
        return cast("NDArray[np.uint8]", self.video.frames(frame, frame + 1)[0])

    def embedding(self, model: ToolModel, cache: Cache) -> Answer:
        """Arrays z, pi [n, D]; of a model that reads text, text_z, text_pi [k, D]; of one with a frozen encoder,
        vectors [≤ 32, F], that encoder's of some frames. Cached: torch is loaded once."""
        from mmcc.tools.embed import embed

        return cache.remember("embedding", self._embedding_key(model), lambda: embed(self, model))

    def is_embedded(self, model: ToolModel, cache: Cache) -> bool:
        """Whether that is in the cache."""
        return cache.has_answer("embedding", self._embedding_key(model))

    def _embedding_key(self, model: ToolModel) -> list[str]:
        return [model.checksum, self.key, "as is" if model.assumed else str(model.size)]

    def embedded(self, model: ToolModel, cache: Cache) -> EmbeddedVideo:
        """The video as the model sees it. Loads torch."""
        return _as_tensors(self, self.embedding(model, cache))


@dataclass(frozen=True)
class Opened:
    """What could be opened, and what was skipped."""

    footage: list[Footage]
    skipped: list[Skipped]
    notes: list[str]  # for people: assumptions made


def open_footage(
    model: ToolModel,
    sources: Sequence[Path],
    cache: Cache,
    *,
    progress: Begin = lambda total: lambda path, share: None,
) -> Opened:
    """Everything readable in the sources; a bad file is skipped with a reason, and InputError if all are."""
    footage: list[Footage | _ToRead] = []
    skipped: list[Skipped] = []
    for source in sources:
        try:
            footage += _of_corpus(model, source) if is_corpus(source) else _of_files(model, source, cache, skipped)
        except InputError as error:
            if len(sources) == 1:
                raise  # with its remedy apart, as programs read it
            skipped.append(Skipped(storable(error.path), f"{error.cause}. {error.remedy}".strip()))
    to_read = list(dict.fromkeys(each for each in footage if isinstance(each, _ToRead)))
    read = dict(zip(to_read, _read_all(to_read, model, cache, progress), strict=True))
    opened = [read[each] if isinstance(each, _ToRead) else each for each in footage]
    skipped = list(dict.fromkeys([*skipped, *(each for each in opened if isinstance(each, Skipped))]))
    usable = {(each.corpus.path, each.video.id): each for each in opened if isinstance(each, Footage)}
    if not usable:
        raise all_skipped(skipped or [Skipped("VIDEO", "no videos given")])
    return Opened(told_apart(list(usable.values())), skipped, [model.note] if to_read and model.note else [])


def told_apart(footage: Sequence[Footage]) -> list[Footage]:
    """The same, each under a name that no other has."""
    names = distinct([_names(each) for each in footage])
    return [replace(each, name=name) for each, name in zip(footage, names, strict=True)]


def _names(footage: Footage) -> list[str]:
    """The name, and longer ones by the folders that the video is in."""
    parts = Path(footage.full_path).parts
    longer = ("/".join(parts[first:]).replace("//", "/") for first in range(len(parts) - 1, -1, -1))
    return [footage.name, *(one_line(name) for name in longer if len(name) > len(footage.name))]


def skipped_for(error: InputError, footage: Footage) -> Skipped:
    """A video that cannot be used, and why. What is not the video's fault, such as a damaged model, is raised again."""
    known_as = (footage.name, footage.full_path, str(footage.path))
    reason = f"{error.cause}. {error.remedy}".strip()
    if error.path in known_as:
        return Skipped(footage.name, reason)
    if place(error.path).is_relative_to(footage.corpus.path):
        return Skipped(footage.name, f"{storable(error.path)}: {reason}")
    raise error


def all_skipped(skipped: Sequence[Skipped]) -> InputError:
    """Nothing could be used: the first input and why it was skipped, and how many others were."""
    first, others = skipped[0], len(skipped) - 1
    more = f"{others} other {'input was' if others == 1 else 'inputs were'} skipped too." if others else ""
    return InputError(first.path, first.reason.rstrip(". "), more)


def stored_size(model: ToolModel) -> int:
    """Side of the frames stored of a video file: a multiple of the model's size that people can look at."""
    return model.size * -(-LOOKABLE // model.size)


def require_fitting(model: ToolModel, corpus: Corpus) -> None:
    """InputError for pictures where a model reads vectors, or the other way round."""
    source = corpus.path
    vectors, dims = corpus.manifest.encoding == "float32", corpus.manifest.size
    if vectors and not model.feature_dims:
        cause = f"contains feature vectors, but {model.name} expects images"
        raise InputError(source, cause, "Ingest the videos themselves, or choose a model of such vectors.")
    if model.feature_dims and (not vectors or dims != model.feature_dims):
        held = f"vectors of {dims} dims" if vectors else "images"
        cause = f"contains {held}, but {model.name} expects vectors of {model.feature_dims} dims"
        raise InputError(source, cause, "Ingest the features that it was trained on, or choose another model.")


def _of_corpus(model: ToolModel, source: Path) -> list[Footage]:
    corpus = Corpus.open(source)
    return [footage_of(corpus, video) for video in videos_with_frames(model, corpus)]


def videos_with_frames(model: ToolModel, corpus: Corpus) -> list[str]:
    """The ids of the videos that a model can look at; InputError where it reads something else, or there are none."""
    require_fitting(model, corpus)
    videos = corpus.with_frames()
    if not videos:
        raise InputError(corpus.path, "contains no video with frames", "Ingest some into it.")
    return videos


def footage_of(corpus: Corpus, video: str) -> Footage:
    """A video of a corpus by its id."""
    return _footage(video, corpus, corpus[video])


def _footage(name: str, corpus: Corpus, video: Video, file: str = "") -> Footage:
    return Footage(one_line(name), _file_of(video), corpus, video, file)


def _file_of(video: Video) -> Path | None:
    source = video.details["source"]
    return Path(source) if source and not source.endswith(".npy") and Path(source).is_file() else None


@dataclass(frozen=True)
class _ToRead:
    """A video file, decoded already or to be decoded."""

    name: str = field(compare=False)
    file: str = field(compare=False)  # its full path
    item: Item = field(compare=False)
    source: Source = field(compare=False)  # where it was found: names its tasks
    folder: Path  # in the cache: unique


def _of_files(model: ToolModel, source: Path, cache: Cache, skipped: list[Skipped]) -> Iterator[_ToRead]:
    from mmcc.corpus.find import find_source
    from mmcc.corpus.plan import fingerprint_of

    if model.feature_dims:
        cause = f"contains video, but {model.name} expects vectors of {model.feature_dims} dims, not images"
        raise InputError(source, cause, "Choose a corpus of such vectors, or a model of images.")
    found = find_source(source)
    skipped += found.skipped
    how, alone = [str(stored_size(model)), model.fit, f"{model.fps:g}"], source.is_file()
    for item in found.items:
        if item.media is not None:
            file = stored_name(item.media)
            key = [file, fingerprint_of(item), *how, item.id, json.dumps([item.tasks, item.steps])]
            name = item.media.name if alone else inner_name(item.media, source)
            yield _ToRead(name, storable(file), item, found, cache.place("footage", key))


def _read_all(
    to_read: Iterable[_ToRead], model: ToolModel, cache: Cache, progress: Begin
) -> Iterator[Footage | Skipped]:
    """Each into a corpus of its own, so that each can be evicted on its own; as many at once as there are cores."""
    wanted = list(to_read)
    tell = progress(len([each for each in wanted if not cache.holds(each.folder)]))
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:  # threads wait; worker processes decode
        yield from threads.map(lambda each: _read(each, model, cache, tell), wanted)


def _read(wanted: _ToRead, model: ToolModel, cache: Cache, tell: Progress) -> Footage | Skipped:
    path = storable(str(wanted.item.media))
    try:
        if not cache.holds_intact(wanted.folder):
            _ingest(wanted, model, cache, tell)
        corpus = Corpus.open(wanted.folder)
        cache.use(wanted.folder)
        if wanted.item.id in corpus and len(corpus[wanted.item.id].times):
            return _footage(wanted.name, corpus, corpus[wanted.item.id], wanted.file)
        reason = corpus[wanted.item.id].details["reason"] or "has no frame"
    except InputError as error:
        return Skipped(storable(error.path), f"{error.cause}. {error.remedy}".strip())
    shutil.rmtree(wanted.folder, ignore_errors=True)  # a failure is not cached: it may be the machine's fault
    return Skipped(path, reason)


def _ingest(wanted: _ToRead, model: ToolModel, cache: Cache, tell: Progress) -> None:
    from mmcc.corpus.ingest import IngestSettings, ingest
    from mmcc.media.pictures import Fit
    from mmcc.media.video import Sampling

    cache.make_folder(wanted.folder)
    settings = IngestSettings(Sampling(model.fps, stored_size(model), cast(Fit, model.fit)))
    ingest(Source([wanted.item], wanted.source.tasks), wanted.folder, settings, lambda total: tell)
    cache.seal(wanted.folder)


def some_frames(count: int) -> NDArray[np.int64]:
    """Places of at most 32 frames, evenly spaced: enough to tell what a video looks like."""
    return np.unique(np.linspace(0, count - 1, min(count, _SOME)).round().astype(np.int64))


def encoder_vectors(model: ToolModel, frames: Tensor) -> Tensor:
    """[P, F] by the frozen encoder of a model, of pictures; stored vectors are returned as they are."""
    from mmcc.models.pretrained_encoders import PretrainedFrameEncoder

    if frames.is_floating_point():
        return frames
    network: Any = cast(Any, model.adapter).model
    encoder = network.frame_encoders()[0]
    assert isinstance(encoder, PretrainedFrameEncoder), "`frozen_encoder` says so"
    return encoder.frozen_backbone(as_trained(model, frames))


def encoded_once(model: ToolModel, pictures: Sequence[NDArray[np.uint8]]) -> Sequence[NDArray[Any]]:
    """What takes pictures takes these, too: their vectors, if the model has a frozen encoder, which is slow."""
    import torch

    if model.frozen_encoder is None:
        return pictures
    alike = len({picture.shape for picture in pictures}) == 1
    at_once = AT_ONCE if alike else 1
    batches = [np.stack(pictures[first : first + at_once]) for first in range(0, len(pictures), at_once)]
    return [vector for batch in batches for vector in encoder_vectors(model, torch.from_numpy(batch)).numpy()]


def as_trained(model: ToolModel, frames: Tensor) -> Tensor:
    """Pictures at the size that a model was trained on; vectors, and where that size is not known, as they are."""
    as_is = model.feature_dims or model.assumed or frames.is_floating_point()
    return frames if as_is else at_size(frames, model.size)


def at_size(frames_PHWC: Tensor, size: int) -> Tensor:
    """uint8 pictures whose shorter side is `size`, each pixel the average of those it replaces."""
    import torch.nn.functional as F

    height, width = frames_PHWC.shape[1:3]
    shorter = min(height, width)
    if shorter == size:
        return frames_PHWC
    shape = [round(side * size / shorter) for side in (height, width)]
    pixels = frames_PHWC.permute(0, 3, 1, 2).float()
    pixels = F.interpolate(pixels, shape, mode="area" if shorter > size else "bilinear")
    return pixels.round_().byte().permute(0, 2, 3, 1)


def _as_tensors(footage: Footage, answer: Answer) -> EmbeddedVideo:
    import torch

    from mmcc.data.segments import NodeTimes
    from mmcc.evaluation.adapter import Embedding
    from mmcc.evaluation.embedding import EmbeddedVideo

    video, arrays = footage.video, {name: torch.from_numpy(array) for name, array in answer.arrays.items()}
    said = Embedding(arrays["text_z"], arrays["text_pi"]) if "text_z" in arrays else None
    frames, centres = Embedding(arrays["z"], arrays["pi"]), NodeTimes.of(video).centres
    return EmbeddedVideo(video.id, tuple(video.tasks), video.steps, video.times, frames, centres, said)
