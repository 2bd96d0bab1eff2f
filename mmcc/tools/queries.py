"""Queries: a text, a photo, or a span of footage, embedded in the space that is searched.

Embeddings are cached, so a repeated query loads no torch.

Shapes: T texts, n frames, D dims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus import Corpus
from mmcc.corpus.format import is_corpus
from mmcc.errors import InputError
from mmcc.pretrained import shipped_names
from mmcc.storage import place, split_id
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.familiar import Familiarity, picture_warnings
from mmcc.tools.footage import Begin, Footage, open_footage
from mmcc.tools.model import ToolModel

if TYPE_CHECKING:
    from mmcc.evaluation.adapter import Embedding, TextAdapter
    from mmcc.media.pictures import Fit

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Texts:
    """Texts as a model reads them."""

    pi: Floats  # [T, D]
    unknown_of: dict[str, list[str]]  # by text: its content words that the model does not know, in order
    strangers: list[str]  # texts without a content word that it knows

    @property
    def unknown(self) -> list[str]:
        """All words that the model does not know, in order."""
        return list(dict.fromkeys(word for words in self.unknown_of.values() for word in words))

    def warnings(self, model: ToolModel) -> list[str]:
        if not self.unknown:
            return []
        return [f"{model.name} does not know the words: {', '.join(self.unknown)}"]


@dataclass(frozen=True)
class Node:
    """A query [D]: its embedding, its predicted future and, if the model has one, its predicted past."""

    present: Floats
    future: Floats
    past: Floats | None


def read_texts(model: ToolModel, texts: Sequence[str], cache: Cache) -> Texts:
    """Embed texts; InputError for a model without text, and if none of the words is known."""
    answer = cache.remember("texts", ["2", model.checksum, *texts], lambda: _embed_texts(model, texts))
    found = Texts(answer.arrays["pi"], answer.facts["unknown_of"], answer.facts["strangers"])
    if len(found.strangers) == len(set(texts)):
        refuse_strangers(model, found)
    return found


def refuse_strangers(model: ToolModel, texts: Texts) -> None:
    """InputError if no content word of a text is known, for queries that need them all."""
    if texts.strangers:
        cause = f"knows no content word of {', '.join(repr(text) for text in texts.strangers[:3])}"
        raise InputError(model.name, cause, "Use other words: its vocabulary.txt lists those it knows.")


def look_at(model: ToolModel, footage: Footage, frames: slice, cache: Cache) -> Node:
    """Some frames of a video as one node: mean z, unit-norm mean π. A model with a memory has seen those before."""
    key = [model.checksum, footage.key, "as is" if model.assumed else str(model.size)]
    key += [str(frames.start), str(frames.stop)]

    def make() -> Answer:
        import torch

        from mmcc.evaluation.adapter import Embedding, memory_of

        kept = footage.embedding(model, cache).arrays
        nodes = Embedding(*(torch.from_numpy(kept[name][frames]) for name in ("z", "pi")))
        shares = torch.full((1, len(nodes.z)), 1 / len(nodes.z))
        node, remember = nodes.mean(shares), memory_of(model.adapter)
        if remember is None or not frames.start:
            return _node(model, node)
        before = torch.from_numpy(kept["z"][: frames.start]).mean(dim=0, keepdim=True)
        return _node(model, node, remember(node, before))

    return _as_node(cache.remember("node", key, make))


def look_at_photo(model: ToolModel, path: Path, cache: Cache) -> Node:
    """A photo, scaled and cropped like the frames the model was trained on."""
    from mmcc.media.photos import photo_checksum

    if model.feature_dims:
        raise InputError(path, f"is a photo, and {model.name} reads feature vectors", "Choose a model of pictures.")
    key = [model.checksum, photo_checksum(path), str(model.size), model.fit]

    def make() -> Answer:
        import torch

        from mmcc.media.photo_worker import read_fitted

        picture = read_fitted(path, model.size, cast("Fit", model.fit))
        return _node(model, model.adapter.embed_frames(torch.from_numpy(picture[None])))

    return _as_node(cache.remember("node", key, make))


def look_over_photo(model: ToolModel, path: Path, cache: Cache) -> Familiarity:
    """Warns if a photo is unlike the training data, and of assumptions about how to read it."""
    from mmcc.media.photos import photo_checksum

    def make() -> Answer:
        from mmcc.media.photo_worker import read_fitted

        picture = read_fitted(path, model.size, cast("Fit", model.fit))
        line, strange = picture_warnings(model, [picture], cache)
        return Answer(facts={"line": line, "strange": strange})

    key = ["2", model.checksum, photo_checksum(path), str(model.size), model.fit]
    found = cache.remember("photo_domain", key, make).facts
    strange = frozenset({path.name} if found["strange"] else ())
    line = [f"{path.name}: {found['line']}"] if found["line"] else []
    notes = [model.note] if model.note else []
    return Familiarity(line, notes, strange) if strange else Familiarity([], [*notes, *line], strange)


def open_video(model: ToolModel, source: str, cache: Cache, progress: Begin | None = None) -> Footage:
    """One video: a file, or CORPUS:ID."""
    path = place(source)
    folder, video = split_id(path)
    if not path.exists() and video and is_corpus(folder):
        corpus = Corpus.open(folder)
        if video not in corpus:
            raise InputError(folder, f"contains no video {video!r}", f"It contains {_some(corpus.ids)}.")
        return _in_corpus(corpus, video)
    found = open_footage(model, [path], cache, **({"progress": progress} if progress else {})).footage
    if len(found) > 1:
        some = _some([each.video.id for each in found])
        raise InputError(source, f"contains {len(found)} videos", f"Name one: a file, or CORPUS:ID, of {some}.")
    return found[0]


def is_photo(source: str) -> bool:
    from mmcc.media.photos import is_photo_name

    return is_photo_name(source)


def photo_pixels() -> int:
    """Width times height that a photo may have."""
    from mmcc.media.photos import MAX_PIXELS

    return MAX_PIXELS


def frame_at(footage: Footage, time: float) -> int:
    """The frame nearest to a time; InputError beyond the video's end."""
    times = footage.video.times
    end = max(footage.video.duration, float(times[-1]))
    if time > end + 1:
        raise InputError(footage.name, f"ends at {end:.0f} s, before {time:g} s", "Choose a time within it.")
    return int(np.abs(times - time).argmin())


def _in_corpus(corpus: Corpus, video: str) -> Footage:
    if not len(corpus[video].times):
        raise InputError(corpus.path, f"video {video!r} has no frame", "Ingest it again.")
    return Footage(video, None, corpus, corpus[video])


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _embed_texts(model: ToolModel, texts: Sequence[str]) -> Answer:
    from mmcc.models.nodes import TEXT
    from mmcc.tools.words import understood

    if TEXT not in model.adapter.modalities:
        cause = "was trained without text and cannot read any"
        raise InputError(model.name, cause, f"Choose a model of video and text, such as {shipped_names()[0]}.")
    found = dict(zip(texts, understood(model.folder, texts), strict=True))
    pi = cast("TextAdapter", model.adapter).embed_texts(list(texts)).pi.numpy()
    unknown = {text: each.unknown for text, each in found.items()}
    return Answer({"pi": pi}, {"unknown_of": unknown, "strangers": [t for t, each in found.items() if each.stranger]})


def _node(model: ToolModel, node: Embedding, state: Embedding | None = None) -> Answer:
    from mmcc.evaluation.calibration import clip_evidence

    kinds = zip(("future", "present", "past"), clip_evidence(model.adapter, node, state), strict=False)
    return Answer({name: kind[0].numpy() for name, kind in kinds})


def _as_node(answer: Answer) -> Node:
    arrays: dict[str, Any] = dict(answer.arrays)
    return Node(arrays["present"], arrays["future"], arrays.get("past"))
