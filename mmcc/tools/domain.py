"""Does footage resemble a model's training data? Judged by how its frames look, without any network.

    T² = (x̄ - μ)ᵀ (B + W / n + ρ I)⁻¹ (x̄ - μ) / K

x̄ is the mean look of n frames, each of the K figures in units of its spread over training frames; B is the covariance
of looks between training videos, W that within a video, so the number of frames is accounted for. T is about 0.7 for a
kitchen video; the threshold lies above 99 % of held-out ones, for 4, 8 and 32 of their frames.

Why not the model's own embeddings: a network maps the unknown close to what it knows. Of five real clips and five sets
of photos, the shipped model's z separates at best three and two from the 2 % most distant held-out kitchen videos
(cosine to the nearest five of 4,000 training frames; Mahalanobis, and π, fewer); T separates all ten. T of the clips is
1.5 to 10.6 and of the photos 1.4 to 1.7; of 231 kitchen test videos one is above 1.28, of 171 ingested again none. The
figures of a look were chosen with those ten in view: other real footage may come closer.

Shapes: P frames, n of one video, H × W pixels, K figures.
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
from mmcc.tools.footage import Footage, at_size
from mmcc.tools.model import ToolModel

FILE = "domain.npz"  # beside the weights of a published model
FRAMES = 32  # per video, evenly spaced
_VIDEOS = 300  # to fit on: more change nothing
_LEAST_VIDEOS = 8  # to fit on: fewer do not show how videos differ
_RIDGE = 0.03  # of unit variances: less trusts directions that hardly vary, more hides what is odd
_FEW = (1, 2)  # frames: single moments of ordinary videos can be odd, hence a threshold of their own
_SEEN = (4, 8, FRAMES)  # numbers of frames that the threshold must hold for
_QUANTILE = 0.99
_DRAWS = 10  # random selections of frames per held-out video: there may be few such videos
_UNKNOWN_WORDS = 0.2  # share: at most 0.03 in kitchen videos, 0.33 to 0.47 in real narration
_LEAST_WORDS = 20
_THRESHOLDS = ("threshold", "threshold_of_few")
_VERSION = "2"  # of the looks

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Domain:
    """How a model's training videos look."""

    mean: Floats  # [K]
    spread: Floats  # [K]
    between: Floats  # [K, K], of spread 1
    within: Floats  # [K, K]
    threshold: float
    threshold_of_few: float  # for fewer than four frames

    @classmethod
    def fit(cls, training: Sequence[Floats], held_out: Sequence[Floats]) -> Domain:
        """From the looks [n, K] of each training video, and of held-out ones that set the threshold."""
        every = np.concatenate(training)
        mean, spread = every.mean(axis=0), every.std(axis=0) + 1e-6
        scaled = [(looks - mean) / spread for looks in training if len(looks) > 1]
        between = np.cov(np.stack([looks.mean(axis=0) for looks in scaled]).T)
        within = np.mean([np.cov(looks.T) for looks in scaled], axis=0)
        draft = cls(mean, spread, between, within, np.inf, np.inf)
        random = np.random.default_rng(0)

        def passed_by_most(counts: Sequence[int]) -> float:
            shown = [[_some(looks, count, random) for looks in held_out for _ in range(_DRAWS)] for count in counts]
            return float(max(np.quantile([draft.distance(looks) for looks in each], _QUANTILE) for each in shown))

        return cls(mean, spread, between, within, passed_by_most(_SEEN), passed_by_most(_FEW))

    def limit(self, frames: int) -> float:
        """The largest distance expected of this many frames."""
        return self.threshold if frames >= _SEEN[0] else self.threshold_of_few

    def distance(self, looks_nK: Floats) -> float:
        """T of the frames of one video."""
        count, figures = looks_nK.shape
        apart = (looks_nK.mean(axis=0) - self.mean) / self.spread
        covariance = self.between + self.within / count + _RIDGE * np.eye(figures)
        return float(np.sqrt(apart @ np.linalg.solve(covariance, apart) / figures))

    def to_answer(self) -> Answer:
        arrays = {name: getattr(self, name).astype(np.float32) for name in ("mean", "spread", "between", "within")}
        return Answer(arrays, {name: getattr(self, name) for name in _THRESHOLDS})

    @classmethod
    def from_answer(cls, answer: Answer) -> Domain:
        given: dict[str, Any] = {**answer.arrays, **{name: float(answer.facts[name]) for name in _THRESHOLDS}}
        return cls(**given)


def _some(looks_nK: Floats, count: int, random: np.random.Generator) -> Floats:
    return looks_nK[random.permutation(len(looks_nK))[:count]]


def domain_warnings(model: ToolModel, footage: Sequence[Footage], cache: Cache) -> list[str]:
    """One line on the videos that look unlike the training data, one on those with many words the model lacks."""
    if model.feature_dims:
        return []  # vectors have no look
    domain, why_not = domain_of(model, cache)
    if domain is None:
        return [why_not] if why_not else []
    odd: dict[str, tuple[float, float]] = {}
    for each in footage:
        seen = _looks_of(each, model, cache)
        if (distance := domain.distance(seen)) > domain.limit(len(seen)):
            odd[each.name] = distance, domain.limit(len(seen))
    unknown = [each.name for each in footage if _is_unknown(each.embedding(model, cache).facts)]
    lines = [_warning(model, odd, len(footage))] if odd else []
    if unknown:
        who = _named(unknown, len(footage))
        lines.append(f"{who}: {model.name} does not know many of the words spoken. Treat its answers with caution.")
    return lines


def domain_warning(model: ToolModel, pictures_HWC: Sequence[NDArray[np.uint8]], cache: Cache) -> str | None:
    """The same for pictures that are not from a video, such as photos."""
    domain, why_not = domain_of(model, cache) if pictures_HWC and not model.feature_dims else (None, None)
    if domain is None:
        return why_not
    seen = np.concatenate([looks(_shrunk(picture[None], model.size)) for picture in pictures_HWC])
    distance, limit = domain.distance(seen), domain.limit(len(seen))
    return _unlike(model, distance, limit) if distance > limit else None


def _warning(model: ToolModel, odd: Mapping[str, tuple[float, float]], of: int) -> str:
    """One line on videos by name, each with its distance from the training data and the largest expected."""
    who, (distance, limit) = _named(list(odd), of), max(odd.values())
    return f"{who}: {_unlike(model, distance, limit, 'up to ' if len(odd) > 1 else '')}"


def _unlike(model: ToolModel, distance: float, limit: float, how: str = "") -> str:
    figures = f"distance {how}{distance:.2f}; its training data stays below {limit:.2f}"
    return f"unlike what {model.name} was trained on ({figures}). Treat its answers with caution."


def _named(names: list[str], of: int) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} of {of} videos, such as {names[0]}"


def _is_unknown(words: Mapping[str, Any]) -> bool:
    return bool(words["words"] >= _LEAST_WORDS and words["unknown"] > _UNKNOWN_WORDS * words["words"])


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
        fitted = fit_domain(corpus, held_out, model.size)
        return fitted.to_answer() if fitted else Answer()

    kept = cache.remember("domain", [_VERSION, model.checksum, str(model.size)], make)
    if kept.arrays:
        return Domain.from_answer(kept), None
    return None, f"Cannot compare with the training data of {model.name}: it has too few pictures."


def fit_domain(corpus: Corpus, held_out: float, size: int) -> Domain | None:
    """From a corpus's training videos, with the threshold from its validation videos; None if there are too few."""
    from mmcc.data.splits import some_of, videos_for

    training = some_of(videos_for(corpus, "train", held_out), _VIDEOS)
    chosen = videos_for(corpus, "validation", held_out) or training
    if corpus.manifest.encoding == "float32" or sum(len(corpus[each].times) > 1 for each in training) < _LEAST_VIDEOS:
        return None
    return Domain.fit(list(_looks(corpus, training, size)), list(_looks(corpus, chosen, size)))


def _looks(corpus: Corpus, ids: Iterable[str], size: int) -> Iterable[Floats]:
    return (looks(_frames(corpus[each], size)) for each in ids if len(corpus[each].times))


def _looks_of(footage: Footage, model: ToolModel, cache: Cache) -> Floats:
    def make() -> Answer:
        return Answer({"looks": looks(_frames(footage.video, model.size)).astype(np.float32)})

    return cache.remember("looks", [_VERSION, footage.key, str(model.size)], make).arrays["looks"]


def _frames(video: Video, size: int) -> NDArray[np.uint8]:
    count = len(video.times)
    wanted = np.unique(np.linspace(0, count - 1, min(count, FRAMES)).round().astype(int))
    return _shrunk(np.stack([video.frames(at, at + 1)[0] for at in wanted.tolist()]), size)


def _shrunk(pictures_PHWC: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    import torch

    shrunk: NDArray[np.uint8] = at_size(torch.from_numpy(pictures_PHWC), size).numpy()
    return shrunk


def looks(frames_PHWC: NDArray[np.uint8]) -> Floats:
    """Colours, contrasts and textures of each frame [P, K]: what distinguishes a drawing from a photo or a slide."""
    rgb = frames_PHWC.astype(np.float32) / 255
    grey = rgb.mean(axis=3)
    figures = [rgb.mean(axis=(1, 2)), rgb.std(axis=(1, 2)), (rgb.max(axis=3) - rgb.min(axis=3)).mean(axis=(1, 2))]
    for scale in (1, 2, 4):
        for steps in _steps(_averaged(grey, scale)):
            figures += [_log(steps.mean(axis=1)), _log(np.median(steps, axis=1))]
    across, _ = _steps(grey)
    figures += [(across < flat).mean(axis=1) for flat in (0.004, 0.012, 0.03)]
    figures += list(np.quantile(across, (0.9, 0.98), axis=1))
    figures += [_log(each) for each in np.quantile(_curvature(grey), (0.25, 0.5, 0.75, 0.95), axis=1)]
    for tint in (rgb[..., 0] - rgb[..., 1], (rgb[..., 0] + rgb[..., 1]) / 2 - rgb[..., 2]):
        figures += [tint.mean(axis=(1, 2)), tint.std(axis=(1, 2)), _log(_steps(tint)[0].mean(axis=1))]
    shade = np.minimum(grey * 8, 7).astype(np.uint8)
    figures += [np.sqrt((shade == each).mean(axis=(1, 2))) for each in range(8)]
    return np.column_stack(figures)


def _averaged(grey_PHW: Floats, scale: int) -> Floats:
    count, height, width = grey_PHW.shape
    rows, columns = height // scale, width // scale
    blocks = grey_PHW[:, : rows * scale, : columns * scale].reshape(count, rows, scale, columns, scale)
    averaged: Floats = blocks.mean(axis=(2, 4))
    return averaged


def _steps(grey_PHW: Floats) -> tuple[Floats, Floats]:
    """Differences between neighbouring pixels, across and down: [P, …] each."""
    across, down = np.diff(grey_PHW, axis=2), np.diff(grey_PHW, axis=1)
    return np.abs(across).reshape(len(grey_PHW), -1), np.abs(down).reshape(len(grey_PHW), -1)


def _curvature(grey_PHW: Floats) -> Floats:
    around = grey_PHW[:, :-2, 1:-1] + grey_PHW[:, 2:, 1:-1] + grey_PHW[:, 1:-1, :-2] + grey_PHW[:, 1:-1, 2:]
    return np.abs(4 * grey_PHW[:, 1:-1, 1:-1] - around).reshape(len(grey_PHW), -1)


def _log(value: Floats) -> Floats:
    logarithm: Floats = np.log(1e-3 + value)  # 1e-3: a quarter of a step of 8 bits
    return logarithm


def load_domain(path: Path) -> Domain:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return Domain.from_answer(
                Answer(
                    {name: stored[name] for name in stored.files if name not in _THRESHOLDS},
                    {name: float(stored[name]) for name in _THRESHOLDS},
                )
            )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(path, f"cannot be read ({error})", "Install mmcc again.") from None


def save_domain(domain: Domain, path: Path) -> None:
    answer = domain.to_answer()
    arrays: dict[str, Any] = {**answer.arrays, **{name: np.float64(value) for name, value in answer.facts.items()}}
    np.savez_compressed(path, **arrays)
