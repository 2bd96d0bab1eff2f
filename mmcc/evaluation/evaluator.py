"""A model on the videos of a corpus: runs evaluation tasks, and embeds each video once for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from mmcc.data.vocabulary import words_of
from mmcc.evaluation.adapter import ModelAdapter, understood
from mmcc.evaluation.embedding import EmbeddedVideo, Progress, embed_videos
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.runs import Checkpoint
from mmcc.evaluation.task import RELATED, VALIDATION, EvaluationTask, Needs, NotMeasured, WhichVideos
from mmcc.evaluation.videos import EvaluationVideos
from mmcc.models.nodes import TEXT

Bars = Callable[[str], Progress]  # a label → a progress bar
MOST_UNKNOWN = 0.2  # of the words said: a note says so beyond; a model knows all but 0.03 of its own kitchen's words


class Evaluator:
    """What a task is run with: a model adapter, the videos, and their embeddings, computed when first asked for."""

    def __init__(
        self,
        adapter: ModelAdapter,
        videos: EvaluationVideos,
        checkpoint: Checkpoint | None = None,
        bars: Bars | None = None,
    ) -> None:
        self.adapter, self.videos, self.checkpoint, self._bars = adapter, videos, checkpoint, bars

    @cached_property
    def primary(self) -> list[EmbeddedVideo]:
        return self._embed(self.videos.primary, "test videos")

    @cached_property
    def related(self) -> list[EmbeddedVideo]:
        return self._embed(self.videos.related, "related tasks")

    @cached_property
    def validation(self) -> list[EmbeddedVideo]:
        return self._embed(self.videos.validation, "validation videos")

    @cached_property
    def training(self) -> list[EmbeddedVideo]:
        return self._embed(self.videos.training, "training videos")

    def embedded(self, which: WhichVideos) -> list[EmbeddedVideo]:
        if which == RELATED:
            return self.related
        return self.validation if which == VALIDATION else self.primary

    def _embed(self, videos: Sequence[str], label: str) -> list[EmbeddedVideo]:
        progress = self._bars(f"{self.adapter.name}: {label}") if self._bars else None
        return embed_videos(self.adapter, self.videos.corpus, videos, progress=progress)

    def measure(self, task: EvaluationTask) -> TaskResult:
        """NotMeasured says what is missing; InputError what is wrong with a file."""
        if lacking := self.videos.lacks(task.needs) or self._model_lacks(task.needs):
            raise NotMeasured(lacking)
        result = task.run(self)
        counted = {name: figure for name, figure in result.figures.items() if figure.counts.any()}
        if not counted:
            raise NotMeasured("; ".join(result.notes) or "there was nothing to count")
        notes = [*result.notes, *self._size_note, *self._vocabulary_note]
        return TaskResult(result.task, counted, result.references, notes)

    def _model_lacks(self, needs: Needs) -> str:
        if needs.text and TEXT not in self.adapter.modalities:
            return f"{self.adapter.name} does not embed text"
        if needs.past and self.adapter.past is None:
            return f"{self.adapter.name} does not predict the past"
        return ""

    @cached_property
    def _size_note(self) -> list[str]:
        """A note where the model was trained on frames of another size."""
        manifest = self.videos.corpus.manifest
        trained_on = self.checkpoint.corpus() if self.checkpoint else {}
        size = trained_on.get("size", manifest.size)
        if manifest.encoding == "float32" or size == manifest.size:
            return []
        trained = f"{self.adapter.name} was trained on frames of {size} pixels"
        return [f"{trained}, and these have {manifest.size}: ingest the videos with --size {size}"]

    @cached_property
    def _vocabulary_note(self) -> list[str]:
        """A note where the model's vocabulary lacks many of the words said."""
        if TEXT not in self.adapter.modalities:
            return []
        corpus, videos = self.videos.corpus, [*self.videos.primary, *self.videos.related]
        said = Counter(word for video in videos for each in corpus[video].utterances for word in words_of(each.text))
        known = understood(self.adapter, list(said))
        unknown = sum(count for count, knows in zip(said.values(), known, strict=True) if not knows)
        if unknown <= MOST_UNKNOWN * said.total():
            return []
        share = 100 * unknown / said.total()
        return [f"{self.adapter.name} does not know {share:.0f} % of the words said: they are not in its vocabulary"]
