"""How certain an anticipation is: scores turned into probabilities, fitted on held-out videos.

    x_j = (g_fwd(z̄_v) · π_j, π̄_v · π_j, g_back(z̄_v) · π_j),   x̄ = mean of x_j over the list
    P(step j is yet to come) = σ(w · x_j + u · x̄ + b)
    P(none of the list is)   = σ(c · x̄ + d log T + e), within 1 - Σ_j P_j and 1 - max_j P_j

"Yet to come": a later step of the clip's task has its text, as in Table 2. The past counts against a step, because
steps already done resemble the task as much as those ahead; x̄ says whether the list belongs to the clip's task at all.

Fitted on labelled clips of held-out videos, with six lists each: the steps of the clip's task, every second one, a
single one, and the same of another task, so half the lists belong to another task. Probabilities are judged by their
expected calibration error, over bins of equal mass:

    ECE = Σ_bins n_bin / n · |mean probability - share that came true|

Importing this does not load torch: a calibration is also applied to cached scores, without a model.

Shapes: E kinds of evidence, P pairs of a clip and a step, L lists, T steps of a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mmcc.corpus.source import Task

if TYPE_CHECKING:
    from mmcc.evaluation.adapter import Embedding, ModelAdapter, TextAdapter
    from mmcc.evaluation.embedding import EmbeddedVideo

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

BINS = 15  # as is usual
_RIDGE = 1e-3  # of the mean loss: weights stay finite where a handful of clips are perfectly separable
_STEPS = 50  # of Newton's method, which needs about ten


class Asked(NamedTuple):
    """Pairs of a clip and a step of a list, and whether the step is yet to come."""

    evidence: Floats  # [P, E]
    comes: Bools  # [P]
    of_list: Ints  # [P]
    own: Bools  # [L] whether the list belongs to the clip's own task
    last: Bools  # [L] whether the clip shows its task's last step


class Bin(NamedTuple):
    """Similar probabilities: their mean, the share that came true, and their number."""

    probability: float
    share: float
    size: int


@dataclass(frozen=True)
class Calibration:
    """Weights of the evidence, and how good the probabilities are on a third set of videos."""

    steps_weights: tuple[float, ...]  # [2 E + 1] w, u, b
    none_weights: tuple[float, ...]  # [E + 2] c, d, e
    figures: Mapping[str, float] = field(default_factory=dict)  # of the test videos: errors before and after, counts
    reliability: Mapping[str, list[Bin]] = field(default_factory=dict)  # by "steps/before", "steps/after", "none/after"

    def __call__(self, evidence_TE: Floats) -> tuple[Floats, float]:
        """For each step of a list [T] the probability that it is yet to come, and the probability that none is."""
        of_list = np.zeros(len(evidence_TE), np.int64)
        steps, none = self.of_lists(evidence_TE, of_list)
        return steps, float(none[0])

    def of_lists(self, evidence_PE: Floats, of_list_P: Ints) -> tuple[Floats, Floats]:
        """The same for many lists at once: [P] and [L]."""
        mean_LE, lengths = _list_means(evidence_PE, of_list_P)
        steps = _sigmoid(_affine(_for_steps(evidence_PE, mean_LE, of_list_P), self.steps_weights))
        none = _sigmoid(_affine(_for_none(mean_LE, lengths), self.none_weights))
        return steps, _possible(none, steps, of_list_P)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "steps_weights": list(self.steps_weights),
            "none_weights": list(self.none_weights),
            "figures": dict(self.figures),
            "reliability": {name: [list(each) for each in bins] for name, bins in self.reliability.items()},
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Calibration:
        """ValueError where the content is not a calibration, or has another schema."""
        try:
            if content["schema"] != 1:
                raise ValueError(f"schema {content['schema']!r} is unknown")
            steps, none = (tuple(map(float, content[name])) for name in ("steps_weights", "none_weights"))
            kinds = len(none) - 2
            if not np.isfinite([*steps, *none]).all() or kinds not in (2, 3) or len(steps) != 2 * kinds + 1:
                raise ValueError("its weights do not fit two or three kinds of evidence")
            bins = {name: [Bin(*each) for each in found] for name, found in content["reliability"].items()}
            return cls(steps, none, {name: float(value) for name, value in content["figures"].items()}, bins)
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"is not a calibration ({error!r})") from None


def uncalibrated(evidence_PE: Floats, of_list_P: Ints, temperature: float) -> tuple[Floats, Floats]:
    """From the scores alone [P], [L]: σ(g_fwd(z̄_v) · π_j / τ), and "none" as if the steps were independent."""
    steps = _sigmoid(evidence_PE[:, 0] / temperature)
    return steps, np.exp(np.bincount(of_list_P, np.log1p(-np.minimum(steps, 1 - 1e-12))))


def calibrate(fit: Asked, test: Asked | None = None, *, temperature: float = 0.1) -> Calibration:
    """Fit on some videos' lists, and measure on others'."""
    mean_LE, lengths = _list_means(fit.evidence, fit.of_list)
    fitted = Calibration(
        logistic(_for_steps(fit.evidence, mean_LE, fit.of_list), fit.comes),
        logistic(_for_none(mean_LE, lengths), none_comes(fit)),
    )
    return fitted if test is None else _measured(fitted, test, temperature)


def logistic(evidence_PE: Floats, true_P: Bools) -> tuple[float, ...]:
    """Weights and bias [E + 1] of the maximum-likelihood logistic regression, by Newton's method."""
    x = np.concatenate([evidence_PE, np.ones((len(evidence_PE), 1))], axis=1)
    ridge = _RIDGE * np.diag([1.0] * evidence_PE.shape[1] + [1e-3])  # almost none on the bias
    weights = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = _sigmoid(x @ weights)
        slope = x.T @ (p - true_P) / len(x) + ridge @ weights
        bend = (x * (p * (1 - p))[:, None]).T @ x / len(x) + ridge
        step = np.linalg.solve(bend, slope)
        weights = weights - step * min(1.0, 5.0 / float(np.abs(step).max(initial=1e-12)))  # damped, since p may be flat
        if np.abs(step).max() < 1e-9:
            break
    return tuple(float(weight) for weight in weights)


def calibration_error(probability_P: Floats, true_P: Bools, bins: int = BINS) -> float:
    """The expected calibration error; NaN without data."""
    found = reliability(probability_P, true_P, bins)
    total = sum(each.size for each in found)
    return sum(each.size * abs(each.probability - each.share) for each in found) / total if total else float("nan")


def reliability(probability_P: Floats, true_P: Bools, bins: int = BINS) -> list[Bin]:
    """Bins of equal mass, in order of probability."""
    parts = np.array_split(np.argsort(probability_P, kind="stable"), bins)
    return [
        Bin(float(probability_P[part].mean()), float(true_P[part].mean()), len(part)) for part in parts if len(part)
    ]


def ask(adapter: ModelAdapter, videos: Sequence[EmbeddedVideo], tasks: Mapping[str, Task]) -> Asked | None:
    """Every labelled clip with its lists; None where nothing is labelled, or no step is yet to come."""
    texts = sorted({text for task in tasks.values() for text in task.steps})
    column = {text: at for at, text in enumerate(texts)}
    if not texts:
        return None
    text_pi = cast("TextAdapter", adapter).embed_texts(texts).pi
    evidence: list[Floats] = []
    comes: list[list[bool]] = []
    own: list[bool] = []
    last: list[bool] = []
    for clip, (task, nodes_E, later) in enumerate(_clips(adapter, videos, tasks)):
        scores_TE = np.stack([(node @ text_pi.T).double().numpy() for node in nodes_E], axis=1)
        for is_own, steps in _lists(task, tasks, clip):
            columns = [column[text] for text in steps]
            evidence.append(scores_TE[columns])
            comes.append([text in later for text in steps])
            own.append(is_own)
            last.append(not later)
    if not any(any(each) for each in comes):
        return None
    of_list = np.repeat(np.arange(len(own)), [len(each) for each in comes])
    return Asked(np.concatenate(evidence), np.concatenate(comes), of_list, np.array(own), np.array(last))


def clip_evidence(adapter: ModelAdapter, node: Embedding, state: Embedding | None = None) -> list[Any]:
    """A clip's future, present and, if the model predicts it, past, in the space of texts: [..., D] each.

    `state`: the clip as a model with a memory sees it, which the future is predicted from.
    """
    from mmcc.evaluation.adapter import finite

    kinds = [adapter.future(state or node), node.pi] + ([adapter.past(node)] if adapter.past else [])
    return [finite(kind, adapter) for kind in kinds]


def _clips(
    adapter: ModelAdapter, videos: Sequence[EmbeddedVideo], tasks: Mapping[str, Task]
) -> Iterator[tuple[Task, list[Any], frozenset[str]]]:
    """Every labelled clip: its task, its evidence, and the texts of the later steps."""
    from mmcc.evaluation.adapter import memory_of
    from mmcc.evaluation.clips import clip_nodes, clips_in_time, clips_so_far

    remember = memory_of(adapter)
    for video in videos:
        task = tasks.get(video.tasks[0]) if video.tasks else None
        clips = [clip for clip in clips_in_time(video) if task and 1 <= clip.step <= len(task.steps)]
        if not task or not clips or not len(video.times):
            continue
        state = clips_so_far(video, clips, remember) if remember else None
        kinds = clip_evidence(adapter, clip_nodes(video, clips), state)
        for at, clip in enumerate(clips):
            yield task, [kind[at] for kind in kinds], frozenset(task.steps[clip.step :])


def _lists(task: Task, tasks: Mapping[str, Task], clip: int) -> Iterator[tuple[bool, list[str]]]:
    """Whether a list belongs to the clip's own task, and its steps; parts and other tasks take turns over the clips."""
    others = [other for other in tasks.values() if other.id != task.id and other.steps]
    for asked in (task, others[clip % len(others)]) if others else (task,):
        steps = list(dict.fromkeys(asked.steps))
        for part in (steps, steps[clip % 2 :: 2] or steps, steps[clip % len(steps) :][:1]):
            yield asked is task, part


def none_comes(asked: Asked) -> Bools:
    """[L]: whether no step of a list is yet to come."""
    return np.asarray(np.bincount(asked.of_list, asked.comes, len(asked.own)) == 0)


def _measured(fitted: Calibration, test: Asked, temperature: float) -> Calibration:
    steps, none = fitted.of_lists(test.evidence, test.of_list)
    steps_before, none_before = uncalibrated(test.evidence, test.of_list, temperature)
    compared = {"steps/before": (steps_before, test.comes), "steps/after": (steps, test.comes)}
    compared |= {"none/before": (none_before, none_comes(test)), "none/after": (none, none_comes(test))}
    figures = {f"ece/{name}": calibration_error(*each) for name, each in compared.items()}
    figures |= {"lists": float(len(test.own)), "pairs": float(len(test.comes))}
    whole = np.bincount(test.of_list) > 2  # most single steps do not come
    for name, lists in (("own", test.own & ~test.last), ("last", test.own & test.last), ("other", ~test.own)):
        if (lists & whole).any():  # whether "none of these" rises where none is
            figures[f"none_mean/{name}"] = float(none[lists & whole].mean())
    return replace(fitted, figures=figures, reliability={name: reliability(*each) for name, each in compared.items()})


def _list_means(evidence_PE: Floats, of_list_P: Ints) -> tuple[Floats, Floats]:
    """The mean evidence of each list [L, E], and its length [L]."""
    lengths = np.bincount(of_list_P)
    sums = [np.bincount(of_list_P, column) for column in evidence_PE.T]
    return np.stack(sums, axis=1) / lengths[:, None], lengths.astype(np.float64)


def _for_steps(evidence_PE: Floats, mean_LE: Floats, of_list_P: Ints) -> Floats:
    return np.concatenate([evidence_PE, mean_LE[of_list_P]], axis=1)


def _for_none(mean_LE: Floats, lengths_L: Floats) -> Floats:
    return np.concatenate([mean_LE, np.log(lengths_L)[:, None]], axis=1)


def _affine(x: Floats, weights: tuple[float, ...]) -> Floats:
    if x.shape[1] != len(weights) - 1:
        raise ValueError(f"a calibration of {len(weights) - 1} weights does not fit {x.shape[1]} columns of evidence")
    return np.asarray(x @ np.array(weights[:-1]) + weights[-1])


def _possible(none_L: Floats, steps_P: Floats, of_list_P: Ints) -> Floats:
    """Clip P(none) to what the steps allow: at most 1 - max_j P_j, at least 1 - Σ_j P_j."""
    likeliest = np.zeros_like(none_L)
    np.maximum.at(likeliest, of_list_P, steps_P)
    return np.clip(none_L, 1 - np.bincount(of_list_P, steps_P), 1 - likeliest)


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))
