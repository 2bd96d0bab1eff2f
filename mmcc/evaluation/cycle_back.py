"""Does a cycle return to where it started, and do a moment's frame and words find each other? (Table 1)

Over all consecutive segments of held-out videos, cut as in validation; every edge sees every node, and the cycle takes
the path that the model was trained on. The figures are those of `mmcc.objectives.scoring`, shares in percent, each the
mean over the two modalities (also reported separately as "vision/…" and "text/…"). Starts are sampled by concreteness,
and once more uniformly ("…/uniform_starts"), since a model that prefers easy starts is not better for it. Only
`cross_modal_rank_batch` depends on how segments are put together: 16 at a time, in order of videos and of time.

Shapes: B segments, V videos.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from mmcc.corpus import Corpus
from mmcc.data.config import DataConfig
from mmcc.data.loader import validation_batches
from mmcc.data.segments import UsableVideos
from mmcc.data.vocabulary import Vocabulary
from mmcc.errors import InputError
from mmcc.evaluation.adapters import TrainedAdapter, Words
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.task import EvaluationTask, NotMeasured
from mmcc.metrics import Floats, PerVideo
from mmcc.models.nodes import Nodes
from mmcc.models.registry import Network
from mmcc.objectives.config import CycleConfig
from mmcc.objectives.scoring import (
    MODALITIES,
    Scores,
    padded_spans,
    scored_walk,
    trained_cycle_scores,
    trained_scores,
)
from mmcc.objectives.spec import SKILLS, spec_of
from mmcc.training.config import Config
from mmcc.training.run import CONFIG

if TYPE_CHECKING:
    from mmcc.evaluation.evaluator import Evaluator

UNIFORM = "uniform_starts"
SHARES = ("exact_return", "exact_return_hard", "goes_forward", "stays_in_place")
RANKS = ("cycle_rank", "cycle_rank_hard", "future_rank", "travelled_rank")
CROSS_MODAL = ("cross_modal_rank", "cross_modal_rank_steps", "cross_modal_rank_batch")


def evaluate(
    model: Network,
    vocabulary: Vocabulary | None,  # None: the corpus has the utterances' vectors
    corpus: Corpus,
    ids: Sequence[str],
    data: DataConfig,
    cycle: CycleConfig,
    *,
    skills: frozenset[str] = SKILLS,
    starts: int = 8,
    batch_size: int = 16,
) -> TaskResult:
    """Cycles and correspondence on the segments of the given videos; `starts` per segment and modality.

    `cycle` is that of `ObjectiveSpec.walk_of`; figures that the `skills` were not trained for are left out.
    """
    _require_whole(model)
    videos = UsableVideos(corpus, "test", data, ids)
    sums = _Sums(videos.ids)
    walk = scored_walk(cycle, starts)
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            for batch in validation_batches(videos, vocabulary, batch_size=batch_size):
                nodes = _finite(model(batch.to(device)), batch.videos, corpus)
                shown = [[(step.start, step.end) for step in corpus[video].steps] for video in batch.videos]
                spans = padded_spans(shown).to(device)
                sums.add(batch.videos, trained_scores(model, nodes, batch.samples, spans, walk, skills))
                uniform = trained_cycle_scores(model, nodes, batch.samples, replace(walk, starts="random"), skills)
                sums.add(batch.videos, {f"{name}/{UNIFORM}": scores for name, scores in uniform.items()})
    finally:
        model.train(was_training)
    return _result(sums, videos)


def _require_whole(model: Network) -> None:
    """A rank counts how many nodes score less than the start: with NaN none does, which looks like a valid rank."""
    broken = [name for name, tensor in model.state_dict().items() if not tensor.isfinite().all()]
    if broken:
        cause = f"contains NaN or Inf in {broken[0]}"
        raise InputError("the model", cause, "Train it at a lower rate, or choose an earlier --checkpoint.")


def _finite(nodes: dict[str, Nodes], videos: Sequence[str], corpus: Corpus) -> dict[str, Nodes]:
    for of_modality in nodes.values():
        whole_BN = of_modality.z.isfinite().all(dim=-1) & of_modality.pi.isfinite().all(dim=-1)
        broken_B = (~whole_BN & of_modality.valid).any(dim=1)
        if broken_B.any():
            video = videos[int(broken_B.nonzero()[0])]
            cause = f"the embedding of {video} contains NaN or Inf"
            raise InputError(corpus.path, cause, "Its feature vectors contain NaN: compute them again.")
    return nodes


class _Sums:
    """Every figure's sum and count, by video."""

    def __init__(self, videos: Sequence[str]) -> None:
        self.videos = tuple(videos)
        self._place = {video: at for at, video in enumerate(videos)}
        self._sums: dict[str, tuple[Floats, Floats]] = {}

    def add(self, videos: Sequence[str], found: Mapping[str, Scores]) -> None:
        place = [self._place[video] for video in videos]
        for name, scores in found.items():
            into = self._sums.setdefault(name, (np.zeros(len(self.videos)), np.zeros(len(self.videos))))
            for sums, more in zip(into, scores.by_segment(), strict=True):
                np.add.at(sums, place, _numbers(more))

    def figure(self, name: str, scale: float = 1.0) -> PerVideo:
        """A figure of one modality; without a count where the model's skills do not include it."""
        totals, counts = self._of(name)
        return PerVideo(self.videos, scale * totals, counts)

    def _of(self, name: str) -> tuple[Floats, Floats]:
        return self._sums.get(name, (np.zeros(len(self.videos)), np.zeros(len(self.videos))))

    def both(self, name: str, scale: float = 1.0) -> PerVideo:
        """The mean over the modalities: each counts half, however many nodes it has."""
        sides = [self._of(f"{modality}/{name}") for modality in MODALITIES]
        sides = [(totals, counts) for totals, counts in sides if counts.any()]
        all_counts = sum(counts.sum() for _, counts in sides)
        totals, counts = np.zeros(len(self.videos)), np.zeros(len(self.videos))
        for of_side, count in sides:
            weight = all_counts / len(sides) / count.sum()
            totals += scale * weight * of_side
            counts += weight * count
        return PerVideo(self.videos, totals, counts)


def _result(sums: _Sums, videos: UsableVideos) -> TaskResult:
    figures: dict[str, PerVideo] = {}
    for variant in ("", f"/{UNIFORM}"):
        for name in (*RANKS, *SHARES):
            _report(figures, sums, name + variant, 100.0 if name in SHARES else 1.0)
    for name in CROSS_MODAL:
        _report(figures, sums, name)
    return TaskResult("cycle_back", figures, _references(sums), _notes(videos))


def _references(sums: _Sums) -> dict[str, float]:
    """By chance a rank is 50, one cycle in N returns to its start, and a walk goes forward as often as a random node is
    later."""
    references = {f"chance/{name}": 50.0 for name in CROSS_MODAL if sums.both(name).counts.any()}
    for variant in ("", f"/{UNIFORM}"):
        references |= {f"chance/{name}{variant}": 50.0 for name in RANKS if sums.both(f"{name}{variant}").counts.any()}
        returns = sums.both(f"exact_return_chance{variant}", 100.0)
        if returns.counts.any():
            references |= {f"chance/{name}{variant}": returns.mean for name in ("exact_return", "exact_return_hard")}
        forward = sums.both(f"goes_forward_chance{variant}", 100.0)
        if forward.counts.any():
            references[f"chance/goes_forward{variant}"] = forward.mean
    return references


def _notes(videos: UsableVideos) -> list[str]:
    left_out = len(videos.unusable)
    return [f"{left_out} videos yield no segment: {videos.why_unusable()}"] if left_out else []


def _report(figures: dict[str, PerVideo], sums: _Sums, name: str, scale: float = 1.0) -> None:
    """The mean over the modalities, and each of them; figures without a count are left out."""
    found = {name: sums.both(name, scale)}
    found |= {f"{modality}/{name}": sums.figure(f"{modality}/{name}", scale) for modality in MODALITIES}
    figures |= {each: figure for each, figure in found.items() if figure.counts.any()}


def _numbers(tensor: Tensor) -> Floats:
    return tensor.double().cpu().numpy()


def _run(evaluator: Evaluator) -> TaskResult:
    """The figures that the model's skills were trained for."""
    adapter, checkpoint = evaluator.adapter, evaluator.checkpoint
    if checkpoint is None or not isinstance(adapter, TrainedAdapter):
        raise NotMeasured(f"{adapter.name} cannot follow cycles")
    if adapter.words is None:
        raise NotMeasured(f"{adapter.name} does not embed text")
    config = Config.from_yaml(checkpoint.folder / CONFIG)
    walk = spec_of(config.objective).walk_of(config.objective)
    corpus, videos = evaluator.videos.corpus, evaluator.videos.primary
    words, skills = adapter.words.vocabulary if isinstance(adapter.words, Words) else None, adapter.skills
    if words is None and (not videos or corpus[videos[0]].text_vectors is None):
        raise NotMeasured(f"the corpus has no embeddings for {adapter.name}; mmcc embed computes them")
    try:
        return evaluate(adapter.model, words, corpus, videos, config.data, walk, skills=skills)
    except ValueError as error:  # pictures for a model of feature vectors, or the other way round
        cause, _, remedy = str(error).partition("\n")
        raise InputError(corpus.path, f"does not fit {adapter.name}: {cause}", remedy) from None


CYCLE = EvaluationTask(
    "cycle",
    "Cycles",
    "From a moment to its future and back: does the cycle return to where it started?",
    _run,
    headline={
        "cycle_rank_hard": "percentile rank of the start, on the way back",
        "exact_return_hard": "returns to the very node, %",
        "travelled_rank": "rank, where staying in place counts 50",
        "goes_forward": "goes to a later moment, %",
        "cross_modal_rank": "rank of a moment's words, or frame, in its segment",
        "cross_modal_rank_batch": "the same, in a batch of 16 segments",
    },
)
