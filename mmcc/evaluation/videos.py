"""The videos of a corpus by what an evaluation uses them for.

Test videos of related tasks are kept apart, to measure transfer: in the kitchen no training video shows those tasks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property

from mmcc.corpus import Corpus
from mmcc.corpus.source import Task
from mmcc.data.config import DataConfig
from mmcc.data.splits import videos_for, why_none_for
from mmcc.errors import InputError
from mmcc.evaluation.task import PRIMARY, RELATED, VALIDATION, Needs, WhichVideos

LEAST_TRAINING_VIDEOS = 5  # a fifth of them chooses how strongly a classifier is regularized
_CALLED: Mapping[WhichVideos, str] = {
    PRIMARY: "test video of a primary task",
    RELATED: "test video of a related task",
    VALIDATION: "validation video",
}


class EvaluationVideos:
    """Ids of the videos to test on, to validate on, and to train classifiers on."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        on: str = "test",  # or "validation", where settings are chosen; or "all", of a corpus that the model never saw
        held_out: float = DataConfig.held_out,
        fold: str | None = None,  # of a cross-validation: its videos are the test videos
        most_training: int = 300,
    ) -> None:
        self.corpus = corpus
        test = corpus.ids if on == "all" else videos_for(corpus, on, held_out, fold)
        if not test:
            cause = why_none_for(corpus, on)
            remedy = "Give some a split; or, if the model saw none of them in training, measure on all: --on all."
            raise InputError(corpus.path, cause, remedy)
        self.related = [each for each in test if self._is_related(each)]
        self.primary = [each for each in test if not self._is_related(each)]
        self.validation = videos_for(corpus, "validation", held_out, fold)
        train = videos_for(corpus, "train", held_out, fold)
        self.training_total = len(train)
        count = min(most_training, len(train))
        self.training = [train[at * len(train) // count] for at in range(count)]  # evenly spaced over all of them

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything models are trained and tested on, except the frames themselves."""
        manifest = self.corpus.manifest
        tasks = {key: [task.steps, task.primary] for key, task in manifest.tasks.items()}
        digest = hashlib.sha256(json.dumps([manifest.settings(), tasks], sort_keys=True).encode())
        for video in self.corpus:
            facts = [video.id, video.split, video.tasks, video.steps, video.times.tolist()]
            digest.update(json.dumps([*facts, [(u.start, u.end, u.text) for u in video.utterances]]).encode())
        return digest.hexdigest()

    def of(self, which: WhichVideos) -> list[str]:
        return {PRIMARY: self.primary, RELATED: self.related, VALIDATION: self.validation}[which]

    def lacks(self, needs: Needs) -> str:
        """What the corpus is missing; "" if nothing."""
        videos = self.of(needs.videos)
        if not videos:
            return f"the corpus has no {_CALLED[needs.videos]}"
        if needs.steps and not any(self.corpus[each].steps for each in videos):
            return "none of the videos has labelled steps"
        if needs.training_videos and len(self.training) < LEAST_TRAINING_VIDEOS:
            return f"the corpus has fewer than {LEAST_TRAINING_VIDEOS} training videos"
        return ""

    def tasks(self, *, primary: bool) -> dict[str, Task]:
        """The how-to tasks of the corpus whose steps are the candidates: the primary ones, or the related ones."""
        return {key: task for key, task in self.corpus.tasks.items() if task.primary == primary}

    def _is_related(self, video: str) -> bool:
        tasks = self.corpus[video].tasks
        task = self.corpus.tasks.get(tasks[0]) if tasks else None
        return task is not None and not task.primary
