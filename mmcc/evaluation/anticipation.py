"""Which steps are still to come, judged from one clip (Section 4.2, Table 2).

    s_{v → j} = g_fwd(z̄_v) · π_{T_j}

for every labelled clip v except those of a task's last step, and every distinct text T_j of the tasks' steps. A text
is positive if it describes a later step of the clip's task. A model without predictions scores π̄_v · π_{T_j}.

For a model without text, pictures stand in for a step: π_{T_j} is the unit-norm mean π of the clips that show it in
videos other than v's.

Whoever knows the task answers most of this without looking at the clip. `dyn` (`mmcc.evaluation.dynamics`), over all
labelled clips, is the figure that only looking can raise.

Shapes: Q queries (clips), C clips, T texts, D dims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mmcc.corpus.source import LabelledClip, Task
from mmcc.evaluation.adapter import Embedding, ModelAdapter, TextAdapter, finite, memory_of, understood
from mmcc.evaluation.clips import clip_nodes, clips_in_time, clips_so_far
from mmcc.evaluation.dynamics import dyn, later_above_earlier, still_to_do
from mmcc.evaluation.embedding import EmbeddedVideo
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import PRIMARY, RELATED, VALIDATION, EvaluationTask, Needs, WhichVideos
from mmcc.metrics import PerVideo, mid_ranks, percentile_rank, recall_by_chance, retrieval_figures
from mmcc.models.mlp import unit_norm
from mmcc.models.nodes import TEXT

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NAME = "anticipation"
RECALLS = (1, 5, 10)  # the paper's


def evaluate(
    adapter: ModelAdapter,
    videos: Sequence[EmbeddedVideo],
    tasks: Mapping[str, Task],
    query: Query | None = None,
    nodes: NodesOf = clip_nodes,
) -> TaskResult:
    """Recalls and percentile ranks of later steps among the texts of all the given tasks.

    `…/current_removed`: the same without the clip's own step among the candidates (unless a later step has the same
    text), since a score that only recognizes the present ranks it first. `percentile_current` is the rank of that
    step: below 50, the model looks for the future away from the present. `dyn` and `later_above_earlier`: see
    `mmcc.evaluation.dynamics`.

    `query`: what to ask with in place of each clip's own future, for controls. `nodes`: how clips become nodes.
    """
    clips, notes = _gather(videos, tasks, nodes)
    if clips is None:
        return TaskResult(NAME, {}, notes=[*notes, "no labelled clip shows a step that others follow"])
    clips, scores = _scores(adapter, clips, query, notes)
    asked = np.asarray(clips.positive.any(axis=1))
    if not asked.any() or len(clips.texts) < 2:
        return TaskResult(NAME, {}, notes=[*notes, "no labelled clip is left to query with"])
    kept = clips.of(asked)
    query_figures = retrieval_figures(scores[asked], kept.positive, RECALLS)
    query_figures |= _without_current(scores[asked], kept)
    ids = [video.id for video in videos]
    figures = {name: PerVideo.of(values, kept.video, ids) for name, values in query_figures.items()}
    shown = kept.own.any(axis=1)  # a model without text may not know its step
    current = percentile_rank(scores[asked][shown], kept.own[shown].argmax(axis=1))
    figures["percentile_current"] = PerVideo.of(current, kept.video[shown], ids)
    dynamics, known = _dynamics(scores, clips, ids)
    return TaskResult(NAME, figures | dynamics, references(kept.positive, kept.of_task) | known, notes)


def evaluate_with_memory(
    adapter: ModelAdapter, videos: Sequence[EmbeddedVideo], tasks: Mapping[str, Task]
) -> TaskResult:
    """Of a model that remembers, also `…/so_far`: the same figures where each clip comes with all frames before it."""
    result, remember = evaluate(adapter, videos, tasks), memory_of(adapter)
    if remember is None:
        return result
    seen = evaluate(adapter, videos, tasks, nodes=partial(clips_so_far, remember=remember)).figures
    so_far = {f"{name}/so_far": figure for name, figure in seen.items() if "/" not in name}
    return replace(result, figures=result.figures | so_far)


@dataclass(frozen=True)
class Clips:
    """All labelled clips of the videos; clips of a task's last step have no positive."""

    nodes: Embedding  # [C, D]
    video: Ints  # [C]
    task: Ints  # [C]
    start: Floats  # [C] seconds
    end: Floats  # [C]
    own: Bools  # [C, T] the text of the step a clip shows
    positive: Bools  # [C, T] the texts of the later steps of its task
    earlier: Bools  # [C, T] those of the earlier ones
    of_task: Bools  # [C, T] the texts of all steps of its task
    texts: list[str]  # [T]

    def of(self, clips: Bools) -> Clips:
        nodes = Embedding(*(part[torch.from_numpy(clips)] for part in self.nodes))
        return replace(self, nodes=nodes, **{name: getattr(self, name)[clips] for name in (*_BY_CLIP, *_BY_TEXT)})

    def among(self, texts: Bools) -> Clips:
        kept = [text for text, stays in zip(self.texts, texts, strict=True) if stays]
        return replace(self, texts=kept, **{name: getattr(self, name)[:, texts] for name in _BY_TEXT})


_BY_CLIP, _BY_TEXT = ("video", "task", "start", "end"), ("own", "positive", "earlier", "of_task")
Query = Callable[[Tensor, Clips], tuple[Tensor, Bools]]  # futures [C, D] → queries [C, D], and which clips have one
NodesOf = Callable[[EmbeddedVideo, Sequence[LabelledClip]], Embedding]  # a video's clips → nodes [C, D]


def _gather(
    videos: Sequence[EmbeddedVideo], tasks: Mapping[str, Task], nodes_of: NodesOf
) -> tuple[Clips | None, list[str]]:
    texts = sorted({text for task in tasks.values() for text in task.steps})
    column = {text: at for at, text in enumerate(texts)}
    of_step = {
        key: (number, np.array([column[text] for text in task.steps], np.int64))
        for number, (key, task) in enumerate(tasks.items())
    }
    nodes: list[Embedding] = []
    rows: dict[str, list[NDArray[Any]]] = {name: [] for name in (*_BY_CLIP, *_BY_TEXT)}
    strangers = unlabelled = 0
    for number, video in enumerate(videos):
        if not video.tasks or video.tasks[0] not in tasks:
            strangers += 1
            continue
        task, columns = of_step[video.tasks[0]]
        clips = [clip for clip in clips_in_time(video) if 1 <= clip.step <= len(columns)]
        if not clips or not len(video.times):
            unlabelled += 1
            continue
        later, earlier = _sides(columns, len(texts))
        steps = np.array([clip.step - 1 for clip in clips])
        nodes.append(nodes_of(video, clips))
        gathered = {
            **{"video": np.full(len(clips), number), "task": np.full(len(clips), task)},
            **{side: np.array([getattr(clip, side) for clip in clips], np.float64) for side in ("start", "end")},
            "own": np.eye(len(texts), dtype=bool)[columns[steps]],
            **{"positive": later[steps], "earlier": earlier[steps]},
            "of_task": np.isin(np.arange(len(texts)), columns)[None].repeat(len(clips), axis=0),
        }
        for name, values in gathered.items():
            rows[name].append(values)
    notes = [f"{strangers} videos belong to other tasks"] if strangers else []
    notes += [f"{unlabelled} videos have no labelled step or no frame"] if unlabelled else []
    if not nodes or not any(of_video.any() for of_video in rows["positive"]):
        return None, notes
    together = Embedding(*(torch.cat(parts) for parts in zip(*nodes, strict=True)))
    return Clips(together, **{name: np.concatenate(parts) for name, parts in rows.items()}, texts=texts), notes


def _sides(columns: Ints, count: int) -> tuple[Bools, Bools]:
    """[steps, T] each: the texts of the steps after each, and before it."""
    later, earlier = np.zeros((2, len(columns), count), bool)
    for at in range(len(columns)):
        later[at, columns[at + 1 :]] = True
        earlier[at, columns[:at]] = True
    return later, earlier


def _scores(adapter: ModelAdapter, clips: Clips, query: Query | None, notes: list[str]) -> tuple[Clips, Floats]:
    """Every clip against every text [C, T]; texts that the model cannot know, and clips without a query, are dropped
    from both."""
    with torch.inference_mode():
        future = finite(adapter.future(clips.nodes), adapter)
        if query:
            future, asks_C = query(future, clips)
            if not asks_C.all():
                notes.append(f"{(~asks_C).sum()} clips are left out: no other video gives them a query")
            clips, future = clips.of(asks_C), future[torch.from_numpy(asks_C)]
        if TEXT in adapter.modalities:
            clips = _understood(adapter, clips, notes)
            if not clips.texts:
                return clips, np.zeros((len(future), 0))
            texts = cast(TextAdapter, adapter).embed_texts(clips.texts)
            return clips, _products(future, texts.pi).double().numpy()
        known = clips.among(shown_in_several(clips.own, clips.video))
        if len(known.texts) < len(clips.texts):
            left_out = len(clips.texts) - len(known.texts)
            notes.append(f"{left_out} of {len(clips.texts)} texts are left out: fewer than two videos show them")
        return known, by_pictures(future, known.nodes.pi, known.own, known.video).double().numpy()


def _products(query_CD: Tensor, texts_TD: Tensor) -> Tensor:
    """[C, T]; equal queries score exactly the same, which a product of matrices does not promise."""
    distinct_QD, which_C = np.unique(query_CD.numpy(), axis=0, return_inverse=True)
    return (torch.from_numpy(distinct_QD) @ texts_TD.T)[torch.from_numpy(which_C.reshape(-1))]


def _understood(adapter: ModelAdapter, clips: Clips, notes: list[str]) -> Clips:
    """Drop the texts without a known word: they all look the same to a model."""
    known_T = understood(adapter, clips.texts)
    if not known_T.all():
        strange = int((~known_T).sum())
        notes.append(f"{strange} of {len(clips.texts)} texts are left out: {adapter.name} knows no word of them")
    return clips.among(known_T)


def shown_in_several(own_CT: Bools, video_C: Ints) -> Bools:
    """[T]: the texts whose step is shown in more than one video, so that every video finds it in another one."""
    shown_in = np.zeros((int(video_C.max()) + 1, own_CT.shape[1]), bool)
    np.logical_or.at(shown_in, video_C, own_CT)
    return np.asarray(shown_in.sum(axis=0) > 1)


def by_pictures(future_CD: Tensor, pi_CD: Tensor, own_CT: Bools, video_C: Ints) -> Tensor:
    """[C, T]: each clip's future against the mean π of every text's clips, except those of its own video."""
    own = torch.from_numpy(own_CT).to(pi_CD.dtype)
    total_TD = own.T @ pi_CD
    scores_CT = torch.empty_like(own)
    for number in np.unique(video_C):
        here = torch.from_numpy(np.flatnonzero(video_C == number))
        elsewhere_TD = unit_norm(total_TD - own[here].T @ pi_CD[here])
        scores_CT[here] = _products(future_CD[here], elsewhere_TD)
    return scores_CT


def _without_current(scores_QT: Floats, clips: Clips) -> dict[str, Floats]:
    """The figures with each query's own text removed from the candidates, unless a later step has the same text."""
    if len(clips.texts) < 3:
        return {}  # a rank needs two candidates
    taken_out = clips.own & ~clips.positive
    fewer = np.asarray(taken_out.any(axis=1))
    parts: list[tuple[Bools, dict[str, Floats]]] = []
    for rows, width in ((fewer, len(clips.texts) - 1), (~fewer, len(clips.texts))):
        stays = ~taken_out[rows]
        scores, positive = (matrix[rows][stays].reshape(-1, width) for matrix in (scores_QT, clips.positive))
        if len(scores):
            parts.append((rows, retrieval_figures(scores, positive, RECALLS)))
    together: dict[str, Floats] = {}
    for rows, figures in parts:
        for name, values in figures.items():
            together.setdefault(f"{name}/current_removed", np.zeros(len(scores_QT)))[rows] = values
    return together


def _dynamics(scores_CT: Floats, clips: Clips, ids: Sequence[str]) -> tuple[dict[str, PerVideo], dict[str, float]]:
    """The figures over all labelled clips, and what to compare them with."""
    lates = later_above_earlier(scores_CT, clips.positive, clips.earlier)
    pairs = ~np.isnan(lates)
    figures, known = {}, {}
    if pairs.any():
        figures["later_above_earlier"] = PerVideo.of(lates[pairs], clips.video[pairs], ids)
        known = {"chance": 50.0, "task_known": 50.0, "step_known": 100.0}
        known = {f"{name}/later_above_earlier": value for name, value in known.items()}
    showings = clips.own, clips.video, clips.start, clips.end
    values, numbers = dyn(mid_ranks(scores_CT), *showings)
    if len(values):
        figures["dyn"] = PerVideo.of(values, numbers, ids)
        known |= {"chance/dyn": 50.0, "task_known/dyn": 50.0}
        # Who knows the clip's step expects what comes later in the recipe; who saw the video, what was not yet done.
        expected = {"step_known": clips.positive, "done_known": still_to_do(*showings[:3])}
        for name, expects in expected.items():
            known[f"{name}/dyn"] = float(dyn(expects.astype(np.float64), *showings)[0].mean())
    return figures, known


def references(positive_QT: Bools, of_task_QT: Bools) -> dict[str, float]:
    """Expected values over random orders: of all texts (chance), with the task's own texts first (task known), with
    the later steps' texts first (step known)."""
    m, task, n = positive_QT.sum(axis=1), of_task_QT.sum(axis=1), positive_QT.shape[1]
    expected = {"chance/percentile_current": 50.0}
    for name, among in (("chance", np.full_like(m, n)), ("task_known", task), ("step_known", m)):
        for k in RECALLS:
            expected[f"{name}/recall@{k}"] = 100 * float(recall_by_chance(m, among, k).mean())
        # The lowest, mean and highest place of m positives in random order among the first `among` of n.
        for which, place in (("worst", m), ("mean", (m + 1) / 2), ("best", np.ones_like(m))):
            ahead = place * (among + 1) / (m + 1) - 1
            expected[f"{name}/percentile_{which}"] = 100 * float((1 - ahead / (n - 1)).mean())
    return expected


def _task(
    name: str, title: str, question: str, videos: WhichVideos = PRIMARY, *, group: str = "", offered: bool = True
) -> EvaluationTask:
    def run(evaluator: Evaluator) -> TaskResult:
        tasks = evaluator.videos.tasks(primary=videos != RELATED)
        return evaluate_with_memory(evaluator.adapter, evaluator.embedded(videos), tasks)

    recalls = {f"recall@{k}": f"later steps among the first {k}, %" for k in RECALLS}
    headline = {"percentile_mean": "mean percentile rank of later steps", **recalls}
    headline |= {"dyn": "a step ranks higher before it is shown than after, %"}
    return EvaluationTask(name, title, question, run, Needs(videos, steps=True), headline, group=group, offered=offered)


_QUESTION = "From one clip: which steps are still to come, among those of all tasks?"
ANTICIPATION = _task(NAME, "Anticipation", _QUESTION)
TRANSFER_ANTICIPATION = _task(
    f"transfer-{NAME}",
    "Anticipation in tasks never trained on",
    "The same, in related tasks.",
    RELATED,
    group="transfer",
)
CHOOSING_ANTICIPATION = _task(
    f"choosing-{NAME}", "Anticipation on validation videos", _QUESTION, VALIDATION, offered=False
)
