"""Orders as people see them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from mmcc.errors import InputError
from mmcc.evaluation.set_order import order_set
from mmcc.report.unshuffle import check_place, copy_numbered, draw, order_card, render
from mmcc.tools.cache import Cache
from mmcc.tools.unshuffle import unshuffle
from tests.tools.dawn import grey


def test_text_lists_the_order_and_how_sure_it_is(dawn, cache, photos):
    lines = render(unshuffle(dawn, photos, cache)).splitlines()
    assert lines[0] == "5 photos, by all pairs" and [line.split()[-1] for line in lines[1:6]] == [
        path.name for path in photos
    ]
    assert all(line.split()[1].endswith("%") for line in lines[2:6])
    assert "not calibrated" in lines[6]
    assert lines[7].endswith("(0.5: a guess), not calibrated for this model on such sets") and "runner-up" in lines[8]


def as_calibrated(outcome):
    """As of a model that the probabilities were fitted for."""
    return replace(outcome, sets=[replace(set_, calibrated=True) for set_ in outcome.sets])


def test_calibrated_probabilities_are_called_that(dawn, cache, photos):
    text = render(as_calibrated(unshuffle(dawn, photos, cache)))
    assert "probability that any two are in the right order; that all are: " in text and "not calibrated" not in text


def test_the_order_of_many_is_said_to_be_estimated(dawn, cache, tmp_path):
    many = [grey(tmp_path / "many", f"{at}.png", 20 + 11 * at) for at in range(20)]
    assert "estimated" in render(as_calibrated(unshuffle(dawn, many, cache)))


def in_circles(set_):
    """Each photo leads to the next two, the last to the first again: no order agrees with that."""
    place = np.arange(len(set_.things))
    log_P = np.where(np.isin((place - place[:, None]) % len(place), (1, 2)), 0.0, -2.0)
    return replace(set_, log_P_nn=log_P, found=order_set(log_P, set_.by, set_.sharpness))


def test_a_guess_is_called_one_first_of_all(dawn, cache, photos, tmp_path):
    sure = unshuffle(dawn, photos, cache)
    strange = replace(sure, sets=[replace(set_, strange="the pictures are odd") for set_ in sure.sets])
    assert render(sure).startswith("5 photos") and not sure.to_json()["guess"]
    assert render(strange).splitlines()[0] == "This order is no better than a guess: the pictures are odd."
    assert strange.to_json()["guess"] and not strange.to_json()["calibrated"]
    unsure = replace(sure, sets=[in_circles(set_) for set_ in sure.sets])
    assert unsure.to_json()["guess"] and "is less than random scores reach (" in render(unsure).splitlines()[0]
    assert render(replace(strange, sets=[*strange.sets, *sure.sets])).count("no better than a guess") == 1
    heights = []
    for name, outcome in (("sure", sure), ("strange", strange)):
        draw(outcome, tmp_path / f"{name}.png")
        with Image.open(tmp_path / f"{name}.png") as sheet:
            red = np.asarray(sheet.convert("RGB"), int)
        heights.append((red[..., 0] - red[..., 1] > 100).sum())
    assert heights[0] == 0 < heights[1]  # the line is drawn, in red


def test_copies_appear_all_or_none(dawn, cache, photos, tmp_path):
    outcome, out = unshuffle(dawn, photos, cache), tmp_path / "out" / "copies"
    photos[2].unlink()
    with pytest.raises(InputError, match="copies: cannot be written"):
        copy_numbered(outcome, out)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_card_has_the_true_places(kitchen):
    (set_,) = unshuffle(kitchen.model(), kitchen.videos[:1], Cache(kitchen.cache), clips=4).sets
    text = order_card(set_, "an order")
    places = [thing.true_place for thing in set_.ordered]
    rising = sum(b > a for a, b in pairwise(places))
    assert text.count("✓") == rising and text.count("✗") == 3 - rising and text.count("<img") == 4
    found = [text.index(f">{place} <") for place in places]
    assert found == sorted(found)


def test_numbered_copies_leave_the_originals_alone(dawn, cache, photos, tmp_path):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in photos}
    outcome, out = unshuffle(dawn, photos, cache), tmp_path / "new" / "copies"
    check_place(out)
    assert copy_numbered(outcome, out) == 5
    assert sorted(path.name for path in out.iterdir()) == ["01 d.png", "02 a.png", "03 e.png", "04 c.png", "05 b.png"]
    assert (out / "03 e.png").read_bytes() == photos[2].read_bytes()
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in photos} == before
    with pytest.raises(InputError, match="is not empty"):
        check_place(out)
    with pytest.raises(InputError, match="is not a folder"):
        check_place(photos[0])


def test_the_sheet_shows_the_order_and_the_true_numbers(dawn, kitchen, cache, photos, tmp_path):
    draw(unshuffle(dawn, photos, cache), tmp_path / "photos.png")
    with Image.open(tmp_path / "photos.png") as sheet:
        middle = np.asarray(sheet.convert("L"))[sheet.height // 2]
    shown = [level for level in (25, 75, 125, 175, 225) if (abs(middle.astype(int) - level) < 3).sum() > 90]
    assert shown == [25, 75, 125, 175, 225]
    assert [int(np.median(np.flatnonzero(abs(middle.astype(int) - level) < 3))) for level in shown] == sorted(
        int(np.median(np.flatnonzero(abs(middle.astype(int) - level) < 3))) for level in shown
    )
    draw(unshuffle(kitchen.model(), kitchen.videos[:2], Cache(kitchen.cache), clips=3), tmp_path / "videos.png")
    with Image.open(tmp_path / "videos.png") as sheet:
        assert sheet.height > 450  # two rows
