"""One learner before the test videos of a corpus: whatever can be measured of it, by name.

Test videos of related tasks are kept apart for transfer; the kitchen's are never trained on.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from mmcc.corpus import Corpus
from mmcc.corpus.source import Task
from mmcc.data.config import DataConfig
from mmcc.data.splits import videos_for
from mmcc.data.vocabulary import words_of
from mmcc.errors import InputError
from mmcc.evaluation import anticipation, arrow_of_time, controls, cycle_back, neurons, transitions, unshuffling
from mmcc.evaluation.adapter import ModelAdapter, understood
from mmcc.evaluation.adapters import TrainedAdapter
from mmcc.evaluation.arrow_of_time import Split
from mmcc.evaluation.embedding import EmbeddedVideo, Progress, embed_videos
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.runs import Checkpoint
from mmcc.models.model import MMCC
from mmcc.models.nodes import TEXT
from mmcc.objectives.spec import spec_of
from mmcc.reproduce import plan
from mmcc.training.config import Config
from mmcc.training.run import CONFIG
from mmcc.training.validation import SKILL_OF

Bars = Callable[[str], Progress]  # what is gone through → a bar over it
LEAST_TO_LEARN_FROM = 5  # videos: a fifth of them chooses how strongly a classifier is held back
MOST_UNKNOWN = 0.2  # of the words said: more is told; of a model's own kitchen at most 0.03 are unknown


class NotMeasured(Exception):
    """Why a task says nothing of this model, or of this corpus."""


class Exam:
    """The videos of a corpus by what they are for in a test."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        on: str = "test",  # or "validation": settings are chosen there
        held_out: float = DataConfig.held_out,
        learn_from: int = 300,
    ) -> None:
        self.corpus = corpus
        test = videos_for(corpus, on, held_out)
        if not test:
            cause = f"none of its {len(corpus)} videos is for {on}"
            raise InputError(corpus.path, cause, "Ingest more videos, or give them splits.")
        self.related = [each for each in test if self._is_related(each)]
        self.primary = [each for each in test if not self._is_related(each)]
        self.choosing = videos_for(corpus, "validation", held_out)
        train = videos_for(corpus, "train", held_out)
        self.training_videos = len(train)
        count = min(learn_from, len(train))
        self.learning = [train[at * len(train) // count] for at in range(count)]  # evenly, from all of them

    @cached_property
    def fingerprint(self) -> str:
        """Of all that is trained and tested on, but for the frames themselves."""
        manifest = self.corpus.manifest
        tasks = {key: [task.steps, task.primary] for key, task in manifest.tasks.items()}
        digest = hashlib.sha256(json.dumps([manifest.settings(), tasks], sort_keys=True).encode())
        for video in self.corpus:
            told = [video.id, video.split, video.tasks, video.steps, video.times.tolist()]
            digest.update(json.dumps([*told, [(u.start, u.end, u.text) for u in video.utterances]]).encode())
        return digest.hexdigest()

    def lacks(self, task: str) -> str:
        """What a task needs and the corpus does not have; "" if nothing."""
        videos, kind = self._asked(task)
        if not videos:
            return f"the corpus has no {kind}"
        if task in _NEED_STEPS and not any(self.corpus[each].steps for each in videos):
            return "none of the videos has labelled steps"
        if task in _NEED_TRAINING_VIDEOS and len(self.learning) < LEAST_TO_LEARN_FROM:
            return f"the corpus has fewer than {LEAST_TO_LEARN_FROM} training videos"
        return ""

    def _asked(self, task: str) -> tuple[list[str], str]:
        """The videos that a task is about, and what they are called."""
        if task in _ON_CHOOSING:
            return self.choosing, "video to choose by"
        if task in _ON_RELATED:
            return self.related, "test video of a related task"
        return self.primary, "test video of a primary task"

    def tasks(self, *, primary: bool) -> dict[str, Task]:
        """Whose steps are told apart in a test."""
        return {key: task for key, task in self.corpus.tasks.items() if task.primary == primary}

    def _is_related(self, video: str) -> bool:
        tasks = self.corpus[video].tasks
        task = self.corpus.tasks.get(tasks[0]) if tasks else None
        return task is not None and not task.primary


class Sitting:
    """A learner in an exam; the videos are embedded when a task first asks for them, and once."""

    def __init__(
        self, adapter: ModelAdapter, exam: Exam, checkpoint: Checkpoint | None, bars: Bars | None = None
    ) -> None:
        self.adapter, self.exam, self.checkpoint, self._bars = adapter, exam, checkpoint, bars

    @cached_property
    def primary(self) -> list[EmbeddedVideo]:
        return self._embedded(self.exam.primary, "test videos")

    @cached_property
    def related(self) -> list[EmbeddedVideo]:
        return self._embedded(self.exam.related, "related tasks")

    @cached_property
    def choosing(self) -> list[EmbeddedVideo]:
        return self._embedded(self.exam.choosing, "held-out videos")

    @cached_property
    def learning(self) -> list[EmbeddedVideo]:
        return self._embedded(self.exam.learning, "training videos")

    def _embedded(self, videos: Sequence[str], what: str) -> list[EmbeddedVideo]:
        progress = self._bars(f"{self.adapter.name}: {what}") if self._bars else None
        return embed_videos(self.adapter, self.exam.corpus, videos, progress=progress)

    def measure(self, task: str) -> TaskResult:
        """NotMeasured says why there is nothing to measure; InputError what is wrong with a file."""
        if lacking := self.exam.lacks(task):
            raise NotMeasured(lacking)
        result = _MEASURES[task](self)
        counted = {name: figure for name, figure in result.figures.items() if figure.counts.any()}
        if not counted:
            raise NotMeasured("; ".join(result.notes) or "there was nothing to count")
        notes = [*result.notes, *self._strange_pictures, *self._strange_words]
        return TaskResult(result.task, counted, result.references, notes)

    @cached_property
    def _strange_pictures(self) -> list[str]:
        """A note where the learner was trained on frames of another size."""
        manifest = self.exam.corpus.manifest
        trained_on = self.checkpoint.corpus() if self.checkpoint else {}
        size = trained_on.get("size", manifest.size)
        if manifest.encoding == "float32" or size == manifest.size:
            return []
        learnt = f"{self.adapter.name} learnt from frames of {size} pixels"
        return [f"{learnt}, and these have {manifest.size}: ingest the videos with --size {size}"]

    @cached_property
    def _strange_words(self) -> list[str]:
        """A note where the learner was trained on other words than those said here."""
        if TEXT not in self.adapter.modalities:
            return []
        corpus, videos = self.exam.corpus, [*self.exam.primary, *self.exam.related]
        said = Counter(word for video in videos for each in corpus[video].utterances for word in words_of(each.text))
        known = understood(self.adapter, list(said))
        unknown = sum(count for count, knows in zip(said.values(), known, strict=True) if not knows)
        if unknown <= MOST_UNKNOWN * said.total():
            return []
        share = 100 * unknown / said.total()
        return [f"{self.adapter.name} does not know {share:.0f} % of the words said: it was trained on others"]


def _cycle(sitting: Sitting) -> TaskResult:
    adapter, checkpoint = sitting.adapter, sitting.checkpoint
    if checkpoint is None or not isinstance(adapter, TrainedAdapter) or not isinstance(adapter.model, MMCC):
        raise NotMeasured(f"{adapter.name} walks no cycles")
    if adapter.words is None:
        raise NotMeasured(f"{adapter.name} reads no text")
    config = Config.from_yaml(checkpoint.folder / CONFIG)
    corpus, videos = sitting.exam.corpus, sitting.exam.primary
    cycle = spec_of(config.objective).cycle(config.objective)
    try:
        result = cycle_back.evaluate(adapter.model, adapter.words.vocabulary, corpus, videos, config.data, cycle)
    except ValueError as error:  # pictures for a model of feature vectors, or the other way round
        cause, _, remedy = str(error).partition("\n")
        raise InputError(corpus.path, f"does not fit {adapter.name}: {cause}", remedy) from None
    trained = [name for name, skill in SKILL_OF.items() if skill in adapter.skills]
    figures = {name: figure for name, figure in result.figures.items() if _is_of(name, trained)}
    references = {name: value for name, value in result.references.items() if _is_of(name, trained)}
    return TaskResult(result.task, figures, references, result.notes)


def _is_of(name: str, figures: Sequence[str]) -> bool:
    """Of "chance/vision/cycle_rank/uniform_starts", whether the figure is among those given."""
    return any(part in figures for part in name.split("/"))


def _arrow(sitting: Sitting) -> TaskResult:
    """Of one learner: on pairs at random, and on those that it chooses itself."""
    adapter = sitting.adapter
    embedded = {adapter.name: Split(sitting.learning, sitting.primary)}
    result = arrow_of_time.evaluate({"at_random": None, "own_choice": adapter}, embedded)
    figures = {name: figure for name, figure in result.figures.items() if arrow_of_time.AVERAGE not in name.split("/")}
    return TaskResult(result.task, figures, result.references, result.notes)  # averages are for several learners


def _neurons(sitting: Sitting) -> TaskResult:
    try:
        return neurons.evaluate(sitting.primary, sitting.exam.corpus)
    except neurons.NothingSaid as error:
        raise NotMeasured(error.cause) from None


def _anticipation(sitting: Sitting, videos: list[EmbeddedVideo], *, primary: bool = True) -> TaskResult:
    return anticipation.evaluate(sitting.adapter, videos, sitting.exam.tasks(primary=primary))


def _unshuffling(sitting: Sitting, videos: list[EmbeddedVideo], *, primary: bool = True) -> TaskResult:
    return unshuffling.evaluate(sitting.adapter, videos, sitting.exam.tasks(primary=primary))


_MEASURES: dict[str, Callable[[Sitting], TaskResult]] = {
    plan.CYCLE: _cycle,
    plan.ANTICIPATION: lambda sitting: _anticipation(sitting, sitting.primary),
    plan.UNSHUFFLING: lambda sitting: _unshuffling(sitting, sitting.primary),
    plan.TRANSITIONS: lambda sitting: transitions.evaluate(sitting.adapter, sitting.primary),
    plan.ARROW: _arrow,
    plan.NEURONS: _neurons,
    plan.TRANSFER_ANTICIPATION: lambda sitting: _anticipation(sitting, sitting.related, primary=False),
    plan.TRANSFER_UNSHUFFLING: lambda sitting: _unshuffling(sitting, sitting.related, primary=False),
    plan.CHOOSING_ANTICIPATION: lambda sitting: _anticipation(sitting, sitting.choosing),
    plan.CHOOSING_UNSHUFFLING: lambda sitting: _unshuffling(sitting, sitting.choosing),
    plan.MEAN_ANTICIPATION: lambda sitting: _anticipation(sitting, controls.segment_means(sitting.primary)),
    plan.MEAN_UNSHUFFLING: lambda sitting: _unshuffling(sitting, controls.segment_means(sitting.primary)),
    plan.POSITION_UNSHUFFLING: lambda sitting: controls.unshuffle_by_position(sitting.learning, sitting.primary),
}
_ON_RELATED = frozenset({plan.TRANSFER_ANTICIPATION, plan.TRANSFER_UNSHUFFLING})
_ON_CHOOSING = frozenset({plan.CHOOSING_ANTICIPATION, plan.CHOOSING_UNSHUFFLING})
_NEED_TRAINING_VIDEOS = frozenset({plan.ARROW, plan.POSITION_UNSHUFFLING})
_NEED_STEPS = frozenset(_MEASURES) - {plan.CYCLE, plan.ARROW}
