"""Real pictures: what is read, and that the shipped model orders them better than chance."""

import numpy as np
import pytest

from mmcc.errors import InputError
from mmcc.evaluation.adapters import open_adapter
from mmcc.evaluation.picture_sets import later_margins, order_margins, pair_accuracy, tau_of
from mmcc.evaluation.results import TaskResult
from mmcc.metrics import PerVideo
from scripts.real_pictures import read_pairs, read_photo_sets
from scripts.real_results import MODELS, differences, joined, table


def result(values, ids):
    figures = dict.fromkeys(("kendall_tau/seen", "matching"), PerVideo(ids, np.array(values), np.ones(len(ids))))
    return TaskResult("stills", figures, {"chance/kendall_tau/seen": 0.0, "chance/matching": 16.7})


def test_folds_are_joined_and_tables_have_every_row(monkeypatch):
    whole = joined([result([1.0, 0.0], ("a", "b")), result([0.5], ("c",))])
    assert whole.figures["matching"].videos == ("a", "b", "c") and whole.figures["matching"].mean == 0.5
    shown = {"kendall_tau/seen": ("order", 2), "matching": ("matched", 1)}
    monkeypatch.setattr("scripts.real_results.FIGURES", shown)
    worse = joined([result([0.0, 0.0], ("a", "b")), result([0.5], ("c",))])
    rows = table({"ridge": worse, "MMCC+": whole}).splitlines()
    assert [row.split(" | ")[0].strip("| ") for row in rows[2:]] == ["chance", "ridge", "MMCC+"]
    assert "+0.33" in differences({"ridge": worse, "MMCC+": whole}) and MODELS[-1].label == "MMCC+"


def test_pictures_that_are_not_there_or_not_labelled(tmp_path):
    with pytest.raises(InputError, match="no folder of photos"):
        read_photo_sets(tmp_path, 32)
    (tmp_path / "labels.txt").write_text("0 2\n")
    with pytest.raises(InputError, match="no pair of one recipe"):
        read_pairs(tmp_path, tmp_path / "labels.txt", 32)
    (tmp_path / "labels.txt").write_text("zero later\n")
    with pytest.raises(InputError, match="zero later"):
        read_pairs(tmp_path, tmp_path / "labels.txt", 32)


@pytest.mark.slow
def test_cook_orders_real_photos_and_tells_later_pictures(shared):
    """Not a measurement (docs/real.md is), but what is shipped must not be the kitchen's -0.28, nor chance."""
    cook = open_adapter("cook")
    sets = read_photo_sets(shared / "photos", 260)
    assert [len(each.pictures) for each in sets] == [11, 7, 4, 5, 10]
    assert np.mean([tau_of(order_margins(cook, each.pictures)) for each in sets]) > 0.2
    pairs = read_pairs(shared / "hdepic" / "val", shared / "hdepic" / "val_labels.txt", 260)
    assert len(pairs.pictures) == 31 and len(pairs.first) == 124
    assert pair_accuracy(pairs, later_margins(cook, pairs)).mean > 60
