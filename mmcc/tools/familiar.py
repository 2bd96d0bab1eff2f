"""Whether a model is being asked about footage like that it was trained on; if not, people are told.

The comparison itself is mmcc.tools.domain's: of looks, or mmcc.tools.embedding_domain's: of the vectors of a frozen
pretrained encoder. A published model has its training data's figures beside its weights;
for other models they are computed once from the training corpus, and cached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus import Corpus, Video
from mmcc.errors import InputError
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.domain import FILE, Domain, domain_from, load_domain
from mmcc.tools.embedding_domain import EmbeddingDomain
from mmcc.tools.footage import Footage, encoder_vectors, some_frames
from mmcc.tools.looks import VERSION, looks_of, photographs
from mmcc.tools.model import ToolModel
from mmcc.tools.stored import training_vectors

_VIDEOS = 300  # to fit looks on: more change nothing
_EMBEDDED_VIDEOS = 2000  # to fit vectors on: they have more dims, and are there already
_LEAST_VIDEOS = 8  # to fit on: fewer do not show how videos differ
_UNKNOWN_WORDS = 0.2  # share: at most 0.03 in kitchen videos, 0.33 to 0.47 in real narration
_LEAST_WORDS = 20
_CAUTION = "Treat its answers with caution."

Floats = NDArray[np.floating[Any]]
AnyDomain = Domain | EmbeddingDomain


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


def picture_warnings(model: ToolModel, pictures: Sequence[NDArray[Any]], cache: Cache) -> tuple[str, bool]:
    """The same for pictures, or their vectors, that are not from a video, such as photos: a line ("" if there is
    nothing to say), and whether they are unlike the training data."""
    if not pictures:
        return "", False
    domain, why_not = _domain_for(model, cache)
    if domain is None:
        return why_not or "", False
    excess = domain.excess(np.concatenate([_vectors(domain, model, picture[None]) for picture in pictures]))
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


def _domain_for(model: ToolModel, cache: Cache) -> tuple[AnyDomain | None, str | None]:
    return (None, None) if model.feature_dims else domain_of(model, cache)  # vectors have no look


def domain_of(model: ToolModel, cache: Cache) -> tuple[AnyDomain | None, str | None]:
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
    if model.frozen_encoder and training_vectors(model, corpus) is None:
        how = f"run mmcc embed {model.trained_on} --frames {model.frozen_encoder.name}"
        return None, f"Cannot compare with the training data of {model.name}: its embeddings are gone; {how}."

    def make() -> Answer:
        fitted = fit_domain(model, corpus)
        return fitted.to_answer() if fitted else Answer()

    kept = cache.remember("domain", [VERSION, model.checksum], make)
    if kept.arrays:
        return domain_from(kept), None
    return None, f"Cannot compare with the training data of {model.name}: it has too few pictures."


def fit_domain(model: ToolModel, corpus: Corpus) -> AnyDomain | None:
    """What a model's training videos are like, with limits from these and the validation videos; None if there are too
    few. A model with a frozen encoder needs the vectors that `mmcc embed` stored in the corpus."""
    from mmcc.data.splits import some_of, videos_for

    held_out = float(model.settings.get("data", {}).get("held_out", 0.05))
    training, judged = (
        [each for each in videos_for(corpus, purpose, held_out) if len(corpus[each].times)]
        for purpose in ("train", "validation")
    )
    if sum(len(corpus[each].times) > 1 for each in training) < _LEAST_VIDEOS:
        return None
    if model.frozen_encoder:
        embedded = training_vectors(model, corpus)
        if embedded is None:
            return None
        some = some_of(training, _EMBEDDED_VIDEOS)
        return EmbeddingDomain.fit(*([_frames(embedded[each]) for each in part] for part in (some, judged)))
    if corpus.manifest.encoding == "float32":
        return None
    looks = [[looks_of(_frames(corpus[each])) for each in part] for part in (some_of(training, _VIDEOS), judged)]
    return Domain.fit(*looks, photographs=photographs())


def _vectors(domain: AnyDomain, model: ToolModel, pictures_PHWC: NDArray[Any]) -> Floats:
    """[P, D]: what a domain compares, of each picture."""
    if isinstance(domain, Domain):
        return looks_of(pictures_PHWC)
    import torch

    return encoder_vectors(model, torch.from_numpy(pictures_PHWC)).numpy()


def _vectors_of(domain: AnyDomain, footage: Footage, model: ToolModel, cache: Cache) -> Floats:
    """The same of some frames of a video, cached."""
    if isinstance(domain, EmbeddingDomain):
        return footage.embedding(model, cache).arrays["vectors"]

    def make() -> Answer:
        return Answer({"looks": looks_of(_frames(footage.video)).astype(np.float32)})

    return cache.remember("looks", [VERSION, footage.key], make).arrays["looks"]


def _frames(video: Video) -> NDArray[Any]:
    """Some frames, or their vectors."""
    return np.stack([video.frames(at, at + 1)[0] for at in some_frames(len(video.times)).tolist()])
