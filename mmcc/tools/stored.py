"""Vectors that `mmcc embed` stored in a corpus, where they are those of a model's own encoders."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from mmcc.corpus import Corpus, Video
from mmcc.corpus.vectors import VectorCorpus, Wanted, with_vectors
from mmcc.errors import InputError
from mmcc.tools.model import ToolModel


def stored_vectors(model: ToolModel, corpus: Corpus, video: Video) -> Corpus:
    """The corpus with the stored vectors of this video, of frames or text or both; as it is where there are none for
    the same content at the same times."""
    opened = stored_corpus(model, corpus)
    if isinstance(opened, VectorCorpus):
        stored = opened[video.id]
        try:
            same, _ = np.array_equal(stored.times, video.times), stored.text_vectors
        except InputError:  # it has been ingested again since it was embedded
            same = False
        return opened if same else corpus
    return corpus


def stored_corpus(model: ToolModel, corpus: Corpus) -> Corpus:
    """The corpus with whatever vectors of the model's encoders it has of all its videos."""
    return _opened(corpus, model.frozen_encoder, model.text_encoder)


def training_vectors(model: ToolModel, corpus: Corpus) -> Corpus | None:
    """The corpus that a model was trained on with the vectors of its frames; None where they are gone."""
    opened = _opened(corpus, model.frozen_encoder, None)
    return opened if isinstance(opened, VectorCorpus) else None


# None stands for the corpus itself. It is not kept here: whoever reads a large corpus opens it again from time to time,
# to be rid of the videos that it keeps.
_known: WeakKeyDictionary[Corpus, dict[tuple[Wanted | None, Wanted | None], Corpus | None]] = WeakKeyDictionary()


def _opened(corpus: Corpus, frames: Wanted | None, text: Wanted | None) -> Corpus:
    """With those of the vectors wanted that it has of all its videos."""
    known = _known.setdefault(corpus, {})
    if (frames, text) not in known:
        opened = _open(corpus, frames, text)
        known[frames, text] = None if opened is corpus else opened
    found = known[frames, text]
    return corpus if found is None else found


def _open(corpus: Corpus, frames: Wanted | None, text: Wanted | None) -> Corpus:
    kept: dict[str, Wanted] = {}
    for name, wanted in (("frames", frames), ("text", text)):
        if wanted is not None:
            try:
                with_vectors(corpus, **{name: wanted})
            except InputError:
                continue
            kept[name] = wanted
    return with_vectors(corpus, **kept)
