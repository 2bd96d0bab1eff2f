"""Whether a model is being asked about footage like that it was trained on; if not, people are told.

The comparison itself is mmcc.tools.domain's. A published model has its training data's figures beside its weights;
for other models they are computed once from the training corpus, and cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus import Corpus, Video
from mmcc.errors import InputError
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.domain import FILE, LOOKS, Domain, load_domain
from mmcc.tools.footage import Footage
from mmcc.tools.looks import VERSION, looks_of, photographs
from mmcc.tools.model import ToolModel

FRAMES = 32  # per video, evenly spaced
_VIDEOS = 300  # to fit on: more change nothing
_LEAST_VIDEOS = 8  # to fit on: fewer do not show how videos differ
_UNKNOWN_WORDS = 0.2  # share: at most 0.03 in kitchen videos, 0.33 to 0.47 in real narration
_LEAST_WORDS = 20
_CAUTION = "Treat its answers with caution."

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Familiarity:
    """How well a model knows footage such as some that it is asked about."""

    cautions: list[str]  # for people, also for those who are handed the answers
    notes: list[str]  # for whoever asks: what could not be compared, and what was assumed
    strange: frozenset[str]  # names of the footage whose pictures are unlike the training data

    @property
    def warnings(self) -> list[str]:
        return [*self.notes, *self.cautions]


def familiarity(model: ToolModel, footage: Sequence[Footage], cache: Cache) -> Familiarity:
    """One line on the videos that look unlike the training data, one on those with many words the model lacks."""
    domain, why_not = _domain_for(model, cache)
    odd: dict[str, float] = {}
    for each in footage if domain else ():
        assert domain is not None
        if (excess := domain.excess(_vectors_of(domain, each, model, cache))) > 1:
            odd[each.name] = excess
    unknown = [each.name for each in footage if _is_unknown(each.embedding(model, cache).facts)]
    lines = [f"{_named(list(odd), len(footage))}: {_unlike(model, max(odd.values()), len(odd) > 1)}"] if odd else []
    if unknown:
        words = f"{model.name} does not know many of the words spoken"
        lines.append(f"{_named(unknown, len(footage))}: {words}. {_CAUTION}")
    return Familiarity(lines, [why_not] if why_not else [], frozenset(odd))


def domain_warnings(model: ToolModel, footage: Sequence[Footage], cache: Cache) -> list[str]:
    """The lines alone."""
    return familiarity(model, footage, cache).warnings


def warnings_about(model: ToolModel, footage: Footage, cache: Cache) -> list[str]:
    """The cautions on one video, for a file that is passed on: without its name, and without the model's folder."""
    lines = [line.removeprefix(f"{footage.name}: ") for line in familiarity(model, [footage], cache).cautions]
    lines = [f"this video is {line}" if line.startswith("unlike") else line for line in lines]
    return [f"Warning: {line.replace(model.name, Path(model.name).name)}" for line in lines]


def picture_warnings(model: ToolModel, pictures_HWC: Sequence[NDArray[np.uint8]], cache: Cache) -> tuple[str, bool]:
    """The same for pictures that are not from a video, such as photos: a line ("" if there is nothing to say), and
    whether they are unlike the training data."""
    if not pictures_HWC:
        return "", False
    domain, why_not = _domain_for(model, cache)
    if domain is None:
        return why_not or "", False
    excess = domain.excess(np.concatenate([_vectors(domain, picture[None]) for picture in pictures_HWC]))
    return (_unlike(model, excess), True) if excess > 1 else ("", False)


def why_strange(model: ToolModel) -> str:
    """Why a model is not to be trusted with pictures that it warns about."""
    return f"the pictures are unlike what {model.name} was trained on"


def _unlike(model: ToolModel, excess: float, several: bool = False) -> str:
    how = f"{'up to ' if several else ''}{excess:.2f} times the distance that its training data stays within"
    return f"unlike what {model.name} was trained on ({how}). {_CAUTION}"


def _named(names: list[str], of: int) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} of {of} videos, such as {names[0]}"


def _is_unknown(words: Mapping[str, Any]) -> bool:
    return bool(words["words"] >= _LEAST_WORDS and words["unknown"] > _UNKNOWN_WORDS * words["words"])


def _domain_for(model: ToolModel, cache: Cache) -> tuple[Domain | None, str | None]:
    return (None, None) if model.feature_dims else domain_of(model, cache)  # vectors have no look


def domain_of(model: ToolModel, cache: Cache) -> tuple[Domain | None, str | None]:
    """The one that comes with the model, or one fitted once on its training corpus; else None and the reason."""
    path = model.folder / FILE
    if path.is_file():
        return load_domain(path), None
    if model.trained_on is None:
        return None, None
    try:
        corpus = Corpus.open(model.trained_on)
    except (InputError, OSError):
        return None, f"Cannot compare with the training data of {model.name}: {model.trained_on} no longer exists."
    held_out = float(model.settings.get("data", {}).get("held_out", 0.05))

    def make() -> Answer:
        fitted = fit_domain(corpus, held_out)
        return fitted.to_answer() if fitted else Answer()

    kept = cache.remember("domain", [VERSION, model.checksum], make)
    if kept.arrays:
        return Domain.from_answer(kept), None
    return None, f"Cannot compare with the training data of {model.name}: it has too few pictures."


def fit_domain(corpus: Corpus, held_out: float) -> Domain | None:
    """The looks of a corpus's training videos, with limits from these and its validation videos; None if there are too
    few."""
    from mmcc.data.splits import some_of, videos_for

    training = some_of(videos_for(corpus, "train", held_out), _VIDEOS)
    if corpus.manifest.encoding == "float32" or sum(len(corpus[each].times) > 1 for each in training) < _LEAST_VIDEOS:
        return None
    judged = videos_for(corpus, "validation", held_out)
    return Domain.fit(list(_looks(corpus, training)), list(_looks(corpus, judged)), photographs=photographs())


def _looks(corpus: Corpus, ids: Iterable[str]) -> Iterable[Floats]:
    return (looks_of(_frames(corpus[each])) for each in ids if len(corpus[each].times))


def _vectors(domain: Domain, pictures_PHWC: NDArray[np.uint8]) -> Floats:
    """[P, D]: what a domain compares, of each picture."""
    assert domain.kind == LOOKS, "embeddings come from the model"
    return looks_of(pictures_PHWC)


def _vectors_of(domain: Domain, footage: Footage, model: ToolModel, cache: Cache) -> Floats:
    """The same of some frames of a video, cached."""

    def make() -> Answer:
        return Answer({"vectors": _vectors(domain, _frames(footage.video)).astype(np.float32)})

    of = VERSION if domain.kind == LOOKS else model.checksum
    return cache.remember("looks", [domain.kind, of, footage.key], make).arrays["vectors"]


def _frames(video: Video) -> NDArray[np.uint8]:
    count = len(video.times)
    wanted = np.unique(np.linspace(0, count - 1, min(count, FRAMES)).round().astype(int))
    return np.stack([video.frames(at, at + 1)[0] for at in wanted.tolist()])
