"""Measure one model on the test videos of a corpus: a run, a checkpoint's folder, or a model registered by name.

>>> evaluation = evaluate("runs/kitchen", Path("kitchen.corpus"), tasks=["anticipation"])
>>> evaluation.results["anticipation"].figures["recall@5"].mean
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mmcc.corpus import Corpus
from mmcc.data.config import DataConfig
from mmcc.errors import InputError, UsageError
from mmcc.evaluation.adapter import ModelAdapter, build_adapter
from mmcc.evaluation.adapters import TrainedAdapter, open_adapter
from mmcc.evaluation.evaluator import Bars, Evaluator
from mmcc.evaluation.features_only import imagenet_adapter  # registers the models that need no training
from mmcc.evaluation.results import SCHEMA, TaskResult
from mmcc.evaluation.runs import BEST, Checkpoint, find_checkpoint
from mmcc.evaluation.task import EvaluationTask, NotMeasured, task_choices
from mmcc.evaluation.videos import EvaluationVideos
from mmcc.metrics import bootstrap
from mmcc.pretrained import with_shipped
from mmcc.registry import UnknownName
from mmcc.training.perception import if_embedded

IMAGENET = "imagenet"  # the model whose weights may come from a file


@dataclass
class Evaluation:
    """What was measured of a model, and what could not be."""

    model: str
    checkpoint: str | None  # its folder
    corpus: str
    results: dict[str, TaskResult] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)  # task → why

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "model": self.model,
            "checkpoint": self.checkpoint,
            "corpus": self.corpus,
            "tasks": {task: _with_intervals(result) for task, result in self.results.items()},
            "skipped": self.skipped,
        }


def evaluate(
    source: str,
    corpus: Path,
    *,
    tasks: Iterable[str] | None = None,
    checkpoint: str | int = BEST,
    on: str = "test",
    bars: Bars | None = None,
    imagenet: Path | None = None,
) -> Evaluation:
    """Run the evaluation tasks named, or all of them. A task that cannot be measured is skipped, with the reason;
    if none can, InputError.

    `imagenet`: weights of a ResNet-18 for the model of that name, instead of the network in the extra `encoders`.
    """
    asked = find_tasks(tasks)
    opened = Corpus.open(corpus)
    adapter, found = open_source(source, opened, checkpoint, imagenet)
    if isinstance(adapter, TrainedAdapter):
        opened = if_embedded(opened, adapter.model.config)
    held_out = found.setting("data.held_out", DataConfig.held_out) if found else DataConfig.held_out
    fold = found.setting("data.fold", None) if found else None
    evaluator = Evaluator(adapter, EvaluationVideos(opened, on=on, held_out=held_out, fold=fold), found, bars)
    evaluation = Evaluation(adapter.name, str(found.folder) if found else None, str(corpus))
    for task in asked:
        try:
            evaluation.results[task.name] = evaluator.measure(task)
        except NotMeasured as why:
            evaluation.skipped[task.name] = str(why)
    if not evaluation.results:
        reasons = "; ".join(f"{task}: {why}" for task, why in evaluation.skipped.items())
        raise InputError(corpus, f"nothing can be measured of {adapter.name} ({reasons})", "Choose other --tasks.")
    return evaluation


def find_tasks(names: Iterable[str] | None = None) -> list[EvaluationTask]:
    """The tasks and groups of tasks named, in that order; by default all that `mmcc evaluate` offers for any corpus."""
    choices = task_choices()
    usual = (name for name, tasks in choices.items() if all(task.by_default for task in tasks))
    wanted = list(usual if names is None else names)
    unknown = [name for name in wanted if name not in choices]
    if unknown:
        known = f"no evaluation task is named {unknown[0]!r} (known: {', '.join(choices)})"
        raise UsageError(known, UnknownName.remedy)
    return list(dict.fromkeys(task for name in wanted for task in choices[name]))


def open_source(
    source: str, corpus: Corpus, which: str | int = BEST, imagenet: Path | None = None
) -> tuple[ModelAdapter, Checkpoint | None]:
    """A model by its folder or its name; InputError if there is none."""
    if source == IMAGENET and imagenet:
        return imagenet_adapter(corpus, weights=imagenet), None
    if with_shipped(source).is_dir():
        found = find_checkpoint(Path(source), which)
        return open_adapter(found.folder), found
    try:
        return build_adapter(source, corpus), None
    except ValueError as error:
        cause = f"there is no such folder, and {str(error).splitlines()[0]}"
        raise InputError(source, cause, "Name a folder that mmcc train wrote, or a registered model.") from None


def _with_intervals(result: TaskResult) -> dict[str, Any]:
    content = result.to_json()
    for name, figure in result.figures.items():
        content["figures"][name] |= bootstrap([figure]).to_json()
    return content
