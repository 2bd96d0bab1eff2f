"""The text of `mmcc evaluate`, of figures worked out by hand."""

import numpy as np

from mmcc.evaluation.evaluate import Evaluation
from mmcc.evaluation.results import TaskResult
from mmcc.metrics import LEAST_VIDEOS, PerVideo
from mmcc.report.evaluation import reference, render_evaluation, result_table
from mmcc.report.tables import Table


def alike(value: float, videos: int = LEAST_VIDEOS) -> PerVideo:
    """A figure that is the same in every video, so that its interval is a point."""
    return PerVideo(tuple(map(str, range(videos))), np.full(videos, value), np.ones(videos))


def rows_of(table: Table) -> dict[str, list[str]]:
    return {row.labels[0]: [cell.text for cell in row.cells] for row in table.rows}


def test_figures_find_their_references():
    known = {"chance/kendall_tau": 0.0, "chance/accuracy": 50.0, "steps_known/model": 70.0, "chance/kendall_tau/x": 1.0}
    assert reference(known, "chance", "kendall_tau/text") == 0 and reference(known, "chance", "kendall_tau/x") == 1
    assert reference(known, "chance", "accuracy/mmcc/model") == 50
    assert reference(known, "steps_known", "accuracy/mmcc/model") == 70
    assert reference(known, "chance", "edit_distance") is None
    assert reference(known, "steps_known", "forward/model") is None
    assert reference({"chance/recall@1": 4.0}, "chance", "recall@1/current_removed") is None  # one candidate less
    assert reference({"chance/exact_return": 8.0}, "chance", "text/exact_return") is None  # of the two modalities


def test_a_table_has_intervals_and_references():
    result = TaskResult("t", {"recall@1": alike(12.34), "recall@5": alike(40.0)}, {"chance/recall@1": 4.0})
    table = result_table("anticipation", result)
    assert [column.name for column in table.columns] == ["anticipation", "chance"]
    assert rows_of(table) == {"recall@1": ["12.3 [12.3, 12.3]", "4.0"], "recall@5": ["40.0 [40.0, 40.0]", ""]}


def test_few_videos_are_counted_instead():
    result = TaskResult("t", {"recall@1": alike(12.34, 19), "recall@5": alike(40.0, 1)}, {})
    assert rows_of(result_table("anticipation", result)) == {
        "recall@1": ["12.3 (19 videos)"],
        "recall@5": ["40.0 (1 video)"],
    }


def test_orders_are_shown_with_three_decimals():
    result = TaskResult("t", {"kendall_tau/text": alike(0.5)}, {"chance/kendall_tau": 0.0})
    for task in ("unshuffling", "transfer-unshuffling", "position-unshuffling"):
        assert rows_of(result_table(task, result)) == {"kendall_tau/text": ["0.500 [0.500, 0.500]", "0.000"]}


def test_the_text_names_the_model_the_notes_and_what_was_skipped():
    result = TaskResult("anticipation", {"recall@1": alike(12.0)}, {}, ["3 videos have no frame"])
    text = render_evaluation(
        Evaluation("mmcc+", "runs/a", "my.corpus", {"anticipation": result}, {"cycle": "there are none"})
    )
    assert text.startswith("mmcc+ (runs/a) on my.corpus\n\nanticipation\n\n| figure")
    assert "| recall@1 | 12.0 [12.0, 12.0] |" in text and "- 3 videos have no frame" in text
    assert text.endswith("skipped\n\n- cycle: there are none")
