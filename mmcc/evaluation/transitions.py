"""The most salient changes of a video: which frame becomes which, over all pairs, however long the video is.

    P_fwd(v | u)  = e^{g_fwd(u) · π_v / τ}  / Σ_{m ≠ u} e^{g_fwd(u) · π_m / τ}
    P_back(u | v) = e^{g_back(v) · π_u / τ} / Σ_{m ≠ v} e^{g_back(v) · π_m / τ}
    P(u → v)      = P_fwd(v | u) · P_back(u | v) · P(u) · P(v),  u ≠ v                                       (Eq. 12)

P(x) is the softmax over the frames' concreteness (Eq. 7) at the edges' temperature, uniform in a video without speech;
P_back is left out for a model that does not predict the past. A first pass over blocks of pairs sums the denominators.
After that, log P(u → v) is the inner product of a vector of u and a vector of v, and a second pass keeps the best of
each cell of 32 × 32 pairs. These are upper bounds, and only the cells with the highest ones are searched.

Shapes: n frames, k utterances, D dims, E = 2 D + 2, T transitions, J steps, L different sets of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from mmcc.errors import InputError
from mmcc.evaluation.adapter import ModelAdapter
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import EvaluationTask, Needs
from mmcc.metrics import PerVideo

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

CELL = 32  # frames: a fine grid costs memory, a coarse one search time
BLOCK = 1024  # frames: 4 MB of scores, which fit into the cache
NEVER = -(2.0**100)  # a log-probability below any other, and finite: 0 · -inf would be NaN


class Transition(NamedTuple):
    """One frame becomes another."""

    from_time: float
    to_time: float
    log_probability: float
    from_frame: int
    to_frame: int


@torch.inference_mode()
def salient_transitions(
    adapter: ModelAdapter,
    video: EmbeddedVideo,
    *,
    top: int = 10,
    window: float = 10.0,
    block: int = BLOCK,
    forward_only: bool = False,
    gap: float = 0.0,
    left_out: NDArray[np.bool_] | None = None,
) -> list[Transition]:
    """The `top` most probable transitions, best first, without those that start and end within `window` seconds of a
    better one.

    `forward_only`: only to later frames. `gap`: only between frames at least this many seconds apart. `left_out` [n]:
    frames at which no transition starts or ends. The probabilities are still normalized over all frames.
    """
    if len(video.times) < 2:
        return []
    block = -(-block // CELL) * CELL
    from_nE, to_nE = transition_factors(adapter, video, block)
    if not (from_nE[:, -2:].isfinite().all() and to_nE[:, -2:].isfinite().all()):  # the sums cover everything
        cause = f"{adapter.name}'s embedding of it contains NaN or Inf"
        raise InputError(video.id, cause, "Train at a lower rate, or embed it again.")
    if left_out is not None:
        hidden = torch.from_numpy(left_out)
        from_nE[hidden, -2], to_nE[hidden, -1] = NEVER, NEVER
    # Padded with frames that no transition starts or ends at.
    padded = _to_whole_cells(from_nE, (NEVER, 0)), _to_whole_cells(to_nE, (1, NEVER))
    return _Search(*padded, video.times, window, forward_only, gap).best(top, block)


def transition_factors(adapter: ModelAdapter, video: EmbeddedVideo, block: int = BLOCK) -> tuple[Tensor, Tensor]:
    """[n, E] each: log P(u → v) is the inner product of row u of the first and row v of the second."""
    pi, tau = video.frames.pi, adapter.temperature
    prior_n = log_prior(adapter, video, block)
    future = adapter.future(video.frames) / tau
    sides = [(future, pi)]
    at_from, at_to = prior_n - _log_sums(future, pi, block), prior_n
    if adapter.past is not None:
        past = adapter.past(video.frames) / tau
        sides.append((pi, past))
        at_to = prior_n - _log_sums(past, pi, block)
    one = torch.ones_like(prior_n)[:, None]
    from_nE = torch.cat([*(side for side, _ in sides), at_from[:, None], one], dim=1)
    to_nE = torch.cat([*(side for _, side in sides), one, at_to[:, None]], dim=1)
    return from_nE, to_nE


def log_prior(adapter: ModelAdapter, video: EmbeddedVideo, block: int = BLOCK) -> Tensor:
    """log P(x) of every frame [n]."""
    return (concreteness(video, block) / adapter.temperature).log_softmax(dim=0)


def concreteness(video: EmbeddedVideo, block: int = BLOCK) -> Tensor:
    """Eq. 7 for every frame [n], over all utterances of the video; 0 in a video without any."""
    pi = video.frames.pi
    if video.utterances is None or not len(video.utterances.pi):
        return pi.new_zeros(len(pi))
    said_Dk = video.utterances.pi.T
    return torch.cat([(rows @ said_Dk).amax(dim=1) for rows in torch.split(pi, block)])


def _log_sums(query_nD: Tensor, pi_nD: Tensor, block: int) -> Tensor:
    """log Σ_{m ≠ u} e^{query_u · π_m} of every u [n]."""
    # No score exceeds the query's length, 1/τ. Up to 40, e^score neither overflows nor vanishes: no maximum is needed.
    mild = bool(query_nD.norm(dim=1).max() <= 40)
    sums_n = query_nD.new_full((len(query_nD),), 0.0 if mild else -torch.inf)
    for first, rows in zip(range(0, len(query_nD), block), torch.split(query_nD, block), strict=True):
        own = sums_n[first : first + block]
        for other, columns in zip(range(0, len(pi_nD), block), torch.split(pi_nD, block), strict=True):
            scores = rows @ columns.T
            if first == other:
                scores.fill_diagonal_(-torch.inf)
            if mild:
                own += scores.exp_().sum(dim=1)
            else:
                torch.logaddexp(own, scores.logsumexp(dim=1), out=own)
    return sums_n.log() if mild else sums_n


def _to_whole_cells(factors_nE: Tensor, last_two: tuple[float, float]) -> Tensor:
    padded = F.pad(factors_nE, (0, 0, 0, -len(factors_nE) % CELL))
    padded[len(factors_nE) :, -2:] = factors_nE.new_tensor(last_two)
    return padded


class _Search:
    """The best pairs one by one, each suppressing its neighbours, with the same result as sorting all pairs.

    A cell's bound is at least the score of its best pair that is not suppressed. The cell with the highest bound is
    searched and its bound made exact; if that is still the highest, no pair anywhere is better.
    """

    def __init__(
        self, from_nE: Tensor, to_nE: Tensor, times: NDArray[np.float64], window: float, forward_only: bool, gap: float
    ) -> None:
        self._from, self._to = from_nE, to_nE
        self._times, self._window, self._forward_only, self._gap = times, window, forward_only, gap
        padding = np.full(len(from_nE) - len(times), np.inf)
        self._padded_times = np.concatenate([times, padding])
        self._found: list[Transition] = []

    def best(self, top: int, block: int) -> list[Transition]:
        bounds = self._bounds(block)
        cells = bounds.shape[1]
        flat = bounds.flatten()
        highest = int(flat.argmax())
        while len(self._found) < top and flat[highest] > NEVER:
            cell = highest
            transition = self._best_of_cell(*divmod(cell, cells))
            flat[cell] = transition.log_probability
            highest = int(flat.argmax())
            if highest == cell and transition.log_probability > NEVER:
                self._found.append(transition)
        return self._found

    def _bounds(self, block: int) -> Tensor:
        """The best of each cell [n / CELL, n / CELL], in blocks."""
        cells = len(self._from) // CELL
        bounds = self._from.new_full((cells, cells), NEVER)
        for first, rows in zip(range(0, len(self._from), block), torch.split(self._from, block), strict=True):
            for other, columns in zip(range(0, len(self._to), block), torch.split(self._to, block), strict=True):
                if self._forward_only and other < first:
                    continue
                scores = self._without_itself(rows @ columns.T, first == other)
                best_rows = scores.view(-1, CELL, len(columns)).amax(dim=1)
                best = best_rows.view(len(best_rows), -1, CELL).amax(dim=2)
                bounds[first // CELL :, other // CELL :][: best.shape[0], : best.shape[1]] = best
        return bounds

    def _best_of_cell(self, row: int, column: int) -> Transition:
        rows, columns = (slice(at * CELL, (at + 1) * CELL) for at in (row, column))
        scores = self._without_itself(self._from[rows] @ self._to[columns].T, row == column).numpy()
        if self._found:
            near_from = self._near(rows, [each.from_time for each in self._found])
            near_to = self._near(columns, [each.to_time for each in self._found])
            scores[near_from @ near_to.T > 0] = NEVER
        if self._gap > 0:
            with np.errstate(invalid="ignore"):  # padding lies at infinity
                apart = np.abs(self._padded_times[columns] - self._padded_times[rows, None])
            scores[apart < self._gap] = NEVER
        place = int(scores.argmax())
        u, v = rows.start + place // CELL, columns.start + place % CELL
        value = float(scores.flat[place])
        if value <= NEVER / 2:  # hidden or padding, all of them
            return Transition(np.nan, np.nan, NEVER, u, v)
        return Transition(float(self._times[u]), float(self._times[v]), value, u, v)

    def _near(self, frames: slice, times: list[float]) -> NDArray[np.float32]:
        """[CELL, T]: 1 where a frame lies within the window around a time."""
        apart = np.abs(self._padded_times[frames, None] - np.array(times))
        return np.asarray(apart <= self._window, np.float32)

    def _without_itself(self, scores: Tensor, on_diagonal: bool) -> Tensor:
        if on_diagonal and self._forward_only:
            return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(), NEVER)
        return scores.fill_diagonal_(NEVER) if on_diagonal else scores


def evaluate(
    adapter: ModelAdapter,
    videos: Sequence[EmbeddedVideo],
    *,
    top: int = 10,
    window: float = 10.0,
    forward_only: bool = False,
) -> TaskResult:
    """Shares of each video's `top` transitions, in percent:

    forward            end later than they start
    joins_steps        start and end in labelled clips of different steps
    ordered_steps      do both: lead from a step to another one shown later
    ordered_of_joined  the same, among those that join steps

    Chance: as many random pairs of frames from each video.
    """
    usable = [video for video in videos if len(video.times) > 1 and video.steps]
    values: dict[str, list[float]] = {name: [] for name in ("forward", "joins_steps", "ordered_steps")}
    of_video: list[int] = []
    joined_by_chance: list[float] = []
    for at, video in enumerate(usable):
        found = salient_transitions(adapter, video, top=top, window=window, forward_only=forward_only)
        shown_nJ = _steps_shown(video)
        for name, share in _counted(found, shown_nJ).items():
            values[name] += (100.0 * share).tolist()
        of_video += [at] * len(found)
        joined_by_chance += [100 * _share_of_pairs_that_join(shown_nJ)] * len(found)
    figures = {name: PerVideo.of(each, of_video, [video.id for video in usable]) for name, each in values.items()}
    ordered, joined = figures["ordered_steps"], figures["joins_steps"]
    figures["ordered_of_joined"] = PerVideo(ordered.videos, ordered.totals, joined.totals / 100)
    joins = float(np.mean(joined_by_chance)) if joined_by_chance else 0.0
    forward = 1.0 if forward_only else 0.5
    references = {"forward": 100 * forward, "joins_steps": joins, "ordered_steps": joins * forward}
    references["ordered_of_joined"] = 100 * forward
    chances = {f"chance/{name}": value for name, value in references.items()}
    return TaskResult("transitions", figures, chances, _notes(videos))


def _counted(found: Sequence[Transition], shown_nJ: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
    """[T] each: which transitions go forward, join steps, and join them in order."""
    u = np.array([each.from_frame for each in found], np.int64)
    v = np.array([each.to_frame for each in found], np.int64)
    labelled = shown_nJ[u].any(axis=1) & shown_nJ[v].any(axis=1)
    joins = np.asarray(labelled & ~(shown_nJ[u] & shown_nJ[v]).any(axis=1), bool)
    return {"forward": v > u, "joins_steps": joins, "ordered_steps": joins & (v > u)}


def _steps_shown(video: EmbeddedVideo) -> NDArray[np.bool_]:
    """[n, J]: which of the video's steps, by number, each frame shows."""
    numbers = sorted({step.step for step in video.steps})
    shown = np.zeros((len(video.times), len(numbers)), bool)
    for step in video.steps:
        shown[:, numbers.index(step.step)] |= (step.start <= video.times) & (video.times < step.end)
    return shown


def _share_of_pairs_that_join(shown_nJ: NDArray[np.bool_]) -> float:
    """The share of all pairs of frames that show labelled steps and have none in common."""
    sets_LJ, set_n = np.unique(shown_nJ, axis=0, return_inverse=True)
    counts = np.bincount(set_n.ravel(), minlength=len(sets_LJ)).astype(np.float64)
    labelled = sets_LJ.any(axis=1)
    apart = np.outer(labelled, labelled) & ~(sets_LJ[:, None] & sets_LJ).any(axis=2)
    pairs = len(shown_nJ) * (len(shown_nJ) - 1) / 2
    return float(counts @ apart @ counts / 2 / pairs)


def _notes(videos: Sequence[EmbeddedVideo]) -> list[str]:
    short = sum(len(video.times) < 2 for video in videos)
    unlabelled = sum(len(video.times) > 1 and not video.steps for video in videos)
    causes = ((short, "have fewer than two frames"), (unlabelled, "have no labelled step"))
    return [f"{count} of {len(videos)} videos {cause}" for count, cause in causes if count]


def _run(evaluator: Evaluator) -> TaskResult:
    return evaluate(evaluator.adapter, evaluator.primary)


TRANSITIONS = EvaluationTask(
    "transitions",
    "Transitions",
    "The ten most salient changes of each video.",
    _run,
    Needs(steps=True),
    headline={
        "forward": "go forward in time, %",
        "joins_steps": "lead from one step to another, %",
        "ordered_of_joined": "of these, in the right order, %",
    },
)
