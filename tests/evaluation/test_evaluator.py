"""A model on the videos of a corpus: each video embedded once, and what cannot be measured said."""

from dataclasses import replace
from pathlib import Path

import pytest

from mmcc.corpus import Corpus
from mmcc.evaluation import anticipation, arrow_of_time, controls, neurons, unshuffling
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.evaluator import Evaluator
from mmcc.evaluation.results import TaskResult
from mmcc.evaluation.runs import find_checkpoint
from mmcc.evaluation.task import EvaluationTask, Needs, NotMeasured
from mmcc.evaluation.videos import EvaluationVideos


@pytest.fixture
def evaluator_of(run_of, steps_corpus):
    """An evaluator of a trained row."""

    def make(row: str, **options: int) -> Evaluator:
        checkpoint = find_checkpoint(Path(run_of(row)))
        videos = EvaluationVideos(Corpus.open(steps_corpus), **options)
        return Evaluator(open_adapter(checkpoint.folder), videos, checkpoint)

    return make


def test_every_video_is_embedded_once(evaluator_of):
    evaluator = evaluator_of("mmcc")
    embedded = []
    evaluator._bars = lambda label: lambda ids: embedded.extend(ids) or ids
    for task in (anticipation.ANTICIPATION, unshuffling.UNSHUFFLING, anticipation.TRANSFER_ANTICIPATION):
        evaluator.measure(task)
    assert sorted(embedded) == sorted(evaluator.videos.primary + evaluator.videos.related)


def test_controls_differ_from_what_they_control(evaluator_of):
    evaluator = evaluator_of("mmcc+")
    for control, task in (
        (controls.PAST_ANTICIPATION, anticipation.ANTICIPATION),
        (controls.PAST_UNSHUFFLING, unshuffling.UNSHUFFLING),
        (controls.POSITION_UNSHUFFLING, unshuffling.UNSHUFFLING),
    ):
        control_figures, figures = evaluator.measure(control).figures, evaluator.measure(task).figures
        assert control_figures.keys() <= figures.keys()
        name = next(iter(control_figures))
        assert control_figures[name].totals.tolist() != figures[name].totals.tolist()


def test_too_few_training_videos_are_named(evaluator_of):
    evaluator = evaluator_of("mmcc", most_training=3)
    assert len(evaluator.videos.training) == 3
    for task in (arrow_of_time.ARROW, controls.POSITION_UNSHUFFLING):
        with pytest.raises(NotMeasured, match="fewer than 5 training videos"):
            evaluator.measure(task)


@pytest.mark.parametrize(
    ("row", "needs", "reason"),
    [
        ("memdpc", Needs(text=True), "memdpc does not embed text"),
        ("tap", Needs(text=True), ""),
        ("tap", Needs(past=True), "tap does not predict the past"),
        ("memdpc", Needs(past=True), ""),
        ("mmcc", Needs(text=True, past=True, steps=True, training_videos=True), ""),
    ],
)
def test_a_model_that_lacks_what_a_task_needs_is_not_run(evaluator_of, row, needs, reason):
    ran = []
    task = EvaluationTask("t", "T", "?", lambda evaluator: ran.append(evaluator) or TaskResult("t", {}), needs)
    with pytest.raises(NotMeasured, match=reason or "nothing to count"):  # it counts nothing
        evaluator_of(row).measure(task)
    assert bool(ran) == (not reason)


def test_without_speech_there_are_no_neurons_to_name(evaluator_of):
    evaluator = evaluator_of("mmcc")
    evaluator.__dict__["primary"] = [replace(video, times=video.times + 1e6) for video in evaluator.primary]
    with pytest.raises(NotMeasured, match="nothing is said"):
        evaluator.measure(neurons.NEURONS)
