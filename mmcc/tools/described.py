"""Photos that come with descriptions: their order is judged from both.

    log P(u → v) = log P(u → v) of the pictures + log P(u → v) of their descriptions

Shapes: n photos.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.errors import InputError
from mmcc.tools.cache import Answer, Cache
from mmcc.tools.model import ToolModel
from mmcc.tools.pair_scores import log_scores
from mmcc.untrusted import Malformed, read_start

if TYPE_CHECKING:
    from mmcc.evaluation.adapter import TextAdapter

Floats = NDArray[np.float64]
_LARGEST = 1 << 20  # bytes
TEXTS = "texts"  # where descriptions come from, if not from a file


def read_descriptions(path: Path) -> list[str]:
    """The lines of a file; empty ones at its end do not count."""
    try:
        lines = read_start(path, _LARGEST).decode("utf-8-sig").rstrip().splitlines()
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or (error if isinstance(error, Malformed) else "is not UTF-8 text")
        raise InputError(path, f"cannot be read ({cause})", "Write a text file with one line per photo.") from None
    return [" ".join(line.split()) for line in lines]


def describe(
    photo_sets: Mapping[str, Sequence[Path]], videos: int, texts: Sequence[str], source: str
) -> dict[Path, str]:
    """Which photo each line describes; InputError if that cannot be told."""
    if videos or len(photo_sets) != 1:
        cause = "describes the photos of one set, but "
        cause += "a video was given" if videos else f"{len(photo_sets)} sets were given"
        raise InputError(source, cause, "Give photos one by one, or one folder of them.")
    ((folder, photos),) = photo_sets.items()
    order = "of their names" if folder else "in which they are given"
    remedy = f"Write one line per photo, in the order {order}."
    if len(texts) != len(photos):
        lines = "1 line" if len(texts) == 1 else f"{len(texts)} lines"
        raise InputError(source, f"has {lines}, but there are {len(photos)} photos", remedy)
    for number, text in enumerate(texts, 1):
        if not any(letter.isalnum() for letter in text):
            raise InputError(source, f"line {number} has no words ({photos[number - 1]})", remedy)
    return dict(zip(photos, texts, strict=True))


def description_of(paths: Sequence[Path], described: Mapping[Path, str]) -> str:
    """That of files which show the same picture; InputError if they differ."""
    first = paths[0]
    for other in paths[1:]:
        if described[other] != described[first]:
            cause = f"shows the same picture as {first}, but has another description"
            raise InputError(other, cause, "Leave one of them out.")
    return described[first]


def score_texts(model: ToolModel, texts: Sequence[str], cache: Cache) -> tuple[Floats, str]:
    """[n, n] log P of descriptions, and a line on words that the model does not know, or ""."""
    from mmcc.tools.words import understood

    found = understood(model.folder, texts)
    if strangers := [text for text, each in zip(texts, found, strict=True) if each.stranger]:
        cause = f"knows no content word of {', '.join(map(repr, strangers[:3]))}"
        raise InputError(model.name, cause, "Use other words: its vocabulary.txt lists those it knows.")
    unknown = list(dict.fromkeys(word for each in found for word in each.unknown))
    note = f"{model.name} does not know the words: {', '.join(unknown)}." if unknown else ""
    answer = cache.remember("descriptions", [model.checksum, *texts], lambda: _score(model, texts))
    return answer.arrays["log_P"], note


def _score(model: ToolModel, texts: Sequence[str]) -> Answer:
    import torch

    from mmcc.models.nodes import TEXT

    if TEXT not in model.adapter.modalities:
        cause = "was trained without text and cannot read descriptions"
        raise InputError(model.name, cause, "Leave them out, or choose a model of video and text.")
    with torch.inference_mode():
        nodes = cast("TextAdapter", model.adapter).embed_texts(list(texts))
        return Answer({"log_P": np.asarray(log_scores(model.adapter, nodes).numpy(), np.float64)})
