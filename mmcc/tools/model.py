"""A trained model by name, known well enough to answer from the cache; its weights are loaded when asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mmcc.checksums import checksum
from mmcc.corpus.vectors import Wanted
from mmcc.errors import InputError
from mmcc.evaluation.runs import BEST, Checkpoint, find_checkpoint
from mmcc.storage import place
from mmcc.untrusted import read_json, typed

if TYPE_CHECKING:
    from mmcc.evaluation.adapter import ModelAdapter

ORDER = "order.json"  # beside the weights of a published model
_IDENTITY = ("model.safetensors", "config.json", "config.yaml", "vocabulary.txt")  # all that an answer depends on
Progress = Callable[[list[str]], Iterable[str]]  # wraps what is iterated over, as mmcc.progress.bar does

_SIZE, _FIT, _FPS = 112, "crop", 1.0  # of runs that do not say: the paper's pictures at its densest rate


@dataclass(frozen=True)
class ToolModel:
    """What is known of a model without loading it."""

    name: str  # as the user named it
    folder: Path  # the checkpoint's
    checksum: str  # of its weights, settings and words
    size: int  # of the frames it was trained on: side of a picture, in pixels
    fit: str
    fps: float
    feature_dims: int  # 0: it reads pictures
    settings: Mapping[str, Any] = field(repr=False)  # of config.yaml
    trained_on: Path | None = None  # the corpus, where its place is known
    videos: int | None = None  # of that corpus, also those that were kept for tests; None where it is not known
    assumed: bool = False  # it does not say how its frames were made
    progress: Progress = field(default=lambda items: items, repr=False)  # shown while a pretrained encoder is at work
    between: Callable[[float], None] = field(default=lambda share: None, repr=False)  # called before every batch of a
    # video's frames, with the share of them that is done: a server answers short questions meanwhile

    @property
    def note(self) -> str:
        """What had to be assumed, for people."""
        if not self.assumed or self.feature_dims:
            return ""
        how = f"{self.size} pixels, {self.fps:g} a second"
        return f"{self.name} does not say how the frames it was trained on were made: videos are read at {how}."

    @property
    def frozen_encoder(self) -> Wanted | None:
        """The frozen pretrained network that reads its pictures."""
        found = self._encoder("frame_encoder")
        return Wanted(found["name"], found["checksum"]) if found.get("checksum") and found.get("frozen") else None

    @property
    def text_encoder(self) -> Wanted | None:
        """The pretrained network that reads its texts: to it, no word is unknown."""
        found = self._encoder("text_encoder")
        return Wanted(found["name"], found["checksum"]) if found.get("checksum") else None

    def _encoder(self, which: str) -> Mapping[str, Any]:
        model = self.settings.get("model")
        found = model.get(which) if isinstance(model, Mapping) else None
        named = isinstance(found, Mapping) and isinstance(found.get("name"), str)
        return found if isinstance(found, Mapping) and named else {}

    @property
    def sharpness(self) -> float | None:
        """The exponent of its probabilities of orders (mmcc.evaluation.set_order), fitted on videos that it had not
        seen; None where that was not done."""
        return self._order[0]

    @property
    def orders_up_to(self) -> int | None:
        """The largest sets that it was fitted on; None where that is not known to matter."""
        return self._order[1]

    @cached_property
    def _order(self) -> tuple[float | None, int | None]:
        path = self.folder / ORDER
        if not path.is_file():
            return None, None
        try:
            content = read_json(path, dict)
            largest = typed(content, "largest", int) if "largest" in content else None
            return typed(content, "sharpness", float), largest
        except (OSError, ValueError) as error:
            raise InputError(path, f"cannot be read ({error})", "Install mmcc again.") from None

    @cached_property
    def adapter(self) -> ModelAdapter:
        """The model itself. Loads torch."""
        from mmcc.evaluation.adapters import open_adapter

        return open_adapter(self.folder)


def open_model(
    source: str | Path,
    checkpoint: str | int = BEST,
    *,
    progress: Progress = lambda items: items,
    between: Callable[[float], None] = lambda share: None,
) -> ToolModel:
    """A run, a checkpoint's folder, or a model that comes with the package, such as kitchen."""
    found = find_checkpoint(Path(source), checkpoint)
    corpus = found.corpus()
    vectors = corpus.get("encoding") == "float32"
    # Of a pretrained encoder it is the length of the vectors that it makes of pictures.
    reads_vectors = not found.setting("model.frame_encoder.checksum", "")
    dims = found.setting("model.frame_encoder.feature_dims", 0) if reads_vectors else 0
    if not isinstance(dims, int):
        cause = f"model.frame_encoder.feature_dims should be a whole number, not {dims!r}"
        raise InputError(found.folder / "config.yaml", cause, "Copy it again from where the run was made.")
    return ToolModel(
        name=str(source),
        folder=found.folder,
        checksum=_checksum(found),
        size=_SIZE if vectors else int(corpus.get("size", _SIZE)),
        fit=str(corpus.get("fit") or _FIT),
        fps=float(corpus.get("fps", _FPS)),
        feature_dims=int(corpus["size"]) if vectors else dims,
        settings=found.settings,
        trained_on=place(corpus["path"]) if isinstance(corpus.get("path"), str) and corpus["path"] else None,
        videos=corpus["videos"] if isinstance(corpus.get("videos"), int) else None,
        assumed=not corpus,
        progress=progress,
        between=between,
    )


def _checksum(found: Checkpoint) -> str:
    """Of the files as they are: those of the manifest have just been checked."""
    digest = hashlib.sha256()
    for name in _IDENTITY:
        path = found.folder / name
        try:
            if path.is_file():  # a model of vision alone has no words
                digest.update(bytes.fromhex(found.checksums.get(name) or checksum(path)))
        except (OSError, ValueError) as error:
            raise InputError(path, f"cannot be read ({error})", "Copy it again.") from None
        digest.update(b"|")
    return digest.hexdigest()
