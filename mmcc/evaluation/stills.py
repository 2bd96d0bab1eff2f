"""A few stills of a video, each with its sentence: their order, which sentence belongs to which, what comes later.

    order       the order with the highest Σ_{i before j} m(i, j),  m(i, j) = log P(i → j) - log P(j → i)      (Eq. 12)
    matching    the assignment of sentences to stills with the highest Σ_i π_i · π_{T(i)}; exact, or not
    later       Table 2's protocol: for each still, the sentences of all test videos ranked by g_fwd(z) · π_T; those
                that come later in its own video are positive

Order is judged from the stills alone, from their sentences alone, and from both: log P is then the sum of the two.
The positions of stills and sentences are never shown: sets are shuffled, ties count by expectation.

Any judge can be measured, not only a trained model: see `Judgement`.

Shapes: n stills of a video, T sentences of all videos, D dims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray

from mmcc.corpus import Video
from mmcc.evaluation.adapter import Embedding, ModelAdapter, TextAdapter
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import EvaluationTask, Needs, NotMeasured
from mmcc.evaluation.unshuffling import log_transitions
from mmcc.metrics import PerVideo, kendall_tau, recall_by_chance, retrieval_figures
from mmcc.models.nodes import TEXT

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NAME = "stills"
MOST = 8  # stills: all orders and assignments of them are compared
NEAR = 5.0  # seconds between a still and the centre of its sentence, at most
ORDERS = ("seen", "read", "both")  # what an order is judged from
RECALLS = (1, 5, 10)


@dataclass(frozen=True)
class StillSet:
    """The stills of one video, in their true order."""

    video: str
    frames: Embedding  # [n, D]
    sentences: list[str]  # [n] of each still
    later: Bools  # [n, T] the candidates that come after it in its video


@dataclass(frozen=True)
class Judgement:
    """What somebody believes of one set: each [n, n] or [n, T], higher is more likely; None where it has no opinion."""

    order: Mapping[str, Floats] = field(default_factory=dict)  # by what it is judged from: the value of i before j
    alike: Floats | None = None  # a still and a sentence of the set
    later: Floats | None = None  # a still, and each candidate sentence


class Stills(NamedTuple):
    """All sets of the test videos."""

    sets: list[StillSet]
    texts: list[str]  # [T] every sentence of the videos, once
    notes: list[str]


def gather(videos: Sequence[EmbeddedVideo], said: Mapping[str, Sequence[tuple[float, str]]]) -> Stills:
    """The sets of 2 to 8 stills that each have a sentence; `said`: the centres and texts of a video's utterances."""
    texts = sorted({text for video in videos for _, text in said[video.id]})
    column = {text: at for at, text in enumerate(texts)}
    sets, left_out = [], 0
    for video in videos:
        spoken = said[video.id]
        centres = np.array([centre for centre, _ in spoken])
        if not 2 <= len(video.times) <= MOST or not len(spoken):
            left_out += 1
            continue
        apart = np.abs(video.times[:, None] - centres)
        if (apart.min(axis=1) > NEAR).any():
            left_out += 1
            continue
        own = apart.argmin(axis=1)
        later = np.zeros((len(own), len(texts)), bool)
        for still, at in enumerate(own):
            later[still, [column[text] for centre, text in spoken if centre > centres[at]]] = True
        sets.append(StillSet(video.id, video.frames, [spoken[at][1] for at in own], later))
    notes = [f"{left_out} videos have no set of 2 to {MOST} stills with a sentence each"] if left_out else []
    return Stills(sets, texts, notes)


def measure(stills: Stills, judgements: Sequence[Judgement]) -> TaskResult:
    """Every figure of the judgements, one for each set."""
    ids = [each.video for each in stills.sets]
    both = list(zip(stills.sets, judgements, strict=True))
    values: dict[str, list[tuple[int, float]]] = {}
    for number, (set_, judged) in enumerate(both):
        for name, margin in judged.order.items():
            tau, exact = _order(margin)
            values.setdefault(f"kendall_tau/{name}", []).append((number, tau))
            values.setdefault(f"exact/{name}", []).append((number, 100 * exact))
        if judged.alike is not None and len(set(set_.sentences)) == len(set_.sentences):
            values.setdefault("matching", []).append((number, 100 * _matched(judged.alike)))
    figures = {name: PerVideo.of([v for _, v in pairs], [n for n, _ in pairs], ids) for name, pairs in values.items()}
    asked = [
        (number, set_.later, judged.later) for number, (set_, judged) in enumerate(both) if judged.later is not None
    ]
    references = {"chance/kendall_tau/seen": 0.0}
    if asked:
        of_set = np.concatenate([np.full(later.any(axis=1).sum(), number) for number, later, _ in asked])
        positive = np.concatenate([later[later.any(axis=1)] for _, later, _ in asked])
        scores = np.concatenate([scores[later.any(axis=1)] for _, later, scores in asked])
        for name, each in retrieval_figures(scores, positive, RECALLS).items():
            figures[f"later/{name}"] = PerVideo.of(each, of_set, ids)
        chance = [recall_by_chance(positive.sum(axis=1), positive.shape[1], k) for k in RECALLS]
        references |= {f"chance/later/recall@{k}": 100 * float(c.mean()) for k, c in zip(RECALLS, chance, strict=True)}
        references["chance/later/percentile_mean"] = 50.0
    sizes = [len(each.sentences) for each in stills.sets]
    by_chance = 100 * float(np.mean([1 / factorial(size) for size in sizes])) if sizes else 0.0
    references |= dict.fromkeys(("chance/exact/seen", "chance/matching"), by_chance)
    return TaskResult(NAME, figures, references, stills.notes)


def _order(margin_nn: Floats) -> tuple[float, float]:
    """Kendall's τ and whether the order is exact, with the mean over equally good orders."""
    n = len(margin_nn)
    margin = margin_nn - margin_nn.T
    orders = np.array(list(permutations(range(n))))
    totals = np.triu(margin[orders[:, :, None], orders[:, None, :]], 1).sum(axis=(1, 2))
    best = orders[totals >= totals.max() - 1e-9 * max(1.0, float(np.abs(totals).max()))]
    return float(kendall_tau(best).mean()), float((best == np.arange(n)).all(axis=1).mean())


def _matched(alike_nn: Floats) -> float:
    """Whether the best assignment is the true one, 1/k where k assignments are equally good."""
    n = len(alike_nn)
    chosen = np.array(list(permutations(range(n))))
    totals = alike_nn[np.arange(n), chosen].sum(axis=1)
    best = chosen[totals >= totals.max() - 1e-9 * max(1.0, float(np.abs(totals).max()))]
    return float((best == np.arange(n)).all(axis=1).mean())


@torch.inference_mode()
def judge(adapter: ModelAdapter, stills: Stills) -> list[Judgement]:
    """A model's judgements."""
    reads = TEXT in adapter.modalities
    candidates = cast(TextAdapter, adapter).embed_texts(stills.texts) if reads else None
    place = {text: at for at, text in enumerate(stills.texts)}
    judged = []
    for each in stills.sets:
        seen = log_transitions(adapter, each.frames).numpy()
        if candidates is None:
            judged.append(Judgement({"seen": seen}))
            continue
        own = torch.tensor([place[text] for text in each.sentences])
        words = Embedding(candidates.z[own], candidates.pi[own])
        read = log_transitions(adapter, words).numpy()
        alike = (each.frames.pi @ words.pi.T).double().numpy()
        later = (adapter.future(each.frames) @ candidates.pi.T).double().numpy()
        judged.append(Judgement({"seen": seen, "read": read, "both": seen + read}, alike, later))
    return judged


def _run(evaluator: Evaluator) -> TaskResult:
    corpus = evaluator.videos.corpus
    videos = [video for video in evaluator.primary if len(video.times)]
    said = {video.id: spoken_in(corpus[video.id]) for video in videos}
    stills = gather(videos, said)
    if not stills.sets:
        raise NotMeasured("; ".join(stills.notes) or "the corpus has no stills")
    return measure(stills, judge(evaluator.adapter, stills))


def spoken_in(video: Video) -> list[tuple[float, str]]:
    """Centre and text of each utterance, by time."""
    return sorted(((said.start + said.end) / 2, said.text) for said in video.utterances)


STILLS = EvaluationTask(
    NAME,
    "Stills and sentences",
    "A few stills of a video, shuffled: in which order were they, and which sentence belongs to which?",
    _run,
    Needs(),
    headline={
        "kendall_tau/seen": "order of stills, Kendall's τ",
        "kendall_tau/both": "order of stills with their sentences, τ",
        "matching": "stills and sentences matched exactly, %",
        "later/percentile_mean": "rank of the sentences that come later",
    },
    scale=(-0.2, 1.0),
    digits=2,
    by_default=False,
)
