"""The labelled clips of a video, given as a shuffled set, put in order (Section 4.3, Table 3).

    P_fwd(v | u)  = e^{g_fwd(u) · π_v / τ}  / Σ_{m ≠ u} e^{g_fwd(u) · π_m / τ}
    P_back(u | v) = e^{g_back(v) · π_u / τ} / Σ_{m ≠ v} e^{g_back(v) · π_m / τ}
    P(u → v)      = P_fwd(v | u) · P_back(u | v) · P(u) · P(v)                                      (Eq. 12)

over the clips of the set, with the temperature τ of the model's edges. A model that does not predict the past has no
P_back. P(x) is the softmax over the set of concreteness at τ, where a clip's concreteness is the largest π_x · π_y over
all utterances y of its video (Eq. 7); for a model without text all clips are equally concrete.

The order is that of the path with the lowest Σ -log P(x_j → x_{j+1}); by all pairs, the one with the highest
Σ_{i before j} log P(i → j) - log P(j → i), in which P(x) cancels.

Shapes: n clips of a video, D dims.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.corpus.source import LabelledClip, Task
from mmcc.evaluation.adapter import Embedding, ModelAdapter, TextAdapter, finite
from mmcc.evaluation.clips import clip_nodes, clips_in_time, said_in
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.ordering import Orders, best_orders, cheapest_paths
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import PRIMARY, RELATED, VALIDATION, EvaluationTask, Needs, WhichVideos
from mmcc.metrics import PerVideo, chance_by_permutation, edit_distance, kendall_tau, spearman_rho
from mmcc.models.nodes import TEXT

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NAME = "unshuffling"
METRICS = {"kendall_tau": kendall_tau, "spearman_rho": spearman_rho, "edit_distance": edit_distance}
GUESSES = 20  # random tie-breaks to average the reference over that knows each clip's step
_SAMPLES = 5_000  # orders, for the edit distance by chance: exact to a few hundredths


def evaluate(
    adapter: ModelAdapter, videos: Sequence[EmbeddedVideo], tasks: Mapping[str, Task] | None = None
) -> TaskResult:
    """Kendall's τ, Spearman's ρ and the edit distance of the videos' orders, in these variants:

    kendall_tau             vision only: g of the clip's z
    …/text                  g of the state of the clip's frames and utterances; of z alone where there is no utterance
    …/step_text             g of the state of the clip's frames and its step's description, where `tasks` has one
    …/no_prior, …/all_pairs each of them without P(x), or by all pairs
    """
    sets = list(_shuffled_sets(videos))
    left_out = len(videos) - len(sets)
    notes = [f"{left_out} videos have fewer than two labelled clips"] if left_out else []
    figures: dict[str, PerVideo] = {}
    for given, states in _evidence(adapter, sets, tasks or {}, notes).items():
        with torch.inference_mode():
            graphs = [_graph(adapter, set_, state) for set_, state in states]
        found = {
            given: _solve(cheapest_paths, [-graph.log_P for graph in graphs]),
            f"{given}/no_prior": _solve(cheapest_paths, [-graph.log_P_without_prior for graph in graphs]),
            f"{given}/all_pairs": _solve(best_orders, [graph.log_P - graph.log_P.T for graph in graphs]),
        }
        for variant, orders in found.items():
            places = {set_.video.id: set_.places[order] for (set_, _), order in zip(states, orders, strict=True)}
            of_variant = order_figures(places, [video.id for video in videos])
            figures |= {f"{name}{variant}": figure for name, figure in of_variant.items()}
    return TaskResult(NAME, figures, references([set_.steps_in_time for set_ in sets]) if sets else {}, notes)


def order_figures(places: Mapping[str, Ints], videos: Sequence[str]) -> dict[str, PerVideo]:
    """Every metric of the orders of some videos; `places`: the true places of a video's items, in predicted order."""
    number = {video: at for at, video in enumerate(videos)}
    of_video: list[int] = []
    values: dict[str, list[Floats]] = {name: [] for name in METRICS}
    for group in _by_size(list(places.values())):
        same_size = [list(places)[at] for at in group]
        together = np.stack([places[video] for video in same_size])
        of_video += [number[video] for video in same_size]
        for name, metric in METRICS.items():
            values[name].append(metric(together))
    return {
        name: PerVideo.of(np.concatenate(parts) if parts else [], of_video, videos) for name, parts in values.items()
    }


class ShuffledSet(NamedTuple):
    """The labelled clips of a video, shuffled, so that the true order cannot break ties between equally good ones."""

    video: EmbeddedVideo
    clips: list[LabelledClip]
    places: Ints  # [n] of each in the true order

    @property
    def steps_in_time(self) -> list[int]:
        return [self.clips[at].step for at in np.argsort(self.places)]


def shuffled(video: EmbeddedVideo) -> ShuffledSet:
    """The shuffled set of a video, the same for every model."""
    clips, draw = clips_in_time(video), random.Random(video.id.encode("utf-8", "surrogatepass")).random
    places = np.argsort([draw() for _ in clips])
    return ShuffledSet(video, [clips[place] for place in places], places)


def _shuffled_sets(videos: Sequence[EmbeddedVideo]) -> Iterator[ShuffledSet]:
    """One for each video with at least two labelled clips."""
    return (shuffled(video) for video in videos if len(video.steps) > 1 and len(video.times))


States = list[tuple[ShuffledSet, Embedding]]


@torch.inference_mode()
def _evidence(
    adapter: ModelAdapter, sets: Sequence[ShuffledSet], tasks: Mapping[str, Task], notes: list[str]
) -> dict[str, States]:
    """What the model knows about the clips: for each variant, the states of each set."""
    seen = [(set_, clip_nodes(set_.video, set_.clips)) for set_ in sets]
    evidence = {"": seen}
    combine = adapter.combine
    if combine is None or TEXT not in adapter.modalities:
        return evidence
    silent = 0
    evidence["/text"] = []
    for set_, vision in seen:
        text, any_said = said_in(set_.video, set_.clips)
        both = combine(vision, text)
        z = torch.where(torch.from_numpy(any_said)[:, None], both.z, vision.z)
        evidence["/text"].append((set_, Embedding(z, both.pi)))
        silent += int((~any_said).sum())
    if silent:
        total = sum(len(set_.clips) for set_ in sets)
        notes.append(f"{silent} of {total} clips have no utterance: figures with text use their frames alone")
    described = [(set_, vision, texts) for set_, vision in seen if (texts := _descriptions(set_, tasks))]
    if described:
        read = cast(TextAdapter, adapter).embed_texts
        evidence["/step_text"] = [(set_, combine(vision, read(texts))) for set_, vision, texts in described]
    return evidence


def _descriptions(set_: ShuffledSet, tasks: Mapping[str, Task]) -> list[str]:
    """The texts of the clips' steps; none where a step does not belong to the video's task."""
    task = tasks.get(set_.video.tasks[0]) if set_.video.tasks else None
    if task is None or not all(1 <= clip.step <= len(task.steps) for clip in set_.clips):
        return []
    return [task.steps[clip.step - 1] for clip in set_.clips]


class _Graph(NamedTuple):
    log_P: Floats  # [n, n] of Eq. 12
    log_P_without_prior: Floats  # [n, n]


def _graph(adapter: ModelAdapter, set_: ShuffledSet, state: Embedding) -> _Graph:
    free = log_transitions(adapter, state)
    prior = log_prior(adapter, set_.video, state)
    return _Graph((free + prior[:, None] + prior).numpy(), free.numpy())


def log_transitions(adapter: ModelAdapter, state: Embedding) -> Tensor:
    """log P_fwd(v | u) + log P_back(u | v) for each u and v of the set [n, n], in float64; 0 from u to itself."""
    log_P = _log_retrieval(adapter.future(state), state.pi, adapter.temperature)
    if adapter.past is not None:
        log_P = log_P + _log_retrieval(adapter.past(state), state.pi, adapter.temperature).T
    return finite(log_P.fill_diagonal_(0), adapter)


def log_prior(adapter: ModelAdapter, video: EmbeddedVideo, state: Embedding) -> Tensor:
    """log P(x) of each clip [n], in float64."""
    said = video.utterances
    if said is None or not len(said.pi):
        concreteness = state.pi.new_zeros(len(state.pi))
    else:
        concreteness = (state.pi @ said.pi.T).amax(dim=1)
    return (concreteness.double() / adapter.temperature).log_softmax(dim=0)


def _log_retrieval(query_nD: Tensor, pi_nD: Tensor, temperature: float) -> Tensor:
    """Each query's log-probabilities over the rest of the set [n, n]."""
    scores = (query_nD @ pi_nD.T).double() / temperature
    return scores.fill_diagonal_(-torch.inf).log_softmax(dim=1)


def _solve(solve: Callable[[Floats], Orders], matrices: Sequence[Floats]) -> list[Ints]:
    """The order of each set; sets of one size are solved together."""
    orders: list[Ints] = [np.empty(0, np.int64)] * len(matrices)
    for group in _by_size(matrices):
        found = solve(np.stack([matrices[at] for at in group])).orders
        for at, order in zip(group, found, strict=True):
            orders[at] = order
    return orders


def _by_size(arrays: Sequence[NDArray[np.generic]]) -> list[list[int]]:
    """Indices of the arrays grouped by length, shortest first."""
    groups: dict[int, list[int]] = {}
    for at, array in enumerate(arrays):
        groups.setdefault(len(array), []).append(at)
    return [groups[size] for size in sorted(groups)]


def references(steps_in_time: Sequence[Sequence[int]]) -> dict[str, float]:
    """Random orders; and orders by the number of each clip's step in its task, with ties broken at random."""
    guess = random.Random(0).random
    known: dict[str, list[float]] = {name: [] for name in METRICS}
    for steps in steps_in_time:
        ties = np.array([[guess() for _ in steps] for _ in range(GUESSES)])
        orders = np.lexsort((ties, np.broadcast_to(steps, ties.shape)), axis=-1)
        for name, metric in METRICS.items():
            known[name].append(float(metric(orders).mean()))
    by_chance = {
        "kendall_tau": 0.0,
        "spearman_rho": 0.0,
        "edit_distance": float(np.mean([_edits_by_chance(len(steps)) for steps in steps_in_time])),
    }
    return {f"chance/{name}": value for name, value in by_chance.items()} | {
        f"step_known/{name}": float(np.mean(values)) for name, values in known.items()
    }


@cache
def _edits_by_chance(n: int) -> float:
    return chance_by_permutation(edit_distance, n, samples=_SAMPLES)


def _task(
    name: str, title: str, question: str, videos: WhichVideos = PRIMARY, *, group: str = "", offered: bool = True
) -> EvaluationTask:
    def run(evaluator: Evaluator) -> TaskResult:
        tasks = evaluator.videos.tasks(primary=videos != RELATED)
        return evaluate(evaluator.adapter, evaluator.embedded(videos), tasks)

    return EvaluationTask(
        name,
        title,
        question,
        run,
        Needs(videos, steps=True),
        headline={
            "kendall_tau": "seen only",
            "kendall_tau/all_pairs": "seen only, by all pairs",
            "kendall_tau/text": "seen and heard",
            "kendall_tau/step_text": "seen, and the step's description",
        },
        scale=(-0.2, 1.0),
        digits=3,
        group=group,
        offered=offered,
    )


_QUESTION = "A video's steps, shuffled: in which order were they? Kendall's τ."
UNSHUFFLING = _task(NAME, "Unshuffling", _QUESTION)
TRANSFER_UNSHUFFLING = _task(
    f"transfer-{NAME}",
    "Unshuffling in tasks never trained on",
    "The same, in related tasks.",
    RELATED,
    group="transfer",
)
CHOOSING_UNSHUFFLING = _task(
    f"choosing-{NAME}", "Unshuffling on validation videos", _QUESTION, VALIDATION, offered=False
)
