"""mmcc: learn how the world changes from narrated video.

>>> import mmcc
>>> model = mmcc.load_model("kitchen")
>>> for change in model.transitions("soup.mp4", top=2):
...     print(f"{change.from_time:.0f} s -> {change.to_time:.0f} s")

The names below are the public API (docs/api.md); each loads what it needs when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_PUBLIC = {  # name → the module that has it
    "Config": "mmcc.training.config",
    "Corpus": "mmcc.corpus",
    "Dataset": "mmcc.corpus.find",
    "Diverged": "mmcc.errors",
    "Embedding": "mmcc.evaluation.adapter",
    "EvaluationTask": "mmcc.evaluation.task",
    "Evaluator": "mmcc.evaluation.evaluator",
    "FrameEncoderSettings": "mmcc.models.encoders",
    "InputError": "mmcc.errors",
    "Item": "mmcc.corpus.source",
    "LabelledClip": "mmcc.corpus.source",
    "Losses": "mmcc.objectives.losses",
    "Model": "mmcc.api",
    "ObjectiveConfig": "mmcc.objectives.spec",
    "ObjectiveSpec": "mmcc.objectives.spec",
    "PerVideo": "mmcc.metrics",
    "Source": "mmcc.corpus.source",
    "SourceOptions": "mmcc.corpus.find",
    "Task": "mmcc.corpus.source",
    "TaskResult": "mmcc.evaluation.results",
    "TextEncoderSettings": "mmcc.models.text",
    "UsageError": "mmcc.errors",
    "evaluate": "mmcc.api",
    "load_config": "mmcc.training.config",
    "load_model": "mmcc.api",
    "register_adapter": "mmcc.evaluation.adapter",
    "register_dataset": "mmcc.corpus.find",
    "register_frame_encoder": "mmcc.models.encoders",
    "register_objective": "mmcc.objectives.spec",
    "register_task": "mmcc.evaluation.task",
    "register_text_encoder": "mmcc.models.text",
    "train": "mmcc.api",
}
__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from mmcc.api import Model as Model
    from mmcc.api import evaluate as evaluate
    from mmcc.api import load_model as load_model
    from mmcc.api import train as train
    from mmcc.corpus import Corpus as Corpus
    from mmcc.corpus.find import Dataset as Dataset
    from mmcc.corpus.find import SourceOptions as SourceOptions
    from mmcc.corpus.find import register_dataset as register_dataset
    from mmcc.corpus.source import Item as Item
    from mmcc.corpus.source import LabelledClip as LabelledClip
    from mmcc.corpus.source import Source as Source
    from mmcc.corpus.source import Task as Task
    from mmcc.errors import Diverged as Diverged
    from mmcc.errors import InputError as InputError
    from mmcc.errors import UsageError as UsageError
    from mmcc.evaluation.adapter import Embedding as Embedding
    from mmcc.evaluation.adapter import register_adapter as register_adapter
    from mmcc.evaluation.evaluator import Evaluator as Evaluator
    from mmcc.evaluation.results import TaskResult as TaskResult
    from mmcc.evaluation.task import EvaluationTask as EvaluationTask
    from mmcc.evaluation.task import register_task as register_task
    from mmcc.metrics import PerVideo as PerVideo
    from mmcc.models.encoders import FrameEncoderSettings as FrameEncoderSettings
    from mmcc.models.encoders import register_frame_encoder as register_frame_encoder
    from mmcc.models.text import TextEncoderSettings as TextEncoderSettings
    from mmcc.models.text import register_text_encoder as register_text_encoder
    from mmcc.objectives.losses import Losses as Losses
    from mmcc.objectives.spec import ObjectiveConfig as ObjectiveConfig
    from mmcc.objectives.spec import ObjectiveSpec as ObjectiveSpec
    from mmcc.objectives.spec import register_objective as register_objective
    from mmcc.training.config import Config as Config
    from mmcc.training.config import load_config as load_config


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'mmcc' has no attribute {name!r}")
    found = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = found  # the next time it is there
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
