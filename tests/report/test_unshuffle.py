"""Orders as people see them."""

from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from mmcc.errors import InputError
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
    assert "confidence 0." in lines[7] and "runner-up" in lines[8]


def test_the_order_of_many_is_said_to_be_estimated(dawn, cache, tmp_path):
    many = [grey(tmp_path / "many", f"{at}.png", 20 + 11 * at) for at in range(20)]
    assert "estimated" in render(unshuffle(dawn, many, cache))


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
