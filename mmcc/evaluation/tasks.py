"""The evaluation tasks that come with mmcc, in the order of their results. Each is defined beside its measure."""

from __future__ import annotations

from mmcc.evaluation.anticipation import ANTICIPATION, CHOOSING_ANTICIPATION, TRANSFER_ANTICIPATION
from mmcc.evaluation.arrow_of_time import ARROW
from mmcc.evaluation.controls import (
    CONSTANT_ANTICIPATION,
    PAST_ANTICIPATION,
    PAST_UNSHUFFLING,
    POSITION_UNSHUFFLING,
    TASK_ANTICIPATION,
)
from mmcc.evaluation.cycle_back import CYCLE
from mmcc.evaluation.neurons import NEURONS
from mmcc.evaluation.stills import STILLS
from mmcc.evaluation.task import EvaluationTask, register_task
from mmcc.evaluation.transitions import TRANSITIONS
from mmcc.evaluation.unshuffling import CHOOSING_UNSHUFFLING, TRANSFER_UNSHUFFLING, UNSHUFFLING

TASKS: tuple[EvaluationTask, ...] = (
    *(CYCLE, ANTICIPATION, UNSHUFFLING, ARROW, TRANSITIONS, NEURONS),
    *(TRANSFER_ANTICIPATION, TRANSFER_UNSHUFFLING),
    STILLS,
    # For the paper's tables: settings are chosen on validation videos, and controls rule out simpler explanations.
    *(CHOOSING_ANTICIPATION, CHOOSING_UNSHUFFLING),
    *(CONSTANT_ANTICIPATION, TASK_ANTICIPATION, PAST_ANTICIPATION, PAST_UNSHUFFLING, POSITION_UNSHUFFLING),
)
for _task in TASKS:
    register_task(_task)
