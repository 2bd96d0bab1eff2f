"""The metrics of the evaluations. Ties count by expectation, so an uninformative score gives exactly chance level.

Shapes: Q queries, N candidates; orders are [..., n], any number of them at once. V videos, S training seeds,
R resamples.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

ALL_PERMUTATIONS_UP_TO = 8  # elements: 40,320 orders take a few hundredths of a second
LEAST_VIDEOS = 20  # for an interval: resampling fewer of them says too little about videos that were not seen


def percentile_rank(scores_QN: npt.ArrayLike, target_Q: npt.ArrayLike) -> Floats:
    """How high each query ranks its target: 100 is first, 0 last, 50 chance.

    rank = 100 · (others scored below the target + ½ · others tied with it) / (N - 1)
    """
    scores = _scores(scores_QN)
    target = np.asarray(target_Q)
    if scores.shape[1] < 2:
        raise ValueError("a rank needs at least two candidates")
    own = np.take_along_axis(scores, target[:, None], axis=1)
    below = (scores < own).sum(axis=1)
    tied = (scores == own).sum(axis=1) - 1  # without the target itself
    return np.asarray(100 * (below + tied / 2) / (scores.shape[1] - 1), np.float64)


def mid_ranks(scores_QN: npt.ArrayLike) -> Floats:
    """[Q, N]: how many of a query's candidates each one outscores, a tie counting half.

    r = (candidates below) + ½ · (others that tie)

    Adding the same number to all scores of a query changes nothing.
    """
    ranks = []
    for row in _scores(scores_QN):
        ascending = np.sort(row)
        below, up_to = (np.searchsorted(ascending, row, side) for side in ("left", "right"))
        ranks.append(below + (up_to - below - 1) / 2)  # without the candidate itself
    return np.array(ranks, np.float64).reshape(np.shape(scores_QN))


def share_above(upper: npt.ArrayLike, lower: npt.ArrayLike) -> float:
    """P(a value of `upper` exceeds one of `lower`) over all pairs, ties half; NaN where there is no pair."""
    apart = np.subtract.outer(np.asarray(upper, np.float64), np.asarray(lower, np.float64))
    return float(((apart > 0) + 0.5 * (apart == 0)).mean()) if apart.size else math.nan


def recall_at(scores_QN: npt.ArrayLike, positive_QN: npt.ArrayLike, k: int) -> Floats:
    """For each query the probability that one of its positives is among the k best, ties broken at random.

    With s the k-th best score: 1 where a positive scores above s; otherwise t candidates score s, p of them positive,
    j = k - (candidates above s) of them are among the best, and

    recall = 1 - C(t - p, j) / C(t, j)
    """
    scores, positive = _scores(scores_QN), np.asarray(positive_QN, bool)
    if scores.shape != positive.shape:
        raise ValueError(f"scores {scores.shape} and positives {positive.shape} differ in shape")
    if k < 1:
        raise ValueError(f"k must be 1 or more, not {k}")
    k = min(k, scores.shape[1])
    kth = np.partition(scores, -k, axis=1)[:, -k, None]
    above, at = scores > kth, scores == kth
    drawn = recall_by_chance((at & positive).sum(axis=1), at.sum(axis=1), k - above.sum(axis=1))
    return np.where((above & positive).any(axis=1), 1.0, drawn)


def recall_by_chance(m: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """The probability that k of n candidates, drawn at random, include one of m positives; elementwise.

    recall = 1 - C(n - m, k) / C(n, k) = 1 - (n-m)/n · (n-m-1)/(n-1) · ... · (n-m-k+1)/(n-k+1)
    """
    hits, candidates, draws = np.broadcast_arrays(np.asarray(m), np.asarray(n), np.minimum(k, n))
    if (hits < 0).any() or (hits > candidates).any() or (draws < 0).any():
        raise ValueError("there must be 0 to n positives, and k must not be negative")
    taken = np.arange(draws.max(initial=0))
    left = candidates[..., None] - taken
    misses_left = np.maximum(left - hits[..., None], 0)
    factors = np.where(taken < draws[..., None], misses_left / np.maximum(left, 1), 1.0)
    return np.asarray(1 - factors.prod(axis=-1), np.float64)


def retrieval_figures(
    scores_QN: npt.ArrayLike, positive_QN: npt.ArrayLike, ks: Sequence[int] = (1, 5, 10)
) -> dict[str, Floats]:
    """For each query [Q], in percent: recall@k, and the worst, mean and best percentile rank of its positives.

    Every query must have a positive.
    """
    scores, positive = _scores(scores_QN), np.asarray(positive_QN, bool)
    figures = {f"recall@{k}": 100 * recall_at(scores, positive, k) for k in ks}
    query, target = np.nonzero(positive)
    ranks = np.full(positive.shape, np.nan)
    ranks[query, target] = percentile_rank(scores[query], target)
    for name, over in (("worst", np.nanmin), ("mean", np.nanmean), ("best", np.nanmax)):
        figures[f"percentile_{name}"] = over(ranks, axis=1)
    return figures


def kendall_tau(order: npt.ArrayLike) -> Floats:
    """Agreement of an order with the true one; `order` lists the true places, all different, in the order given.

    τ = (pairs in order - pairs out of order) / (n (n - 1) / 2)
    """
    places = _places(order)
    earlier, later = np.triu_indices(places.shape[-1], 1)
    return np.asarray((2 * (places[..., later] > places[..., earlier]) - 1).mean(axis=-1), np.float64)


def spearman_rho(order: npt.ArrayLike) -> Floats:
    """Agreement of an order with the true one, by the distance d of each element from its true place.

    ρ = 1 - 6 Σ d² / (n (n² - 1))
    """
    ranks = _ranks(_places(order))
    n = ranks.shape[-1]
    squares = ((ranks - np.arange(n)) ** 2).sum(axis=-1)
    return np.asarray(1 - 6 * squares / (n * (n**2 - 1)), np.float64)


def edit_distance(order: npt.ArrayLike) -> Floats:
    """Levenshtein distance: the fewest insertions, deletions and substitutions that turn an order into the true one.

    D(i, j) = min(D(i-1, j) + 1, D(i, j-1) + 1, D(i-1, j-1) + [element i of the order is not the true j-th])
    """
    ranks = _ranks(_places(order))
    n = ranks.shape[-1]
    row = np.broadcast_to(np.arange(n + 1), (*ranks.shape[:-1], n + 1)).copy()
    for i in range(n):
        above, row = row, np.empty_like(row)
        row[..., 0] = i + 1
        without_insertion = np.minimum(above[..., 1:] + 1, above[..., :-1] + (ranks[..., i, None] != np.arange(n)))
        for j in range(n):
            row[..., j + 1] = np.minimum(without_insertion[..., j], row[..., j] + 1)
    return row[..., n].astype(np.float64)


def chance_by_permutation(
    metric: Callable[[Numbers], Floats], n: int, *, samples: int = 20_000, seed: int = 0
) -> float:
    """The mean of a metric over orders of n elements: over all of them if n is small, otherwise over a sample."""
    if n <= ALL_PERMUTATIONS_UP_TO:
        orders = np.array(list(permutations(range(n))))
    else:
        draw = random.Random(seed).random  # the one stream that Python promises not to change
        orders = np.array([[draw() for _ in range(n)] for _ in range(samples)]).argsort(axis=-1)
    return math.fsum(metric(orders)) / len(orders)


@dataclass(frozen=True)
class PerVideo:
    """One figure of one model, split by video, so that videos can be resampled: mean = Σ totals / Σ counts."""

    videos: tuple[str, ...]
    totals: Floats  # [V]
    counts: Floats  # [V]; 0 for a video that has nothing to count

    def __post_init__(self) -> None:
        if not len(self.videos) == len(set(self.videos)) == len(self.totals) == len(self.counts):
            raise ValueError("expected one total and one count for each video, and each video once")

    @classmethod
    def of(cls, values: npt.ArrayLike, of_video: npt.ArrayLike, videos: Sequence[str]) -> PerVideo:
        """From values, each with the index of its video."""
        place, each = np.asarray(of_video, np.int64), np.asarray(values, np.float64)
        sums = [np.bincount(place, weights, len(videos)).astype(np.float64) for weights in (each, np.ones_like(each))]
        return cls(tuple(videos), *sums)

    @property
    def mean(self) -> float:
        """NaN if the counts are all 0."""
        count = float(self.counts.sum())
        return float(self.totals.sum()) / count if count else math.nan

    def to_json(self) -> dict[str, Any]:
        return {"videos": list(self.videos), "totals": self.totals.tolist(), "counts": self.counts.tolist()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> PerVideo:
        totals, counts = (np.asarray(content[name], np.float64) for name in ("totals", "counts"))
        return cls(tuple(content["videos"]), totals, counts)


class Interval(NamedTuple):
    """A mean with its confidence interval; without one where there are too few videos to resample."""

    mean: float
    low: float | None
    high: float | None
    over: int  # how many videos

    @property
    def excludes_zero(self) -> bool:
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def text(self, digits: int, sign: str = "", of: str = "video") -> str:
        """12.3 [11.9, 12.8], or 12.3 (7 videos); with "+" as `sign`, +12.3. `of`: what was counted, if not videos."""
        mean, low, high = (None if value is None else f"{value:{sign}.{digits}f}" for value in self[:3])
        return f"{mean} ({counted(self.over, of)})" if low is None or high is None else f"{mean} [{low}, {high}]"

    def to_json(self) -> dict[str, float | None]:
        return {"mean": self.mean, "low": self.low, "high": self.high}


def counted(count: int, of: str = "video") -> str:
    """ "1 video", "7 videos"."""
    return f"{count} {of}{'' if count == 1 else 's'}"


def bootstrap(
    samples: Sequence[PerVideo],
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    least: int = LEAST_VIDEOS,
) -> Interval:
    """The mean of a figure over training seeds, and its interval by resampling both seeds and videos.

    A resample draws S seeds and V videos with replacement; all its seeds use the same videos:

    figure = mean over drawn seeds s of Σ_v totals[s, v] / Σ_v counts[s, v], v over the drawn videos

    The interval covers the middle `level` of the resampled figures. With one seed it cannot reflect how seeds differ;
    with fewer than `least` videos there is none.
    """
    return _interval([samples], resamples, seed, level, least)


def paired_difference(
    one: Sequence[PerVideo],
    other: Sequence[PerVideo],
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    least: int = LEAST_VIDEOS,
) -> Interval:
    """How far `one` is above `other`, both on the same resampled seeds and videos, so that shared variation cancels.

    A side with a single sample (an untrained model has no seeds) is compared with each seed of the other.
    """
    return _interval([one, other], resamples, seed, level, least)


def _interval(sides: Sequence[Sequence[PerVideo]], resamples: int, seed: int, level: float, least: int) -> Interval:
    """The figure of the first side, minus that of the second if given."""
    if not 0 < level < 1 or resamples < 1:
        raise ValueError("level must lie between 0 and 1, and resamples must be 1 or more")
    if not all(sides):
        raise ValueError("no samples to resample")
    tables = [_table(side, sides[0][0].videos) for side in sides]
    seeds = max(len(totals) for totals, _ in tables)
    if any(len(totals) not in (1, seeds) for totals, _ in tables):
        raise ValueError("both sides must have the same number of training seeds, or one of them a single sample")
    shown = np.any([counts.any(axis=0) for _, counts in tables], axis=0)
    videos = int(shown.sum())
    if not videos:
        raise ValueError("no video has anything to count")
    kept = [(totals[:, shown], counts[:, shown]) for totals, counts in tables]
    mean = float(_difference(kept, np.ones((1, seeds)), np.ones((1, videos)))[0])
    if videos < max(least, 2):
        return Interval(mean, None, None, videos)
    draw = np.random.Generator(np.random.PCG64(seed)).random((resamples, seeds + videos))
    drawn = _difference(kept, _times_drawn(draw[:, :seeds]), _times_drawn(draw[:, seeds:]))
    low, high = np.nanquantile(drawn, ((1 - level) / 2, (1 + level) / 2))
    return Interval(mean, float(low), float(high), videos)


def _difference(sides: Sequence[tuple[Floats, Floats]], times_seed_RS: Floats, times_video_RV: Floats) -> Floats:
    """[R]: the figure of the first side, minus that of the second if given."""
    first, *rest = (_resampled(*side, times_seed_RS, times_video_RV) for side in sides)
    return first - rest[0] if rest else first


def _table(samples: Sequence[PerVideo], videos: tuple[str, ...]) -> tuple[Floats, Floats]:
    """Totals and counts [S, V], the videos in one order."""
    totals, counts = [], []
    for sample in samples:
        place = {video: at for at, video in enumerate(sample.videos)}
        if place.keys() != set(videos):
            raise ValueError("figures from different videos cannot be compared")
        order = [place[video] for video in videos]
        totals.append(sample.totals[order])
        counts.append(sample.counts[order])
    return np.array(totals), np.array(counts)


def _times_drawn(draw: Floats) -> Floats:
    """Uniform numbers [R, n] as n draws from n items: how often each item was drawn, [R, n]."""
    resamples, n = draw.shape
    drawn = (draw * n).astype(np.int64) + n * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)


def _resampled(totals_SV: Floats, counts_SV: Floats, times_seed_RS: Floats, times_video_RV: Floats) -> Floats:
    """[R]; NaN where a drawn seed has nothing to count in any drawn video."""
    with np.errstate(invalid="ignore"):
        figure_RS = (times_video_RV @ totals_SV.T) / (times_video_RV @ counts_SV.T)
    weighted = np.where(times_seed_RS > 0, figure_RS * times_seed_RS, 0.0)
    return np.asarray(weighted.sum(axis=1) / times_seed_RS.sum(axis=1), np.float64)


def _scores(scores_QN: npt.ArrayLike) -> Numbers:
    scores = np.asarray(scores_QN)
    if scores.ndim != 2:
        raise ValueError(f"scores must be queries by candidates, not of shape {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError("scores contain NaN")
    return scores


def _places(order: npt.ArrayLike) -> Numbers:
    places = np.asarray(order)
    if places.ndim == 0 or places.shape[-1] < 2:
        raise ValueError("an order needs at least two elements")
    if (np.diff(np.sort(places, axis=-1), axis=-1) == 0).any():
        raise ValueError("an order must contain each place once")
    return places


def _ranks(places: Numbers) -> Numbers:
    """0 to n - 1, even where the places have gaps."""
    return places.argsort(axis=-1).argsort(axis=-1)
