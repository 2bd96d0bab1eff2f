"""Tables of figures that were worked out by hand."""

import re

import numpy as np
import pytest

from mmcc.evaluation.results import TaskResult
from mmcc.metrics import LEAST_VIDEOS, PerVideo
from mmcc.report.tables import Table, to_markdown
from mmcc.reproduce import plan
from mmcc.reproduce.findings import Findings
from mmcc.reproduce.pictures import PICTURES, learning_curves
from mmcc.reproduce.studies import multiplications
from mmcc.reproduce.tables import ANTICIPATION, LAYOUTS, UNSHUFFLING, table1, table2, table3

RANKS = [figure.name for figure in ANTICIPATION]


def alike(value: float, videos: int = LEAST_VIDEOS) -> PerVideo:
    """A figure that is the same in every video, so that its interval is a point."""
    return PerVideo(tuple(map(str, range(videos))), np.full(videos, value), np.ones(videos))


def anticipated(**rows: float) -> Findings:
    found = Findings()
    for row, value in rows.items():
        figures = {name: alike(value) for name in RANKS}
        figures |= {f"{name}/current_removed": alike(value + 1) for name in RANKS}
        references = {f"chance/{name}": 4.0 for name in RANKS} | {f"task_known/{name}": 40.0 for name in RANKS}
        row = row.replace("plus", "mmcc+")
        found.add(row, plan.ANTICIPATION, 0, TaskResult("anticipation", figures, references, ["a note"]))
    return found


def row_of(table: Table, *labels: str) -> dict[str, str]:
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in to_markdown(table).splitlines()]
    found = next(line for line in lines if line[: len(labels)] == list(labels))
    names, seen = lines[0], dict[str, int]()
    told = {}
    for name, text in zip(names, found, strict=True):
        seen[name] = seen.get(name, 0) + 1
        told[name if seen[name] == 1 else f"{name} {seen[name]}"] = text
    return told


def test_table2_has_ours_the_papers_and_chance():
    table, less = table2(anticipated(cross_modal=10.0, mmcc=20.0, plus=30.0))
    assert [row.labels[0] for row in table.rows] == [
        *("Chance", "Task known, step random", "Cross-modal", "Cross-modal, current step removed", "MMCC", "MMCC+"),
    ]
    assert row_of(table, "MMCC")["R@1"] == "20.0 ± 0.0" and row_of(table, "MMCC")["paper"] == "**5.4**"
    assert row_of(table, "MMCC")["paper 2"] == "**19.9**"
    assert row_of(table, "MMCC+")["R@5"] == "**30.0 ± 0.0**" and row_of(table, "MMCC+")["paper"] == "–"
    assert row_of(table, "Cross-modal, current step removed")["best"] == "11.0 ± 0.0"
    assert row_of(table, "Chance")["R@10"] == "4.0"
    names = [column.name for column in table.columns]
    assert names[-3:] == ["best", "paper", "dyn"] and row_of(table, "MMCC+")["dyn"] == "**30.0 ± 0.0**"
    assert row_of(less, "MMCC")["R@1"] == "**+10.0 [+10.0, +10.0]**" and len(less.rows) == 2
    assert "a note" in table.notes


def test_a_difference_that_may_be_none_is_not_strong():
    found = anticipated(mmcc=20.0)
    values = np.array([10.0, 30.5] * (LEAST_VIDEOS // 2))
    figures = {name: PerVideo(alike(0).videos, values, np.ones(LEAST_VIDEOS)) for name in RANKS}
    found.add(plan.PLUS, plan.ANTICIPATION, 0, TaskResult("anticipation", figures))
    (row,) = table2(found)[1].rows
    assert not any(cell.strong for cell in row.cells) and row.cells[0].text.startswith("+0.2 [-")


def test_dyn_is_drawn_beside_one_mark_for_chance():
    found = anticipated(mmcc=20.0, plus=30.0)
    for result in found.results.values():
        result[0].references.update({"chance/dyn": 50.0, "task_known/dyn": 50.0})
    *_, dyn = PICTURES["table2"](found)
    assert dyn.title.startswith("dyn: ") and "chance" in dyn.drawn and "task known" not in dyn.drawn


def test_models_are_shown_with_and_without_the_clip():
    found = anticipated(mmcc=20.0, plus=30.0)
    for task, value in ((plan.CONSTANT_ANTICIPATION, 35.0), (plan.TASK_ANTICIPATION, 40.0)):
        figures = {"recall@5": alike(value), "later_above_earlier": alike(84.0), "dyn": alike(50.0)}
        found.add(plan.PLUS, task, 0, TaskResult("anticipation", figures))
    *_, table = table2(found)
    assert [row.labels[0] for row in table.rows] == ["MMCC", "", "", "MMCC+", "", ""]
    assert row_of(table, "MMCC+", "the clip")["R@5"] == "30.0 ± 0.0"
    constant, of_task = table.rows[4], table.rows[5]
    assert (constant.labels[1], of_task.labels[1]) == ("constant query", "task's mean future")
    assert [cell.mean for cell in constant.cells] == [None, 35.0, None, None, 84.0, 50.0]
    assert of_task.cells[1].mean == 40.0 and not table.rows[2].cells[1].known  # not measured of MMCC


def test_a_table_says_what_its_intervals_are_over():
    """One seed is no bootstrap over seeds, and few videos are no interval."""
    one = anticipated(mmcc=20.0, plus=30.0)
    table, *_, less = table2(one)
    assert "± half the 95 % interval, by bootstrap over videos; one training seed." in table.notes
    assert less.notes[0].startswith("On the same resampled videos, one training seed, ")
    one.add(plan.MMCC, plan.ANTICIPATION, 1, one.results[plan.MMCC, plan.ANTICIPATION][0])
    table, *_, less = table2(one)
    assert "± half the 95 % interval, by bootstrap over training seeds and videos." in table.notes
    assert less.notes[0].startswith("On the same resampled seeds and videos, ")
    few = Findings()
    for row, value in ((plan.MMCC, 20.0), (plan.PLUS, 30.0)):
        few.add(row, plan.ANTICIPATION, 0, TaskResult("anticipation", {name: alike(value, 7) for name in RANKS}))
    table, *_, less = table2(few)
    assert any(note.endswith("Below 20 videos there is none.") for note in table.notes)
    assert row_of(table, "MMCC+")["R@1"] == "**30.0 (7 videos)**" and row_of(less, "MMCC")["R@1"] == "+10.0 (7 videos)"


def test_table3_shows_vision_and_true_text_apart():
    found = Findings()
    for row, value in ((plan.TAP, 0.2), (plan.MMCC, 0.3)):
        figures = {figure.name: alike(value) for figure in UNSHUFFLING}
        if row == plan.MMCC:
            figures |= {f"{figure.name}/text": alike(value + 0.1) for figure in UNSHUFFLING}
            figures |= {"kendall_tau/all_pairs": alike(0.5)}
        found.add(row, plan.UNSHUFFLING, 0, TaskResult("unshuffling", figures, {"chance/edit_distance": 6.5}))
    table, orders, *_ = table3(found)
    assert row_of(table, "MMCC, vision only")["paper"] == "0.353"
    assert row_of(table, "MMCC, with true text")["paper"] == "**0.363**"
    assert row_of(table, "MMCC, with true text")["Kendall's τ"] == "**0.400 ± 0.000**"
    assert row_of(table, "TAP")["edit distance"] == "**0.20 ± 0.00**"  # the lower the better
    assert row_of(table, "Chance")["edit distance"] == "6.50" and row_of(table, "Chance")["paper 3"] == "6.58"
    assert row_of(orders, "MMCC")["all pairs"] == "**0.500 ± 0.000**" and row_of(orders, "TAP")["all pairs"] == "–"


def test_a_collapsed_row_is_not_the_best_of_table1():
    found = Findings()
    for row, rank, loops in ((plan.NO_CONSTRAINT, 99.0, 50.0), (plan.MMCC, 80.0, 70.0), (plan.PLUS, 85.0, 80.0)):
        figures = {"cycle_rank": alike(rank), "travelled_rank": alike(loops), "exact_return": alike(20.0)}
        figures |= {"cross_modal_rank": alike(60.0), "cross_modal_rank_batch": alike(75.0)}
        references = {"chance/cycle_rank": 50.0, "chance/exact_return": 8.0}
        found.add(row, plan.CYCLE, 0, TaskResult("cycle_back", figures, references))
    (table,) = table1(found)
    assert row_of(table, "Temporal constraint", "none")["cycle rank"] == "99.0 ± 0.0"
    none, ours = (
        row_of(table, "Temporal constraint", "none"),
        row_of(table, "", "max-index + sim. loss (the paper's choice)"),
    )
    assert none["paper"] == none["paper 2"] == "collapses"
    assert ours["cross-modal rank, segment"] == "**60.0 ± 0.0**"
    assert (ours["batch"], ours["paper 2"]) == ("**75.0 ± 0.0**", "75.7")
    assert row_of(table, "Our extension", "MMCC+")["cycle rank"] == "**85.0 ± 0.0**"
    assert row_of(table, "Loss terms", "λ2 = 0 after pre-training")["paper"] == "-7 %"
    assert row_of(table, "", "λ3 = 0")["paper"] == "-1 %"
    assert row_of(table, "", "Chance")["exact return %"] == "8.0"


def test_table4_is_features_by_pairs():
    found = Findings()
    accuracy = {(plan.CROSS_MODAL, plan.RANDOM): 52.0, (plan.PLUS, plan.RANDOM): 53.0}
    accuracy |= {(plan.CROSS_MODAL, plan.PLUS): 60.0, (plan.PLUS, plan.PLUS): 70.0}
    accuracy |= {(plan.AVERAGE, plan.RANDOM): 52.5, (plan.AVERAGE, plan.PLUS): 65.0}
    accuracy |= {(row, plan.AVERAGE): 61.0 for row in (plan.CROSS_MODAL, plan.PLUS, plan.AVERAGE)}
    figures = {f"accuracy/{row}/{column}": alike(value) for (row, column), value in accuracy.items()}
    figures |= {f"forward/{plan.RANDOM}": alike(50.0), f"forward/{plan.PLUS}": alike(80.0)}
    for seed, known in enumerate((75.0, 71.0)):
        references = {f"steps_known/{plan.PLUS}": known}
        found.add(plan.ARROW, plan.ARROW, seed, TaskResult("arrow_of_time", figures, references))
    table, pairs, less = LAYOUTS["table4"](found)
    assert row_of(table, "MMCC+")["MMCC+"] == "**70.0 ± 0.0**" and row_of(table, "Average")["MMCC+"] == "65.0 ± 0.0"
    assert row_of(table, "Cross-modal")["paper"] == "**52.6**" and row_of(table, "Cross-modal")["paper 2"] == "**52.6**"
    assert row_of(pairs, "MMCC+")["to a later frame %"] == "80.0 ± 0.0"
    assert row_of(pairs, "MMCC+")["right by step numbers %"] == "73.0"  # of both seeds
    assert row_of(pairs, "random pairs")["right by step numbers %"] == "–"
    assert row_of(less, "Cross-modal on the same pairs")["accuracy"] == "**+10.0 [+10.0, +10.0]**"
    assert row_of(less, "MMCC+ on random pairs")["accuracy"] == "**+17.0 [+17.0, +17.0]**"


def test_controls_are_compared_with_what_they_control():
    found = anticipated(plus=30.0)
    figures = {"kendall_tau": alike(0.5), "kendall_tau/all_pairs": alike(0.6)}
    found.add(plan.PLUS, plan.UNSHUFFLING, 0, TaskResult("unshuffling", figures))
    figures = {name: alike(25.0) for name in RANKS}
    found.add(plan.PLUS, plan.PAST_ANTICIPATION, 0, TaskResult("anticipation", figures))
    found.add(plan.PLUS, plan.POSITION_UNSHUFFLING, 0, TaskResult("unshuffling", {"kendall_tau": alike(0.2)}))
    table, less = LAYOUTS["ablation"](found)
    mean, position = "g fed the mean embedding of the last 64 s", "ordered by a regressor of relative position"
    assert row_of(table, "Controls", mean)["R@5"] == "25.0 ± 0.0" and row_of(table, "Controls", mean)["τ"] == "–"
    assert row_of(table, "", position)["τ, all pairs"] == "0.200 ± 0.000"
    assert row_of(less, mean)["R@1"] == "**+5.0 [+5.0, +5.0]**" and row_of(less, position)["R@1"] == "–"
    assert row_of(less, position)["τ, all pairs"] == "**+0.400 [+0.400, +0.400]**"


def test_the_grid_is_shown_objective_by_objective():
    found = Findings()
    figures = {name: alike(25.0) for name in RANKS} | {"percentile_mean": alike(61.0)}
    row = plan.tuned(plan.TAP, plan.FAST)
    found.add(row, plan.CHOOSING_ANTICIPATION, 0, TaskResult("anticipation", figures))
    (table,) = LAYOUTS["tuning"](found)
    assert len(table.rows) == len(plan.TRAINED) * len(plan.CHOICES)
    shown = {at: each.cells[3].mean for at, each in enumerate(table.rows) if each.cells[3].known}
    place = len(plan.CHOICES) * plan.TRAINED.index(plan.TAP) + plan.CHOICES.index(plan.FAST)
    assert shown == {place: 61.0} and table.rows[place].labels == ("", "rate 3e-3")
    lengths = [each.labels[1].split()[-2] for each in table.rows[:: len(plan.CHOICES)]]
    assert lengths == [{plan.PLUS: "128", plan.RA: "16"}.get(name, "64") for name in plan.TRAINED]
    assert [picture.title for picture in PICTURES["tuning"](found)] == ["Mean rank of later steps, setting by setting"]


def test_growth_is_drawn_over_videos_and_cost():
    found = Findings(training_videos=900)
    for run, value in ((plan.VIDEOS_100, 55.0), (plan.QUARTER, 65.0), (plan.WIDTH_32, 70.0)):
        figures = {"percentile_mean": alike(value)}
        found.add(run, plan.ANTICIPATION, 0, TaskResult("anticipation", figures))
    (table,) = LAYOUTS["scale"](found)
    assert row_of(table, "", "900 (all)")["mean rank"] == "65.0 ± 0.0"
    assert row_of(table, "", "300")["mean rank"] == "–"
    by_videos, by_width = PICTURES["scale"](found)
    assert "training videos" in by_videos.drawn and "million multiplications a frame" in by_width.drawn
    for picture in (by_videos, by_width):
        assert picture.drawn.count("<polyline") == 1  # nothing but mean ranks was measured


def test_cost_is_that_of_the_published_network():
    """ResNet-18 at 224 px is known for 1.81 billion multiplications."""
    assert multiplications(("model.frame_encoder.width=64",), 224) == pytest.approx(1.814e9, rel=0.002)


@pytest.mark.parametrize("name", list(LAYOUTS))
def test_nothing_found_is_no_error(name):
    for table in LAYOUTS[name](Findings()):
        assert to_markdown(table)
    assert PICTURES[name](Findings()) == []


def test_every_table_has_a_layout_and_pictures():
    assert LAYOUTS.keys() == PICTURES.keys() == plan.TABLES.keys()


def test_curves_are_drawn_for_what_has_points():
    drawn = learning_curves({"score": {plan.PLUS: ((0.0, 50.0), (10.0, 60.0)), plan.RA: ()}, "future_rank": {}})
    assert [picture.title for picture in drawn] == ["Validation score by step"]
    assert "MMCC+" in drawn[0].drawn and "Repr. Ant." not in drawn[0].drawn


def test_a_row_looks_the_same_in_every_plot():
    points = ((0.0, 50.0), (10.0, 60.0))
    all_rows, one = learning_curves(
        {"score": dict.fromkeys((plan.RA, plan.PLUS), points), "future_rank": {plan.RA: (), plan.PLUS: points}}
    )
    look = re.compile(r'<polyline[^>]* (class="line-\d")')
    assert look.findall(all_rows.drawn)[1:] == look.findall(one.drawn) != []
